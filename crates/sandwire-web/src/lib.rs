//! Sandwire where JavaScript runs: pages, workers, service workers, edge isolates, Node.
//!
//! This crate gives `sandwire-io` its ports: [`WebEnv`] (time and randomness), [`Fetch`] (HTTP requests),
//! [`Port`] (message ports, workers, a worker's own scope); and it takes servers out into the world:
//! [`export!`] makes a server a web worker and an edge `fetch` module.
//!
//! It never touches `window`: everything it uses is a global of every host named above. It knows neither
//! clients nor servers, only the traits of `sandwire-io`.
//!
//! ```
//! # #[cfg(target_family = "wasm")] {
//! use std::sync::Arc;
//! use sandwire_io::{HttpLink, client};
//! use sandwire_web::{Fetch, WebEnv};
//!
//! # fn connect(config: client::Config, hooks: Box<dyn client::Hooks>) {
//! let link = HttpLink::new(Arc::new(Fetch::new()), "https://example.com/mcp", config.limits.clone());
//! let (handle, driver) = client::connect(config, WebEnv::shared(), Box::new(link), hooks);
//! sandwire_web::spawn(driver);
//! # let _ = handle; }
//! # }
//! ```
//!
//! On any other target the crate is empty.
#![cfg(target_family = "wasm")]

mod env;
mod error;
mod export;
mod fetch;
mod port;
mod stream;

pub use env::WebEnv;
pub use error::{Thrown, failure};
pub use export::{fetch, serve};
pub use fetch::Fetch;
pub use port::Port;
pub use web_sys::RequestCredentials;

#[doc(hidden)]
pub mod __export {
    pub use crate::export::{Exported, Service, share};
    pub use js_sys::Promise;
    pub use wasm_bindgen;
    pub use wasm_bindgen::JsValue;
    pub use web_sys::Request;
}

/// Runs a driver to its end, on the host's microtasks.
pub fn spawn(driver: impl Future<Output = ()> + 'static) {
    let mut driver = Box::pin(driver);
    wasm_bindgen_futures::spawn_local(std::future::poll_fn(move |cx| env::turn(|| driver.as_mut().poll(cx))));
}
