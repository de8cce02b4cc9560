//! From messages to text and back, and what the versions of the protocol do differently.

use std::sync::Arc;

use sandwire_json::Writer;

use crate::error::WireError;
use crate::jsonrpc::Message;
use crate::meta::Envelope;
use crate::ProtocolVersion;

pub mod legacy;
pub mod modern;

/// The last parsed [`Envelope`], so that a stream of requests shares one.
#[derive(Clone, Debug, Default)]
pub struct Memo {
    pub(crate) envelope: Option<Arc<Envelope>>,
}

impl Memo {
    /// One that remembers nothing yet.
    pub fn new() -> Self {
        Self::default()
    }
}

/// What a text holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Incoming {
    /// One message.
    One(Message),
    /// An array of messages, which only version 2025-03-26 allows.
    Batch(Vec<Result<Message, WireError>>),
}

/// Writes a message as one line of JSON, leaving out an id that could not be read.
pub fn encode(message: &Message) -> String {
    encode_at(None, message)
}

/// Writes a message as one line of JSON for a peer of a known version: before 2025-11-25 an id that
/// could not be read is `null`.
pub fn encode_at(version: Option<ProtocolVersion>, message: &Message) -> String {
    let _ = (version, message);
    Writer::new().finish()
}

/// Reads a text.
///
/// # Errors
/// When it is not JSON, or not a message.
pub fn decode(text: &str, memo: &mut Memo) -> Result<Incoming, WireError> {
    let _ = (text, memo);
    Err(WireError {
        code: crate::ErrorCode::PARSE_ERROR,
        id: None,
        message: String::from("unfinished"),
        is_response: false,
    })
}
