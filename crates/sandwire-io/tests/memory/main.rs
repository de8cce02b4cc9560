//! A client and a server in one process: one driver for both, or one each.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod asks;
mod ending;
mod handlers;
mod ordering;
mod reentrancy;
mod scene;
