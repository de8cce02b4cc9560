use super::{CallError, Machine, Phase, Stage};
use crate::{Time, faults::Fault};

impl Machine {
    /// Sees to it that the machine is woken by `at`.
    pub(super) fn arm(&mut self, at: Time) {
        self.wake_at = self.wake_at.min(at);
    }

    /// Does everything that is due.
    pub(super) fn on_tick(&mut self, now: Time) {
        if now < self.wake_at {
            return;
        }
        self.wake_at = Time::NEVER;
        for slot in self.calls.slots() {
            if let Some(key) = self.calls.key_in(slot) {
                self.call_due(now, key);
            }
        }
        for slot in self.exchanges.slots() {
            if let Some(key) = self.exchanges.key_in(slot) {
                self.exchange_due(now, key);
            }
        }
        if cfg!(feature = "listen") {
            self.listen_due(now);
        }
        match self.phase {
            Phase::Ending(until) if until <= now => self.ended_session(),
            Phase::Ending(until) => self.arm(until),
            _ => {}
        }
    }

    fn call_due(&mut self, now: Time, key: u64) {
        let Some(call) = self.calls.get(key) else { return };
        if call.deadline.min(call.limit) <= now && !Fault::ClientForgetsTimeout.happens() {
            let error = if call.limit <= now { CallError::TotalTimeout } else { CallError::Timeout };
            return self.give_up(now, key, error, Some("no answer came in time"));
        }
        if call.wake_at <= now {
            match call.stage {
                Stage::Paused if cfg!(feature = "asks") => self.next_round(now, key),
                Stage::Resuming if cfg!(feature = "resume") => self.resume(now, key),
                _ => {}
            }
        }
        if let Some(call) = self.calls.get(key) {
            let at = call.due();
            self.arm(at);
        }
    }

    fn exchange_due(&mut self, now: Time, key: u64) {
        let Some(exchange) = self.exchanges.get(key) else { return };
        if exchange.drop_at <= now {
            self.abandon(key);
        } else {
            let at = exchange.drop_at;
            self.arm(at);
        }
    }
}
