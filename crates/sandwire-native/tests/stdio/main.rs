//! Servers that are child processes: real ones, in real time.
#![cfg(all(target_os = "linux", feature = "stdio"))]
#![allow(
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods
)]

mod ending;
mod output;
mod restarting;
mod scene;
mod starting;
