//! What only the legacy era has: requests of the server, sessions, streams that are taken up again.

use super::{
    AskKey, Machine, Output, Phase,
    pending::{Ask, Exchange, Owner, Purpose, Stage},
};
use crate::{Time, http::outgoing};
use sandwire_json::Raw;
use sandwire_types::{ErrorObject, Method, Reply, Request};

/// How long the end of a session may take.
pub(super) const END_PATIENCE_MS: u64 = 2_000;

const RETRY_MS: u64 = 1_000;
/// A server that wants its stream back at once and ends it at once must not keep both sides busy.
const MIN_RETRY_MS: u64 = 100;
const MAX_RETRY_MS: u64 = 30_000;
/// How often in a row a stream is taken up again without anything new.
const MAX_ATTEMPTS: u32 = 2;

/// A stream to take up again.
#[derive(Debug)]
pub(super) struct ListenAgain {
    at: Time,
    last_event: Option<String>,
    attempts: u32,
}

/// What is needed to take up a call's stream again.
#[derive(Debug)]
pub(super) struct Resume {
    last_event: String,
    retry_ms: Option<u64>,
    attempts: u32,
}

impl Machine {
    /// A request of the server. A modern one must not make any.
    pub(super) fn on_request(&mut self, request: Request) {
        if self.is_modern() || matches!(self.phase, Phase::Closed | Phase::Failed(_) | Phase::Ending(_)) {
            return;
        }
        if request.method == Method::Ping {
            return self.respond(request.id, Ok(Reply::empty()));
        }
        if !cfg!(feature = "asks") {
            return self.respond(request.id, Err(ErrorObject::method_not_found(&request.method)));
        }
        let params = request.params.unwrap_or_else(Raw::object);
        let admitted = match self.declared.admit(&request.method, &params) {
            Ok(()) if self.asks.len() >= self.config.limits.max_peer_requests => {
                Err(ErrorObject::internal("too many requests are under way"))
            }
            admitted => admitted,
        };
        match admitted {
            Ok(()) => {
                if let Some(key) = self.asks.insert(Ask::Request(request.id)) {
                    self.outputs.push_back(Output::Ask { key: AskKey(key), method: request.method, params });
                }
            }
            Err(error) => self.respond(request.id, Err(error)),
        }
    }

    /// Opens the stream of messages that belong to no call.
    pub(super) fn listen(&mut self, again: Option<ListenAgain>) {
        let Some(version) = self.version() else { return };
        let last_event = again.as_ref().and_then(|again| again.last_event.as_deref());
        let head = outgoing::legacy_stream(version, self.session.as_deref(), last_event);
        let exchange = self.open_exchange(Purpose::Listen, head);
        if let (Some(again), Some(exchange)) = (again, exchange.and_then(|key| self.exchanges.get_mut(key))) {
            exchange.last_event = again.last_event;
            exchange.attempts = again.attempts + 1;
        }
    }

    /// That stream ended. A server that does not offer one says so by its status, and is not asked again.
    pub(super) fn listen_ended(&mut self, now: Time, exchange: &Exchange) {
        let offered = exchange.failure.is_none() && (exchange.stream || !exchange.answered);
        if !offered || self.is_modern() || self.peer().is_none() || exchange.epoch != self.epoch {
            return;
        }
        if !exchange.stream && exchange.attempts >= MAX_ATTEMPTS {
            return;
        }
        let wait = exchange.retry_ms.unwrap_or(RETRY_MS).clamp(MIN_RETRY_MS, MAX_RETRY_MS) << exchange.attempts.min(5);
        let at = now.after(wait.min(MAX_RETRY_MS));
        self.listen_again =
            Some(ListenAgain { at, last_event: exchange.last_event.clone(), attempts: exchange.attempts });
        self.arm(Some(at));
    }

    pub(super) fn listen_due(&mut self, now: Time) {
        if let Some(again) = self.listen_again.take() {
            if again.at <= now {
                self.listen(Some(again));
            } else {
                let at = again.at;
                self.listen_again = Some(again);
                self.arm(Some(at));
            }
        }
    }

    /// Whether a call's stream that broke can be taken up again.
    pub(super) fn may_resume(&self, key: u64, exchange: &Exchange) -> bool {
        let caller = self.calls.get(key).is_some_and(|call| call.owner == Owner::Caller);
        cfg!(feature = "resume")
            && caller
            && self.peer().is_some()
            && !self.is_modern()
            && exchange.epoch == self.epoch
            && exchange.last_event.is_some()
            && exchange.failure.is_none()
            && exchange.attempts <= MAX_ATTEMPTS
            && (exchange.stream || !exchange.answered)
    }

    pub(super) fn resume_later(&mut self, now: Time, key: u64, exchange: Exchange) {
        let Some(last_event) = exchange.last_event else { return };
        let at = now.after(exchange.retry_ms.unwrap_or(RETRY_MS).min(MAX_RETRY_MS));
        if let Some(call) = self.calls.get_mut(key) {
            call.exchange = None;
            call.stage = Stage::Resuming(at);
            call.resume =
                Some(Box::new(Resume { last_event, retry_ms: exchange.retry_ms, attempts: exchange.attempts }));
            self.arm(Some(at));
        }
    }

    /// Takes up a call's stream after the last event seen.
    pub(super) fn resume(&mut self, key: u64) {
        let Some(version) = self.version() else { return };
        let Some(resume) = self.calls.get_mut(key).and_then(|call| call.resume.take()) else { return };
        let head = outgoing::legacy_stream(version, self.session.as_deref(), Some(&resume.last_event));
        let id = self.open_exchange(Purpose::Call(key), head);
        if let Some(exchange) = id.and_then(|id| self.exchanges.get_mut(id)) {
            exchange.last_event = Some(resume.last_event);
            exchange.retry_ms = resume.retry_ms;
            exchange.attempts = resume.attempts + 1;
        }
        if let Some(call) = self.calls.get_mut(key) {
            call.exchange = id;
            call.stage = Stage::Sent;
        }
    }

    /// Whether an exchange failed because its session is over.
    pub(super) fn is_stale(&self, exchange: &Exchange) -> bool {
        let missing = exchange.failure.as_ref().and_then(|failure| failure.http_status()) == Some(404);
        missing && !self.is_modern() && (exchange.epoch != self.epoch || self.session.is_some())
    }

    /// Makes a call again in a new session, once.
    pub(super) fn renew(&mut self, now: Time, key: u64, epoch: u32) -> bool {
        let renewable = self.calls.get(key).is_some_and(|call| call.owner == Owner::Caller && !call.renewed);
        if !renewable {
            return false;
        }
        self.requeue(now, key);
        if epoch != self.epoch {
            // Another call has begun the new session already.
            self.send_queued_if_open(now);
        } else if matches!(self.phase, Phase::Open(_)) {
            let listening = self.exchanges.iter().find(|(_, exchange)| exchange.purpose == Purpose::Listen);
            if let Some((id, _)) = listening {
                self.abandon(id);
            }
            self.listen_again = None;
            self.reinitialize(now);
        }
        true
    }

    /// The session is ended, or the server did not care to say so.
    pub(super) fn ended_session(&mut self) {
        if matches!(self.phase, Phase::Ending(_)) {
            self.phase = Phase::Closed;
            self.outputs.push_back(Output::Close);
        }
    }
}
