//! What the server tells: progress to its call, events to their subscription, the rest to whoever listens.

use super::{AskKey, CallError, Machine, Output, answers::key_of, pending::Ask};
use crate::{Time, decimal};
use sandwire_json::{Raw, find};
use sandwire_types::{Method, Notification, RequestId};
use std::cmp::Ordering;

impl Machine {
    pub(super) fn on_notification(&mut self, now: Time, notification: Notification) {
        match (&notification.method, &notification.subscription) {
            (Method::Progress, _) => self.on_progress(now, notification.params),
            (Method::Cancelled, _) => {
                if cfg!(any(feature = "asks", feature = "listen")) {
                    self.on_cancelled(now, notification.params.as_ref());
                }
            }
            (Method::ElicitationComplete, _)
                if cfg!(feature = "asks") && !self.ends_visit(notification.params.as_ref()) => {}
            (_, None) => self.outputs.push_back(Output::Notification(notification)),
            (_, Some(id)) if cfg!(feature = "listen") => {
                if let Some(pending) = key_of(id).and_then(|key| self.calls.get(key)) {
                    self.outputs.push_back(Output::Event { key: pending.key, notification });
                }
            }
            (_, Some(_)) => {}
        }
    }

    fn on_progress(&mut self, now: Time, params: Option<Raw>) {
        let Some(params) = params else { return };
        let text = params.as_str();
        let Some(key) = find(text, "progressToken").and_then(|token| decimal::unsigned(token.as_bytes())) else {
            return;
        };
        let Some(progress) = find(text, "progress") else { return };
        let Some(pending) = self.calls.get_mut(key) else { return };
        if !pending.call.progress || !pending.is_sent() {
            return;
        }
        let increases = match &pending.told {
            None => decimal::compare(progress, progress).is_some(),
            Some(told) => decimal::compare(told, progress) == Some(Ordering::Less),
        };
        if increases {
            pending.told = Some(progress.into());
            if pending.call.reset_on_progress {
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
            return self.unask(AskKey(key));
        }
        // A modern server may end a subscription so.
        if let Some(key) = key_of(&id)
            && let Some(pending) = self.calls.get(key)
            && matches!(pending.call.method, Method::SubscriptionsListen)
        {
            self.conclude(now, key, Err(CallError::Unsubscribed));
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
