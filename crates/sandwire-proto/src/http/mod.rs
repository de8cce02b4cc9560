//! The HTTP side of the protocol: heads, the rules for headers and statuses, and event streams.
//!
//! These are small types of our own, shared by every platform's HTTP; the `http` crate's types appear only where a
//! platform library speaks them.

mod endpoint;
mod head;
mod incoming;
pub mod outgoing;
pub mod param_headers;
pub mod sse;

pub use endpoint::endpoint;
pub use head::{Headers, RequestHead, ResponseHead, Verb, names};
pub use incoming::{Content, failure};
pub use param_headers::ParamHeaders;
