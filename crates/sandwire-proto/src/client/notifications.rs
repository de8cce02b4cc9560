//! What the server tells: progress to its call, events to their subscription, the rest to whoever listens.

use super::{AskKey, CallError, Machine, Output, Stage, pending::Ask};
use crate::{PeerMisbehaved, Time, decimal};
use sandwire_json::{Raw, find};
use sandwire_types::{Method, Notification, RequestId};
use std::cmp::Ordering;

impl Machine {
    pub(super) fn on_notification(&mut self, now: Time, notification: Notification) {
        if notification.method == Method::Progress {
            return self.on_progress(now, notification);
        }
        if notification.method == Method::Cancelled {
            if cfg!(any(feature = "asks", feature = "listen")) {
                self.on_cancelled(now, notification.params.as_ref());
            }
            return;
        }
        match &notification.subscription {
            None => self.outputs.push_back(Output::Notification(notification)),
            Some(RequestId::Number(id)) if cfg!(feature = "listen") => {
                if let Some(pending) = u64::try_from(*id).ok().and_then(|key| self.calls.get(key)) {
                    self.outputs.push_back(Output::Event { key: pending.key, notification });
                }
            }
            Some(_) => {}
        }
    }

    fn on_progress(&mut self, now: Time, notification: Notification) {
        let Some(params) = notification.params else { return };
        let text = params.as_str();
        let Some(key) = find(text, "progressToken").and_then(decimal::unsigned) else { return };
        let Some(progress) = find(text, "progress") else { return };
        let Some(pending) = self.calls.get_mut(key) else { return };
        if !pending.progress || !matches!(pending.stage, Stage::Sent | Stage::Resuming(_)) {
            return;
        }
        let increases = match &pending.told {
            None => decimal::compare(progress, progress).is_some(),
            Some(told) => decimal::compare(told, progress) == Some(Ordering::Less),
        };
        if increases {
            pending.told = Some(progress.into());
            if pending.reset_on_progress {
                pending.restart_timeout(now);
            }
            let key = pending.key;
            self.outputs.push_back(Output::Progress { key, params });
        }
    }

    fn on_cancelled(&mut self, now: Time, params: Option<&Raw>) {
        let Some(id) = params.and_then(|params| params.get("requestId")) else { return };
        let Ok(id) = sandwire_json::from_str::<RequestId>(id.as_str()) else { return };
        let withdrawn = self.asks.iter().find(|(_, ask)| matches!(ask, Ask::Request(asked) if *asked == id));
        if let Some((key, _)) = withdrawn {
            self.asks.remove(key);
            return self.outputs.push_back(Output::Unask(AskKey(key)));
        }
        // A modern server may end a subscription so.
        if let RequestId::Number(id) = id
            && let Ok(key) = u64::try_from(id)
            && self.calls.get(key).is_some_and(|pending| pending.method == Method::SubscriptionsListen)
        {
            self.conclude(now, key, Err(CallError::Misbehaved(PeerMisbehaved::EndedWithoutResponse)));
        }
    }
}

pub(super) fn cancelled_params(key: u64, reason: Option<&str>) -> Raw {
    let mut params = sandwire_json::Writer::new();
    params.begin_object();
    params.key("requestId");
    params.integer(key as i64);
    if let Some(reason) = reason {
        params.key("reason");
        params.string(reason);
    }
    params.end_object();
    params.into_raw()
}
