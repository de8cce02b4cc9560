//! What follows when the server is replaced by a new one that knows nothing of the connection.

use super::{
    AskKey, CallError, Machine, Phase, Queued,
    pending::{Ask, Owner, Stage},
};
use crate::{Time, TransportError};
use sandwire_types::Method;

impl Machine {
    /// What was asked of the old server fails. What can be said again to the new one is, and calls go on.
    pub(super) fn on_restarted(&mut self, now: Time, error: TransportError) {
        if self.is_over() {
            return;
        }
        let was_open = self.phase == Phase::Open;
        let silent = std::mem::take(&mut self.silent);
        self.epoch += 1;
        if cfg!(feature = "asks") {
            self.withdraw_requests();
        }
        let sent: Vec<u64> =
            self.calls.iter().filter(|(_, call)| call.stage == Stage::Sent).map(|(key, _)| key).collect();
        for key in sent {
            match self.calls.get(key) {
                Some(call) if matches!(call.call.method, Method::SubscriptionsListen) && cfg!(feature = "listen") => {
                    self.listen_again(now, key);
                }
                // It may be the question about its versions, read late, over which the server ended.
                Some(call) if call.owner == Owner::Initialize && silent => {
                    self.calls.remove(key);
                    self.initialize_again(now);
                }
                _ => self.conclude(now, key, Err(CallError::Transport(error.clone()))),
            }
        }
        if was_open {
            self.open_again(now);
        }
    }

    /// Readies a subscription to be made again under a new id.
    fn listen_again(&mut self, now: Time, key: u64) {
        let Some(call) = self.calls.rekey(key).and_then(|key| self.calls.get_mut(key)) else { return };
        call.enter(Stage::Queued);
        call.restart_timeout(now);
        self.queue.push(Queued::Call(call.key));
    }

    /// Withdraws what the old server asked by requests of its own. What a call was asked can be told to the new one.
    fn withdraw_requests(&mut self) {
        for slot in self.asks.slots() {
            if let Some(key) = self.asks.key_in(slot)
                && matches!(self.asks.get(key), Some(Ask::Request(_)))
            {
                self.unask(AskKey(key));
            }
        }
    }
}
