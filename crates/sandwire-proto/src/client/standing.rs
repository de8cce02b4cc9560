//! What a legacy server keeps for a connection, and what a new session or a new server has to be told again.

use super::{
    Call, Machine,
    pending::{Owner, Pending},
};
use crate::{Time, http::outgoing::text_member};
use sandwire_types::Method;

impl Machine {
    /// Keeps a subscription or the log level that was granted in mind, in place of what was before it.
    pub(super) fn note_standing(&mut self, call: Call) {
        if !matches!(call.method, Method::LoggingSetLevel | Method::ResourcesSubscribe | Method::ResourcesUnsubscribe) {
            return;
        }
        self.standing.retain(|other| uri(other) != uri(&call));
        if call.method != Method::ResourcesUnsubscribe && self.standing.len() < self.config.limits.max_queue {
            self.standing.push(call);
        }
    }

    /// Asks for all of it again. Nobody waits for the answers.
    pub(super) fn ask_standing(&mut self, now: Time) {
        for call in self.standing.clone() {
            if let Some(key) = self.insert(Pending::new(Owner::Standing, call, &self.config, now)) {
                self.send_call(now, key);
            }
        }
    }
}

/// Which resource a call is about; none for the log level.
fn uri(call: &Call) -> Option<std::borrow::Cow<'_, str>> {
    text_member(call.params.as_ref()?.as_str(), "uri")
}
