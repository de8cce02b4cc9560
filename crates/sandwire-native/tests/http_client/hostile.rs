//! Servers that break the rules, or never come to an end.

use std::{future::poll_fn, sync::Arc, time::Duration};

use sandwire_io::{HttpClient, HttpLink, Link, LinkEvent};
use sandwire_native::block_on;
use sandwire_proto::{
    Ended, ExchangeId, Limits, TransportErrorKind,
    http::{RequestHead, Verb},
};

use crate::{
    chunk, failure, fetch, get, pool, post,
    server::{Server, json},
    text,
};

/// How fetching fails where a server says `response` and closes.
fn kind(response: &'static str) -> TransportErrorKind {
    let server = Server::answering(response);
    let (kind, message) = failure(&pool(), get(&server.url));
    assert!(!message.is_empty());
    server.done();
    kind
}

/// How fetching fails where a server says `start`, and then `more` as long as anybody listens.
fn endless(start: &'static str, more: &'static str) -> TransportErrorKind {
    let server = Server::one(move |mut peer| {
        peer.request();
        peer.say(start);
        while peer.try_say(more) {}
    });
    let (kind, _) = failure(&pool(), get(&server.url));
    server.done();
    kind
}

#[test]
fn heads_that_are_none_are_malformed() {
    for response in [
        "SSH-2.0-OpenSSH_9.2\r\n\r\n",
        "HTTP/1.1 abc OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
    ] {
        assert_eq!(kind(response), TransportErrorKind::Malformed, "{response:?}");
    }
}

#[test]
fn heads_without_end_are_refused() {
    let start = "HTTP/1.1 200 OK\r\n";
    assert_eq!(endless(start, "a-header-field: of some length that comes again\r\n"), TransportErrorKind::TooLarge);
    assert_eq!(endless(start, "x"), TransportErrorKind::TooLarge);
    assert_eq!(endless("", "HTTP/1.1 100 Continue\r\n\r\n"), TransportErrorKind::TooLarge);
    assert_eq!(endless("", "\r\n"), TransportErrorKind::TooLarge);
    let many: &'static str = format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(101)).leak();
    assert_eq!(kind(many), TransportErrorKind::TooLarge);
}

#[test]
fn the_limits_of_heads_can_be_set() {
    let response: &'static str = "HTTP/1.1 200 OK\r\na: b\r\nc: d\r\nContent-Length: 0\r\n\r\n";
    for (bytes, fields, fits) in [(20_000, 3, true), (20_000, 2, false), (10, 3, false)] {
        let server = Server::answering(response);
        let fetched = block_on(fetch(&pool().head_limits(bytes, fields), get(&server.url)));
        assert_eq!(fetched.is_ok(), fits, "{bytes} {fields} {fetched:?}");
        server.done();
    }
}

#[test]
fn a_few_early_answers_are_passed_over() {
    let server = Server::one(|mut peer| {
        peer.request();
        peer.say("\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n");
        peer.say(json("1"));
    });
    let response = block_on(pool().send(get(&server.url))).unwrap();
    assert_eq!((response.head.status, response.head.headers.get("link")), (200, None));
    assert_eq!(block_on(text(response)).unwrap(), "1");
    server.done();
}

#[test]
fn chunks_that_are_none_are_malformed() {
    for body in
        ["xyz\r\n", "-1\r\n", "5\r\nhellooo\r\n", "ffffffffffffffffff\r\n", "5;\u{1}\r\nhello\r\n0\r\n\r\n\u{0}"]
    {
        let response: &'static str = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}").leak();
        if body.starts_with("5;") {
            // Extensions mean nothing here, and what follows the end belongs to no response.
            let server = Server::answering(response);
            assert_eq!(block_on(fetch(&pool(), get(&server.url))).unwrap(), "hello");
            server.done();
        } else {
            assert_eq!(kind(response), TransportErrorKind::Malformed, "{body:?}");
        }
    }
    let start = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_eq!(endless(start, "0"), TransportErrorKind::TooLarge);
    assert_eq!(endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;", "x"), TransportErrorKind::Malformed);
    assert_eq!(
        endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "a: b\r\n"),
        TransportErrorKind::Malformed
    );
}

#[test]
fn a_body_that_is_cut_is_an_error_after_what_came() {
    for framing in ["Content-Length: 10", "Transfer-Encoding: chunked"] {
        let chunked = framing.starts_with('T');
        let server = Server::one(move |mut peer| {
            peer.request();
            let start = if chunked { "5\r\nhello\r\n5\r\nhe" } else { "hello" };
            peer.say(format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{framing}\r\n\r\n{start}"));
        });
        block_on(async {
            let mut response = pool().send(get(&server.url)).await.unwrap();
            let mut came = Vec::new();
            let error = loop {
                match chunk(&mut *response.body).await.unwrap() {
                    Ok(bytes) => came.extend(bytes),
                    Err(error) => break error,
                }
            };
            assert!(came.starts_with(b"hello"));
            assert_eq!(error.kind(), TransportErrorKind::Closed);
            assert!(chunk(&mut *response.body).await.is_none());
        });
        server.done();
    }
}

#[test]
fn a_reset_in_the_middle_is_an_error() {
    let server = Server::one(|mut peer| {
        peer.request();
        peer.say("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{\"half");
        // What is still unread makes closing a reset.
        std::thread::sleep(Duration::from_millis(50));
    });
    let (kind, _) = failure(&pool(), post(&server.url, &"x".repeat(100_000)));
    assert_eq!(kind, TransportErrorKind::Closed);
    server.done();
}

#[test]
fn a_slow_body_arrives_byte_by_byte() {
    let server = Server::one(|mut peer| {
        peer.request();
        for byte in
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n1\r\n!\r\n0\r\nA: b\r\n\r\n".bytes()
        {
            peer.say([byte]);
        }
        for byte in json("12345").bytes() {
            peer.say([byte]);
        }
    });
    block_on(async {
        assert_eq!(fetch(&pool(), get(&server.url)).await.unwrap(), "hello!");
    });
    drop(server);
}

#[test]
fn a_huge_body_comes_in_pieces_and_can_be_refused() {
    for kind in ["application/json", "text/event-stream"] {
        let server = Server::one(move |mut peer| {
            peer.request();
            peer.say(format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: 1000000000000\r\n\r\n"));
            let piece = vec![b' '; 1 << 20];
            let sent = (0..100).take_while(|_| peer.try_say(&piece)).count();
            assert!(sent < 100, "the client went on reading");
        });
        block_on(async {
            let mut response = pool().send(get(&server.url)).await.unwrap();
            let piece = chunk(&mut *response.body).await.unwrap().unwrap();
            assert!(piece.len() <= 16 << 20);
        });
        server.done();
    }
}

#[test]
fn a_link_gives_up_on_a_message_over_its_limit() {
    for framing in ["Content-Length: 100000000", "Transfer-Encoding: chunked"] {
        let server = Server::one(move |mut peer| {
            peer.request();
            peer.say(format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{framing}\r\n\r\n"));
            let piece = format!("{:x}\r\n{}\r\n", 1 << 20, " ".repeat(1 << 20));
            let sent = (0..95).take_while(|_| peer.try_say(&piece)).count();
            assert!(sent < 95, "the client went on reading");
        });
        let limits = Limits { max_message_bytes: 1 << 20, ..Limits::default() };
        let mut link = HttpLink::new(Arc::new(pool()), server.url.clone(), limits);
        link.open(ExchangeId(1), Box::new(RequestHead::new(Verb::Get)));
        let lost = block_on(async {
            loop {
                if let LinkEvent::Ended { how, .. } = poll_fn(|cx| link.poll(cx)).await {
                    break how;
                }
            }
        });
        assert!(matches!(lost, Ended::Lost(error) if error.kind() == TransportErrorKind::TooLarge), "{framing}");
        server.done();
    }
}

#[test]
fn what_would_break_a_request_is_not_sent() {
    let url = "http://127.0.0.1:1/mcp";
    let with = |name: &'static str, value: &str| {
        let mut request = get(url);
        request.head.headers.push(name, value);
        request
    };
    for request in [
        with("a", "b\r\nevil: yes"),
        with("a", "b\nevil: yes"),
        with("a", "b\0c"),
        with("a: b\r\nevil", "c"),
        with("", "c"),
        with("a b", "c"),
        get("http://127.0.0.1:1/a\r\nevil: yes"),
        get("http://127.0.0.1:1/a b"),
        get("ftp://127.0.0.1:1/"),
        get("http://me:secret@127.0.0.1:1/"),
    ] {
        let (kind, message) = failure(&pool(), request);
        assert_eq!(kind, TransportErrorKind::Other, "{message}");
    }
    let mut request = get(url);
    request.head.method = Verb::Other("GET / HTTP/1.1\r\n\r\n".into());
    assert_eq!(failure(&pool(), request).0, TransportErrorKind::Other);
    assert_eq!(failure(&pool().header("authorization", "Bearer a\r\nb"), get(url)).0, TransportErrorKind::Other);
}
