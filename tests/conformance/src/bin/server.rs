//! The server natively, at a free port; its address is printed.
#![allow(clippy::print_stdout)]

#[cfg(not(target_family = "wasm"))]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use std::sync::Arc;

    use futures_util::future::{Either, join, select};

    let (tasks, tasks_driver) = conformance::tasks();
    let (entry, sessions) = conformance::entry(Arc::new(conformance::server(tasks)?));
    let listening = sandwire::http::Server::local(0)?;
    println!("http://localhost:{}/mcp", listening.local_addr()?.port());
    let serving = Box::pin(listening.serve(entry));
    match sandwire::block_on(select(serving, join(sessions, tasks_driver))) {
        Either::Left((ended, _)) => Ok(ended?),
        Either::Right(_) => Err("the sessions ended".into()),
    }
}

#[cfg(target_family = "wasm")]
fn main() {}
