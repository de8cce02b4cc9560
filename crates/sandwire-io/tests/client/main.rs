//! The client's driver over scripted links.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod driver;
mod hostile;
mod http;
mod legacy_http;
mod lines;
mod ports;
mod sse;
mod stage;
