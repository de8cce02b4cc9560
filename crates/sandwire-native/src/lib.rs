//! Sandwire in native processes.
//!
//! This crate gives `sandwire-io` its ports: [`NativeEnv`] (time and randomness), and behind features child processes
//! and standard streams, HTTP, and Unix sockets. [`Caught`] keeps a connection alive when a handler panics, and
//! [`Settings`] are what the environment says of a server. The crate knows neither clients nor servers,
//! only the traits of `sandwire-io`, and no executor: everything here is a future that any executor runs.
//! [`block_on`] is the one for programs that have none.
//!
//! On wasm the crate is empty.
#![cfg(not(target_family = "wasm"))]
#![deny(unsafe_code)]

mod caught;
#[cfg(any(feature = "http", feature = "unix"))]
mod descriptors;
mod env;
#[cfg(feature = "http")]
pub mod http;
pub mod settings;
#[cfg(all(unix, any(feature = "stdio", feature = "unix")))]
mod source;
#[cfg(feature = "stdio")]
pub mod stdio;
#[cfg(any(feature = "http", feature = "unix"))]
mod stop;
#[cfg(all(unix, feature = "unix"))]
pub mod unix;

pub use caught::Caught;
#[cfg(any(feature = "http", feature = "unix"))]
pub use descriptors::raise_descriptor_limit;
pub use env::NativeEnv;
pub use settings::Settings;
#[cfg(any(feature = "http", feature = "unix"))]
pub use stop::StopSignals;

/// Runs a future to its end on this thread, for programs without an executor: a client's call, or
/// a server that is served for ever.
///
/// ```
/// assert_eq!(sandwire_native::block_on(async { 19 + 23 }), 42);
/// ```
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    async_io::block_on(future)
}
