//! The JSON-RPC envelope and the Model Context Protocol's nouns, one model for every protocol version.
//!
//! It is what client and server agree on before either does anything: which methods there are and in
//! which versions, how a message becomes text and text a message, what the nouns look like, and what an
//! older peer must not be sent. It speaks both eras of the protocol: the legacy one, which opens a
//! connection by a handshake (2024-11-05 to 2025-11-25), and the modern one, which says everything in
//! every request (2026-07-28).
//!
//! It never keeps state between messages, never waits, asks no clock and draws no random numbers. It
//! never takes parameters and results apart unless a noun is asked for: they are [`Raw`] text, so digits
//! and unknown members survive. Nothing that a peer sends makes it panic.
//!
//! ```
//! use sandwire_types::json::{from_str, to_raw};
//! use sandwire_types::model::{CallToolRequestParams, CallToolResult};
//! use sandwire_types::wire::{Incoming, Memo, decode, encode};
//! use sandwire_types::{Message, Method, Raw, Reply, Request, Response};
//!
//! // A client writes a request ...
//! let mut params = CallToolRequestParams::new("add");
//! params.arguments = Some(Raw::parse(r#"{"a":1,"b":2}"#)?);
//! let mut request = Request::new(1, Method::ToolsCall);
//! request.params = Some(to_raw(&params));
//! let text = encode(&Message::Request(request));
//!
//! // ... and a server reads it and answers.
//! if let Incoming::One(Message::Request(request)) = decode(&text, &mut Memo::new())? {
//!     let params: CallToolRequestParams = from_str(request.params.as_ref().map_or("{}", Raw::as_str))?;
//!     assert_eq!(params.name, "add");
//!     let reply = Reply::new(to_raw(&CallToolResult::text("3")));
//!     let text = encode(&Message::Response(Response::new(request.id, Ok(reply))));
//!     assert_eq!(text, r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"3"}]}}"#);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! In reading order:
//!
//! - [`version`]: the versions, and the questions that tell them apart. Versions are compared here only.
//! - [`method`]: one table of every request and notification.
//! - [`capability`]: what a peer declares, where a method depends on it.
//! - [`extension`]: the names of extensions, and of the members of `_meta`.
//! - [`jsonrpc`]: messages, ids, errors.
//! - [`meta`]: what travels beside parameters and results.
//! - [`trace`]: which trace a request belongs to.
//! - [`wire`]: from messages to text and back; [`wire::legacy`] and [`wire::modern`] are the edges of
//!   the two eras.
//! - [`model`]: the nouns, their codecs and their tables.
//! - [`error`]: what can be wrong with a text that should be a message.
//!
//! # Design decisions
//!
//! One model serves both eras: a member that only some versions have is optional, and its declaration
//! says since when and until when there is one. Lowering a text for a version follows these tables and
//! works on the text itself, so that what the tables do not know passes through.
//!
//! Where a newer word has no older one it is told in plain text: a link to a resource, or sound, becomes
//! a block of text. A tool whose output is not an object has it wrapped as `{"result": …}` for versions
//! that only know objects.
#![forbid(unsafe_code)]

pub mod capability;
pub mod error;
pub mod extension;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
pub mod jsonrpc;
pub mod meta;
pub mod method;
pub mod model;
pub mod trace;
pub mod version;
pub mod wire;

pub use capability::Capability;
pub use error::WireError;
pub use jsonrpc::{ErrorCode, ErrorObject, Message, Notification, ProgressToken, Reply, Request, RequestId, Response};
pub use meta::{CacheHint, CacheScope, Envelope, RequestMeta, ResultKind, Stamp, split_meta};
pub use method::{Method, MethodKind, NameSource, Side};
pub use model::LoggingLevel;
pub use sandwire_json as json;
pub use sandwire_json::{Number, Raw};
pub use version::{Era, HANDSHAKE_VERSIONS, KNOWN_VERSIONS, MODERN_VERSIONS, ProtocolVersion};
