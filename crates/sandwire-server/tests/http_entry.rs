//! The HTTP entry: what it lets in, what it answers, what it streams.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "http_entry/asks.rs"]
mod asks;
#[path = "http_entry/guarded.rs"]
mod guarded;
#[path = "http_entry/legacy.rs"]
mod legacy;
#[path = "http_entry/modern.rs"]
mod modern;
#[path = "http_entry/site.rs"]
mod site;
#[path = "http_entry/streams.rs"]
mod streams;
