//! The HTTP server, with raw sockets on the other side, in real time.
#![cfg(feature = "http")]
#![allow(
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::disallowed_types
)]

mod client;
mod hostile;
mod protocol;
mod service;
mod stage;
