//! What only the modern era has: calls that are asked for input.

use super::{
    AskKey, CallError, CallKey, Machine, Output, Queued,
    pending::{Ask, Asked, Owner, Stage},
};
use crate::{PeerIncompatible, PeerMisbehaved, Time};
use sandwire_json::{Error as JsonError, Kind, Raw, Writer};
use sandwire_types::{ErrorObject, Method};

/// How long to wait when the server only asked to come again.
const BACK_OFF_MS: u64 = 250;

/// What `input_required` asks for.
#[derive(Default)]
struct InputRequired {
    requests: Vec<(String, Method, Raw)>,
    state: Option<Raw>,
}

impl InputRequired {
    fn read(result: &Raw) -> Result<Self, JsonError> {
        let mut read = Self::default();
        result.reader().object(&mut |key, reader| match key {
            "inputRequests" if reader.peek()? == Kind::Object => reader.object(&mut |name, reader| {
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
                read.requests.push((name.into(), method, params.unwrap_or_else(Raw::object)));
                Ok(())
            }),
            "requestState" if reader.peek()? == Kind::String => {
                read.state = Some(Raw::from_valid(reader.raw()?));
                Ok(())
            }
            _ => reader.skip(),
        })?;
        Ok(read)
    }
}

impl Machine {
    /// A call is to be made again with more input.
    pub(super) fn input_required(&mut self, now: Time, key: u64, result: &Raw) {
        if !cfg!(feature = "asks") {
            return self.conclude(now, key, Err(CallError::Incompatible(PeerIncompatible::NeedsInput)));
        }
        let Some(call) = self.calls.get(key) else { return };
        let may_ask = call.owner == Owner::Caller && call.method.facts().is_none_or(|facts| facts.may_require_input);
        let round = call.rounds.as_ref().map_or(0, |rounds| rounds.count) + 1;
        let read = InputRequired::read(result);
        let fault = match &read {
            _ if !may_ask => PeerMisbehaved::UnknownResultType,
            Err(_) => PeerMisbehaved::InvalidMessage,
            Ok(asked) if asked.requests.is_empty() && asked.state.is_none() => PeerMisbehaved::EmptyInputRequest,
            Ok(_) if round > self.config.limits.max_rounds => PeerMisbehaved::TooManyRounds,
            Ok(asked)
                if asked.requests.iter().any(|(_, method, params)| self.declared.admit(method, params).is_err()) =>
            {
                PeerMisbehaved::UndeclaredInput
            }
            Ok(asked) if self.asks.len() + asked.requests.len() > self.config.limits.max_peer_requests => {
                PeerMisbehaved::EmptyInputRequest
            }
            Ok(_) => return self.begin_round(now, key, round, read.unwrap_or_default()),
        };
        self.conclude(now, key, Err(CallError::Misbehaved(fault)));
    }

    fn begin_round(&mut self, now: Time, key: u64, round: u32, input: InputRequired) {
        let Some(call) = self.calls.get_mut(key) else { return };
        let caller = call.key;
        let exchange = call.exchange.take();
        let mut rounds = call.rounds.take().unwrap_or_default();
        rounds.count = round;
        rounds.state = input.state;
        rounds.asked.clear();
        // A person may take longer to answer than a server may.
        call.deadline = None;
        call.stage = Stage::Asking;
        if input.requests.is_empty() {
            let at = now.after(BACK_OFF_MS);
            call.stage = Stage::Paused(at);
            self.arm(Some(at));
        }
        for (name, method, params) in input.requests {
            let Some(ask) = self.asks.insert(Ask::Round { call: caller }) else { break };
            rounds.asked.push(Asked { name, ask: AskKey(ask), answer: None });
            self.outputs.push_back(Output::Ask { key: AskKey(ask), method, params });
        }
        if let Some(call) = self.calls.get_mut(key) {
            call.rounds = Some(rounds);
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
        let base = call.params.clone();
        if let Some(rounds) = &mut call.rounds {
            let mut params = Writer::new();
            params.begin_object();
            if let Some(base) = &base {
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
            if !rounds.asked.is_empty() {
                params.key("inputResponses");
                params.begin_object();
                for asked in rounds.asked.drain(..) {
                    if let Some(answer) = asked.answer {
                        params.key(&asked.name);
                        params.raw(answer.as_str());
                    }
                }
                params.end_object();
            }
            if let Some(state) = rounds.state.take() {
                params.key("requestState");
                params.raw(state.as_str());
            }
            params.end_object();
            rounds.params = Some(params.into_raw());
        }
        call.restart_timeout(now);
        let due = call.due();
        self.arm(due);
        self.send_call(now, key);
    }

    /// Readies a call to be made again under a new id, once.
    pub(super) fn requeue(&mut self, now: Time, key: u64) {
        let Some(call) = self.calls.rekey(key).and_then(|key| self.calls.get_mut(key)) else { return };
        call.renewed = true;
        call.stage = Stage::Queued;
        let caller = call.key;
        let exchange = call.exchange.take();
        if let Some(exchange) = exchange {
            self.settle(now, exchange);
        }
        self.queue.push_back(Queued::Call(caller));
    }
}
