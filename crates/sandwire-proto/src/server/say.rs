//! What a call says before its answer: progress, log messages, notifications of its own.

use sandwire_json::{Raw, Write, Writer};
use sandwire_types::{Era, LoggingLevel, Message, Method, Notification, RequestId};

use crate::faults::Fault;

use super::{
    CallKey, Machine, Output,
    calls::{Entry, State},
    number::{round, write},
};

/// How far a call is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(clippy::exhaustive_structs)]
pub struct Progress<'a> {
    /// What is done so far, in any unit. Must grow from one report to the next; six decimals are kept.
    pub progress: f64,
    /// What there is to do, in the same unit, where that is known.
    pub total: Option<f64>,
    /// What is being done, for a person.
    pub message: Option<&'a str>,
}

impl Machine {
    /// Tells the client how far a call is.
    ///
    /// Nothing is sent if the client gave no progress token, if the call is over, or if the progress did not grow.
    pub fn progress(&mut self, key: CallKey, progress: Progress<'_>) {
        let full = self.is_full();
        let Some(entry) = self.calls.get_mut(key).filter(|entry| entry.is_running()) else {
            return;
        };
        let Some(token) = &entry.token else { return };
        let now = round(progress.progress);
        if full
            || !now.is_finite()
            || entry.progress.is_some_and(|before| now <= before && !Fault::ServerRepeatsProgress.happens())
        {
            return;
        }
        entry.progress = Some(now);
        let mut writer = Writer::new();
        writer.begin_object();
        writer.key("progressToken");
        token.write(&mut writer);
        writer.key("progress");
        writer.raw(&write(now));
        if let Some(total) = progress.total {
            writer.key("total");
            writer.raw(&write(round(total)));
        }
        if let Some(message) = progress.message {
            writer.key("message");
            writer.string(message);
        }
        writer.end_object();
        let via = entry.via;
        self.send_notification(via, Method::Progress, Some(writer.into_raw()), None);
    }

    /// Sends a log message on behalf of a call.
    ///
    /// Nothing is sent unless the server declared `logging` and the client wants messages of this level: in the
    /// modern era it says so with each request, in the legacy era with `logging/setLevel`, before which `info` and
    /// above are sent.
    pub fn log(&mut self, key: CallKey, level: LoggingLevel, logger: Option<&str>, data: Raw) {
        if self.is_full() || !self.config.allows(&Method::LogMessage) {
            return;
        }
        let Some(entry) = self.calls.get(key).filter(|entry| entry.is_running()) else {
            return;
        };
        let least = match entry.peer.era() {
            Era::Legacy => self.level.clone().or(Some(LoggingLevel::Info)),
            Era::Modern => entry.level.clone(),
        };
        if least.is_none_or(|least| level.severity() < least.severity()) {
            return;
        }
        let via = entry.via;
        self.send_notification(via, Method::LogMessage, Some(logged(&level, logger, &data)), None);
    }

    /// Sends a notification that belongs to a call. `params` must be a JSON object.
    pub fn notify(&mut self, key: CallKey, method: Method, params: Option<Raw>) {
        if self.is_full() {
            return;
        }
        let Some(entry) = self.calls.get(key).filter(|entry| entry.is_running()) else {
            return;
        };
        let via = entry.via;
        self.send_notification(via, method, params, None);
    }

    pub(super) fn send_notification(
        &mut self,
        via: crate::Via,
        method: Method,
        params: Option<Raw>,
        subscription: Option<RequestId>,
    ) {
        let message = Message::Notification(Notification { method, params, subscription });
        self.outputs.push_back(Output::Send { via, message });
    }

    /// Whether so much waits to be sent that what may be left out is left out.
    pub(super) fn is_full(&self) -> bool {
        self.outputs.len() >= self.config.limits.max_queue
    }
}

pub(super) fn logged(level: &LoggingLevel, logger: Option<&str>, data: &Raw) -> Raw {
    let mut writer = Writer::new();
    writer.begin_object();
    writer.key("level");
    level.write(&mut writer);
    if let Some(logger) = logger {
        writer.key("logger");
        writer.string(logger);
    }
    writer.key("data");
    writer.raw(data.as_str());
    writer.end_object();
    writer.into_raw()
}

impl Entry {
    pub(super) fn is_running(&self) -> bool {
        matches!(self.state, State::Running)
    }
}
