//! What joins the protocol's machines to the world: the ports a platform implements, links over them, and the
//! driver that runs one connection on whatever executor there is.
//!
//! Nothing here spawns, sleeps, or knows a platform. A connection is a [`Driver`](client::Driver), a future the
//! application runs, and handles that talk to it through one lock.
//!
//! Reading order: [`Env`] and [`Timer`] (time and randomness), [`Link`] (carries messages), [`HttpClient`] and
//! [`TextPort`] (what most links are made of), [`HttpLink`] and [`TextLink`] (those links), [`client`]; for servers
//! [`Endpoint`], [`serve`], [`Store`].
#![forbid(unsafe_code)]

mod bounds;
mod changes;
pub mod client;
mod endpoint;
mod env;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod host;
mod http;
mod link;
pub mod memory;
mod serve;
mod service;
#[cfg(feature = "sessions")]
mod session;
mod store;
mod tasks;
#[cfg(feature = "testing")]
pub mod testing;
mod text;

pub use bounds::{BoxFuture, Callback, MaybeSend, MaybeSync, Observer, OnceCallback};
pub use changes::{Changes, EventBus, MemoryBus};
pub use endpoint::{Answer, Ask, Call, Cancelled, Endpoint, Outlet};
pub use env::{Env, Timer};
pub use http::{Body, HttpClient, HttpRequest, HttpResponse};
#[cfg(feature = "sse")]
pub use link::SseLink;
pub use link::{Direction, HttpLink, Link, LinkEvent, TextLink};
pub use memory::in_memory;
pub use serve::{Exchange, ServeDriver, serve};
pub use service::{Bytes, HttpService};
#[cfg(feature = "sessions")]
pub use session::{Received, Session};
pub use store::{EventStore, MemoryEvents, MemoryStore, Replay, Store, StoreError};
pub use text::{TextPort, lines};
