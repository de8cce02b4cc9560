use std::time::Duration;

use sandwire_io::HttpClient;
use sandwire_native::block_on;
use sandwire_proto::http::Verb;

use crate::{
    chunk, fetch, get, pool, post,
    server::{Server, json},
};

#[test]
fn a_request_is_sent_as_it_is_and_a_connection_is_used_again() {
    let server = Server::one(|mut peer| {
        let request = peer.request();
        assert_eq!(request.line(), "POST /mcp HTTP/1.1");
        assert_eq!(request.body, "{\"a\":1}");
        assert_eq!(request.field("content-type"), Some("application/json"));
        assert_eq!(request.field("accept-encoding"), Some("identity"));
        assert!(request.field("host").unwrap().starts_with("127.0.0.1:"));
        assert!(request.field("user-agent").unwrap().starts_with("sandwire/"));
        peer.say(json("{\"b\":2}"));
        let request = peer.request();
        assert_eq!((request.line(), request.field("content-length")), ("GET /mcp HTTP/1.1", None));
        peer.say("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
        let request = peer.request();
        assert_eq!((request.line(), request.field("content-length")), ("DELETE /mcp HTTP/1.1", None));
        peer.say("HTTP/1.1 204 No Content\r\n\r\n");
        peer.expect_close();
    });
    let pool = pool();
    block_on(async {
        assert_eq!(fetch(&pool, post(&server.url, "{\"a\":1}")).await.unwrap(), "{\"b\":2}");
        let response = pool.send(get(&server.url)).await.unwrap();
        assert_eq!(response.head.status, 202);
        drop(response);
        let mut request = get(&server.url);
        request.head.method = Verb::Delete;
        assert_eq!(pool.send(request).await.unwrap().head.status, 204);
    });
    drop(pool);
    server.done();
}

#[test]
fn events_arrive_one_by_one_and_dropping_the_body_closes_the_connection() {
    let (go, gone) = std::sync::mpsc::channel::<()>();
    let server = Server::one(move |mut peer| {
        peer.request();
        peer.say("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
        for event in ["7\r\ndata: 1\r\n", "2\r\n\n\n\r\n9\r\ndata: 2\n\n\r\n"] {
            gone.recv().unwrap();
            peer.say(event);
        }
        peer.expect_close();
    });
    block_on(async {
        let mut response = pool().send(get(&server.url)).await.unwrap();
        go.send(()).unwrap();
        assert_eq!(chunk(&mut *response.body).await.unwrap().unwrap(), b"data: 1");
        go.send(()).unwrap();
        let mut rest = Vec::new();
        while rest.len() < 11 {
            rest.extend(chunk(&mut *response.body).await.unwrap().unwrap());
        }
        assert_eq!(rest, b"\n\ndata: 2\n\n");
    });
    server.done();
}

#[test]
fn dropping_a_request_closes_its_connection() {
    let server = Server::one(|mut peer| {
        peer.request();
        peer.expect_close();
    });
    block_on(async {
        let request = pool().send(post(&server.url, "{}"));
        let timer = async_io::Timer::after(Duration::from_millis(100));
        futures_util::future::select(request, timer).await;
    });
    server.done();
}
