//! The clients of 2024-11-05: one stream for everything, and an address to post to.

use crate::{
    hall::{Hall, Stream, V, call, request},
    site::{modern, post},
};
use sandwire_proto::http::{RequestHead, Verb};
use sandwire_server::http::Sessions;

const OLD: &str = "2024-11-05";

fn hall() -> Hall {
    Hall::new(Sessions { sse: true, ..Sessions::default() })
}

fn get(path: &str) -> RequestHead {
    let mut head = RequestHead::new(Verb::Get);
    head.path = path.into();
    for (name, value) in [("host", "localhost"), ("accept", "text/event-stream")] {
        head.headers.push(name, value);
    }
    head
}

/// Opens a stream; the address to post to.
fn open(hall: &Hall, path: &str) -> (Stream, String) {
    let mut stream = hall.begin(get(path), "").response();
    let first = stream.part();
    let address = first.strip_prefix("event: endpoint\ndata: ").unwrap().strip_suffix("\n\n").unwrap();
    (stream, address.to_owned())
}

fn send(hall: &Hall, address: &str, body: &str) -> u16 {
    let mut head = RequestHead::new(Verb::Post);
    head.path = address.into();
    for (name, value) in [("host", "localhost"), ("content-type", "application/json")] {
        head.headers.push(name, value);
    }
    let got = hall.send(head, body);
    assert!(got.head.status != 202 || got.body.is_empty());
    got.head.status
}

fn initialize(hall: &Hall, address: &str) {
    let params = format!(r#""protocolVersion":"{OLD}","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}"#);
    assert_eq!(send(hall, address, &request(0, "initialize", &params)), 202);
    assert_eq!(send(hall, address, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#), 202);
}

#[test]
fn everything_comes_on_one_stream() {
    let mut hall = hall();
    let (mut stream, address) = open(&hall, "/old/sse?token=1");
    assert!(address.starts_with("/old/sse?sessionId="), "{address}");
    initialize(&hall, &address);
    let opened = stream.part();
    assert!(opened.contains(r#""protocolVersion":"2024-11-05""#), "{opened}");
    assert_eq!(send(&hall, &address, &call(1, "shout", "a")), 202);
    assert_eq!(send(&hall, &address, &request(2, "ping", "")), 202);
    hall.server.tools().disable("ask");
    let told = stream.part();
    for part in ["onea", r#""id":2,"result":{}"#, "tools/list_changed"] {
        assert!(told.contains(part), "{part} in {told}");
    }
    for _ in 0..2 {
        assert!(hall.run().is_pending());
        hall.open_doors("a");
    }
    assert!(hall.run().is_pending());
    let told = stream.part();
    assert!(told.contains("twoa") && told.contains(r#""id":1,"result""#), "{told}");
}

#[test]
fn the_end_of_the_stream_is_the_end_of_the_session() {
    let mut hall = hall();
    let (stream, address) = open(&hall, "");
    assert!(address.starts_with("?sessionId="), "{address}");
    initialize(&hall, &address);
    assert_eq!(send(&hall, &address, &call(1, "door", "a")), 202);
    assert_eq!(hall.entry.sessions(), 1);
    drop(stream);
    assert_eq!(hall.entry.sessions(), 0);
    assert!(hall.run().is_pending());
    assert_eq!(hall.open_doors("a"), 0);
    assert_eq!(send(&hall, &address, &request(2, "ping", "")), 404);
}

#[test]
fn the_guard_stands_before_both_endpoints() {
    let hall = hall();
    let (_stream, address) = open(&hall, "/sse");
    let mut head = get("/sse");
    head.headers.push("origin", "http://evil.example");
    assert_eq!(hall.send(head.clone(), "").head.status, 403);
    head.method = Verb::Post;
    head.path = address.clone();
    assert_eq!(hall.send(head, &request(1, "ping", "")).head.status, 403);
    assert_eq!(send(&hall, &address, "{"), 400);
    assert_eq!(send(&hall, "/sse?sessionId=nobody", &request(1, "ping", "")), 404);
}

#[test]
fn the_kinds_of_session_do_not_mix() {
    let hall = hall();
    let (_stream, address) = open(&hall, "/sse");
    let old = address.split_once('=').unwrap().1;
    assert_eq!(hall.post(old, &request(1, "ping", "")).response().whole().head.status, 404);
    let id = hall.open(V);
    assert_eq!(send(&hall, &format!("/sse?sessionId={id}"), &request(1, "ping", "")), 404);
    let (head, body) = modern("tools/list", "");
    assert_eq!(hall.send(head, &body).head.status, 200);
    assert_eq!(hall.send(post(&[]), &request(1, "ping", "")).head.status, 400);
    let plain = Hall::new(Sessions::default());
    assert_eq!(plain.send(get("/sse"), "").head.status, 400);
}

#[test]
fn a_stream_that_is_not_read_takes_no_more() {
    let hall = hall();
    let (mut stream, address) = open(&hall, "/sse");
    let ping = request(1, "ping", "");
    let sent = (0..2000).take_while(|_| send(&hall, &address, &ping) == 202).count();
    assert_eq!(sent, 1024);
    assert_eq!(stream.part().matches("data: ").count(), 1024);
    assert_eq!(send(&hall, &address, &ping), 202);
}
