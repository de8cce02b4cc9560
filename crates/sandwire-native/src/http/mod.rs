//! HTTP in native processes.

pub mod server;

pub use server::{Limits, Server, Shutdown, serve};
