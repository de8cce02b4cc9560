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
//! calls it without any.
//!
//! Where to look next: [`server`] for what handlers may look like and do, [`client`] for calling, [`types`] for the
//! nouns of the specification, [`io`] for links and the ports a platform implements.
//!
//! # Features
//!
//! - `client` and `server`, both on: one half can be left out.
//! - `schemars`: types described by the schemars crate, beside the derive [`Schema`].
#![forbid(unsafe_code)]

#[cfg(feature = "client")]
pub use sandwire_client as client;
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
