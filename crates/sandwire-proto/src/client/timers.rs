use super::{CallError, Machine, Phase, Stage};
use crate::Time;

impl Machine {
    /// Sees to it that the machine is woken by `at`.
    pub(super) fn arm(&mut self, at: Option<Time>) {
        self.wake_at = match (self.wake_at, at) {
            (Some(armed), Some(at)) => Some(armed.min(at)),
            (armed, at) => armed.or(at),
        };
    }

    /// Does everything that is due.
    pub(super) fn on_tick(&mut self, now: Time) {
        if self.wake_at.is_none_or(|at| now < at) {
            return;
        }
        self.wake_at = None;
        for key in self.calls.keys() {
            self.call_due(now, key);
        }
        for key in self.exchanges.keys() {
            if self.exchanges.get(key).is_some_and(|exchange| exchange.drop_at.is_some_and(|at| at <= now)) {
                self.abandon(key);
            }
        }
        if cfg!(feature = "listen") {
            self.listen_due(now);
        }
        if let Phase::Ending(until) = self.phase {
            if until <= now {
                self.ended_session();
            } else {
                self.arm(Some(until));
            }
        }
        let calls = self.calls.iter().filter_map(|(_, call)| call.due()).min();
        let exchanges = self.exchanges.iter().filter_map(|(_, exchange)| exchange.drop_at).min();
        self.arm(calls);
        self.arm(exchanges);
    }

    fn call_due(&mut self, now: Time, key: u64) {
        let Some(call) = self.calls.get(key) else { return };
        if call.deadline.into_iter().chain(call.limit).any(|at| at <= now) {
            return self.give_up(now, key, CallError::Timeout, Some("no answer came in time"));
        }
        match call.stage {
            Stage::Paused(at) if cfg!(feature = "asks") && at <= now => self.next_round(now, key),
            Stage::Resuming(at) if cfg!(feature = "resume") && at <= now => self.resume(key),
            _ => {}
        }
    }
}
