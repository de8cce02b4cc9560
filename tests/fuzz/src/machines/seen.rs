//! What happened at least once, and how often.

use std::collections::BTreeMap;
use std::fmt;

/// What a run must have tried, or it proves nothing.
const FLOOR: &[&str] = &[
    "era legacy",
    "era modern",
    "wire http",
    "wire pipe",
    "client in answer",
    "client in question",
    "client in progress",
    "client in event",
    "client in cancelled",
    "client in garbage",
    "client in head",
    "client in ended",
    "client in lost",
    "client in restarted",
    "client in closed",
    "client in tick",
    "client does answer",
    "client does call",
    "client does cancel",
    "client does close",
    "client does listen",
    "client does notify",
    "client out Abandon",
    "client out Ask",
    "client out Close",
    "client out Event",
    "client out Failed",
    "client out Notification",
    "client out Opened",
    "client out Progress",
    "client out Send",
    "client out Unask",
    "ended Cancelled",
    "ended Closed",
    "ended Ok",
    "ended Open",
    "ended Peer",
    "ended Timeout",
    "ended Transport",
    "server in answer",
    "server in batch",
    "server in cancelled",
    "server in garbage",
    "server in initialize",
    "server in initialized",
    "server in listen",
    "server in lost",
    "server in request",
    "server does ask",
    "server does change",
    "server does close",
    "server does end",
    "server does log",
    "server does progress",
    "server does reply",
    "server does suspend",
    "server out Answer",
    "server out Call",
    "server out Cancel",
    "server out Close",
    "server out Notification",
    "server out Send",
    "server full",
    "late answer",
    "second round",
    "subscription ended",
];

#[derive(Debug, Default, Clone)]
pub struct Seen(BTreeMap<String, u64>);

impl Seen {
    pub fn note(&mut self, what: impl Into<String>) {
        *self.0.entry(what.into()).or_default() += 1;
    }

    pub fn add(&mut self, other: &Self) {
        for (what, times) in &other.0 {
            *self.0.entry(what.clone()).or_default() += times;
        }
    }

    pub fn missing(&self) -> Vec<&'static str> {
        FLOOR.iter().copied().filter(|what| !self.0.contains_key(*what)).collect()
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<_> = self.0.iter().map(|(what, times)| format!("{what} {times}")).collect();
        write!(f, "seen: {}", all.join(", "))
    }
}
