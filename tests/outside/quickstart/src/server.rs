use sandwire::{Server, server::RegistrationError, tool};
/// Adds two numbers.
#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

pub fn server() -> Result<Server, RegistrationError> {
    Server::builder("calculator", "1.0.0").with(add::tool()).build()
}
