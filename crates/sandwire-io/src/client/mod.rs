//! The client's half of a connection: a handle to call with and the driver that runs it.

mod core;
mod driver;
mod handle;
mod hooks;

pub(crate) use self::core::{Core, Pump, Step, Todo};
pub use driver::{Driver, connect};
pub use handle::{Call, CallFuture, ClientHandle, Ready};
pub(crate) use hooks::tell;
pub use hooks::{Answer, Hooks, NoHooks};
pub use sandwire_proto::client::{AskKey, CallError, CallKey, Config, Mode, OpenError, SessionLoss, Timeout, Warning};
