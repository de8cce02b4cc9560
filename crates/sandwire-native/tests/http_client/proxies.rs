use std::{io, net::TcpStream, thread};

use sandwire_native::block_on;
use sandwire_proto::TransportErrorKind;

use crate::{
    failure, fetch, get, pool,
    server::{Server, json},
    tls::Authority,
};

pub(crate) fn address(proxy: &Server) -> String {
    format!("http://me:p%40ss@127.0.0.1:{}", proxy.port)
}

/// A proxy that connects one client with a port of this machine when asked for `place`.
pub(crate) fn tunnel(place: &str, port: u16) -> Server {
    let line = format!("CONNECT {place} HTTP/1.1");
    Server::one(move |mut peer| {
        let request = peer.request();
        assert_eq!(request.line(), line);
        assert_eq!(request.field("proxy-authorization"), Some("Basic bWU6cEBzcw=="));
        peer.say("HTTP/1.1 200 Connection established\r\n\r\n");
        let (client, server) = (peer.into_socket(), TcpStream::connect(("127.0.0.1", port)).unwrap());
        let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
        let up = thread::spawn(move || {
            let _ = io::copy(&mut from, &mut to);
            let _ = to.shutdown(std::net::Shutdown::Write);
        });
        let _ = io::copy(&mut &server, &mut &client);
        up.join().unwrap();
    })
}

#[test]
fn a_plain_request_names_its_server_to_the_proxy() {
    let proxy = Server::one(|mut peer| {
        for _ in 0..2 {
            let request = peer.request();
            assert_eq!(request.line(), "GET http://server.example/mcp?x HTTP/1.1");
            assert_eq!(request.field("host"), Some("server.example"));
            assert_eq!(request.field("proxy-authorization"), Some("Basic bWU6cEBzcw=="));
            peer.say(json("1"));
        }
    });
    let pool = pool().proxy(&address(&proxy)).unwrap();
    block_on(async {
        for _ in 0..2 {
            assert_eq!(fetch(&pool, get("http://server.example/mcp?x")).await.unwrap(), "1");
        }
    });
    proxy.done();
}

#[test]
fn tls_goes_through_a_tunnel() {
    let authority = Authority::certifying("server.example");
    let client = pool().root_certificate(authority.pem.as_bytes()).unwrap();
    let server = Server::new(move |listener| {
        let mut peer = authority.peer(listener.socket());
        for _ in 0..2 {
            let request = peer.request();
            assert_eq!(request.line(), "GET /mcp HTTP/1.1");
            assert_eq!(request.field("host"), Some("server.example"));
            assert_eq!(request.field("proxy-authorization"), None);
            peer.say(json("1"));
        }
        peer.expect_close();
    });
    let proxy = tunnel("server.example:443", server.port);
    let client = client.proxy(&address(&proxy)).unwrap();
    block_on(async {
        for _ in 0..2 {
            assert_eq!(fetch(&client, get("https://server.example/mcp")).await.unwrap(), "1");
        }
    });
    drop(client);
    server.done();
    proxy.done();
}

#[test]
fn a_proxy_that_refuses_is_named() {
    for (answer, says) in [
        ("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n", "password"),
        ("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", "HTTP 403"),
        ("nonsense\r\n\r\n", "does not answer"),
        ("HTTP/1.1 200 OK\r\n\r\nhello", "before it is spoken to"),
        ("", "does not answer"),
    ] {
        let proxy = Server::answering(answer);
        let pool = pool().proxy(&address(&proxy)).unwrap();
        let (kind, message) = failure(&pool, get("https://server.example/mcp"));
        assert_eq!(kind, TransportErrorKind::Unreachable, "{message}");
        assert!(message.contains(says) && !message.contains("p%40ss"), "{message}");
        proxy.done();
    }
}

#[test]
fn other_kinds_of_proxies_are_refused() {
    for address in ["socks5://127.0.0.1:1080", "https://127.0.0.1:1", "a b"] {
        assert!(pool().proxy(address).unwrap_err().to_string().contains("http://"), "{address}");
    }
}
