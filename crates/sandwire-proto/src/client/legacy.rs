//! What only the legacy era has: sessions, and streams that are taken up again.

use super::{
    Machine, Output, Phase, SessionLoss,
    pending::{Bookmark, Owner, Purpose, Stage},
};
use crate::{
    Time, TransportErrorKind,
    http::{ResponseHead, names, outgoing},
};

/// How long the end of a session may take.
pub(super) const END_PATIENCE_MS: u64 = 2_000;

const RETRY_MS: u64 = 1_000;
/// A server that wants its stream back at once and ends it at once must not keep both sides busy.
const MIN_RETRY_MS: u64 = 100;
/// No server is left alone for longer, whatever it asks for.
const MAX_RETRY_MS: u64 = 600_000;
/// How long attempts that follow each other wait at most, if the server does not ask for longer.
const MAX_BACK_OFF_MS: u64 = 30_000;
/// How often in a row a stream is taken up again without anything new.
const MAX_ATTEMPTS: u32 = 2;
/// The same for the stream of messages that belong to no call, which nobody waits for: some minutes.
const MAX_LISTEN_ATTEMPTS: u32 = 10;

impl Machine {
    /// The answer to `initialize` may name a session.
    pub(super) fn begin_session(&mut self, head: &ResponseHead) {
        if let Some(session) = head.headers.get(names::SESSION_ID) {
            let visible = !session.is_empty() && session.bytes().all(|byte| byte.is_ascii_graphic());
            self.session = visible.then(|| session.into());
        }
    }

    /// Opens an event stream, where it was left.
    fn open_stream(&mut self, purpose: Purpose, bookmark: Bookmark) -> Option<u64> {
        let head = outgoing::legacy_stream(self.version()?, self.session.as_deref(), bookmark.last_event.as_deref());
        let id = self.open_exchange(purpose, head)?;
        self.exchanges.get_mut(id)?.bookmark = bookmark;
        Some(id)
    }

    /// Opens the stream of messages that belong to no call.
    pub(super) fn listen(&mut self) {
        self.listen_at = Time::NEVER;
        let bookmark = std::mem::take(&mut self.listen_from);
        self.open_stream(Purpose::Listen, bookmark);
    }

    /// That stream ended. A server that does not offer one says so by its status, and is not asked again.
    pub(super) fn listen_ended(&mut self, now: Time, id: u64) {
        let open = self.phase == Phase::Open && !self.is_modern();
        let Some(exchange) = self.exchanges.get_mut(id) else { return };
        if !open || exchange.epoch != self.epoch {
            return;
        }
        let attempts = exchange.bookmark.attempts;
        let again = match &exchange.failure {
            Some(failure) if failure.kind() == TransportErrorKind::Restarted && attempts > 0 => {
                return self.stream_forgotten(now);
            }
            Some(failure) => failure.is_transient() && attempts < MAX_LISTEN_ATTEMPTS,
            None => exchange.stream || !exchange.answered && attempts < MAX_LISTEN_ATTEMPTS,
        };
        if again {
            let asked = exchange.bookmark.wait_ms();
            let wait = asked.max(MIN_RETRY_MS) << attempts.min(5);
            self.listen_at = now.after(wait.min(asked.max(MAX_BACK_OFF_MS)));
            self.listen_from = exchange.bookmark.next();
            self.arm(self.listen_at);
        } else {
            #[cfg(feature = "listen")]
            if let Some(failure) = exchange.failure.take() {
                self.outputs.push_back(Output::Warning(super::Warning::StreamRefused(failure)));
            }
        }
    }

    /// A stream that was there is not any more: the session is over. It is replaced without a call that found out, but
    /// not over and over while no call succeeds.
    fn stream_forgotten(&mut self, now: Time) {
        if !std::mem::replace(&mut self.unheard, true) {
            self.reinitialize(now);
        }
    }

    pub(super) fn listen_due(&mut self, now: Time) {
        if self.listen_at <= now {
            self.listen();
        } else {
            self.arm(self.listen_at);
        }
    }

    /// Sees to it that a call's stream that broke is taken up again, if it can be.
    pub(super) fn resume_later(&mut self, now: Time, key: u64, id: u64) -> bool {
        let open = self.phase == Phase::Open && !self.is_modern();
        let (Some(exchange), Some(call)) = (self.exchanges.get_mut(id), self.calls.get_mut(key)) else {
            return false;
        };
        let may = cfg!(feature = "resume")
            && open
            && call.owner == Owner::Caller
            && exchange.epoch == self.epoch
            && exchange.bookmark.last_event.is_some()
            && exchange.bookmark.attempts <= MAX_ATTEMPTS
            && match &exchange.failure {
                Some(failure) => failure.is_transient(),
                None => exchange.stream || !exchange.answered,
            };
        if may {
            let at = now.after(exchange.bookmark.wait_ms());
            call.exchange = None;
            call.bookmark = exchange.bookmark.next();
            call.enter_until(at, Stage::Resuming);
            self.arm(at);
        }
        may
    }

    /// Takes up a call's stream after the last event seen.
    pub(super) fn resume(&mut self, now: Time, key: u64) {
        let Some(call) = self.calls.get_mut(key) else { return };
        if self.phase != Phase::Open {
            return call.enter_until(now.after(RETRY_MS), Stage::Resuming);
        }
        let bookmark = std::mem::take(&mut call.bookmark);
        let exchange = self.open_stream(Purpose::Call(key), bookmark);
        if let Some(call) = self.calls.get_mut(key) {
            call.exchange = exchange;
            call.enter(Stage::Sent);
        }
    }

    /// Begins a new session if a call's exchange failed because the old one is over, and makes the call again in it, once.
    pub(super) fn renew(&mut self, now: Time, key: u64, id: u64) -> bool {
        let (Some(exchange), Some(call)) = (self.exchanges.get(id), self.calls.get(key)) else { return false };
        let lost = exchange.failure.as_ref().is_some_and(|failure| failure.kind() == TransportErrorKind::Restarted);
        if !lost || call.owner != Owner::Caller || call.renewed {
            return false;
        }
        let superseded = exchange.epoch != self.epoch;
        let again = self.config.session_loss == SessionLoss::CallAgain;
        if again {
            self.requeue(now, key);
        }
        if superseded {
            // Another call has begun the new session already.
            self.send_queued(now);
        } else if self.phase == Phase::Open {
            let listening = self.exchanges.iter().find(|(_, exchange)| exchange.purpose == Purpose::Listen);
            if let Some((id, _)) = listening {
                self.abandon(id);
            }
            self.listen_at = Time::NEVER;
            self.listen_from = Bookmark::default();
            self.reinitialize(now);
        }
        again
    }

    /// The session is ended, or the server did not care to say so.
    pub(super) fn ended_session(&mut self) {
        if matches!(self.phase, Phase::Ending(_)) {
            self.phase = Phase::Closed;
            self.outputs.push_back(Output::Close);
        }
    }
}

impl Bookmark {
    /// How long to wait before the stream is taken up again.
    fn wait_ms(&self) -> u64 {
        self.retry_ms.unwrap_or(RETRY_MS).min(MAX_RETRY_MS)
    }

    /// The same place for the next attempt, leaving nothing here.
    fn next(&mut self) -> Self {
        let mut next = std::mem::take(self);
        next.attempts += 1;
        next
    }
}
