use crate::site::{Site, modern, post};
use sandwire_io::{Body, HttpService};
use sandwire_proto::{
    TransportError,
    http::{RequestHead, Verb},
};
use sandwire_server::http::{Allow, Guard};
use std::task::{Context, Poll};

#[test]
fn hosts_and_origins_other_than_its_own_are_turned_away() {
    let site = Site::new();
    for (host, origin, status) in [
        ("localhost:3000", None, 200),
        ("127.0.0.1", Some("http://localhost:5173"), 200),
        ("evil.example", None, 421),
        ("evil.example", Some("http://evil.example"), 421),
        ("localhost", Some("http://evil.example"), 403),
        ("localhost", Some("null"), 403),
    ] {
        let (mut head, body) = modern("tools/list", "");
        head.headers.set("host", host);
        if let Some(origin) = origin {
            head.headers.push("origin", origin);
        }
        let got = site.send(head, &body);
        assert_eq!(got.head.status, status, "{host} {origin:?}");
        if status != 200 {
            assert_eq!(got.code(), -32600);
            assert_eq!(got.header("access-control-allow-origin"), "");
        }
    }
}

#[test]
fn every_host_and_every_origin_that_is_named_has_to_be_its_own() {
    for field in ["host", "origin"] {
        for values in [["http://localhost", "http://evil.example"], ["http://evil.example", "http://localhost"]] {
            let (mut head, body) = modern("tools/list", "");
            values.iter().for_each(|value| head.headers.push(field, *value));
            let got = Site::new().send(head, &body);
            assert_eq!(got.head.status, if field == "host" { 421 } else { 403 }, "{values:?}");
        }
    }
}

#[test]
fn the_guard_can_be_opened() {
    let site = Site::guarded(Guard::open());
    let (mut head, body) = modern("tools/list", "");
    head.headers.set("host", "anything.example");
    head.headers.push("origin", "https://page.example");
    let got = site.send(head, &body);
    assert_eq!(got.head.status, 200);
    assert_eq!(got.header("access-control-allow-origin"), "https://page.example");
    assert_eq!(got.header("vary"), "Origin");
    assert!(got.header("access-control-expose-headers").contains("Mcp-Session-Id"));
}

#[test]
fn a_preflight_allows_the_headers_of_both_eras_and_the_parameters_asked_for() {
    let mut head = RequestHead::new(Verb::Options);
    head.headers.push("host", "localhost");
    head.headers.push("origin", "http://localhost:5173");
    head.headers.push("access-control-request-method", "POST");
    head.headers
        .push("access-control-request-headers", "content-type, mcp-param-region,Mcp-Param-b ad, x-other, mcp-pa");
    let got = Site::new().send(head.clone(), "");
    assert_eq!(got.head.status, 204);
    assert_eq!(got.header("access-control-allow-origin"), "http://localhost:5173");
    assert!(got.header("access-control-allow-methods").contains("POST"));
    let allowed = got.header("access-control-allow-headers");
    for name in [
        "Content-Type",
        "Accept",
        "Authorization",
        "MCP-Protocol-Version",
        "Mcp-Method",
        "Mcp-Name",
        "mcp-param-region",
    ] {
        assert!(allowed.split(", ").any(|have| have == name), "{name} in {allowed}");
    }
    assert!(!allowed.contains("x-other") && !allowed.contains("b ad"), "{allowed}");

    head.headers.set("origin", "http://evil.example");
    assert_eq!(Site::new().send(head, "").head.status, 403);
}

#[test]
fn without_cors_nothing_is_told_to_browsers() {
    let site = Site::guarded(Guard { cors: false, ..Guard::default() });
    let (mut head, body) = modern("tools/list", "");
    head.headers.push("origin", "http://localhost");
    assert_eq!(site.send(head.clone(), &body).header("access-control-allow-origin"), "");
    head.method = Verb::Options;
    head.headers.push("access-control-request-method", "POST");
    assert_eq!(site.send(head, "").head.status, 405);
}

#[test]
fn only_post_is_taken() {
    for verb in [Verb::Get, Verb::Delete, Verb::Options, Verb::Other("PUT".into())] {
        let mut head = post(&[]);
        head.method = verb;
        let got = Site::new().send(head, "");
        assert_eq!(got.head.status, 405);
        assert_eq!(got.header("allow"), "POST, OPTIONS");
    }
}

#[test]
fn only_json_is_read_and_both_kinds_of_answer_must_be_welcome() {
    let site = Site::new();
    for (content_type, accept, status) in [
        ("application/json; charset=utf-8", "application/json,text/event-stream", 200),
        ("Application/JSON", "*/*", 200),
        ("application/json", "application/*;q=0.9, text/*", 200),
        ("text/plain", "*/*", 415),
        ("", "*/*", 415),
        ("application/json", "application/json", 406),
        ("application/json", "text/event-stream", 406),
        ("application/json", "text/html", 406),
        ("application/json", "application/json;q=0, text/event-stream", 406),
        ("application/json", "application/json, text/event-stream; Q=0.000", 406),
        ("application/json", "*/*, text/*;q=0", 406),
        ("application/json", "*/*;q=0, application/json, text/*;q=0.001", 200),
        ("application/json", "*/*;q=0, application/json;q=1, text/event-stream;q=0.5", 200),
        ("application/json", "applicatio/json, text/event-stream", 406),
    ] {
        let (mut head, body) = modern("tools/list", "");
        head.headers.set("content-type", content_type);
        head.headers.set("accept", accept);
        assert_eq!(site.send(head, &body).head.status, status, "{content_type} {accept}");
    }
    let (mut head, body) = modern("tools/list", "");
    head.headers.remove("accept");
    assert_eq!(site.send(head, &body).head.status, 200, "without the header everything is welcome");
}

struct Chunks(usize);

impl Body for Chunks {
    fn poll_chunk(&mut self, _: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, TransportError>>> {
        self.0 = self.0.checked_sub(1).expect("read on after the limit");
        Poll::Ready(Some(Ok(vec![b' '; 100])))
    }
}

#[test]
fn a_body_over_the_limit_is_not_read_to_its_end() {
    let site = Site::guarded(Guard { max_body_bytes: 1000, ..Guard::default() });
    let (head, body) = futures_executor::block_on(site.entry.handle(post(&[]), Box::new(Chunks(11))));
    assert_eq!(head.status, 413);
    drop(body);
    let (head, _) =
        futures_executor::block_on(site.entry.handle(post(&[("content-length", "1001")]), Box::new(Chunks(0))));
    assert_eq!(head.status, 413);
}

#[test]
fn names_are_allowed_one_by_one() {
    let guard = Guard {
        hosts: Allow::these(["mcp.example"]),
        origins: Allow::these(["https://a.example"]),
        ..Guard::default()
    };
    let site = Site::guarded(guard);
    for (host, origin, status) in [
        ("mcp.example:8080", "https://a.example", 200),
        ("localhost", "https://a.example", 421),
        ("mcp.example", "https://b.example", 403),
    ] {
        let (mut head, body) = modern("tools/list", "");
        head.headers.set("host", host);
        head.headers.push("origin", origin);
        assert_eq!(site.send(head, &body).head.status, status, "{host} {origin}");
    }
}
