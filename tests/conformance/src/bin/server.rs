//! The server natively, at a free port; its address is printed.
#![allow(clippy::print_stdout)]

#[cfg(not(target_family = "wasm"))]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use std::pin::pin;
    use std::sync::Arc;

    use futures_util::future::{Either, select};

    let (entry, driver) = conformance::entry(Arc::new(conformance::server()?));
    let listening = sandwire::http::Server::local(0)?;
    println!("http://localhost:{}/mcp", listening.local_addr()?.port());
    match sandwire::block_on(select(pin!(listening.serve(entry)), driver)) {
        Either::Left((ended, _)) => Ok(ended?),
        Either::Right(_) => Err("the sessions ended".into()),
    }
}

#[cfg(target_family = "wasm")]
fn main() {}
