use sandwire_io::HttpClient;
use sandwire_native::block_on;
use sandwire_proto::TransportErrorKind;

use crate::{
    failure, fetch, get, pool, post,
    server::{Server, json},
};

fn moved(status: u16, location: &str) -> String {
    format!("HTTP/1.1 {status} Moved\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n")
}

#[test]
fn a_get_follows_within_its_origin() {
    let server = Server::one(|mut peer| {
        for status in [301, 302, 303, 307, 308] {
            peer.request();
            peer.say(moved(status, "/else?where"));
        }
        let request = peer.request();
        assert_eq!(request.line(), "GET /else?where HTTP/1.1");
        assert_eq!(request.field("authorization"), Some("Bearer x"));
        peer.say(json("1"));
    });
    let pool = pool().header("Authorization", "Bearer x");
    assert_eq!(block_on(fetch(&pool, get(&server.url))).unwrap(), "1");
    server.done();
}

#[test]
fn a_post_keeps_its_method_and_body_or_is_not_redirected() {
    let server = Server::one(|mut peer| {
        for status in [307, 308] {
            peer.request();
            peer.say(moved(status, "more"));
        }
        let request = peer.request();
        assert_eq!((request.line(), request.body.as_str()), ("POST /more HTTP/1.1", "{}"));
        peer.say(json("1"));
        for status in [301, 302, 303] {
            peer.request();
            peer.say(moved(status, "/else"));
        }
    });
    let pool = pool();
    assert_eq!(block_on(fetch(&pool, post(&server.url, "{}"))).unwrap(), "1");
    for _ in 0..3 {
        let (kind, message) = failure(&pool, post(&server.url, "{}"));
        assert_eq!(kind, TransportErrorKind::Status);
        assert!(message.contains(&format!("http://127.0.0.1:{}/else", server.port)), "{message}");
    }
    drop(pool);
    server.done();
}

#[test]
fn another_origin_is_named_and_never_asked() {
    let other = Server::new(|_| {});
    for location in [
        format!("http://127.0.0.1:{}/mcp", other.port),
        format!("//127.0.0.1:{}/mcp", other.port),
        "https://127.0.0.1/mcp".to_owned(),
        "http://localhost/mcp".to_owned(),
    ] {
        for status in [301, 307] {
            let answer = moved(status, &location);
            let server = Server::one(move |mut peer| {
                peer.request();
                peer.say(answer);
                peer.expect_close();
            });
            let (kind, message) = failure(&pool().header("authorization", "Bearer x"), get(&server.url));
            assert_eq!(kind, TransportErrorKind::Status);
            assert!(message.contains(location.trim_start_matches("http:")), "{message}");
            server.done();
        }
    }
    other.done();
}

#[test]
fn redirects_end_sometime() {
    let server = Server::one(|mut peer| {
        while peer.try_request().is_some() {
            peer.say(moved(307, "/mcp"));
        }
    });
    assert_eq!(failure(&pool(), get(&server.url)).0, TransportErrorKind::Status);
    server.done();
}

#[test]
fn a_status_without_a_location_is_an_answer() {
    let server = Server::answering("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(block_on(pool().send(get(&server.url))).unwrap().head.status, 302);
    server.done();
}
