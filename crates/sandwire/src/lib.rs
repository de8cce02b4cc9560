//! MCP for sandboxes: clients and servers that run in a page, a worker, an edge isolate and a native process.
//!
//! A server is a few functions:
//!
//! ```
//! use sandwire::{Server, tool};
//!
//! /// Adds two numbers.
//! #[tool]
//! fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! let server = Server::builder("calculator", "1.0").with(add::tool()).build()?;
//! # Ok::<(), sandwire::server::RegistrationError>(())
//! ```
//!
//! Nothing in it says where it runs: a platform's crate serves the very same value, and a client in the same process
//! calls it without any. Calling is a client and its driver, a future that whatever executor there is runs beside it:
//!
//! ```
//! # use sandwire::{Server, tool};
//! # #[tool]
//! # fn add(a: i64, b: i64) -> i64 { a + b }
//! # let server = Server::builder("calculator", "1.0").with(add::tool()).build()?;
//! use sandwire::Client;
//!
//! # #[derive(serde::Serialize)]
//! # struct Add { a: i64, b: i64 }
//! let (client, driver) = Client::in_memory(&server);
//! let call = async {
//!     let sum: i64 = client.call_tool("add", &Add { a: 1, b: 2 }).structured().await?;
//!     client.close();
//!     Ok::<_, sandwire::client::Error>(sum)
//! };
//! let (sum, ()) = futures_executor::block_on(futures_util::future::join(call, driver));
//! assert_eq!(sum?, 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where to look next: [`server`] for what handlers may look like and do, [`client`] for calling, [`types`] for the
//! nouns of the specification, [`io`] for links and the ports a platform implements.
//!
//! # Features
//!
//! - `client` and `server`, both on: one half can be left out.
//! - `native`, for programs that are processes: [`connect`] to a server wherever it is, and [`serve`] one, or let it be
//!   all that the program does: [`Run`]. Its parts are
//!   `stdio` (child processes, standard input and output), `http`, `unix` (Unix sockets) and [`blocking`] (a client that
//!   waits for its results). All are off unless asked for, and change nothing on wasm.
//! - `skills`: the [skills](https://github.com/modelcontextprotocol/ext-skills) extension, for whichever half there is.
//! - `schemars`: types described by the schemars crate, beside the derive [`Schema`].
#![forbid(unsafe_code)]

#[cfg(all(
    not(target_family = "wasm"),
    any(feature = "blocking", feature = "http", feature = "stdio", feature = "unix")
))]
mod native;

#[cfg(all(
    not(target_family = "wasm"),
    any(feature = "blocking", feature = "http", feature = "stdio", feature = "unix")
))]
pub use native::*;
#[cfg(feature = "client")]
pub use sandwire_client::{self as client, Client};
pub use sandwire_io as io;
pub use sandwire_types as types;

/// Servers from plain functions.
#[cfg(feature = "server")]
pub mod server {
    #[doc(inline)]
    pub use sandwire_macros::{
        FacadeSchema as Schema, facade_handlers as handlers, facade_prompt as prompt, facade_resource as resource,
        facade_tool as tool,
    };
    #[doc(inline)]
    pub use sandwire_server::*;
}

#[cfg(feature = "server")]
pub use server::{Context, Schema, Server, handlers, prompt, resource, tool};
