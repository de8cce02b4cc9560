use super::{
    CallError, Ended, Machine, OpenError, Output,
    answers::key_of,
    pending::{Exchange, Owner, Purpose, Stage},
};
use crate::{
    ExchangeId, PeerMisbehaved, Time, TransportError, Via, decimal,
    http::{Content, RequestHead, ResponseHead, failure, names},
};
use sandwire_types::{ErrorObject, WireError};

/// How long the stream of a call that is over may take to end by itself.
const DROP_AFTER_MS: u64 = 5_000;

impl Machine {
    pub(super) fn begin_exchange(&mut self, purpose: Purpose) -> Option<u64> {
        self.exchanges.insert(Exchange::new(purpose, self.epoch))
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
            exchange.drop_at = now.after(DROP_AFTER_MS);
            let at = exchange.drop_at;
            self.arm(at);
        }
    }

    pub(super) fn on_head(&mut self, now: Time, id: u64, head: &ResponseHead) {
        let content = Content::of(&head.headers);
        let Some(exchange) = self.exchanges.get_mut(id) else { return };
        exchange.stream = content == Content::EventStream;
        exchange.answered = true;
        if !head.is_success() {
            let session = exchange.epoch != self.epoch || self.session.is_some();
            exchange.failure = Some(failure(head, session));
            if cfg!(any(feature = "listen", feature = "resume"))
                && let Some(seconds) = head.headers.get(names::RETRY_AFTER)
            {
                let seconds = decimal::unsigned(seconds.as_bytes());
                exchange.bookmark.retry_ms =
                    seconds.map(|seconds| seconds.saturating_mul(1000)).or(exchange.bookmark.retry_ms);
            }
        }
        match exchange.purpose {
            Purpose::Call(key) if head.is_success() => {
                if self.calls.get(key).is_some_and(|call| call.owner == Owner::Initialize) {
                    self.begin_session(head);
                }
                let fault = match (head.status, content) {
                    (202, _) => PeerMisbehaved::AcceptedRequest,
                    (_, Content::Other) => PeerMisbehaved::UnexpectedContentType,
                    _ => return,
                };
                self.abandon(id);
                self.blame(now, key, fault);
            }
            Purpose::Initialized if head.is_success() => {
                exchange.purpose = Purpose::Post;
                self.settle(now, id);
                self.adopt_legacy(now);
            }
            // Nobody waits for more of it.
            Purpose::Post => self.settle(now, id),
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
        let bookmark = &mut exchange.bookmark;
        if event_id.is_some() {
            bookmark.last_event = event_id;
            bookmark.attempts = 0;
        }
        bookmark.retry_ms = retry_ms.or(bookmark.retry_ms);
    }

    pub(super) fn on_ended(&mut self, now: Time, id: u64, how: Ended) {
        let Some(exchange) = self.exchanges.get(id) else { return };
        match (exchange.purpose, how) {
            (Purpose::Call(key), how) => self.call_exchange_ended(now, id, key, how),
            (Purpose::Initialized, how) => self.initialized_ended(now, exchange.failure.clone(), how),
            (Purpose::Listen, _) if cfg!(feature = "listen") => self.listen_ended(now, id),
            (Purpose::End, _) => self.ended_session(),
            (Purpose::Post | Purpose::Listen, _) => {}
        }
        self.exchanges.remove(id);
    }

    /// The server took that the client is ready, or did not.
    fn initialized_ended(&mut self, now: Time, refusal: Option<TransportError>, how: Ended) {
        match (refusal, how) {
            (Some(_), _) if self.config.ignore_failed_initialized => self.adopt_legacy(now),
            (Some(error), _) | (None, Ended::Lost(error)) => self.fail_opening(OpenError::Transport(error)),
            (None, Ended::Finished) => self.adopt_legacy(now),
        }
    }

    /// The call still waits for its answer, which will not come here any more.
    fn call_exchange_ended(&mut self, now: Time, id: u64, key: u64, how: Ended) {
        let waits = self.calls.get(key).is_some_and(|call| call.exchange == Some(id) && call.stage == Stage::Sent);
        if !waits || self.resume_later(now, key, id) || self.renew(now, key, id) {
            return;
        }
        let Some(exchange) = self.exchanges.get(id) else { return };
        let error = match (&exchange.failure, how) {
            (Some(failure), _) => CallError::Transport(failure.clone()),
            (None, Ended::Lost(error)) => CallError::Transport(error),
            (None, Ended::Finished) if exchange.garbage => CallError::Misbehaved(PeerMisbehaved::InvalidMessage),
            (None, Ended::Finished) => CallError::Misbehaved(PeerMisbehaved::EndedWithoutResponse),
        };
        self.conclude(now, key, Err(error));
    }

    pub(super) fn on_garbage(&mut self, now: Time, via: Via, error: WireError) {
        let mut key = None;
        if let Via::Exchange(id) = via
            && let Some(exchange) = self.exchanges.get_mut(id.0)
        {
            exchange.garbage = true;
            key = self.call_of(id.0);
        }
        if error.is_response {
            let key = error.id.as_ref().and_then(key_of).or(key);
            if let Some(key) = key.filter(|key| self.is_sent(*key)) {
                self.blame(now, key, PeerMisbehaved::InvalidMessage);
            }
        } else if error.wants_answer()
            && let Some(id) = error.id
            && !self.is_modern()
        {
            self.respond(id, Err(ErrorObject::new(error.code, error.message)));
        }
    }
}
