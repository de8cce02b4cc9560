//! What can be wrong with a text that should be a message.

use std::fmt;

use crate::jsonrpc::{ErrorCode, ErrorObject, RequestId, Response};
use crate::version::ProtocolVersion;

/// A text that is no message, and how to answer it.
#[derive(Clone, Debug, PartialEq)]
pub struct WireError {
    /// The code of the answer.
    pub code: ErrorCode,
    /// The id of the request, if it could be read.
    pub id: Option<RequestId>,
    /// What is wrong: lower case, no final stop.
    pub message: String,
    /// Whether the text was meant as an answer, and so gets none.
    pub is_response: bool,
    /// Whether the text was meant as a notification, and so gets no answer.
    pub is_notification: bool,
    /// Whether the text is neither JSON nor begins as a message does: something printed by mistake, it seems.
    pub is_noise: bool,
}

impl WireError {
    /// An error about a text of which nothing is known.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, id: None, message: message.into(), is_response: false, is_notification: false, is_noise: false }
    }

    /// Whether the sender is owed an answer.
    pub fn wants_answer(&self) -> bool {
        !self.is_response && !self.is_notification
    }

    /// The answer for a peer of that version, if it is known.
    pub fn into_response(self, version: Option<ProtocolVersion>) -> Response {
        Response::refusal(self.id, ErrorObject::new(self.code, self.message), version)
    }

    /// The error object of the answer.
    pub fn to_error_object(&self) -> ErrorObject {
        ErrorObject::new(self.code, self.message.clone())
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for WireError {}
