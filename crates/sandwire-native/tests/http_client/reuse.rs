//! Connections that are used again, and those that cannot be.

use std::time::Duration;

use futures_util::future::join_all;
use sandwire_io::HttpClient;
use sandwire_native::block_on;
use sandwire_proto::TransportErrorKind;

use crate::{
    failure, fetch, get, pool, post,
    server::{Peer, Server, json},
    text,
};

fn answer(peer: &mut Peer, body: &str) {
    peer.request();
    peer.say(json(body));
}

#[test]
fn a_connection_that_was_closed_while_idle_is_replaced() {
    let server = Server::new(|listener| {
        let mut first = listener.accept();
        answer(&mut first, "1");
        drop(first);
        answer(&mut listener.accept(), "2");
    });
    let pool = pool();
    block_on(async {
        assert_eq!(fetch(&pool, post(&server.url, "{}")).await.unwrap(), "1");
        assert_eq!(fetch(&pool, post(&server.url, "{}")).await.unwrap(), "2");
    });
    server.done();
}

#[test]
fn a_connection_that_is_closed_on_the_next_request_is_replaced_once() {
    let server = Server::new(|listener| {
        let mut first = listener.accept();
        answer(&mut first, "1");
        first.request();
        drop(first);
        answer(&mut listener.accept(), "2");
    });
    let client = pool();
    block_on(async {
        assert_eq!(fetch(&client, post(&server.url, "{}")).await.unwrap(), "1");
        assert_eq!(fetch(&client, post(&server.url, "{}")).await.unwrap(), "2");
    });
    server.done();

    let server = Server::new(|listener| {
        let mut first = listener.accept();
        answer(&mut first, "1");
        first.request();
        drop(first);
        listener.accept().request();
    });
    let client = pool();
    assert_eq!(block_on(fetch(&client, post(&server.url, "{}"))).unwrap(), "1");
    assert_eq!(failure(&client, post(&server.url, "{}")).0, TransportErrorKind::Closed);
    server.done();
}

#[test]
fn a_long_request_on_a_closed_connection_is_sent_again() {
    let body = "x".repeat(5_000_000);
    let server = Server::new(|listener| {
        let mut first = listener.accept();
        answer(&mut first, "1");
        // Not all of the request is read.
        first.say("");
        std::thread::sleep(Duration::from_millis(50));
        drop(first);
        let mut second = listener.accept();
        assert_eq!(second.request().body.len(), 5_000_000);
        second.say(json("2"));
    });
    let pool = pool();
    block_on(async {
        assert_eq!(fetch(&pool, post(&server.url, "{}")).await.unwrap(), "1");
        assert_eq!(fetch(&pool, post(&server.url, &body)).await.unwrap(), "2");
    });
    server.done();
}

#[test]
fn a_request_that_was_answered_in_part_is_not_sent_again() {
    let server = Server::one(|mut peer| {
        answer(&mut peer, "1");
        peer.request();
        peer.say("HTTP/1.1 200");
    });
    let pool = pool();
    assert_eq!(block_on(fetch(&pool, post(&server.url, "{}"))).unwrap(), "1");
    assert_eq!(failure(&pool, post(&server.url, "{}")).0, TransportErrorKind::Closed);
    server.done();
}

#[test]
fn a_fresh_connection_that_is_closed_is_an_error_at_once() {
    let server = Server::one(|mut peer| {
        peer.request();
    });
    let (kind, message) = failure(&pool(), post(&server.url, "{}"));
    assert_eq!(kind, TransportErrorKind::Closed);
    assert!(message.contains("call again"), "{message}");
    server.done();
}

#[test]
fn connections_that_end_with_their_response_are_not_kept() {
    for response in [
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\n1",
        "HTTP/1.1 200 OK\r\nConnection: keep-alive, Close\r\nContent-Length: 1\r\n\r\n1",
        "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n1",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
    ] {
        let server = Server::new(move |listener| {
            let mut first = listener.accept();
            first.request();
            first.say(response);
            first.expect_close();
            answer(&mut listener.accept(), "2");
        });
        let pool = pool();
        block_on(async {
            assert_eq!(fetch(&pool, get(&server.url)).await.unwrap(), "1", "{response}");
            assert_eq!(fetch(&pool, get(&server.url)).await.unwrap(), "2", "{response}");
        });
        server.done();
    }
}

#[test]
fn a_body_without_length_ends_with_its_connection() {
    let server = Server::answering("HTTP/1.1 200 OK\r\n\r\nall of it");
    assert_eq!(block_on(fetch(&pool(), get(&server.url))).unwrap(), "all of it");
    server.done();
}

#[test]
fn what_an_idle_connection_says_is_no_answer() {
    let (say, said) = std::sync::mpsc::channel();
    let (go, gone) = std::sync::mpsc::channel::<()>();
    let server = Server::new(move |listener| {
        let mut first = listener.accept();
        answer(&mut first, "1");
        gone.recv().unwrap();
        first.say("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n");
        say.send(()).unwrap();
        answer(&mut listener.accept(), "2");
    });
    let pool = pool();
    block_on(async {
        assert_eq!(fetch(&pool, get(&server.url)).await.unwrap(), "1");
        go.send(()).unwrap();
        said.recv().unwrap();
        assert_eq!(fetch(&pool, get(&server.url)).await.unwrap(), "2");
    });
    server.done();
}

#[test]
fn idle_connections_expire() {
    let server = Server::new(|listener| {
        for _ in 0..2 {
            answer(&mut listener.accept(), "1");
        }
    });
    let pool = pool().idle_timeout(Duration::ZERO);
    block_on(async {
        for _ in 0..2 {
            assert_eq!(fetch(&pool, get(&server.url)).await.unwrap(), "1");
        }
    });
    server.done();
}

#[test]
fn only_so_many_connections_are_kept() {
    let (go, gone) = std::sync::mpsc::channel::<()>();
    let server = Server::new(move |listener| {
        let mut peers: Vec<Peer> = (0..19).map(|_| listener.accept()).collect();
        for peer in &mut peers {
            peer.request();
        }
        for peer in &mut peers {
            peer.say(json("1"));
        }
        gone.recv().unwrap();
        let closed =
            peers.iter_mut().filter_map(|peer| peer.is_closed(Duration::from_millis(10)).then_some(())).count();
        assert_eq!(closed, 3);
    });
    let pool = pool();
    block_on(join_all((0..19).map(|_| fetch(&pool, get(&server.url)))));
    go.send(()).unwrap();
    server.done();
}

#[test]
fn a_stream_that_is_dropped_with_its_end_at_hand_keeps_its_connection() {
    let server = Server::one(|mut peer| {
        peer.request();
        peer.say("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
        answer(&mut peer, "2");
    });
    let pool = pool();
    block_on(async {
        drop(pool.send(get(&server.url)).await.unwrap());
        assert_eq!(fetch(&pool, get(&server.url)).await.unwrap(), "2");
    });
    server.done();
}

#[test]
fn an_answer_may_come_before_the_request_has_gone_out() {
    let server = Server::one(|mut peer| {
        std::thread::sleep(Duration::from_millis(20));
        peer.say("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig");
        let mut socket = peer.into_socket();
        std::io::copy(&mut socket, &mut std::io::sink()).unwrap_or_default();
    });
    block_on(async {
        let response = pool().send(post(&server.url, &"x".repeat(20_000_000))).await.unwrap();
        assert_eq!(response.head.status, 413);
        assert_eq!(text(response).await.unwrap(), "big");
    });
    server.done();
}
