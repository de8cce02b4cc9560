//! The HTTP entry: what it lets in, what it answers, what it streams.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "http_entry/asks.rs"]
mod asks;
#[path = "http_entry/guarded.rs"]
mod guarded;
#[cfg(feature = "sse")]
#[path = "http_entry/hall.rs"]
mod hall;
#[cfg(feature = "sse")]
#[path = "http_entry/heard.rs"]
mod heard;
#[cfg(feature = "sse")]
#[path = "http_entry/hooks.rs"]
mod hooks;
#[path = "http_entry/legacy.rs"]
mod legacy;
#[path = "http_entry/load.rs"]
mod load;
#[path = "http_entry/modern.rs"]
mod modern;
#[cfg(feature = "sse")]
#[path = "http_entry/one_stream.rs"]
mod one_stream;
#[path = "http_entry/order.rs"]
mod order;
#[cfg(feature = "sse")]
#[path = "http_entry/session_streams.rs"]
mod session_streams;
#[cfg(feature = "sse")]
#[path = "http_entry/session_table.rs"]
mod session_table;
#[cfg(feature = "sse")]
#[path = "http_entry/session_threads.rs"]
mod session_threads;
#[cfg(feature = "sse")]
#[path = "http_entry/sessions.rs"]
mod sessions;
#[path = "http_entry/site.rs"]
mod site;
#[path = "http_entry/streams.rs"]
mod streams;
