//! The JSON-RPC envelope and the Model Context Protocol's nouns, one model for every protocol version.
#![forbid(unsafe_code)]

pub mod error;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
pub mod jsonrpc;
pub mod meta;
pub mod method;
pub mod model;
pub mod version;
pub mod wire;

pub use error::WireError;
pub use jsonrpc::{
    ErrorCode, ErrorObject, Message, Notification, ProgressToken, Reply, Request, RequestId, Response,
};
pub use meta::{CacheHint, CacheScope, Envelope, RequestMeta, ResultKind, Stamp, split_meta};
pub use method::{Method, MethodKind, NameSource, Side};
pub use model::LoggingLevel;
pub use sandwire_json as json;
pub use sandwire_json::{Number, Raw};
pub use version::{Era, HANDSHAKE_VERSIONS, KNOWN_VERSIONS, MODERN_VERSIONS, ProtocolVersion};
