//! The client's machine.

mod config;
mod event;

pub use crate::input::{Ended, Input};
pub use config::{Config, Mode};
pub use event::{AskKey, Call, CallError, CallKey, OpenError, Output, Timeout};

use crate::{ApiMisuse, Time};
use sandwire_json::Raw;
use sandwire_types::{ErrorObject, Notification};

/// One connection's client, from the first message to the last.
#[derive(Debug)]
pub struct Machine {
    config: Config,
}

impl Machine {
    /// A client that has sent nothing yet. It begins with the first input or call.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self { config }
    }

    /// Makes a call. It waits inside until the connection is open.
    ///
    /// # Errors
    /// If the connection is closed, or the call is over a limit.
    pub fn request(&mut self, _now: Time, _call: Call) -> Result<CallKey, ApiMisuse> {
        let _ = &self.config;
        Err(ApiMisuse::Closed)
    }

    /// Cancels a call, which ends with [`CallError::Cancelled`] unless it has ended already.
    pub fn cancel(&mut self, _now: Time, _key: CallKey, _reason: Option<&str>) {}

    /// Sends a notification.
    ///
    /// # Errors
    /// If the connection is closed, or the notification is over a limit.
    pub fn notify(&mut self, _now: Time, _notification: Notification) -> Result<(), ApiMisuse> {
        Ok(())
    }

    /// Answers a question of the server.
    ///
    /// # Errors
    /// If the question was answered or withdrawn before.
    pub fn answer(
        &mut self,
        _now: Time,
        _key: AskKey,
        _answer: Result<Raw, ErrorObject>,
    ) -> Result<(), ApiMisuse> {
        Ok(())
    }

    /// Closes the connection. Calls under way end with [`CallError::Closed`].
    pub fn close(&mut self, _now: Time) {}

    /// Takes an input.
    pub fn handle(&mut self, _now: Time, _input: Input) {}

    /// The next thing to do.
    pub fn poll(&mut self) -> Option<Output> {
        None
    }

    /// When to come back with [`Input::Tick`] if nothing happens before.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        None
    }
}
