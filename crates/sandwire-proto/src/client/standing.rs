//! What a legacy server keeps for a connection, and what a new session or a new server has to be told again.

use super::{
    Call, Machine,
    pending::{Owner, Pending},
};
use crate::{Time, http::outgoing::text_member};
use sandwire_json::Raw;
use sandwire_types::Method;

/// The parameters of the requests that still stand.
#[derive(Debug, Default)]
pub(super) struct Standing {
    log_level: Option<Raw>,
    subscriptions: Vec<Raw>,
}

impl Machine {
    /// Keeps in mind what a request that succeeded changed in the server.
    pub(super) fn note_standing(&mut self, call: &Call) {
        let Some(params) = &call.params else { return };
        let uri = || text_member(params.as_str(), "uri");
        let standing = &mut self.standing;
        match call.method {
            Method::LoggingSetLevel => standing.log_level = Some(params.clone()),
            Method::ResourcesSubscribe | Method::ResourcesUnsubscribe => {
                standing.subscriptions.retain(|other| text_member(other.as_str(), "uri") != uri());
                let room = standing.subscriptions.len() < self.config.limits.max_queue;
                if room && call.method == Method::ResourcesSubscribe {
                    standing.subscriptions.push(params.clone());
                }
            }
            _ => {}
        }
    }

    /// Asks for all of it again. Nobody waits for the answers.
    pub(super) fn ask_standing(&mut self, now: Time) {
        let Standing { log_level, subscriptions } = &self.standing;
        let level = log_level.iter().map(|params| (Method::LoggingSetLevel, params));
        let subscriptions = subscriptions.iter().map(|params| (Method::ResourcesSubscribe, params));
        let calls: Vec<_> =
            level.chain(subscriptions).map(|(method, params)| Call::new(method, Some(params.clone()))).collect();
        for call in calls {
            if let Some(key) = self.insert(Pending::new(Owner::Standing, call, &self.config, now)) {
                self.send_call(now, key);
            }
        }
    }
}
