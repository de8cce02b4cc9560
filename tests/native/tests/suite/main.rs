//! What `cargo xtask test native` runs.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

mod aborts;
mod clients;
mod http;
mod servers;
