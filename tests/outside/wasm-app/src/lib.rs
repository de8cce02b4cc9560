//! A server in wasm, as a crate of a user's.

use sandwire::{Server, server::RegistrationError, tool};

/// Adds two numbers.
#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn server() -> Result<Server, RegistrationError> {
    Server::builder("adder", "1.0.0").with(add::tool()).build()
}

sandwire_web::export!(server);
