//! What HTTP/1.1 asks of a server.

use crate::{
    client::Client,
    service::Event,
    stage::{Stage, quick},
};
use sandwire_native::http::{Limits, Server};
use std::time::Duration;

#[test]
fn requests_follow_each_other_on_one_connection() {
    let stage = Stage::new();
    let mut client = stage.connect();
    let request = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n";
    client.send(format!("{request}first{request}other\r\n{request}third"));
    for body in ["first", "other", "third"] {
        let response = client.response();
        assert_eq!((response.status, &*response.body), (200, body.as_bytes()));
        assert!(response.head.contains("\r\ndate: ") && !response.head.contains("connection:"), "{}", response.head);
    }
    client.post("/nothing", "");
    let response = client.response();
    assert_eq!(response.status, 204);
    assert!(!response.head.contains("content-length") && !response.head.contains("transfer-encoding"));
    client.post("/large", "");
    assert_eq!(client.response().body.len(), 3 * crate::service::MOST);
}

#[test]
fn a_request_may_come_in_any_pieces() {
    let stage = Stage::new();
    let mut client = stage.connect();
    let length = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";
    let chunks = "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x\r\nllo\r\n0\r\nT: x\r\n\r\n";
    for text in [length, chunks] {
        for size in [1, 7, 50, 1000] {
            for piece in text.as_bytes().chunks(size) {
                client.send(piece);
            }
            assert_eq!(client.response().body, b"hello", "{size}");
        }
    }
    let body = "x".repeat(300_000);
    client.post("/echo", &body);
    assert_eq!(client.response().body, body.as_bytes());
}

#[test]
fn a_body_is_asked_for_only_if_it_is_wanted() {
    let stage = Stage::new();
    let head =
        |path: &str| format!("POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
    let mut client = stage.connect();
    client.send(head("/echo"));
    assert_eq!(client.head(), "http/1.1 100 continue\r\n\r\n");
    client.send("hello");
    assert_eq!(client.response().body, b"hello");
    client.send(head("/echo") + "there");
    client.head();
    assert_eq!(client.response().body, b"there");
    client.send(head("/refuse"));
    let response = client.response();
    assert!(response.status == 413 && response.head.contains("connection: close"), "{}", response.head);
    client.assert_closed();
}

#[test]
fn the_head_alone_is_sent_to_who_asks_for_it() {
    let stage = Stage::new();
    let mut client = stage.connect();
    client.send("HEAD /refuse HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(client.head().contains("content-length: 2\r\n"));
    client.post("/echo", "next");
    assert_eq!(client.response().body, b"next");
}

#[test]
fn old_clients_and_those_that_say_so_have_one_request() {
    let stage = Stage::new();
    for (head, body) in [
        ("POST /echo HTTP/1.0\r\nContent-Length: 2", "\r\n\r\nhi"),
        ("POST /three HTTP/1.0", "\r\n\r\nonetwothree"),
        ("POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 2", "\r\n\r\nhi"),
    ] {
        let mut client = stage.connect();
        client.send(format!("{head}\r\n\r\n{}", if head.contains("Length") { "hi" } else { "" }));
        let text = String::from_utf8(client.rest()).unwrap();
        let is_told = text.contains("connection: close\r\n") || text.starts_with("HTTP/1.0 ");
        assert!(is_told && text.ends_with(body), "{text}");
    }
}

#[test]
fn a_stream_sends_each_chunk_at_once_and_the_connection_goes_on() {
    let stage = Stage::new();
    let mut client = stage.connect();
    for _ in 0..2 {
        client.post("/three", "");
        assert!(client.head().contains("transfer-encoding: chunked"));
        for chunk in ["one", "two", "three", ""] {
            assert_eq!(client.chunk(), chunk.as_bytes());
        }
        client.post("/echo", "still here");
        assert_eq!(client.response().body, b"still here");
    }
    client.post("/silent", "");
    client.head();
    assert_eq!(client.chunk(), b"first");
}

#[test]
fn what_could_be_two_requests_is_none() {
    let stage = Stage::new();
    for (status, fields) in [
        (400, "Content-Length: 5\r\nContent-Length: 6"),
        (400, "Content-Length: 5\r\nTransfer-Encoding: chunked"),
        (400, "Content-Length: 5, 6"),
        (400, "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"),
        (400, "Transfer-Encoding : chunked"),
        (400, "Host: b"),
        (400, "Transfer-Encoding: gzip"),
        (501, "Transfer-Encoding: gzip, chunked"),
    ] {
        let mut client = stage.connect();
        client.send(format!("POST /echo HTTP/1.1\r\nHost: a\r\n{fields}\r\n\r\nhello"));
        assert_eq!(client.response().status, status, "{fields}");
        client.assert_closed();
    }
    stage.assert_healthy();
}

#[test]
fn a_client_that_leaves_cancels_what_it_asked_for() {
    let stage = Stage::new();
    for (path, answered) in [("/never", false), ("/silent", true)] {
        let mut client = stage.connect();
        client.post(path, "");
        assert_eq!(stage.next_event(), Event::Began(path.into()));
        if answered {
            client.head();
            assert_eq!(client.chunk(), b"first");
        }
        client.send("POST /echo HTTP/1.1\r\n");
        drop(client);
        assert_eq!(stage.next_event(), Event::Dropped(path.into()));
    }
}

#[test]
fn a_shutdown_ends_what_is_idle_and_what_never_ends() {
    let stage = Stage::with(quick());
    let mut idle = stage.connect();
    idle.post("/echo", "hi");
    idle.response();
    let mut silent = stage.connect();
    silent.post("/silent", "");
    silent.head();
    assert_eq!(silent.chunk(), b"first");
    let mut never = stage.connect();
    never.post("/never", "");
    while stage.next_event() != Event::Began("/never".into()) {}
    stage.shutdown.begin();
    idle.assert_closed();
    assert_eq!(silent.chunk(), b"");
    silent.assert_closed();
    never.assert_closed();
    let address = stage.address;
    stage.join();
    assert!(std::net::TcpStream::connect(address).is_err());
}

#[test]
fn a_shutdown_waits_for_a_response_under_way() {
    let stage = Stage::new();
    let mut client = stage.connect();
    client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
    client.head();
    stage.shutdown.begin();
    client.send("hello");
    let response = client.response();
    assert_eq!(response.body, b"hello");
    assert!(response.head.contains("connection: close"));
    client.assert_closed();
    stage.join();
}

#[test]
fn a_panic_ends_its_own_connection_alone() {
    let stage = Stage::new();
    let mut client = stage.connect();
    client.post("/no-such-path", "");
    client.assert_closed();
    stage.assert_healthy();
}

#[test]
fn who_comes_when_the_house_is_full_is_told() {
    let stage = Stage::with(Limits { connections: 2, ..Limits::default() });
    let mut clients = [stage.connect(), stage.connect()];
    for client in &mut clients {
        client.post("/echo", "hi");
        client.response();
    }
    assert_eq!(stage.connect().response().status, 503);
    for client in &mut clients {
        client.post("/echo", "still");
        assert_eq!(client.response().body, b"still");
    }
}

#[test]
fn threads_share_the_work() {
    let stage = Stage::of(Server::local(0).unwrap().threads(3));
    let address = stage.address;
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut client = Client::connect(address);
                for _ in 0..50 {
                    client.post("/echo", "hello");
                    assert_eq!(client.response().body, b"hello");
                }
            });
        }
    });
    stage.shutdown.begin();
    stage.join();
}

#[test]
fn a_client_that_does_nothing_is_let_go() {
    let stage = Stage::with(Limits { idle_time: Duration::from_millis(100), ..quick() });
    let mut silent = stage.connect();
    let mut idle = stage.connect();
    idle.post("/echo", "hi");
    idle.response();
    idle.assert_closed();
    silent.assert_closed();
}

#[cfg(unix)]
#[test]
fn http_runs_over_a_unix_socket() {
    let path = std::env::temp_dir().join(format!("sandwire-http-{}.sock", std::process::id()));
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let stage = Stage::of(Server::unix(listener).unwrap());
    let mut client = Client::over(std::os::unix::net::UnixStream::connect(&path).unwrap());
    std::fs::remove_file(&path).unwrap();
    client.post("/echo", "hello");
    assert_eq!(client.response().body, b"hello");
    drop(stage);
}
