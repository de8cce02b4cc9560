//! The Rust quickstarts of the README, as a crate of a user's.

pub mod client;
pub mod connect;
pub mod server;
pub mod wait;
