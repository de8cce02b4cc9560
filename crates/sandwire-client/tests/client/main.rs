//! The typed client over a server in the same process, and over a link in the test's hand.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod answering;
mod cache;
mod calls;
mod rounds;
mod stage;
#[cfg(feature = "schema")]
mod validation;
