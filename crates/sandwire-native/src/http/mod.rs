//! HTTP in native processes.

pub mod client;
pub mod server;

pub use client::HttpPool;
pub use server::{Limits, Server, Shutdown, serve};
