//! The wasm side of the sandwire npm package.
//!
//! Everything with a promise, an `AbortSignal` or a method name lives in the TypeScript classes of `npm/src`.
//!
//! One module is built per feature, and a page loads one of them:
//!
//! - `client`: connections over HTTP and over ports;
//! - `tools`: the same over HTTP, for a page that only lists and calls tools;
//! - `schema`: JSON Schema, for clients that hold results against it;
//! - `server`: the protocol for a server whose handlers are JavaScript;
//! - `skills`: the check of what is read of a skill, for a client of any module.
//!
//! A client module has no bindings that a tool writes. It exports and imports functions of numbers, and places of
//! texts in its memory; `boundary` and `npm/src/module.ts` are the two sides. It never waits: whatever it waits for
//! arrives through an export, which runs the connection's driver before it returns.
#![cfg(target_family = "wasm")]

#[cfg(any(feature = "client", feature = "tools"))]
mod boundary;
#[cfg(feature = "server")]
mod checker;
#[cfg(any(feature = "client", feature = "tools"))]
mod client;
#[cfg(any(feature = "client", feature = "tools"))]
mod env;
#[cfg(any(feature = "client", feature = "tools"))]
mod fault;
#[cfg(any(feature = "client", feature = "tools"))]
mod http;
#[cfg(feature = "client")]
mod port;
#[cfg(any(feature = "client", feature = "tools"))]
mod reporter;
#[cfg(any(feature = "client", feature = "tools", feature = "schema", feature = "skills"))]
mod room;
#[cfg(feature = "schema")]
mod schema;
#[cfg(feature = "server")]
mod server;
#[cfg(feature = "skills")]
mod skills;

#[cfg(feature = "server")]
pub use checker::Checker;
#[cfg(feature = "server")]
pub use server::{Answerer, Host};

#[cfg(not(target_feature = "atomics"))]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();
