//! What typed arguments and results add to a call in memory.
//!
//! `cargo run --release -p sandwire-server --example typed_latency`
#![allow(missing_docs, clippy::unwrap_used, clippy::disallowed_methods)]

use sandwire_client::Client;
use sandwire_server::types::{Method, Raw, Reply};
use sandwire_server::{Answer, Config, Schema, Server};
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Instant;

#[derive(serde::Deserialize, serde::Serialize, Schema)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(serde::Deserialize, serde::Serialize, Schema)]
struct Sum {
    sum: i64,
}

const CALLS: u32 = 100_000;

fn now<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        std::task::Poll::Ready(value) => Some(value),
        std::task::Poll::Pending => None,
    }
}

fn measure(name: &str, server: &Server) {
    let (client, driver) = Client::in_memory(server);
    let mut driver = pin!(driver);
    let _ = driver.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    let params = Raw::from_valid(r#"{"name":"add","arguments":{"a":1,"b":2}}"#);
    let mut best = u128::MAX;
    for _ in 0..5 {
        let began = Instant::now();
        for _ in 0..CALLS {
            now(client.request(Method::ToolsCall, Some(params.clone())).into_future()).unwrap().unwrap();
        }
        best = best.min(began.elapsed().as_nanos() / u128::from(CALLS));
    }
    println!("{name:<12} {best:>5} ns a call");
}

fn main() {
    let constant =
        Raw::from_valid(r#"{"content":[{"type":"text","text":"{\"sum\":3}"}],"structuredContent":{"sum":3}}"#);
    let config = Config::new(Raw::from_valid(r#"{"name":"a","version":"1"}"#), Raw::from_valid(r#"{"tools":{}}"#));
    let raw = Server::raw(config, move |_| Answer::Ready(Ok(Reply::new(constant.clone()))));
    let typed = Server::builder("a", "1").tool("add", "", |Add { a, b }: Add| Sum { sum: a + b }).build().unwrap();
    let later =
        Server::builder("a", "1").tool("add", "", async |Add { a, b }: Add| Sum { sum: a + b }).build().unwrap();
    measure("raw", &raw);
    measure("typed", &typed);
    measure("typed async", &later);
}
