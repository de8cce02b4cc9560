//! The HTTP side of the protocol: heads, the rules for headers and statuses, and event streams.
//!
//! These are small types of our own, shared by every platform's HTTP; the `http` crate's types appear only where a
//! platform library speaks them.

mod head;
pub mod sse;

pub use head::{Headers, RequestHead, ResponseHead, Verb, names};
