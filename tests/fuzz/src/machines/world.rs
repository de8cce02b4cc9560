//! One connection: a client's machine, the servers' that it speaks to, what travels, and what must hold.

use std::collections::VecDeque;
use std::sync::Arc;

use sandwire_json::{Raw, find};
use sandwire_proto::{
    Ended, Input, Time, TransportError, TransportErrorKind, Via, Wire,
    client::{self, CallError, Mode, Timeout},
    http::{Headers, ResponseHead},
    server::{self, AskStep, Change, Clock, HmacSealer, Progress, Sealer},
};
use sandwire_types::{ErrorCode, ErrorObject, LoggingLevel, Message, Method, Notification, Reply, WireError};

use super::peer::{Running, Server, is_answer_to, number_of, result};
use super::seen::Seen;
use crate::random::Random;

/// How many calls a server takes at once.
const LIMIT: usize = 6;

/// What does not hold.
pub type Broken = String;
pub type Check = Result<(), Broken>;

pub struct World {
    pub steps: u64,
    pub seen: Seen,
    random: Random,
    now: Time,
    wire: Wire,
    client: client::Machine,
    calls: Vec<Made>,
    asks: Vec<(client::AskKey, String)>,
    servers: Vec<Server>,
    config: Arc<server::Config>,
    sealer: Arc<dyn Sealer>,
    up: VecDeque<(Via, Up)>,
    down: VecDeque<(Via, Down)>,
    over: bool,
}

/// A call of the client's.
struct Made {
    key: client::CallKey,
    /// What it must bring back; nothing for what is no tool call.
    number: Option<u64>,
    at: Time,
    limit: Option<u64>,
    sent: bool,
    cancelled: bool,
    ended: bool,
}

enum Up {
    Message(Message),
    Abandoned,
}

enum Down {
    Message(Message),
    End,
}

impl World {
    pub fn new(mut random: Random) -> Self {
        let mut seen = Seen::default();
        let mut config = client::Config::new("steps", "1");
        config.capabilities = Raw::from_valid(r#"{"elicitation":{"form":{}}}"#);
        config.limits.max_in_flight = 12;
        config.wire = if random.one_in(3) { Wire::Http } else { Wire::Pipe };
        config.mode = if config.wire == Wire::Pipe && random.one_in(2) { Mode::Legacy } else { Mode::Auto };
        seen.note(if matches!(config.mode, Mode::Legacy) { "era legacy" } else { "era modern" });
        seen.note(if config.wire == Wire::Http { "wire http" } else { "wire pipe" });
        let capabilities = r#"{"tools":{"listChanged":true},"prompts":{"listChanged":true},"logging":{}}"#;
        let info = Raw::from_valid(r#"{"name":"s","version":"1"}"#);
        let mut told = server::Config::new(info, Raw::from_valid(capabilities));
        told.limits.max_peer_requests = LIMIT;
        let mut world = Self {
            steps: 0,
            seen,
            random,
            now: Time(0),
            wire: config.wire,
            client: client::Machine::new(config),
            calls: Vec::new(),
            asks: Vec::new(),
            servers: Vec::new(),
            config: Arc::new(told),
            sealer: Arc::new(HmacSealer::new([7; 32])),
            up: VecDeque::new(),
            down: VecDeque::new(),
            over: false,
        };
        if world.wire == Wire::Pipe {
            world.serve(Via::Pipe);
        }
        world
    }

    /// Lives for so many steps, sees what is left, and ends.
    pub fn live(&mut self, steps: u64) -> Check {
        while self.steps < steps && !self.over {
            self.step()?;
            self.drain()?;
        }
        if !self.over {
            self.settle()?;
            self.steps += 1;
            match self.random.below(3) {
                0 => {
                    self.seen.note("client does close");
                    self.client.close(self.now);
                }
                1 if self.wire == Wire::Pipe => {
                    self.seen.note("server does close");
                    self.servers[0].machine.close();
                    self.drain()?;
                    self.carry()?;
                    self.client.handle(self.now, Input::Closed(None));
                }
                _ => self.cut(),
            }
            self.drain()?;
        }
        match self.calls.iter().find(|call| !call.ended) {
            Some(call) => Err(format!("a call of {:?} outlived its connection", call.number)),
            None if self.client.calls_under_way() > 0 => Err("the client counts calls that have ended".into()),
            None => Ok(()),
        }
    }

    fn serve(&mut self, via: Via) {
        let config = Arc::clone(&self.config);
        let machine = match via {
            Via::Pipe => server::Machine::new(config),
            Via::Exchange(_) => server::Machine::for_exchange(config, None, None),
        };
        self.servers.push(Server::new(via, machine));
    }

    fn step(&mut self) -> Check {
        self.steps += 1;
        match self.random.below(100) {
            0..14 => self.call(),
            14..34 => self.carry_up(),
            34..54 => self.carry_down(),
            54..74 => self.work()?,
            74..79 => self.cancel(),
            79..85 => self.answer(),
            85..92 => self.tick()?,
            92..94 => self.change(),
            94..97 => self.disturb(),
            97 => {
                self.seen.note("client does notify");
                let _ = self.client.notify(self.now, Notification::new(Method::RootsListChanged, None));
            }
            98 if self.random.one_in(2) => self.catch_up()?,
            98 if self.random.one_in(2) && self.wire == Wire::Pipe => self.restart(),
            99 if self.random.one_in(12) => self.cut(),
            _ => {}
        }
        Ok(())
    }

    fn call(&mut self) {
        let number = self.steps;
        let (method, params) = match self.random.below(12) {
            0 => {
                let wanted = if self.random.one_in(2) { "toolsListChanged" } else { "promptsListChanged" };
                (Method::SubscriptionsListen, Some(format!(r#"{{"notifications":{{"{wanted}":true}}}}"#)))
            }
            1 => (Method::ToolsList, None),
            2 => (Method::from("vendor/unknown"), None),
            _ => (Method::ToolsCall, Some(format!(r#"{{"name":"t","arguments":{{"n":{number}}}}}"#))),
        };
        let is_tool = method == Method::ToolsCall;
        self.seen.note(if method == Method::SubscriptionsListen { "client does listen" } else { "client does call" });
        let mut call = client::Call::new(method, params.map(Raw::from_valid));
        call.progress = self.random.one_in(2);
        if self.random.one_in(4) {
            call.timeout = Timeout::After(500 + self.random.below(5000) as u64);
        }
        let limit = self.random.one_in(3).then(|| 500 + self.random.below(9000) as u64);
        call.total_timeout_ms = limit;
        if let Ok(key) = self.client.request(self.now, call) {
            let number = is_tool.then_some(number);
            self.calls.push(Made { key, number, at: self.now, limit, sent: false, cancelled: false, ended: false });
        }
    }

    /// Gives up a call, or one that is over already.
    fn cancel(&mut self) {
        let at = self.random.below(self.calls.len());
        let Some(call) = self.calls.get_mut(at) else { return };
        self.seen.note("client does cancel");
        call.cancelled = true;
        self.client.cancel(self.now, call.key, None);
    }

    fn answer(&mut self) {
        if self.asks.is_empty() {
            return;
        }
        let at = self.random.below(self.asks.len());
        let (key, question) = self.asks.swap_remove(at);
        self.seen.note("client does answer");
        let answer = match self.random.one_in(8) {
            true => Err(ErrorObject::internal("no")),
            false => Ok(Raw::from_valid(format!(r#"{{"action":"accept","content":{{"q":{question}}}}}"#))),
        };
        let _ = self.client.answer(self.now, key, answer);
    }

    fn tick(&mut self) -> Check {
        self.now = self.now.after(self.random.below(400) as u64);
        self.seen.note("client in tick");
        self.client.handle(self.now, Input::Tick);
        self.drain()?;
        let due = |call: &&Made| !call.ended && call.limit.is_some_and(|limit| call.at.after(limit) <= self.now);
        match self.calls.iter().find(due) {
            Some(call) => Err(format!("call {:?} did not end in its time", call.number)),
            None => Ok(()),
        }
    }

    fn change(&mut self) {
        self.seen.note("server does change");
        let change = if self.random.one_in(2) { Change::Tools } else { Change::Prompts };
        self.servers.iter_mut().for_each(|server| server.machine.changed(&change));
    }

    /// Something that no well-behaved peer sends.
    fn disturb(&mut self) {
        let error = || WireError::new(ErrorCode::PARSE_ERROR, "noise");
        let Some(server) = self.servers.first_mut() else { return };
        let via = server.via;
        match self.random.below(4) {
            0 => {
                self.seen.note("client in garbage");
                self.client.handle(self.now, Input::Garbage { via, error: error() });
            }
            1 => {
                self.seen.note("server in garbage");
                server.machine.handle(self.now, Input::Garbage { via, error: error() });
            }
            2 => {
                self.seen.note("server in batch");
                server.machine.handle(self.now, Input::Batch { via, items: vec![Err(error())] });
            }
            _ => {
                if let Via::Exchange(exchange) = via {
                    self.seen.note("client in lost");
                    let lost = TransportError::new(TransportErrorKind::Closed, "cut");
                    self.client.handle(self.now, Input::Ended { exchange, how: Ended::Lost(lost) });
                    self.up.push_back((via, Up::Abandoned));
                    self.down.retain(|(of, _)| *of != via);
                }
            }
        }
    }

    fn restart(&mut self) {
        self.seen.note("client in restarted");
        self.servers.clear();
        self.up.clear();
        self.down.clear();
        self.serve(Via::Pipe);
        let error = TransportError::new(TransportErrorKind::Restarted, "another");
        self.client.handle(self.now, Input::Restarted(error));
    }

    fn cut(&mut self) {
        self.seen.note("client in closed");
        self.over = true;
        self.client.handle(self.now, Input::Closed(None));
        for server in &mut self.servers {
            server.machine.handle(self.now, Input::Closed(None));
        }
    }

    fn carry_up(&mut self) {
        let Some((via, what)) = self.up.pop_front() else { return };
        let Some(server) = self.servers.iter_mut().find(|server| server.via == via) else { return };
        let Up::Message(message) = what else {
            self.seen.note("server in lost");
            if let Via::Exchange(exchange) = via {
                server.machine.handle(self.now, Input::Ended { exchange, how: Ended::Finished });
            }
            return;
        };
        match &message {
            Message::Request(request) => {
                server.open.push(request.id.clone());
                self.seen.note(match request.method {
                    Method::Initialize => "server in initialize",
                    Method::SubscriptionsListen => "server in listen",
                    _ => "server in request",
                });
                if request.method == Method::SubscriptionsListen {
                    let tools = request.params.as_ref().is_some_and(|raw| raw.as_str().contains("toolsListChanged"));
                    server.listens.push((request.id.clone(), tools));
                }
            }
            Message::Notification(notification) => match notification.method {
                Method::Cancelled => {
                    self.seen.note("server in cancelled");
                    let id = notification.params.as_ref().and_then(|params| find(params.as_str(), "requestId"));
                    server.listens.retain(|(listen, _)| Some(&*listen.to_string()) != id);
                    server.forget_listen(id);
                }
                Method::Initialized => self.seen.note("server in initialized"),
                _ => {}
            },
            Message::Response(_) => self.seen.note("server in answer"),
        }
        server.machine.handle(self.now, Input::Message { via, message });
    }

    fn carry_down(&mut self) {
        let Some((via, what)) = self.down.pop_front() else { return };
        let input = match (what, via) {
            (Down::End, Via::Exchange(exchange)) => {
                self.seen.note("client in ended");
                Input::Ended { exchange, how: Ended::Finished }
            }
            (Down::End, Via::Pipe) => return,
            (Down::Message(message), via) => {
                self.note_arrival(&message);
                Input::Message { via, message }
            }
        };
        self.client.handle(self.now, input);
    }

    fn note_arrival(&mut self, message: &Message) {
        let what = match message {
            Message::Response(response) => {
                let number = response.result.as_ref().ok().and_then(|reply| number_of(&reply.value));
                if self.calls.iter().any(|call| call.ended && call.number.is_some() && call.number == number) {
                    self.seen.note("late answer");
                }
                "client in answer"
            }
            Message::Request(_) => "client in question",
            Message::Notification(told) => match told.method {
                Method::Progress => "client in progress",
                Method::Cancelled => "client in cancelled",
                _ => "client in event",
            },
        };
        self.seen.note(what);
    }

    /// The endpoint of some server does something for some call.
    fn work(&mut self) -> Check {
        let busy: Vec<usize> = (0..self.servers.len()).filter(|at| !self.servers[*at].running.is_empty()).collect();
        let Some(at) = busy.get(self.random.below(busy.len())).copied() else { return Ok(()) };
        let chosen = self.random.below(self.servers[at].running.len());
        let what = self.random.below(10);
        self.work_on(at, chosen, what)
    }

    fn work_on(&mut self, at: usize, chosen: usize, what: usize) -> Check {
        let server = &mut self.servers[at];
        let Running { key, number, cancelled, asked, .. } = server.running[chosen];
        let machine = &mut server.machine;
        match what {
            0 | 1 => {
                self.seen.note("server does progress");
                machine.progress(key, Progress { progress: self.random.below(6) as f64, ..Progress::default() });
            }
            2 => {
                self.seen.note("server does log");
                machine.log(key, LoggingLevel::Error, None, Raw::string("x"));
            }
            3 | 4 if asked.is_none() => {
                self.seen.note("server does ask");
                let clock = Clock { sealer: &self.sealer, unix_time: Some(1) };
                let schema = r#"{"type":"object","properties":{}}"#;
                let params = Raw::from_valid(format!(r#"{{"message":"{number}","requestedSchema":{schema}}}"#));
                match machine.ask(key, "q", &Method::ElicitationCreate, &params, clock) {
                    Ok(AskStep::Answered(answer)) => {
                        self.seen.note("second round");
                        is_answer_to(number, &answer)?;
                    }
                    Ok(AskStep::Sent(ask)) => server.running[chosen].asked = Some(ask),
                    Ok(AskStep::Suspended) => {
                        self.seen.note("server does suspend");
                        machine.suspend(key);
                        server.running.swap_remove(chosen);
                    }
                    Err(_) => {}
                }
            }
            _ if cancelled => {
                // A handler may be dropped, or be done without knowing.
                self.seen.note(if what % 2 == 0 { "server does end" } else { "server does reply" });
                match what % 2 {
                    0 => machine.end(key),
                    _ => machine.reply(key, Ok(result(number))),
                }
                server.running.swap_remove(chosen);
            }
            _ => {
                self.seen.note("server does reply");
                machine.reply(key, if what == 9 { Err(ErrorObject::internal("no")) } else { Ok(result(number)) });
                server.running.swap_remove(chosen);
            }
        }
        Ok(())
    }

    /// Takes what both machines want done.
    fn drain(&mut self) -> Check {
        while let Some(output) = self.client.poll() {
            self.client_wants(output)?;
        }
        for at in 0..self.servers.len() {
            while let Some(output) = self.servers[at].machine.poll() {
                self.server_wants(at, output)?;
            }
            let taken = self.servers[at].machine.in_flight();
            if taken > LIMIT {
                return Err(format!("the server took {taken} calls, and its limit is {LIMIT}"));
            }
        }
        Ok(())
    }

    fn client_wants(&mut self, output: client::Output) -> Check {
        use client::Output;
        let name = format!("{output:?}");
        let name = name.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
        self.seen.note(format!("client out {name}"));
        match output {
            Output::Send { via, message, .. } => self.client_sends(via, message),
            Output::Abandon(exchange) => {
                self.up.push_back((Via::Exchange(exchange), Up::Abandoned));
                self.down.retain(|(via, _)| *via != Via::Exchange(exchange));
            }
            Output::Done { key, result } => self.call_ended(key, result)?,
            Output::Ask { key, params, .. } => {
                let question = params.get("message").map_or_else(String::new, |text| text.as_str().replace('"', ""));
                self.asks.push((key, question));
            }
            Output::Unask(key) => self.asks.retain(|(asked, _)| *asked != key),
            Output::Close | Output::Failed(_) => self.over |= name == "Close",
            _ => {}
        }
        Ok(())
    }

    fn client_sends(&mut self, via: Via, message: Message) {
        if let Message::Request(request) = &message {
            let number = request.params.as_ref().and_then(|params| find(params.as_str(), "arguments"));
            let number = number.and_then(|arguments| number_of(&Raw::from_valid(arguments)));
            self.calls.iter_mut().filter(|call| call.number == number).for_each(|call| call.sent = true);
        }
        if let Via::Exchange(exchange) = via {
            match message {
                Message::Request(_) => self.serve(via),
                _ => {
                    // Nobody but a session hears what is no request.
                    let head = ResponseHead { status: 202, headers: Headers::new() };
                    self.client.handle(self.now, Input::Head { exchange, head });
                    return self.down.push_back((via, Down::End));
                }
            }
        }
        self.up.push_back((via, Up::Message(message)));
    }

    fn call_ended(&mut self, key: client::CallKey, result: Result<Reply, CallError>) -> Check {
        let now = self.now;
        let call = self.calls.iter_mut().find(|call| call.key == key).ok_or("a call ended that nobody made")?;
        if std::mem::replace(&mut call.ended, true) {
            return Err(format!("call {:?} ended twice", call.number));
        }
        let ended = match &result {
            Ok(_) => "Ok".to_owned(),
            Err(error) => format!("{error:?}").split(|c: char| !c.is_alphanumeric()).next().unwrap_or("").to_owned(),
        };
        self.seen.note(format!("ended {ended}"));
        match result {
            Ok(reply) if call.number.is_some() && number_of(&reply.value) != call.number => {
                Err(format!("call {:?} got the answer {}", call.number, reply.value.as_str()))
            }
            Ok(_) if call.number.is_none() => {
                self.seen.note("subscription ended");
                Ok(())
            }
            Err(CallError::Cancelled) if !call.cancelled => Err(format!("nobody cancelled call {:?}", call.number)),
            Err(CallError::Timeout) if now < call.at.after(500) => Err(format!("call {:?} ended early", call.number)),
            _ => Ok(()),
        }
    }

    fn server_wants(&mut self, at: usize, output: server::Output) -> Check {
        use server::Output;
        let name = format!("{output:?}");
        let name = name.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
        self.seen.note(format!("server out {name}"));
        let server = &mut self.servers[at];
        match output {
            Output::Send { via, message } => {
                if let Message::Response(response) = &message
                    && response.result.as_ref().is_err_and(|error| error.message.contains("too many requests"))
                {
                    self.seen.note("server full");
                }
                server.check_sent(&message)?;
                if let (Via::Exchange(exchange), false) = (via, std::mem::replace(&mut server.answered, true)) {
                    self.seen.note("client in head");
                    let headers = [("content-type", "text/event-stream")].into_iter().collect();
                    self.client.handle(self.now, Input::Head { exchange, head: ResponseHead { status: 200, headers } });
                }
                let is_last = matches!(via, Via::Exchange(_)) && matches!(message, Message::Response(_));
                self.down.push_back((via, Down::Message(message)));
                if is_last {
                    self.down.push_back((via, Down::End));
                }
            }
            Output::Call { key, request, .. } => {
                let arguments = request.params.as_ref().and_then(|params| find(params.as_str(), "arguments"));
                let number = arguments.and_then(|arguments| number_of(&Raw::from_valid(arguments)));
                let number = number.unwrap_or_default();
                if server.running.iter().any(|running| running.number == number && number > 0) {
                    return Err(format!("call {number} was made twice"));
                }
                server.running.push(Running { key, id: request.id, number, cancelled: false, asked: None });
            }
            Output::Cancel { key } => {
                if let Some(running) = server.running.iter_mut().find(|running| running.key == key) {
                    running.cancelled = true;
                    let id = running.id.clone();
                    server.open.retain(|open| *open != id);
                }
            }
            Output::Answer { ask, result } => {
                if let Some(running) = server.running.iter_mut().find(|running| running.asked == Some(ask)) {
                    running.asked = None;
                    if let Ok(answer) = result {
                        is_answer_to(running.number, &answer)?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Carries until nothing travels.
    fn carry(&mut self) -> Check {
        while !(self.up.is_empty() && self.down.is_empty()) {
            self.steps += 1;
            self.carry_up();
            self.drain()?;
            self.carry_down();
            self.drain()?;
        }
        Ok(())
    }

    /// Carries what travels; then a server works on nothing that nobody waits for.
    fn catch_up(&mut self) -> Check {
        self.carry()?;
        for running in self.servers.iter().flat_map(|server| &server.running).filter(|running| !running.cancelled) {
            let wanted = self.calls.iter().any(|call| call.number == Some(running.number) && !call.ended);
            if !wanted && running.number > 0 {
                return Err(format!("the server works on call {} that nobody waits for", running.number));
            }
        }
        Ok(())
    }

    /// Lets everything come to its end: no call is left without one who works on it.
    fn settle(&mut self) -> Check {
        self.catch_up()?;
        for _ in 0..40 {
            while !self.asks.is_empty() {
                self.answer();
                self.drain()?;
            }
            for at in 0..self.servers.len() {
                while !self.servers[at].running.is_empty() {
                    self.steps += 1;
                    self.work_on(at, 0, 5)?;
                    self.drain()?;
                }
            }
            self.carry()?;
        }
        let lost = |call: &&Made| !call.ended && call.sent && call.number.is_some();
        match self.calls.iter().find(lost) {
            Some(call) => Err(format!("the answer to call {:?} was lost", call.number)),
            None => Ok(()),
        }
    }
}
