//! How a connection begins.

use crate::{
    servers::echo,
    stage::{Answerer, Caller, House, HttpCaller, LEGACY, MODERN, request, result, welcome},
};
use sandwire_client::{ErrorKind, Mode, Options};
use sandwire_proto::{TransportError, TransportErrorKind};
use sandwire_server::{Capability, Server};
use std::time::Duration;

#[test]
fn b39_a_server_answers_before_it_hears_that_its_client_is_ready() {
    let server = || Server::builder("s", "1").tool("t", "", async || "x").declare(Capability::Logging).build().unwrap();
    for version in LEGACY {
        let mut answerer = Answerer::new(server());
        answerer.version = version;
        answerer.initialize("0", version, "{}");
        let told = answerer.call("1", "logging/setLevel", r#""level":"info""#);
        assert_eq!(told.result(), "{}", "{version}");
        answerer.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        assert!(answerer.call("2", "tools/list", "").get("result").is_some());

        // All at once, and in order.
        let mut answerer = Answerer::new(server());
        let hello =
            format!(r#""protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}"#);
        answerer.say(&request("", "0", "initialize", &hello));
        answerer.say(&request(version, "1", "logging/setLevel", r#""level":"info""#));
        answerer.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        answerer.say(&request(version, "2", "tools/list", ""));
        let ids: Vec<_> =
            answerer.heard().iter().map(|told| (told.id().to_owned(), told.get("error").is_some())).collect();
        assert_eq!(ids, ["0", "1", "2"].map(|id| (id.to_owned(), false)), "{version}");
    }
}

#[test]
fn b40_a_client_answers_pings_while_it_waits_to_be_welcomed() {
    for version in LEGACY {
        let mut client = Caller::new(Options::new("c", "1").mode(Mode::Legacy));
        let initialize = client.hear();
        for id in ["\"p1\"", "0", "-1"] {
            client.say(&request(version, id, "ping", ""));
            assert_eq!(client.hear().0, result(id, "{}"), "{version}");
        }
        client.say(r#"{"jsonrpc":"2.0","id":"p2","method":"ping"}"#);
        assert_eq!(client.hear().0, result("\"p2\"", "{}"));
        client.answer(&initialize, &welcome(version));
        assert_eq!(client.hear().method(), "notifications/initialized");
        client.assert_lives();
    }
}

#[test]
fn b42_a_session_is_initialized_once() {
    for version in LEGACY {
        let mut server = Answerer::open(version, echo());
        for again in LEGACY.into_iter().chain(["1999-01-01"]) {
            assert_eq!(server.initialize("5", again, r#"{"sampling":{}}"#).code(), -32600, "{version}: {again}");
        }
        assert!(server.call("6", "tools/list", "").get("result").is_some());
    }
    // Until the first one is answered well, another may be tried.
    let mut server = Answerer::new(echo());
    server.say_unnoted(&request("", "1", "initialize", ""));
    assert_eq!(server.heard_unjudged()[0].code(), -32602);
    assert!(server.initialize("2", "2025-06-18", "{}").get("result").is_some());

    let house = House::new(echo());
    let session = house.open("2025-06-18");
    let hello =
        r#""protocolVersion":"2025-11-25","capabilities":{"sampling":{}},"clientInfo":{"name":"b","version":"1"}"#;
    let got = house.post(&session, "2025-06-18", &request("", "9", "initialize", hello)).response().whole();
    assert_eq!(got.said().code(), -32600);
    let got = house.post(&session, "2025-06-18", &request("", "10", "tools/list", "")).response().whole();
    assert!(got.said().get("result").is_some() && house.entry.sessions() == 1);
}

#[test]
fn b43_an_opening_that_is_given_up_is_not_cancelled_on_the_wire() {
    for mode in [Mode::Legacy, Mode::Auto] {
        // By the clock.
        let options = || {
            Options::new("c", "1")
                .mode(mode.clone())
                .timeout(Duration::from_secs(5))
                .probe_timeout(Duration::from_secs(2))
        };
        let mut client = Caller::new(options());
        let waiting = client.client.clone();
        let ready = client.start(async move { waiting.ready().await.map(drop) });
        let mut said = client.heard();
        for _ in 0..60 {
            client.advance(1000);
            said.extend(client.heard());
        }
        assert!(ready.get().is_err_and(|error| error.is_timeout()), "{mode:?}");
        assert!(said.iter().all(|said| ["server/discover", "initialize"].contains(&said.method())), "{said:?}");
        // By the caller, who drops the call that waits for the opening, and the client.
        let mut client = Caller::new(options());
        client.heard();
        let call = std::future::IntoFuture::into_future(client.client.list_tools());
        drop(call);
        client.client.close();
        assert!(client.heard().iter().all(|said| said.method() != "notifications/cancelled"));
    }
}

#[test]
fn b51_a_handshake_never_offers_a_version_that_has_none() {
    let of = |version: &str| sandwire_types::ProtocolVersion::parse(version).unwrap();
    let modes = [Mode::Auto, Mode::Legacy].into_iter().chain(LEGACY.map(|version| Mode::Pinned(of(version))));
    for mode in modes {
        let mut client = Caller::new(Options::new("c", "1").mode(mode.clone()));
        let mut first = client.hear();
        if first.method() == "server/discover" {
            client.refuse(&first, -32601, "no such method");
            first = client.hear();
        }
        assert_eq!(first.method(), "initialize");
        let offered = first.at("/params/protocolVersion");
        let expected = match mode {
            Mode::Pinned(version) => version.as_str(),
            _ => "2025-11-25",
        };
        assert_eq!(offered, expected, "{mode:?}");
        assert!(!first.0.contains(MODERN), "{}", first.0);
    }
    let mut client = Caller::new(Options::new("c", "1").version(of(MODERN)));
    assert!(client.heard().iter().all(|said| said.method() != "initialize"));
}

/// How servers of the old era answer a question that they do not know: status, type, body.
const REFUSALS: [(u16, &str, &str); 17] = [
    (404, "text/plain", "Invalid session ID"),
    (404, "application/json", r#"{"error":"not found"}"#),
    (404, "application/json", r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}"#),
    (400, "application/json", r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request"}}"#),
    (400, "application/json", r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"x"},"id":"server-error"}"#),
    (400, "text/plain", "Bad Request: Missing session ID"),
    (400, "text/html", "<html>"),
    (405, "", ""),
    (406, "", ""),
    (415, "", ""),
    (422, "application/json", r#"{"detail":[]}"#),
    (200, "application/json", ""),
    (200, "text/plain", "ok"),
    (204, "", ""),
    (200, "application/json", r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"x"}}"#),
    (200, "application/json", r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32600,"message":"x"}}"#),
    (200, "application/json", r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"x"}}"#),
];

#[test]
fn b44_whatever_an_old_server_answers_to_the_probe_it_is_initialized() {
    for (status, kind, body) in REFUSALS {
        let mut client = HttpCaller::new(Options::new("c", "1"));
        let probe = client.next();
        let headers: &[_] = if kind.is_empty() { &[] } else { &[("content-type", kind)] };
        probe.head(status, headers);
        probe.chunk(body.replace("ID", probe.id()));
        probe.end();
        let initialize = client.try_next().unwrap_or_else(|| panic!("{status} {kind} {body} ended it"));
        assert_eq!((initialize.method(), initialize.header("mcp-session-id")), ("initialize", None));
        client.begin_session(&initialize, "2025-06-18", "s");
        let waiting = client.client.clone();
        let ready = client.start(async move { waiting.ready().await.map(drop) });
        assert!(ready.get().is_ok(), "{status} {body}");
    }
    for code in [-32601, -32600, -32602, -32000, -32001, -32603, -32700, 0, 1, 404] {
        let mut client = Caller::new(Options::new("c", "1"));
        let probe = client.hear();
        client.refuse(&probe, code, "x");
        assert_eq!(client.hear().method(), "initialize", "{code}");
    }
}

#[test]
fn b44_a_modern_server_that_refuses_is_not_taken_for_an_old_one() {
    for (http, supported) in [(false, MODERN), (true, MODERN), (false, "2099-01-01"), (true, "2099-01-01")] {
        let refusal = |id: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32022,"message":"x","data":{{"supported":["{supported}"],"requested":"{MODERN}"}}}}}}"#
            )
        };
        let second = if http {
            let mut client = HttpCaller::new(Options::new("c", "1"));
            let probe = client.next();
            probe.json(400, &refusal(probe.id()));
            client.try_next().map(|asked| asked.method().to_owned())
        } else {
            let mut client = Caller::new(Options::new("c", "1"));
            let probe = client.hear();
            client.say(&refusal(probe.id()));
            client.heard().first().map(|said| said.method().to_owned())
        };
        assert_ne!(second.as_deref(), Some("initialize"), "{supported}");
    }
}

#[test]
fn b45_a_server_that_wants_authorization_is_not_taken_for_an_old_one() {
    for (status, body) in [
        (401, ""),
        (401, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no"}}"#),
        (401, r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"no"}}"#),
        (403, ""),
        (403, r#"{"error":"insufficient_scope"}"#),
    ] {
        let mut client = HttpCaller::new(Options::new("c", "1"));
        let call = client.start(client.client.list_tools());
        let probe = client.next();
        let challenge = r#"Bearer resource_metadata="https://example.com/m""#;
        probe.head(status, &[("www-authenticate", challenge), ("content-type", "application/json")]);
        probe.chunk(body.replace("ID", probe.id()));
        probe.end();
        client.run();
        let error = call.get().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unauthorized, "{status} {body}: {error:?}");
        let source = std::error::Error::source(&error).unwrap().downcast_ref::<TransportError>().unwrap();
        assert_eq!((source.http_status(), source.challenge()), (Some(status), Some(challenge)));
        assert_eq!(source.kind(), TransportErrorKind::Unauthorized);
        assert!(client.try_next().is_none(), "{status}: nothing else is asked");
    }
}

#[test]
fn b47_a_server_that_says_nothing_is_not_waited_for_without_end() {
    let mut client = Caller::new(Options::new("c", "1"));
    assert_eq!(client.hear().method(), "server/discover");
    client.advance(10_000);
    let initialize = client.hear();
    client.answer(&initialize, &welcome("2024-11-05"));
    assert_eq!(client.hear().method(), "notifications/initialized");
    client.assert_lives();

    for silence in ["nothing", "a head", "comments"] {
        let mut client = HttpCaller::new(Options::new("c", "1"));
        let call = client.start(client.client.list_tools());
        let probe = client.next();
        if silence != "nothing" {
            probe.stream();
        }
        for _ in 0..60 {
            if silence == "comments" {
                probe.chunk(": wait\n\n");
            }
            client.advance(1000);
        }
        assert!(call.get().unwrap_err().is_timeout(), "{silence}");
        assert!(probe.is_aborted() || silence == "nothing");
    }
}
