//! The server's machine, told texts.
#![allow(missing_docs)]

mod asks;
mod cancellation;
mod conversation;
mod limits;
mod opening;
mod random;
mod scene;
mod subscriptions;
