//! Running a server over a link, or for one HTTP exchange.

use std::{
    collections::VecDeque,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker, ready},
};

use sandwire_proto::{
    ExchangeId, Input, PeerInfo, Principal, Time, Via,
    server::{Machine, Output},
};
use sandwire_types::{Message, Method, WireError};

use crate::{
    Endpoint, Env, Link, LinkEvent, Timer,
    host::{Answered, Host, Sealing, Started, Takes},
    tasks::Tasks,
};

/// Serves one connection. The future ends when the link does; dropping it closes the connection.
///
/// A client that only closes its own side is still told the results of the calls that are under way, for which they have
/// half a minute.
///
/// Handlers run inside it, so one that blocks holds up the others of its connection.
pub fn serve(endpoint: Arc<dyn Endpoint>, env: Arc<dyn Env>, link: Box<dyn Link>) -> ServeDriver {
    let machine = Machine::new(endpoint.config());
    let host = Host::new(endpoint, env, machine, Sealing::Shared);
    host.hear_changes();
    ServeDriver { runner: Runner::new(host), link, owing: None }
}

/// Runs one connection of a server: poll it on any executor until it ends.
#[must_use = "a connection only moves while its driver is polled"]
pub struct ServeDriver {
    runner: Runner,
    link: Box<dyn Link>,
    /// Once the client sends no more.
    owing: Option<Owing>,
}

/// What is left when the client sends no more: to answer its calls.
struct Owing {
    until: Time,
    timer: Box<dyn Timer>,
}

/// How long calls may take once their client sends no more.
const OWING_MS: u64 = 30_000;

/// How many events of the link one turn takes, so that running handlers are not kept waiting by a flood.
const EVENTS_A_TURN: usize = 64;

impl Future for ServeDriver {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Self { runner, link, owing } = &mut *self;
        runner.host.driver().register(cx.waker());
        runner.turn(&mut |via, message| link.send(via, message, None));
        for _ in 0..EVENTS_A_TURN {
            if owing.as_mut().is_some_and(|owing| runner.host.is_idle() || owing.timer.poll(owing.until, cx).is_ready())
            {
                link.close();
            }
            match ready!(link.poll(cx)) {
                LinkEvent::Closed(None) if link.lingers() => {
                    runner.host.say(Machine::wind_down);
                    runner.turn(&mut |via, message| link.send(via, message, None));
                    let env = runner.host.env();
                    *owing = Some(Owing { until: env.now().after(OWING_MS), timer: env.timer() });
                }
                LinkEvent::Closed(_) => return Poll::Ready(()),
                event => runner.run(Some(event), &mut |via, message| link.send(via, message, None)),
            };
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl std::fmt::Debug for ServeDriver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServeDriver").finish_non_exhaustive()
    }
}

const VIA: Via = Via::Exchange(ExchangeId(0));

/// One HTTP exchange: a request, and the messages that answer it.
///
/// Dropping it before the end cancels what it began.
pub struct Exchange {
    runner: Runner,
    sent: VecDeque<Message>,
}

impl Exchange {
    /// An exchange with a modern client, or with a legacy one without a session, of which `legacy` is what is known;
    /// `from` is the party, if anybody asked.
    pub fn new(
        endpoint: Arc<dyn Endpoint>,
        env: Arc<dyn Env>,
        legacy: Option<Arc<PeerInfo>>,
        from: Option<Arc<Principal>>,
    ) -> Self {
        let machine = Machine::for_exchange(endpoint.config(), legacy, from);
        let host = Host::new(endpoint, env, machine, Sealing::Shared);
        Self { runner: Runner::new(host), sent: VecDeque::new() }
    }

    /// Takes a message of the client.
    pub fn receive(&mut self, message: Message) {
        if matches!(&message, Message::Request(request) if request.method == Method::SubscriptionsListen) {
            self.runner.host.hear_changes();
        }
        self.take(Input::Message { via: VIA, message });
    }

    /// Takes several messages that arrived as one, and what stood in the place of some. Each is answered by itself.
    pub fn receive_batch(&mut self, items: Vec<Result<Message, WireError>>) {
        self.take(Input::Batch { via: VIA, items });
    }

    fn take(&mut self, input: Input) {
        let Self { runner, sent } = self;
        runner.run(Some(input), &mut |_, message| sent.push_back(message));
    }

    /// The next message to the client; nothing once every request has its answer.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Message>> {
        let Self { runner, sent } = self;
        runner.host.driver().register(cx.waker());
        loop {
            let moved = runner.turn(&mut |_, message| sent.push_back(message));
            if let Some(message) = sent.pop_front() {
                return Poll::Ready(Some(message));
            }
            if runner.host.is_idle() {
                return Poll::Ready(None);
            }
            if !moved {
                return Poll::Pending;
            }
        }
    }
}

impl std::fmt::Debug for Exchange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exchange").finish_non_exhaustive()
    }
}

/// A host and its running handlers.
struct Runner {
    host: Arc<Host>,
    tasks: Tasks,
}

impl Runner {
    fn new(host: Arc<Host>) -> Self {
        let tasks = Tasks::new(host.driver());
        Self { host, tasks }
    }

    /// Polls handlers and does what is to do; whether there was anything.
    fn turn(&mut self, send: &mut dyn FnMut(Via, Message)) -> bool {
        let mut moved = false;
        while self.tasks.poll(&self.host) | self.host.has_said() {
            self.run(None, send);
            moved = true;
        }
        moved
    }

    /// Takes what arrived and does what is to do.
    fn run(&mut self, mut input: Option<Input>, send: &mut dyn FnMut(Via, Message)) {
        let mut answered = None;
        loop {
            let (output, more) = self.host.step(input.take(), answered.take(), Takes::All);
            if let Some(output) = output {
                answered = self.step(output, send);
            }
            if !more && answered.is_none() && !self.host.has_said() {
                return;
            }
        }
    }

    fn step(&mut self, output: Output, send: &mut dyn FnMut(Via, Message)) -> Option<Answered> {
        match output {
            Output::Send { via, message } => send(via, message),
            Output::Call { key, request, peer } => match self.host.start(key, request, peer) {
                Started::Answered(answered) => return Some(answered),
                Started::Waits(handler) => self.tasks.push(handler, &self.host),
            },
            Output::Cancel { key } => {
                let (watched, wakers) = self.host.cancelled(key);
                if !watched {
                    self.tasks.drop_handler(key, &self.host);
                }
                wakers.into_iter().for_each(Waker::wake);
            }
            Output::Answer { ask, result } => {
                if let Some(waker) = self.host.answered(ask, result) {
                    waker.wake();
                }
            }
            Output::Notification { notification, peer } => self.host.endpoint().notification(&notification, &peer),
            _ => {}
        }
        None
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.run(Some(Input::Closed(None)), &mut |_, _| {});
        self.tasks.finish(&self.host);
    }
}
