//! Faults that people met with other implementations, each as a test of this one, named by its id in `cases.txt`.
#![allow(
    missing_docs,
    unreachable_pub,
    missing_debug_implementations,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic
)]

mod conflicts;
mod decode;
mod encode;
mod ending;
mod framing;
mod headers;
mod http_client;
mod http_server;
mod ids;
mod lifecycle;
mod pages;
mod servers;
mod sse;
mod stage;
mod stdio;
mod table;
mod timing;
mod tools;
