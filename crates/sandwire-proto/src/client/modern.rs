//! What only the modern era has: calls that are asked for input.

use super::{
    AskKey, CallError, CallKey, Machine,
    pending::{Ask, Asked, Owner, Pending, Rounds, Stage},
};
use crate::{PeerIncompatible, PeerMisbehaved, Time};
use sandwire_json::{Error as JsonError, ErrorKind, Kind, Raw, Reader, Writer};
use sandwire_types::{ErrorObject, Method, Reply};

/// How long to wait when the server only asked to come again.
const BACK_OFF_MS: u64 = 250;

/// What `input_required` asks for.
#[derive(Default)]
struct InputRequired {
    requests: Vec<InputRequest>,
    state: Option<Raw>,
}

struct InputRequest {
    name: String,
    method: Method,
    params: Raw,
}

impl InputRequired {
    /// Reads a result that asks for no more than `most` things at once, each by a name of its own.
    fn read(result: &Raw, most: usize) -> Result<Self, PeerMisbehaved> {
        let mut read = Self::default();
        let mut fault = PeerMisbehaved::InvalidMessage;
        let done = result.reader().object(&mut |key, reader| match key {
            "inputRequests" if reader.peek()? == Kind::Object => reader.object(&mut |name, reader| {
                if read.requests.len() >= most {
                    fault = PeerMisbehaved::TooManyInputRequests;
                    return Err(reader.error(ErrorKind::Custom, "too many input requests"));
                }
                if read.requests.iter().any(|request| request.name == name) {
                    return Err(reader.error(ErrorKind::Duplicate, "input request named twice"));
                }
                read.requests.push(InputRequest::read(name, reader)?);
                Ok(())
            }),
            "requestState" if reader.peek()? == Kind::String => {
                read.state = Some(Raw::from_valid(reader.raw()?));
                Ok(())
            }
            _ => reader.skip(),
        });
        match done {
            Ok(()) if read.requests.is_empty() && read.state.is_none() => Err(PeerMisbehaved::EmptyInputRequest),
            Ok(()) => Ok(read),
            Err(_) => Err(fault),
        }
    }
}

impl InputRequest {
    fn read(name: &str, reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        let mut method = None;
        let mut params = None;
        reader.object(&mut |key, reader| {
            match key {
                "method" => method = Some(Method::from(&*reader.string()?)),
                "params" => params = Some(Raw::from_valid(reader.raw()?)),
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        let method = method.ok_or_else(|| JsonError::missing("method", reader))?;
        Ok(Self { name: name.into(), method, params: params.unwrap_or_else(Raw::object) })
    }
}

impl Machine {
    /// A call is to be made again with more input.
    pub(super) fn input_required(&mut self, now: Time, key: u64, reply: Reply) {
        if !cfg!(feature = "asks") {
            return self.conclude(now, key, Err(CallError::Incompatible(PeerIncompatible::NeedsInput)));
        }
        let Some(call) = self.calls.get(key) else { return };
        let round = call.rounds.as_ref().map_or(0, |rounds| rounds.count) + 1;
        match self.read_round(call, round, &reply.value) {
            Ok(_) if call.call.manual_rounds => self.conclude(now, key, Ok(reply)),
            Ok(input) => self.begin_round(now, key, round, input),
            Err(fault) => self.blame(now, key, fault),
        }
    }

    fn read_round(&self, call: &Pending, round: u32, result: &Raw) -> Result<InputRequired, PeerMisbehaved> {
        let limits = &self.config.limits;
        if call.owner != Owner::Caller || call.call.method.facts().is_some_and(|facts| !facts.may_require_input) {
            return Err(PeerMisbehaved::UnknownResultType);
        }
        let input = InputRequired::read(result, limits.max_peer_requests.saturating_sub(self.asks.len()))?;
        if round > limits.max_rounds {
            return Err(PeerMisbehaved::TooManyRounds);
        }
        match input.requests.iter().all(|request| self.admit(&request.method, &request.params).is_ok()) {
            true => Ok(input),
            false => Err(PeerMisbehaved::UndeclaredInput),
        }
    }

    fn begin_round(&mut self, now: Time, key: u64, round: u32, input: InputRequired) {
        let Some(call) = self.calls.get_mut(key) else { return };
        let caller = call.key;
        let exchange = call.exchange.take();
        // A person may take longer to answer than a server may.
        call.deadline = Time::NEVER;
        if input.requests.is_empty() {
            let at = now.after(BACK_OFF_MS);
            call.enter_until(at, Stage::Paused);
            self.arm(at);
        } else {
            call.enter(Stage::Asking);
        }
        let mut asked = Vec::new();
        for InputRequest { name, method, params } in input.requests {
            if let Some(ask) = self.ask(Ask::Round { call: caller }, method, params) {
                asked.push(Asked { name, ask, answer: None });
            }
        }
        if let Some(call) = self.calls.get_mut(key) {
            let rounds = call.rounds.get_or_insert_default();
            rounds.count = round;
            rounds.state = input.state;
            rounds.asked = asked;
        }
        if let Some(exchange) = exchange {
            self.settle(now, exchange);
        }
    }

    /// The application answered one of a call's questions.
    pub(super) fn round_answered(&mut self, now: Time, caller: CallKey, ask: AskKey, answer: Result<Raw, ErrorObject>) {
        let Some(key) = self.find(caller) else { return };
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => return self.conclude(now, key, Err(CallError::Refused(error))),
        };
        let Some(rounds) = self.calls.get_mut(key).and_then(|call| call.rounds.as_mut()) else { return };
        if let Some(asked) = rounds.asked.iter_mut().find(|asked| asked.ask == ask) {
            asked.answer = Some(answer);
        }
        if rounds.asked.iter().all(|asked| asked.answer.is_some()) {
            self.next_round(now, key);
        }
    }

    /// Makes a call again with what was asked for, under a new id.
    pub(super) fn next_round(&mut self, now: Time, key: u64) {
        let Some(key) = self.calls.rekey(key) else { return };
        let Some(call) = self.calls.get_mut(key) else { return };
        if let Some(rounds) = &mut call.rounds {
            rounds.params = Some(rounds.answered(call.call.params.as_ref()));
        }
        call.enter(Stage::Queued);
        call.restart_timeout(now);
        let due = call.due();
        self.arm(due);
        self.send_call(now, key);
    }
}

impl Rounds {
    /// The caller's parameters with what was answered.
    fn answered(&mut self, base: Option<&Raw>) -> Raw {
        let mut params = Writer::new();
        params.begin_object();
        if let Some(base) = base {
            // The caller's own members of these names would belong to an earlier round.
            let _ = base.reader().object(&mut |member, reader| {
                let value = reader.raw()?;
                if !matches!(member, "inputResponses" | "requestState") {
                    params.key(member);
                    params.raw(value);
                }
                Ok(())
            });
        }
        if !self.asked.is_empty() {
            params.key("inputResponses");
            params.begin_object();
            for asked in self.asked.drain(..) {
                if let Some(answer) = asked.answer {
                    params.key(&asked.name);
                    params.raw(answer.as_str());
                }
            }
            params.end_object();
        }
        if let Some(state) = self.state.take() {
            params.key("requestState");
            params.raw(state.as_str());
        }
        params.end_object();
        params.into_raw()
    }
}
