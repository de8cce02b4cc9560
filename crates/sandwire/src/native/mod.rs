//! The joins: a client over what a native process has, and a server.

#[cfg(all(feature = "client", feature = "blocking"))]
pub mod blocking;
#[cfg(feature = "client")]
mod connect;
#[cfg(feature = "server")]
mod serve;
#[cfg(feature = "client")]
mod target;
#[cfg(feature = "server")]
mod told;

#[cfg(feature = "client")]
pub use connect::{Connect, connect};
#[cfg(feature = "http")]
pub use sandwire_native::http;
#[cfg(feature = "stdio")]
pub use sandwire_native::stdio::{self, Command};
#[cfg(all(unix, feature = "unix"))]
pub use sandwire_native::unix;
pub use sandwire_native::{
    NativeEnv, block_on,
    settings::{self, Settings},
};
#[cfg(any(feature = "http", feature = "unix"))]
pub use sandwire_native::{StopSignals, raise_descriptor_limit};
#[cfg(feature = "server")]
pub use serve::{Run, Transport, serve, serve_until};
#[cfg(feature = "client")]
pub use target::Target;
