//! The wasm side of the sandwire npm package.
//!
//! Everything with a promise, an `AbortSignal` or a method name lives in the TypeScript classes of `npm/src`.
//! What crosses the boundary is few calls with numbers and JSON text: a call is given a token and comes back with
//! it, so no export is asynchronous.
//!
//! One module is built per feature, and a page loads one of them:
//!
//! - `client`: [`Connection`] over HTTP and over ports;
//! - `tools`: the same over HTTP, for a page that only lists and calls tools;
//! - `server`: the protocol for a server whose handlers are JavaScript.
#![cfg(target_family = "wasm")]
#![allow(clippy::needless_pass_by_value, reason = "wasm-bindgen passes imported objects by value")]

#[cfg(any(feature = "client", feature = "tools"))]
mod client;
#[cfg(any(feature = "client", feature = "tools"))]
mod fault;
#[cfg(any(feature = "client", feature = "tools"))]
mod http;
#[cfg(feature = "server")]
mod server;

#[cfg(any(feature = "client", feature = "tools"))]
pub use client::{Connection, Hooks, Settings, Told};
#[cfg(any(feature = "client", feature = "tools"))]
pub use http::Requests;
#[cfg(feature = "server")]
pub use server::{Answerer, Host};

#[cfg(not(target_feature = "atomics"))]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();
