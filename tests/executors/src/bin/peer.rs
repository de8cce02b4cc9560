//! A server that is a process of its own: `peer stdio`, `peer unix PATH` or `peer http ADDRESS`; and with other
//! tools `peer tools`, `peer tools twice`, which serves again what comes after the end, and `peer tools http`, at a free
//! port.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::{process::Command, time::Duration};

use sandwire::{Run, Server, Transport, tool};

/// Prints in every way there is.
#[tool]
fn noise() -> String {
    println!("printed");
    print!("printed without an end");
    assert!(Command::new("echo").arg("echoed").status().unwrap().success());
    "quiet".to_owned()
}

/// Reads standard input.
#[tool]
fn read() -> String {
    std::io::read_to_string(std::io::stdin()).unwrap()
}

/// Panics.
#[tool]
fn panics() -> String {
    panic!("dropped it")
}

/// Says the text back.
#[tool]
fn echo(text: String) -> String {
    text
}

/// Takes a while.
#[tool]
async fn nap(milliseconds: u64) -> String {
    async_io::Timer::after(Duration::from_millis(milliseconds)).await;
    "rested".to_owned()
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let tools = Server::builder("peer", "1.0")
        .with(noise::tool())
        .with(read::tool())
        .with(panics::tool())
        .with(echo::tool())
        .with(nap::tool())
        .build()
        .unwrap();
    let (server, transport) = match args[..] {
        ["stdio"] => (executors::server(), Transport::Stdio),
        ["unix", path] => (executors::server(), Transport::Unix(path.into())),
        ["http", address] => (executors::server(), Transport::Http(address.parse().unwrap())),
        ["tools", "http"] => (tools, Transport::Http(([127, 0, 0, 1], 0).into())),
        ["tools"] => (tools, Transport::Stdio),
        ["tools", "twice"] => {
            tools.run(Transport::Stdio).unwrap();
            println!("in between");
            (tools, Transport::Stdio)
        }
        _ => panic!("usage: peer stdio | unix PATH | http ADDRESS | tools"),
    };
    server.run(transport).unwrap();
}
