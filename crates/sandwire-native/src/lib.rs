//! Sandwire in native processes.
//!
//! This crate gives `sandwire-io` its ports: [`NativeEnv`] (time and randomness). It knows neither clients nor servers,
//! only the traits of `sandwire-io`, and no executor: everything here is a future that any executor runs.
//! [`block_on`] is the one for programs that have none.
//!
//! On wasm the crate is empty.
#![cfg(not(target_family = "wasm"))]
#![deny(unsafe_code)]

mod env;
#[cfg(feature = "stdio")]
pub mod stdio;

pub use async_io::block_on;
pub use env::NativeEnv;
