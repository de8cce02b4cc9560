use super::{
    CallError, Ended, Machine, Output,
    pending::{Exchange, Owner, Purpose, Stage},
};
use crate::{
    ExchangeId, PeerMisbehaved, Time, Via,
    http::{Content, RequestHead, ResponseHead, failure, names},
};
use sandwire_types::{ErrorObject, WireError};

/// How long the stream of a call that is over may take to end by itself.
const DROP_AFTER_MS: u64 = 5_000;

impl Machine {
    pub(super) fn begin_exchange(&mut self, purpose: Purpose) -> Option<u64> {
        let mut exchange = Exchange::new(purpose);
        exchange.epoch = self.epoch;
        self.exchanges.insert(exchange)
    }

    /// Begins an exchange that carries no message.
    pub(super) fn open_exchange(&mut self, purpose: Purpose, head: RequestHead) -> Option<u64> {
        let exchange = self.begin_exchange(purpose)?;
        self.outputs.push_back(Output::Open { exchange: ExchangeId(exchange), head: Box::new(head) });
        Some(exchange)
    }

    pub(super) fn abandon(&mut self, exchange: u64) {
        if self.exchanges.remove(exchange).is_some() {
            self.outputs.push_back(Output::Abandon(ExchangeId(exchange)));
        }
    }

    /// Leaves an exchange to end by itself, or to be dropped if it does not.
    pub(super) fn settle(&mut self, now: Time, exchange: u64) {
        if let Some(exchange) = self.exchanges.get_mut(exchange) {
            let at = now.after(DROP_AFTER_MS);
            exchange.drop_at = Some(at);
            self.arm(Some(at));
        }
    }

    pub(super) fn on_head(&mut self, now: Time, id: u64, head: &ResponseHead) {
        let content = Content::of(&head.headers);
        let Some(exchange) = self.exchanges.get_mut(id) else { return };
        exchange.stream = content == Content::EventStream;
        exchange.failure = (!head.is_success()).then(|| failure(head));
        exchange.answered = true;
        match exchange.purpose {
            Purpose::Call(key) if head.is_success() => {
                let opens = self.calls.get(key).is_some_and(|call| call.owner == Owner::Initialize);
                if opens && let Some(session) = head.headers.get(names::SESSION_ID) {
                    let visible = !session.is_empty() && session.bytes().all(|byte| byte.is_ascii_graphic());
                    self.session = visible.then(|| session.into());
                }
                let fault = match (head.status, content) {
                    (202, _) => PeerMisbehaved::AcceptedRequest,
                    (_, Content::Other) => PeerMisbehaved::UnexpectedContentType,
                    _ => return,
                };
                self.abandon(id);
                self.conclude(now, key, Err(CallError::Misbehaved(fault)));
            }
            Purpose::Initialized if head.is_success() => {
                exchange.purpose = Purpose::Post;
                self.adopt_legacy(now);
            }
            Purpose::End => {
                self.exchanges.remove(id);
                self.ended_session();
            }
            _ => {}
        }
    }

    pub(super) fn on_mark(&mut self, id: u64, event_id: Option<String>, retry_ms: Option<u64>) {
        let Some(exchange) = self.exchanges.get_mut(id) else { return };
        if !cfg!(any(feature = "listen", feature = "resume")) {
            return;
        }
        if event_id.is_some() {
            exchange.last_event = event_id;
            exchange.attempts = 0;
        }
        exchange.retry_ms = retry_ms.or(exchange.retry_ms);
    }

    pub(super) fn on_ended(&mut self, now: Time, id: u64, how: Ended) {
        let Some(exchange) = self.exchanges.remove(id) else { return };
        match exchange.purpose {
            Purpose::Call(key) => self.call_exchange_ended(now, id, key, exchange, how),
            Purpose::Initialized => match how {
                Ended::Lost(error) if !exchange.answered => {
                    self.fail_opening(super::OpenError::Transport(error));
                }
                _ => self.adopt_legacy(now),
            },
            Purpose::Listen if cfg!(feature = "listen") => self.listen_ended(now, &exchange),
            Purpose::End => self.ended_session(),
            Purpose::Post | Purpose::Listen => {}
        }
    }

    fn call_exchange_ended(&mut self, now: Time, id: u64, key: u64, exchange: Exchange, how: Ended) {
        let waits = |call: &super::Pending| call.exchange == Some(id) && matches!(call.stage, Stage::Sent);
        if !self.calls.get(key).is_some_and(|call| waits(call)) {
            return;
        }
        if self.may_resume(key, &exchange) {
            return self.resume_later(now, key, exchange);
        }
        if self.is_stale(&exchange) && self.renew(now, key, exchange.epoch) {
            return;
        }
        let error = match (&exchange.failure, how) {
            (Some(failure), _) => CallError::Transport(failure.clone()),
            (None, Ended::Lost(error)) => CallError::Transport(error),
            (None, Ended::Finished) if exchange.garbage => CallError::Misbehaved(PeerMisbehaved::InvalidMessage),
            (None, Ended::Finished) => CallError::Misbehaved(PeerMisbehaved::EndedWithoutResponse),
        };
        if let Some(call) = self.calls.get_mut(key) {
            call.exchange = None;
        }
        self.conclude_after(now, key, Err(error), exchange.failure);
    }

    pub(super) fn on_garbage(&mut self, now: Time, via: Via, error: WireError) {
        let mut key = None;
        if let Via::Exchange(id) = via
            && let Some(exchange) = self.exchanges.get_mut(id.0)
        {
            exchange.garbage = true;
            if let Purpose::Call(call) = exchange.purpose
                && error.is_response
            {
                key = Some(call);
            }
        }
        if let Some(sandwire_types::RequestId::Number(id)) = &error.id
            && error.is_response
        {
            key = u64::try_from(*id).ok();
        }
        if let Some(key) = key {
            let waits = self.calls.get(key).is_some_and(|call| matches!(call.stage, Stage::Sent | Stage::Resuming(_)));
            if waits {
                self.conclude(now, key, Err(CallError::Misbehaved(PeerMisbehaved::InvalidMessage)));
            }
        } else if error.wants_answer()
            && let Some(id) = error.id
            && !self.is_modern()
        {
            self.respond(id, Err(ErrorObject::new(error.code, error.message)));
        }
    }
}
