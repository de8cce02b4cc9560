//! The entry as a service: in an axum router and under hyper alone, behind a real port.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{sync::Arc, time::Duration};

use axum::Router;
use futures_channel::mpsc::{UnboundedSender, unbounded};
use futures_util::StreamExt;
use hyper::server::conn::http1;
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use sandwire_io::testing::SimEnv;
use sandwire_server::{Context, Server, http::HttpEntry};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    time::timeout,
};

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"progressToken":1}"#;

struct OnDrop(UnboundedSender<()>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.unbounded_send(()).unwrap();
    }
}

fn server(dropped: UnboundedSender<()>) -> Server {
    Server::builder("tower", "1")
        .tool("add", "", || "sum")
        .tool("wait", "", move |ctx: Context| {
            let dropped = OnDrop(dropped.clone());
            async move {
                let _dropped = dropped;
                ctx.progress(1.0, 2.0, None);
                std::future::pending::<String>().await
            }
        })
        .build()
        .unwrap()
}

fn post(tool: &str) -> String {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{{}},{META}}}}}"#
    );
    format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: {tool}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// What calls the service.
#[derive(Clone, Copy)]
enum Host {
    Axum,
    Hyper,
}

async fn connect(host: Host, server: &Server) -> BufReader<TcpStream> {
    let entry = HttpEntry::new(Arc::new(server.clone()), Arc::new(SimEnv::new(1)));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        match host {
            Host::Axum => axum::serve(listener, Router::new().route_service("/mcp", entry)).await.unwrap(),
            Host::Hyper => {
                let (socket, _) = listener.accept().await.unwrap();
                let service = TowerToHyperService::new(entry);
                // Ends with an error where the client goes away.
                let _ = http1::Builder::new().serve_connection(TokioIo::new(socket), service).await;
            }
        }
    });
    BufReader::new(TcpStream::connect(address).await.unwrap())
}

/// Reads until a line begins with `end`.
async fn read_to(stream: &mut BufReader<TcpStream>, end: &str) -> String {
    let mut text = String::new();
    let read = async {
        loop {
            let start = text.len();
            assert_ne!(stream.read_line(&mut text).await.unwrap(), 0, "the stream ended: {text}");
            if text[start..].starts_with(end) {
                return;
            }
        }
    };
    timeout(Duration::from_secs(20), read).await.expect("nothing more comes");
    text
}

#[tokio::test]
async fn axum_answers_calls() {
    answers_calls(Host::Axum).await;
}

#[tokio::test]
async fn hyper_answers_calls() {
    answers_calls(Host::Hyper).await;
}

async fn answers_calls(host: Host) {
    let mut stream = connect(host, &server(unbounded().0)).await;
    for _ in 0..2 {
        stream.write_all(post("add").as_bytes()).await.unwrap();
        let head = read_to(&mut stream, "\r\n").await;
        assert!(head.starts_with("HTTP/1.1 200") && head.contains("content-type: application/json"), "{head}");
        let length = head.split("content-length: ").nth(1).map(|rest| rest.split("\r\n").next().unwrap());
        match length {
            Some(length) => {
                let mut body = vec![0; length.parse().unwrap()];
                stream.read_exact(&mut body).await.unwrap();
                assert!(String::from_utf8(body).unwrap().contains("sum"));
            }
            None => assert!(read_to(&mut stream, "0\r\n").await.contains("sum")),
        }
        if length.is_none() {
            read_to(&mut stream, "\r\n").await;
        }
    }
    stream.write_all(b"GET /mcp HTTP/1.1\r\nhost: evil.example\r\n\r\n").await.unwrap();
    assert!(read_to(&mut stream, "\r\n").await.starts_with("HTTP/1.1 421"));
}

#[tokio::test]
async fn in_axum_events_stream_and_a_client_that_goes_away_cancels() {
    streams_until_the_client_goes(Host::Axum).await;
}

#[tokio::test]
async fn in_hyper_events_stream_and_a_client_that_goes_away_cancels() {
    streams_until_the_client_goes(Host::Hyper).await;
}

async fn streams_until_the_client_goes(host: Host) {
    let (dropped, mut drops) = unbounded();
    let mut stream = connect(host, &server(dropped)).await;
    stream.write_all(post("wait").as_bytes()).await.unwrap();
    let told = read_to(&mut stream, "data: ").await;
    assert!(told.contains("text/event-stream") && told.contains("notifications/progress"), "{told}");
    assert!(drops.try_recv().is_err(), "the call is under way");
    drop(stream);
    let gone = timeout(Duration::from_secs(20), drops.next()).await;
    assert_eq!(gone.expect("the call goes on without its client"), Some(()));
}
