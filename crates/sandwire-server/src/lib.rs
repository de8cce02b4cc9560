//! Model Context Protocol servers from plain functions.
//!
//! A server is a set of functions: tools that a model calls, resources it reads, prompts that people choose. Their
//! parameter types, return types and doc comments say everything a client is told. The same server runs in a page, in a
//! worker, at the edge and natively: this crate knows no platform, spawns nothing and sleeps nowhere.
//!
//! ```
//! use sandwire_server::{Context, Server, prompt, resource, tool};
//!
//! /// Adds two numbers.
//! #[tool]
//! fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! /// Counts to a number, and says how far it is.
//! #[tool]
//! async fn count(/** Where to stop. */ to: u32, ctx: &Context) -> String {
//!     for step in 1..=to {
//!         ctx.progress(f64::from(step), f64::from(to), None);
//!     }
//!     format!("counted to {to}")
//! }
//!
//! /// One note.
//! #[resource("notes://{id}")]
//! fn note(id: u32) -> Option<String> {
//!     (id == 1).then(|| "Buy milk".to_owned())
//! }
//!
//! /// Asks for a summary.
//! #[prompt]
//! fn summarise(text: String, language: Option<String>) -> String {
//!     format!("Summarise in {}:\n{text}", language.unwrap_or("English".into()))
//! }
//!
//! let server = Server::builder("desk", "1.0")
//!     .with(add::tool())
//!     .with(count::tool())
//!     .with(note::resource())
//!     .with(summarise::prompt())
//!     .build()?;
//! # Ok::<(), sandwire_server::RegistrationError>(())
//! ```
//!
//! Without the attributes, the same in plain Rust: see [`Builder::tool`], [`Builder::resource`], [`Builder::prompt`].
//!
//! Reading order: [`Builder`], [`Function`] (what a handler may look like), [`IntoToolResult`] (what it may return),
//! [`Context`] (what it can do while it runs), [`Schema`] (how types are described), [`Server`].
//!
//! Served over HTTP by [`http::HttpEntry`]. Features: `sessions` and `sse` (legacy clients over HTTP), `tower` (the entry
//! as a service for axum and hyper), `schemars` (types described by that crate), `skills`.
//!
//! # Decisions
//!
//! - Handlers of one connection share its driver: one that blocks stalls its connection.
//! - Handlers must be `Send` where there are threads, and need not be in wasm: a server can be called from any thread.
//!   What has to stay on one is given to a [`Local`].
//! - Nothing that can be known earlier is found out when a handler is called: types are described when the crate
//!   is compiled, names and templates are checked when the server is built.
#![forbid(unsafe_code)]

#[doc(hidden)]
#[path = "macro_support.rs"]
pub mod __macro;
mod ask;
mod builder;
mod coerce;
mod completion;
mod context;
mod descriptor;
mod error;
mod extension;
mod function;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod guard;
pub mod http;
pub mod kind;
mod live;
mod local;
mod prompt;
mod resource;
mod result;
mod run;
pub mod schema;
mod server;
#[cfg(feature = "skills")]
mod skill;
mod table;
#[cfg(feature = "tasks")]
mod tasks;
mod template;
mod tool;
#[cfg(feature = "schema")]
mod validate;
mod warning;

pub use ask::{Agreed, Elicited, Form};
pub use builder::{Builder, Bundle, Capability};
pub use completion::{Completing, IntoCompletion, Values};
pub use context::Context;
pub use error::{Problem, RegistrationError, ToolError};
pub use extension::{IntoMethodResult, MethodHandler};
pub use function::{Arguments, Function, Returned};
pub use live::{Prompts, Resources, Tools};
pub use local::{Local, LocalDriver};
pub use prompt::{IntoPrompt, PromptHandler};
pub use resource::{IntoResource, ResourceHandler};
pub use result::{IntoToolResult, Json};
pub use sandwire_io::{Answer, Call, Endpoint};
pub use sandwire_proto::{
    Principal,
    server::{AskError, Config, Published},
};
pub use sandwire_types as types;
pub use schema::Schema;
pub use server::Server;
#[cfg(feature = "skills")]
pub use skill::SkillHandler;
#[cfg(feature = "tasks")]
pub use tasks::{TaskMode, TaskOptions, Tasks, TasksDriver};
pub use template::{TemplateError, UriTemplate};
pub use tool::ToolHandler;
pub use warning::Warning;

#[cfg(feature = "macros")]
pub use sandwire_macros::{Schema, handlers, prompt, resource, tool};
