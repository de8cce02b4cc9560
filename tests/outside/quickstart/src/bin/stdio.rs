//! The server as a program that a client starts.

use quickstart::server::server;
use sandwire::{Run, Transport};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    server()?.run(Transport::Stdio)?;
    Ok(())
}
