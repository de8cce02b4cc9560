//! What comes from the server, and how a call ends.

use super::{
    AskKey, CallError, Machine, OpenError, Output, Phase, notifications,
    pending::{Owner, Pending, Purpose},
};
use crate::{PeerMisbehaved, Time, TransportError, TransportErrorKind, Via, decimal, faults::Fault};
use sandwire_types::{ErrorCode, ErrorObject, Message, Method, Notification, Reply, RequestId, Response, ResultKind};
use std::sync::Arc;

/// The call that a request id of ours names.
pub(super) fn key_of(id: &RequestId) -> Option<u64> {
    match id {
        RequestId::Number(id) => u64::try_from(*id).ok(),
        RequestId::String(_) => None,
    }
}

/// The same for an answer: some servers write the number as a text.
fn key_answered(id: &RequestId) -> Option<u64> {
    match id {
        RequestId::String(digits) if !digits.starts_with('0') => decimal::unsigned(digits.as_bytes()),
        RequestId::String(_) => None,
        number => key_of(number),
    }
}

impl Machine {
    pub(super) fn on_message(&mut self, now: Time, via: Via, message: Message) {
        if let Via::Exchange(exchange) = via
            && let Some(exchange) = self.exchanges.get_mut(exchange.0)
            // What a refusal says in its body is not what the stream would have brought.
            && exchange.failure.is_none()
        {
            exchange.bookmark.attempts = 0;
        }
        match message {
            Message::Response(response) => self.on_response(now, via, response),
            Message::Notification(notification) => self.on_notification(now, notification),
            Message::Request(request) => self.on_request(request),
        }
    }

    fn on_response(&mut self, now: Time, via: Via, response: Response) {
        let key = match (&response.id, via) {
            (Some(id), _) => key_answered(id),
            (None, Via::Exchange(exchange)) => self.call_of(exchange.0),
            (None, Via::Pipe) => None,
        };
        // An answer to a call that is over, or was never made, is late or lost: nobody waits for it.
        let Some(key) = key.filter(|key| self.is_sent(*key) && !Fault::ClientLosesAnswer.happens()) else { return };
        match response.result {
            Ok(reply) => self.on_reply(now, key, reply),
            Err(error) => self.on_error(now, key, error),
        }
    }

    /// Whether a call's answer may come.
    pub(super) fn is_sent(&self, key: u64) -> bool {
        self.calls.get(key).is_some_and(Pending::is_sent)
    }

    /// The call whose exchange this is.
    pub(super) fn call_of(&self, exchange: u64) -> Option<u64> {
        match self.exchanges.get(exchange)?.purpose {
            Purpose::Call(key) => Some(key),
            _ => None,
        }
    }

    pub(super) fn on_unsent(&mut self, now: Time, id: &RequestId, error: TransportError) {
        #[cfg(feature = "sse")]
        {
            // The link knew where to send it to, and is what it is taken for.
            self.refusal = None;
        }
        if let Some(key) = key_of(id) {
            self.conclude(now, key, Err(CallError::Transport(error)));
        }
    }

    fn on_reply(&mut self, now: Time, key: u64, mut reply: Reply) {
        self.remembered = false;
        if !self.is_modern() {
            reply.kind = ResultKind::Complete;
        }
        match &reply.kind {
            ResultKind::Complete => {
                #[cfg(feature = "param-headers")]
                self.learn(key, &mut reply);
            }
            ResultKind::InputRequired => return self.input_required(now, key, reply),
            ResultKind::Other(kind) if !self.config.result_types.contains(kind) => {
                return self.blame(now, key, PeerMisbehaved::UnknownResultType);
            }
            ResultKind::Other(_) => {}
        }
        self.conclude(now, key, Ok(reply));
    }

    fn on_error(&mut self, now: Time, key: u64, error: ErrorObject) {
        let exchange = self.calls.get(key).and_then(|call| call.exchange);
        if exchange.is_some_and(|exchange| self.renew(now, key, exchange)) {
            return;
        }
        // What a status says of authorization and of the session goes before what its body says, but for the words.
        let failure = exchange.and_then(|exchange| self.exchanges.get(exchange)?.failure.as_ref());
        if let Some(failure) = failure.filter(|failure| {
            matches!(failure.kind(), TransportErrorKind::Unauthorized | TransportErrorKind::Restarted)
        }) {
            let failure = failure.with_message(error.message);
            return self.conclude(now, key, Err(CallError::Transport(failure)));
        }
        if cfg!(feature = "asks") && error.code == ErrorCode::URL_ELICITATION_REQUIRED {
            self.note_visits(error.data.as_ref());
        }
        match error.code {
            #[cfg(feature = "param-headers")]
            ErrorCode::HEADER_MISMATCH if self.may_relist(key) => self.relist(now, key, error),
            ErrorCode::UNSUPPORTED_PROTOCOL_VERSION if self.remembered => self.reopen(now, key),
            _ => self.conclude(now, key, Err(CallError::Peer(error))),
        }
    }

    /// Ends a call because of what the server did.
    pub(super) fn blame(&mut self, now: Time, key: u64, fault: PeerMisbehaved) {
        self.conclude(now, key, Err(CallError::Misbehaved(fault)));
    }

    /// Ends a call, or what the machine asked for itself.
    pub(super) fn conclude(&mut self, now: Time, key: u64, result: Result<Reply, CallError>) {
        let Some(pending) = self.calls.remove(key) else { return };
        if let Some(exchange) = pending.exchange {
            self.settle(now, exchange);
        }
        if cfg!(feature = "asks") {
            self.unask_all(&pending);
        }
        let Pending { owner, key, exchange, call, .. } = *pending;
        match owner {
            Owner::Standing => {}
            Owner::Caller => {
                self.unheard &= result.is_err();
                if cfg!(feature = "listen") && result.is_ok() && !self.is_modern() {
                    self.note_standing(call);
                }
                self.outputs.push_back(Output::Done { key, result });
            }
            #[cfg(feature = "param-headers")]
            Owner::Relist(call) => self.relisted(now, call, &result),
            Owner::Discover | Owner::Initialize => {
                let failure = exchange.and_then(|exchange| self.exchanges.get(exchange)?.failure.clone());
                self.opening_answered(now, owner, result, failure);
            }
        }
    }

    /// Ends a call before its answer came, and tells the server so where it may be told.
    pub(super) fn give_up(&mut self, now: Time, key: u64, error: CallError, reason: Option<&str>) {
        let Some(pending) = self.calls.get(key) else { return };
        let opens = matches!(pending.owner, Owner::Discover | Owner::Initialize);
        let tell = pending.is_sent() && !opens && !matches!(pending.call.method, Method::ServerDiscover);
        if tell && self.is_http() && self.is_modern() {
            if let Some(exchange) = pending.exchange {
                self.abandon(exchange);
            }
        } else if tell && !Fault::ClientKeepsCancellationToItself.happens() {
            let params = notifications::cancelled_params(key, reason);
            self.send_notification(Notification::new(Method::Cancelled, Some(params)), Purpose::Post);
        }
        self.conclude(now, key, Err(error));
    }

    pub(super) fn on_closed(&mut self, error: Option<TransportError>) {
        match self.phase {
            Phase::New | Phase::Opening => self.fail_opening(error.map_or(OpenError::Closed, OpenError::Transport)),
            Phase::Open => self.end_everything(error),
            Phase::Ending(_) | Phase::Closed => {}
        }
        self.phase = Phase::Closed;
        self.exchanges = super::Slab::new();
        self.wake_at = Time::NEVER;
    }

    /// Ends every call and question, because the connection could not be opened, was closed or is lost.
    pub(super) fn end_everything(&mut self, lost: Option<TransportError>) {
        self.queue.clear();
        self.listen_at = Time::NEVER;
        if cfg!(feature = "asks") {
            for slot in self.asks.slots() {
                if let Some(key) = self.asks.key_in(slot) {
                    self.unask(AskKey(key));
                }
            }
        }
        for slot in self.calls.slots() {
            if let Some(pending) = self.calls.key_in(slot).and_then(|key| self.calls.remove(key))
                && pending.owner == Owner::Caller
            {
                let error = match &self.failure {
                    Some(error) => CallError::Open(Arc::clone(error)),
                    None => CallError::Closed(lost.clone()),
                };
                self.outputs.push_back(Output::Done { key: pending.key, result: Err(error) });
            }
        }
    }
}
