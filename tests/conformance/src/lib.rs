//! The server that the official conformance suite calls: fixtures by the names that the suite knows, and nothing of the
//! protocol. Natively `src/bin/server.rs` serves it; in wasm it is a worker.

mod asking;
mod content;
mod host;
mod input;
mod prompts;
mod resources;
mod skills;
mod tasks;
mod telling;

use std::sync::Arc;

use sandwire::io::{Endpoint, MemoryEvents};
use sandwire::server::http::{Guard, HttpEntry, Sessions, SessionsDriver};
use sandwire::server::{Capability, RegistrationError, Server, Tasks};

pub use tasks::tasks;

/// The server, and its tasks run where it runs.
#[cfg(target_family = "wasm")]
fn worker() -> Result<Server, RegistrationError> {
    let (tasks, driver) = tasks();
    sandwire_web::spawn(driver);
    server(tasks)
}

#[cfg(target_family = "wasm")]
sandwire_web::export!(
    worker,
    only | server,
    _env | {
        let (entry, driver) = entry(server);
        sandwire_web::spawn(driver);
        entry
    }
);

/// The server.
///
/// # Errors
///
/// A fixture is described badly.
pub fn server(tasks: Tasks) -> Result<Server, RegistrationError> {
    Server::builder("sandwire-conformance", env!("CARGO_PKG_VERSION"))
        .declare(Capability::Logging)
        .with(content::tools())
        .with(telling::tools())
        .with(asking::tools())
        .with(input::tools())
        .with(tasks)
        .with(tasks::tools())
        .with(resources::all())
        .with(prompts::all())
        .with(skills::all())
        .build()
}

/// The server behind HTTP, with sessions for legacy clients, who may ask again for what they missed.
pub fn entry(server: Arc<dyn Endpoint>) -> (HttpEntry, SessionsDriver) {
    let sessions = Sessions { events: Some(Arc::new(MemoryEvents::default())), ..Sessions::default() };
    HttpEntry::with_sessions(server, host::env(), Guard::default(), sessions)
}
