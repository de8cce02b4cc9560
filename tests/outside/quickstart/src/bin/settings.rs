//! The server as a program whose environment says how it is reached.

use quickstart::server::server;
use sandwire::{Run, Settings};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    server()?.run(&Settings::from_env()?)?;
    Ok(())
}
