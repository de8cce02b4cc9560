//! What the client's machine does, told in virtual time.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod calls;
mod cancellation;
mod headers;
mod input_rounds;
mod limits;
mod opening;
mod progress;
mod random;
mod restarts;
mod resuming;
mod scene;
mod server_requests;
mod sessions;
mod subscriptions;
mod timeouts;
mod two_addresses;
