//! What clients, browsers and proxies ask of a server over HTTP.

use crate::{
    decode::asking,
    servers::{Doors, echo},
    stage::{ERAS, Got, House, LEGACY, MODERN, VERSIONS, body_of, head, modern_head, notification, request},
};
use sandwire_io::MemoryEvents;
use sandwire_proto::http::{RequestHead, Verb};
use sandwire_server::{
    Context, Server, ToolError,
    http::{Allow, Guard, Sessions},
};
use sandwire_types::model::CreateMessageRequestParams;
use std::sync::Arc;

/// Over HTTP the first version has another transport.
const SESSIONS: [&str; 3] = ["2025-03-26", "2025-06-18", "2025-11-25"];

fn kept() -> Sessions {
    Sessions { events: Some(Arc::new(MemoryEvents::new(100, 100_000, 10))), ..Sessions::default() }
}

/// A modern request with other headers.
fn listed(house: &House, change: impl Fn(&mut RequestHead)) -> Got {
    let mut head = modern_head("tools/list", "");
    change(&mut head);
    house.send(head, &request(MODERN, "7", "tools/list", ""))
}

fn replace(head: &mut RequestHead, name: &'static str, value: &str) {
    let rest: Vec<_> = head.headers.iter().filter(|(key, _)| *key != name).collect();
    let rest: Vec<(String, String)> = rest.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    head.headers = rest.into_iter().collect();
    head.headers.push(name, value);
}

#[test]
fn b80_a_preflight_allows_whatever_a_client_has_to_send() {
    const NAMES: &str = "content-type,mcp-protocol-version,mcp-session-id,last-event-id,authorization,mcp-method,mcp-name,mcp-param-region";
    for house in [House::new(echo()), House::stateless(echo())] {
        for method in ["POST", "GET", "DELETE"] {
            let head = head(
                Verb::Options,
                &[
                    ("origin", "http://localhost:5173"),
                    ("access-control-request-method", method),
                    ("access-control-request-headers", NAMES),
                ],
            );
            let got = house.send(head, "");
            assert_eq!((got.status(), &*got.body), (204, ""));
            let allowed = got.header("access-control-allow-headers").to_ascii_lowercase();
            let allowed: Vec<_> = allowed.split(',').map(str::trim).collect();
            for name in NAMES.split(',') {
                assert!(allowed.contains(&name), "{name}: {allowed:?}");
            }
            let methods = got.header("access-control-allow-methods");
            assert!(["POST", "GET", "DELETE"].iter().all(|method| methods.contains(method)), "{methods}");
            assert!(["*", "http://localhost:5173"].contains(&got.header("access-control-allow-origin")));
        }
        // What a page must read is shown to it.
        let got = listed(&house, |head| head.headers.push("origin", "http://localhost:5173"));
        let exposed = got.header("access-control-expose-headers").to_ascii_lowercase();
        assert_eq!(got.status(), 200);
        assert!(exposed.contains("mcp-session-id") && exposed.contains("www-authenticate"), "{exposed}");
    }
}

#[test]
fn b86_a_session_that_is_not_known_is_not_found() {
    let house = House::new(echo());
    for version in SESSIONS {
        for session in ["nobody", "00000000-0000-0000-0000-000000000000", "../..", "\u{1F600}"] {
            for verb in [Verb::Post, Verb::Get, Verb::Delete] {
                let got = match verb {
                    Verb::Post => house.post(session, version, &request(version, "1", "tools/list", "")),
                    _ => house.bare(verb, session, version),
                };
                let got = got.response().whole();
                assert_eq!((got.status(), got.said().code()), (404, -32600), "{version} {session}: {}", got.body);
                assert_eq!(got.header("content-type"), "application/json");
            }
        }
    }
}

#[test]
fn b108_accept_is_read_as_the_pattern_that_it_is() {
    let good = [
        "*/*",
        "application/*, text/*",
        "*/*;q=0.8",
        "application/json, text/event-stream",
        "text/event-stream;q=0.5, application/json;q=0.9",
        "APPLICATION/JSON, Text/Event-Stream",
        "text/html, application/xhtml+xml, */*;q=0.8",
        "application/json,text/event-stream",
        " application/json ; charset=utf-8 , text/event-stream ",
    ];
    for version in ERAS {
        for accept in good.into_iter().chain([""]) {
            let house = House::new(echo());
            let status = if version == MODERN {
                listed(&house, |head| {
                    replace(head, "accept", accept);
                    if accept.is_empty() {
                        head.headers = head
                            .headers
                            .iter()
                            .filter(|(name, _)| *name != "accept")
                            .map(|(a, b)| (a.to_owned(), b.to_owned()))
                            .collect();
                    }
                })
                .status()
            } else {
                let session = house.open(version);
                let head = head(
                    Verb::Post,
                    &[("accept", accept), ("mcp-session-id", &session), ("mcp-protocol-version", version)],
                );
                house.send(head, &request(version, "1", "tools/list", "")).status()
            };
            assert_eq!(status, 200, "{version}: {accept:?}");
        }
    }
    let house = House::new(echo());
    for accept in [
        "text/plain",
        "image/*",
        "application/xml, text/html",
        "*/*;q=0",
        "application/json;q=0, text/event-stream;q=0",
    ] {
        let got = listed(&house, |head| replace(head, "accept", accept));
        assert_eq!(got.status(), 406, "{accept}");
    }
}

#[test]
fn b110_the_type_of_a_body_is_compared_as_a_type() {
    let types = [
        ("application/json", true),
        ("application/json; charset=utf-8", true),
        ("Application/JSON;Charset=UTF-8", true),
        (" application/json ", true),
        ("text/plain; x=application/json", false),
        ("application/jsonp", false),
        ("application/json-seq", false),
        ("xapplication/json", false),
        ("text/json", false),
        ("application/x-www-form-urlencoded", false),
        ("multipart/form-data; boundary=application/json", false),
        ("", false),
    ];
    for house in [House::new(echo()), House::stateless(echo())] {
        for (kind, good) in types {
            let got = listed(&house, |head| replace(head, "content-type", kind));
            assert_eq!(got.status(), if good { 200 } else { 415 }, "{kind:?}");
        }
    }
}

#[test]
fn b111_what_an_endpoint_does_not_do_it_says_at_once() {
    for verb in [Verb::Get, Verb::Delete, Verb::Other("PUT".into()), Verb::Other("PATCH".into())] {
        for version in VERSIONS {
            let house = House::stateless(echo());
            let mut head = head(verb.clone(), &[("accept", "text/event-stream"), ("mcp-protocol-version", version)]);
            let got = house.send(head.clone(), "");
            assert_eq!(got.status(), 405, "{version}");
            assert!(got.header("allow").contains("POST"), "{version}: {}", got.header("allow"));
            head.headers.push("mcp-session-id", "s");
            assert_eq!(house.send(head, "").status(), 405);
        }
        // In the new era there are no sessions, whoever keeps some for the old.
        let house = House::new(echo());
        let head = head(verb.clone(), &[("accept", "text/event-stream"), ("mcp-protocol-version", MODERN)]);
        let got = house.send(head, "");
        assert!(got.status() == 405 && !got.header("allow").is_empty(), "{}", got.body);
    }
}

#[test]
fn b113_sessions_end_with_their_clients() {
    let mut house = House::new(echo());
    for _ in 0..1000 {
        let session = house.open("2025-11-25");
        assert_eq!(house.bare(Verb::Delete, &session, "2025-11-25").response().whole().status(), 204);
    }
    assert_eq!(house.entry.sessions(), 0);
    for _ in 0..1000 {
        house.initialize("2025-11-25", "{}");
    }
    assert_eq!(house.entry.sessions(), 1000);
    house.env.advance(Sessions::default().idle_ms + 1);
    house.run();
    assert_eq!(house.entry.sessions(), 0);
    // One whose stream broke is idle from then on.
    let session = house.open("2025-11-25");
    let stream = house.bare(Verb::Get, &session, "2025-11-25").response();
    house.env.advance(Sessions::default().idle_ms * 2);
    house.run();
    drop(stream);
    house.env.advance(Sessions::default().idle_ms * 2);
    house.run();
    assert_eq!(house.entry.sessions(), 0);
}

#[test]
fn b114_who_cannot_be_asked_is_not_waited_for() {
    let sampling = Server::builder("s", "1").tool("ask", "", async |context: Context| {
        let request = CreateMessageRequestParams::new(Vec::new(), sandwire_json::Number::parse("1").unwrap());
        context.sample("who", request).await?;
        Ok::<_, ToolError>("answered")
    });
    let sampling = sampling.build().unwrap();
    let ask = r#""name":"ask","arguments":{}"#;
    // Without a session, an answer has no way back.
    for version in LEGACY.into_iter().skip(1) {
        for server in [asking(), sampling.clone()] {
            let house = House::stateless(server);
            let head = head(Verb::Post, &[("mcp-protocol-version", version)]);
            let said = house.send(head, &request(version, "1", "tools/call", ask)).said();
            let failed = said.at("/result/isError") == true || said.get("error").is_some();
            assert!(failed, "{version}: {}", said.0);
        }
        // In a session, its client has to be able to.
        for server in [asking(), sampling.clone()] {
            let house = House::new(server);
            let session = house.open(version);
            let said =
                house.post(&session, version, &request(version, "1", "tools/call", ask)).response().whole().said();
            assert!(said.at("/result/isError") == true || said.get("error").is_some(), "{version}: {}", said.0);
        }
    }
    // In the new era the question is the result, if the client can answer it.
    for (capabilities, can) in [("{}", false), (r#"{"sampling":{}}"#, true)] {
        let house = House::new(sampling.clone());
        let got = house.send(modern_head("tools/call", ask), &body_of("7", "tools/call", ask, capabilities));
        match can {
            true => assert_eq!(got.said().at("/result/resultType"), "input_required", "{}", got.body),
            false => assert_eq!(got.said().code(), -32021, "{}", got.body),
        }
    }
}

#[test]
fn b115_any_instance_serves_whoever_comes() {
    let shared = echo();
    for version in LEGACY.into_iter().skip(1) {
        let (one, other) = (House::stateless(shared.clone()), House::stateless(echo()));
        let got = one.initialize(version, "{}");
        assert_eq!((got.status(), got.header("mcp-session-id")), (200, ""), "{version}");
        let head = head(Verb::Post, &[("mcp-protocol-version", version)]);
        let got = other.send(head, &request(version, "1", "tools/list", ""));
        assert!(got.status() == 200 && got.said().get("result").is_some(), "{version}: {}", got.body);
    }
    let (one, other) = (House::stateless(shared.clone()), House::new(shared));
    for house in [one, other] {
        assert!(house.modern("tools/list", "").said().get("result").is_some());
    }
}

#[test]
fn b116_a_notification_is_taken_and_not_answered() {
    for house in [House::new(echo()), House::stateless(echo())] {
        let told = format!(r#""requestId":1,{}"#, crate::stage::envelope(MODERN, "{}"));
        for params in [told.as_str(), r#""requestId":1"#] {
            let mut head = head(Verb::Post, &[("mcp-protocol-version", MODERN)]);
            head.headers.push("mcp-method", "notifications/cancelled");
            let got = house.send(head, &notification("notifications/cancelled", params));
            assert_eq!((got.status(), &*got.body), (202, ""), "{params}");
        }
    }
    for version in SESSIONS {
        let house = House::new(echo());
        let session = house.open(version);
        let told = notification("notifications/cancelled", r#""requestId":1"#);
        let got = house.post(&session, version, &told).response().whole();
        assert_eq!((got.status(), &*got.body), (202, ""), "{version}");
    }
}

#[test]
fn b127_streams_are_primed_for_those_versions_only_that_know_it() {
    for version in SESSIONS {
        for sessions in [kept(), Sessions::default()] {
            let is_kept = sessions.events.is_some();
            let doors = Doors::default();
            let house = House::with(doors.server(), Guard::default(), sessions);
            let session = house.open(version);
            let mut streams = vec![house.bare(Verb::Get, &session, version).response()];
            let door = r#""name":"door","arguments":{"name":"a"}"#;
            let mut call = house.post(&session, version, &request(version, "1", "tools/call", door));
            streams.extend(call.poll());
            for stream in &mut streams {
                let primed = stream.part().lines().any(|line| line.trim_end() == "data:");
                assert_eq!(primed, is_kept && version == "2025-11-25", "{version}");
            }
        }
    }
}

#[test]
fn b128_a_place_that_is_none_is_refused() {
    let house = House::with(Doors::default().server(), Guard::default(), kept());
    let (mine, other) = (house.open("2025-11-25"), house.open("2025-11-25"));
    let mut stream = house.bare(Verb::Get, &other, "2025-11-25").response();
    let foreign = stream.part();
    let foreign = foreign.lines().find_map(|line| line.strip_prefix("id: ")).unwrap().to_owned();
    let places =
        ["s1_999999", "garbage", "", "-1", "0", "18446744073709551616-1", "\u{1f980}", "%00", "1-1-1", &foreign];
    for place in places {
        let mut head = head(Verb::Get, &[("mcp-session-id", &mine), ("mcp-protocol-version", "2025-11-25")]);
        head.headers.push("accept", "text/event-stream");
        head.headers.push("last-event-id", place);
        let got = house.send(head, "");
        assert!(matches!(got.status(), 400 | 404), "{place}: {}", got.status());
        assert_eq!(got.said().code(), -32600);
    }
    assert!(house.bare(Verb::Get, &mine, "2025-11-25").poll().is_some());
}

#[test]
fn b122_origins_and_hosts_are_a_policy_that_is_said() {
    let origin = |guard: &Guard, origin: &str| {
        let house = House::guarded(echo(), guard.clone());
        let got = listed(&house, |head| {
            if !origin.is_empty() {
                head.headers.push("origin", origin);
            }
        });
        assert!(got.status() == 200 || got.said().code() == -32600, "{}", got.body);
        got.status()
    };
    let extension = "chrome-extension://abcdefghijklmnop";
    let guard = Guard::default();
    for (value, status) in [
        ("", 200),
        ("http://localhost:5173", 200),
        ("http://127.0.0.1", 200),
        ("http://[::1]:3000", 200),
        ("null", 403),
        (extension, 403),
        ("https://evil.example", 403),
        ("http://localhost.evil.example", 403),
        ("http://evil.example/localhost", 403),
    ] {
        assert_eq!(origin(&guard, value), status, "{value}");
    }
    let guard = Guard { origins: Allow::these([extension, "https://app.example", "null"]), ..Guard::default() };
    for (value, status) in [
        ("", 200),
        (extension, 200),
        ("https://app.example", 200),
        ("null", 200),
        ("https://app.example.evil.example", 403),
        ("http://app.example", 403),
        ("chrome-extension://other", 403),
    ] {
        assert_eq!(origin(&guard, value), status, "{value}");
    }
    for (guard, host, status) in [
        (Guard::default(), "localhost:3000", 200),
        (Guard::default(), "[::1]:3000", 200),
        (Guard::default(), "mcp.example.com", 421),
        (Guard { hosts: Allow::these(["mcp.example.com"]), ..Guard::default() }, "mcp.example.com", 200),
        (Guard { hosts: Allow::these(["mcp.example.com"]), ..Guard::default() }, "localhost:3000", 421),
        (Guard::open(), "anything.example", 200),
    ] {
        let house = House::guarded(echo(), guard);
        assert_eq!(listed(&house, |head| replace(head, "host", host)).status(), status, "{host}");
    }
}

#[test]
fn b101_a_call_that_waits_holds_up_no_other_at_the_server() {
    for version in ["2025-11-25", MODERN] {
        let doors = Doors::default();
        let house = House::new(doors.server());
        let session = house.open("2025-11-25");
        let call = |id: usize| {
            let door = format!(r#""name":"door","arguments":{{"name":"{id}"}}"#);
            match version {
                MODERN => house.begin_modern("tools/call", &door),
                _ => house.post(&session, version, &request(version, &id.to_string(), "tools/call", &door)),
            }
        };
        let mut calls: Vec<_> = (0..10).map(call).collect();
        assert!(calls.iter_mut().all(|call| call.poll().is_none()));
        for id in (1..10).rev() {
            doors.open(&id.to_string());
            let got = calls.pop().unwrap().response().whole();
            assert_eq!(got.said().at("/result/content/0/text"), id.to_string(), "{version}");
        }
        assert!(calls.pop().unwrap().poll().is_none());
    }
}
