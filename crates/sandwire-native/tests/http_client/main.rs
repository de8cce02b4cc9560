//! The HTTP client against servers that are told what to say, byte by byte. They are threads with sockets.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods, clippy::disallowed_types)]

mod basics;
mod executors;
mod h2;
mod hostile;
mod proxies;
mod redirects;
mod reuse;
mod server;
mod tls;

use std::future::poll_fn;

use sandwire_io::{Body, HttpClient, HttpRequest, HttpResponse};
use sandwire_native::http::HttpPool;
use sandwire_proto::{
    TransportError, TransportErrorKind,
    http::{RequestHead, Verb},
};

/// A pool that no variable of the environment diverts.
fn pool() -> HttpPool {
    HttpPool::new().no_proxy()
}

fn post(url: &str, body: &str) -> HttpRequest {
    let mut head = RequestHead::new(Verb::Post);
    head.headers.push("content-type", "application/json");
    HttpRequest { url: url.to_owned(), head, body: Some(body.to_owned()) }
}

fn get(url: &str) -> HttpRequest {
    HttpRequest { url: url.to_owned(), head: RequestHead::new(Verb::Get), body: None }
}

async fn chunk(body: &mut dyn Body) -> Option<Result<Vec<u8>, TransportError>> {
    poll_fn(|cx| body.poll_chunk(cx)).await
}

/// The whole body as text.
async fn text(mut response: HttpResponse) -> Result<String, TransportError> {
    let mut bytes = Vec::new();
    while let Some(next) = chunk(&mut *response.body).await {
        bytes.extend(next?);
    }
    Ok(String::from_utf8(bytes).unwrap())
}

async fn fetch(pool: &HttpPool, request: HttpRequest) -> Result<String, TransportError> {
    text(pool.send(request).await?).await
}

/// Fetches and says why that failed.
fn failure(pool: &HttpPool, request: HttpRequest) -> (TransportErrorKind, String) {
    let error = sandwire_native::block_on(fetch(pool, request)).expect_err("should fail");
    (error.kind(), error.to_string())
}
