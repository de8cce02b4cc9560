//! The server that comes with the workbench: a tool of every kind, a resource template and a prompt, all in one worker.
#![cfg(target_family = "wasm")]

mod count;
mod swatch;
mod trip;

use sandwire_server::{RegistrationError, Server, prompt, resource, tool};

sandwire_web::export!(server);

fn server() -> Result<Server, RegistrationError> {
    Server::builder("workbench-server", env!("CARGO_PKG_VERSION"))
        .info(|info| info.title = Some("Workbench server".to_owned()))
        .instructions("A server to try the workbench with. It runs in a worker of the page.")
        .with(add::tool())
        .with(greet::tool())
        .with(count::count::tool())
        .with(count::status::tool())
        .with(swatch::swatch::tool())
        .with(trip::plan_trip::tool())
        .with(note::resource())
        .with(explain::prompt())
        .build()
}

/// Adds two whole numbers.
#[tool(read_only)]
fn add(
    /// The first number.
    a: i64,
    /// The second number.
    b: i64,
) -> Result<i64, &'static str> {
    a.checked_add(b).ok_or("the sum does not fit 64 bits")
}

/// Greets somebody.
#[tool(read_only)]
fn greet(
    /// Whom to greet.
    name: String,
    /// Whether the neighbours should hear it too.
    loud: Option<bool>,
) -> String {
    match loud {
        Some(true) => ["HELLO, ", &name.to_uppercase(), "!"].concat(),
        _ => ["Hello, ", &name, "."].concat(),
    }
}

const NOTES: [(&str, &str); 2] = [
    ("welcome", "Everything in this page runs on your machine."),
    ("colours", "Green is what the page sends, amber what the server sends."),
];

/// A note by its name: welcome, colours.
#[resource("notes://{id}", mime_type = "text/plain")]
fn note(id: String) -> Option<&'static str> {
    NOTES.iter().find(|(name, _)| *name == id).map(|(_, text)| *text)
}

/// Asks for an explanation.
#[prompt]
fn explain(
    /// What to explain.
    topic: String,
    /// For whom, such as “a child”.
    reader: Option<String>,
) -> String {
    ["Explain ", &topic, " to ", reader.as_deref().unwrap_or("a colleague"), "."].concat()
}
