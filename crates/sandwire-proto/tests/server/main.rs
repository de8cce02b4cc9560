//! The server's machine, told texts.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod asks;
mod cancellation;
mod conversation;
mod limits;
mod opening;
mod random;
mod scene;
mod subscriptions;
