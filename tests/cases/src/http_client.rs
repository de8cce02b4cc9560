//! What servers answer over HTTP, and what a client makes of it.

use crate::stage::{Asked, ERAS, HttpCaller, LEGACY, MODERN, complete, error, result};
use sandwire_client::{Error, ErrorKind, Options, SessionLoss};
use sandwire_proto::TransportError;
use sandwire_types::model::{CallToolResult, Root};

const RESULT: &str = r#"{"content":[],"resultType":"complete"}"#;
const CHALLENGE: &str = r#"Bearer resource_metadata="https://example.com/m", scope="a b""#;

/// Makes a call and answers it; what came of it, which has to be there at once.
fn called(client: &mut HttpCaller, answer: impl Fn(&Asked)) -> Result<CallToolResult, Error> {
    let call = client.start(client.client.call_tool("t", &()));
    answer(&client.next());
    client.run();
    call.get()
}

fn transport(error: &Error) -> &TransportError {
    std::error::Error::source(error).unwrap().downcast_ref().unwrap()
}

#[test]
fn b50_an_initialization_names_no_session_and_only_its_answer_begins_one() {
    for version in LEGACY {
        let mut client = HttpCaller::open(version);
        for stray in ["", "other", "s-2"] {
            let got = called(&mut client, |asked| {
                assert_eq!(asked.header("mcp-session-id"), Some("s-1"), "{version}");
                asked.head(200, &[("content-type", "application/json"), ("mcp-session-id", stray)]);
                asked.chunk(result(asked.id(), RESULT));
                asked.end();
            });
            assert!(got.is_ok());
        }
        // A session that is lost is not named either when another one is begun.
        let call = client.start(client.client.call_tool("t", &()));
        client.next().json(404, &error("null", -32001, "Session not found"));
        let initialize = client.next();
        assert_eq!(initialize.header("mcp-session-id"), None);
        client.begin_session(&initialize, version, "s-3");
        let again = client.all().into_iter().find(|asked| asked.method() == "tools/call").unwrap();
        assert_eq!(again.header("mcp-session-id"), Some("s-3"));
        again.reply(RESULT);
        client.run();
        assert!(call.get().is_ok());
    }
}

#[test]
fn b87_an_error_in_the_body_is_the_error_whatever_the_status() {
    // Known fault: the status itself cannot be read beside the error.
    for version in ERAS {
        for status in [200, 400, 404, 409, 422, 500, 503] {
            // An old session that a 404 is about is another matter.
            if version != MODERN && status == 404 {
                continue;
            }
            let mut client = HttpCaller::open(version);
            let refusal = |asked: &Asked| asked.json(status, &error(asked.id(), -32602, "Unknown prompt"));
            let failed = called(&mut client, refusal).unwrap_err();
            assert_eq!(failed.code().map(|code| code.0), Some(-32602), "{version} {status}: {failed:?}");
            assert!(failed.to_string().contains("Unknown prompt"), "{failed}");
        }
    }
}

#[test]
fn b88_a_refused_authorization_keeps_its_status_and_its_challenge() {
    for version in ERAS {
        for status in [401, 403] {
            for body in [
                "",
                "no",
                r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32001,"message":"no"}}"#,
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"no"}}"#,
            ] {
                let mut client = HttpCaller::open(version);
                let failed = called(&mut client, |asked| {
                    asked.head(status, &[("www-authenticate", CHALLENGE), ("content-type", "application/json")]);
                    asked.chunk(body.replace("ID", asked.id()));
                    asked.end();
                });
                let failed = failed.unwrap_err();
                assert_eq!(failed.kind(), ErrorKind::Unauthorized, "{version} {status} {body}: {failed:?}");
                let told = transport(&failed);
                assert_eq!((told.http_status(), told.challenge()), (Some(status), Some(CHALLENGE)));
                // The connection is as good as it was.
                assert!(called(&mut client, |asked| asked.reply(RESULT)).is_ok());
            }
        }
    }
    // The stream of its own that an old server refuses ends nothing, and is not asked for again.
    for status in [401, 403] {
        let (mut client, stream) = HttpCaller::open_session("2025-11-25", Options::new("c", "1"));
        let stream = stream.unwrap();
        stream.head(status, &[("www-authenticate", CHALLENGE)]);
        stream.end();
        client.advance(600_000);
        assert!(client.try_next().is_none(), "{status}");
        assert!(called(&mut client, |asked| asked.reply(RESULT)).is_ok());
    }
}

#[test]
fn b89_json_that_is_no_message_is_no_answer() {
    let nothings =
        ["{}", "[]", "", "null", "7", "\"ok\"", r#"{"ok":true}"#, r#"{"result":{}}"#, "[{}]", "not json", "{"];
    for version in ERAS {
        for body in nothings {
            let mut client = HttpCaller::open(version);
            let failed = called(&mut client, |asked| asked.json(200, body)).unwrap_err();
            assert!(
                matches!(failed.kind(), ErrorKind::Protocol | ErrorKind::Transport),
                "{version}: {body}: {failed:?}"
            );
            assert!(called(&mut client, |asked| asked.reply(RESULT)).is_ok(), "{version}: {body}");
        }
        for (status, kind) in [(200, "text/html"), (200, "text/plain"), (204, ""), (202, ""), (200, "")] {
            let mut client = HttpCaller::open(version);
            let failed = called(&mut client, |asked| {
                let headers: &[_] = if kind.is_empty() { &[] } else { &[("content-type", kind)] };
                asked.head(status, headers);
                asked.end();
            });
            assert!(failed.is_err(), "{version}: {status} {kind}");
        }
        // An answer to another question is none to this one.
        let mut client = HttpCaller::open(version);
        let failed = called(&mut client, |asked| asked.json(200, &result("987654", RESULT))).unwrap_err();
        assert!(matches!(failed.kind(), ErrorKind::Protocol | ErrorKind::Transport), "{version}: {failed:?}");
    }
}

#[test]
fn b98_a_body_that_nobody_reads_holds_nothing_up() {
    for version in LEGACY {
        let options = Options::new("c", "1").changing_roots(async || Ok(vec![Root::new("file:///a")]));
        let mut client = HttpCaller::open_with(version, options);
        client.client.roots_changed().unwrap();
        let told = client.next();
        assert_eq!(told.method(), "notifications/roots/list_changed");
        told.head(202, &[]);
        told.chunk("x");
        client.run();
        client.run();
        client.advance(5000);
        assert!(told.is_aborted(), "{version}");
        assert!(called(&mut client, |asked| asked.reply(RESULT)).is_ok());
    }
    for version in ERAS {
        for status in [202, 204, 404, 405, 500] {
            if version != MODERN && status == 404 {
                continue;
            }
            let mut client = HttpCaller::open(version);
            let call = client.start(client.client.call_tool("t", &()));
            let asked = client.next();
            asked.head(status, &[]);
            for _ in 0..61 {
                asked.chunk("x");
                client.advance(1000);
            }
            assert!(call.get().is_err(), "{version} {status}");
            client.all().iter().for_each(Asked::accept);
            client.advance(10_000);
            assert!(asked.is_aborted(), "{version} {status}");
        }
    }
}

#[test]
fn b84_a_session_that_is_lost_is_replaced_once() {
    for version in LEGACY {
        for body in ["", "Session not found", r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"x"}}"#] {
            let mut client = HttpCaller::open(version);
            let call = client.start(client.client.call_tool("t", &()));
            let lost = |asked: &Asked| {
                asked.head(404, &[("content-type", "application/json")]);
                asked.chunk(body);
                asked.end();
            };
            lost(&client.next());
            let initialize = client.next();
            client.begin_session(&initialize, version, "s-2");
            let again = client.all().into_iter().find(|asked| asked.method() == "tools/call").unwrap();
            assert_eq!(again.header("mcp-session-id"), Some("s-2"));
            lost(&again);
            client.run();
            let failed = call.get().unwrap_err();
            assert!(failed.kind() != ErrorKind::Cancelled, "{failed:?}");
            let rest: Vec<_> = client.all().into_iter().map(|asked| asked.method().to_owned()).collect();
            assert!(rest.iter().all(|method| method == "initialize"), "{version}: {rest:?}");
        }
        // Who would rather not have a call made twice is told instead.
        let options = Options::new("c", "1").session_loss(SessionLoss::Fail);
        let mut client = HttpCaller::open_with(version, options);
        let failed = called(&mut client, |asked| asked.json(404, "")).unwrap_err();
        assert_eq!(failed.kind(), ErrorKind::Restarted);
        let rest: Vec<_> = client.all().into_iter().map(|asked| asked.method().to_owned()).collect();
        assert!(!rest.contains(&"tools/call".to_owned()), "{version}: {rest:?}");
    }
    // There is no session to lose in the new era.
    let mut client = HttpCaller::open(MODERN);
    assert!(called(&mut client, |asked| asked.json(404, "")).is_err());
    assert!(client.try_next().is_none());
}

#[test]
fn b85_a_stream_without_its_session_is_not_opened_again() {
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        // One that was there, breaks, and is not known any more: the session is replaced, and its stream with it.
        let (mut client, stream) = HttpCaller::open_session(version, Options::new("c", "1"));
        let stream = stream.unwrap();
        assert_eq!(stream.header("mcp-session-id"), Some("s-1"));
        stream.stream();
        stream.end();
        client.run();
        client.advance(5000);
        let again = client.next();
        assert_eq!((again.method(), again.header("mcp-session-id")), ("GET", Some("s-1")));
        again.json(404, &error("null", -32001, "Session not found"));
        let initialize = client.next();
        client.begin_session(&initialize, version, "s-2");
        // One that was never there is let be.
        let stream = client.next();
        assert_eq!((stream.method(), stream.header("mcp-session-id")), ("GET", Some("s-2")), "{version}");
        stream.json(404, &error("null", -32001, "Session not found"));
        client.advance(600_000);
        assert!(client.try_next().is_none(), "{version}");
    }
}

#[test]
fn b95_a_stream_that_is_refused_for_good_is_not_asked_for_again() {
    for (status, again) in
        [(400, false), (401, false), (403, false), (405, false), (501, false), (429, true), (503, true)]
    {
        for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
            let (mut client, stream) = HttpCaller::open_session(version, Options::new("c", "1"));
            let stream = stream.unwrap();
            stream.head(status, &[]);
            stream.end();
            let mut asked = 0;
            for _ in 0..60 {
                client.advance(1000);
                for next in client.all() {
                    assert_eq!(next.method(), "GET");
                    asked += 1;
                    next.head(status, &[]);
                    next.end();
                }
            }
            assert_eq!(asked > 0, again, "{version} {status}: {asked}");
            assert!(asked < 60, "{asked} times in a minute");
            assert!(called(&mut client, |asked| asked.reply(RESULT)).is_ok(), "the rest works");
        }
    }
}

#[test]
fn b101_a_call_that_never_ends_holds_up_no_other() {
    for version in ERAS {
        let mut client = HttpCaller::open(version);
        let calls: Vec<_> = (0..10).map(|_| client.start(client.client.call_tool("t", &()))).collect();
        let asked = client.all();
        assert_eq!(asked.len(), 10, "{version}");
        // One that says nothing, one whose stream is not at its end, one that trickles.
        asked[1].stream();
        asked[2].stream();
        asked[2].chunk("data: {");
        for answered in &asked[3..] {
            answered.reply(&complete(r#""content":[]"#));
        }
        client.run();
        let done: Vec<_> = calls.iter().map(crate::stage::Outcome::is_there).collect();
        assert_eq!(done, [vec![false; 3], vec![true; 7]].concat(), "{version}");
    }
}
