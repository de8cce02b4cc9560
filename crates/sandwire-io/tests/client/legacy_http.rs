//! What servers of the legacy era answer over HTTP.

use crate::stage::{HANDSHAKE, Stage, call, id_of, reply, response, tool_call};
use sandwire_io::{
    client::{Config, Mode},
    testing::{ScriptedExchange, ScriptedHttp},
};
use sandwire_json::Raw;
use sandwire_proto::http::Verb;

const EVENTS: &[(&str, &str)] = &[("content-type", "text/event-stream")];

fn method(exchange: &ScriptedExchange) -> String {
    let body = exchange.request().body.as_deref().unwrap_or("{}");
    sandwire_json::find(body, "method").unwrap_or_default().trim_matches('"').into()
}

fn header<'a>(exchange: &'a ScriptedExchange, name: &str) -> Option<&'a str> {
    exchange.request().head.headers.get(name)
}

fn accept(exchange: &ScriptedExchange) {
    exchange.head(202, &[]);
    exchange.end();
}

/// Answers `initialize`, which names no session, with this one; gives the stream that the client then asks for.
fn handshake(stage: &mut Stage, http: &ScriptedHttp, session: &str) -> ScriptedExchange {
    let initialize = http.next().unwrap();
    assert_eq!(method(&initialize), "initialize");
    assert_eq!(header(&initialize, "mcp-session-id"), None);
    initialize.head(200, &[("content-type", "application/json"), ("mcp-session-id", session)]);
    initialize.chunk(response(&initialize, HANDSHAKE));
    initialize.end();
    stage.run();
    let told = http.next().unwrap();
    assert_eq!(header(&told, "mcp-session-id"), Some(session));
    accept(&told);
    stage.run();
    loop {
        let next = http.next().unwrap();
        if next.request().head.method == Verb::Get {
            assert_eq!(header(&next, "mcp-session-id"), Some(session));
            return next;
        }
        reply(&next, "{}");
    }
}

fn opened() -> (Stage, ScriptedHttp, ScriptedExchange) {
    let (mut stage, http) = Stage::http(Config { mode: Mode::Legacy, ..Config::new("test", "1") });
    stage.run();
    let stream = handshake(&mut stage, &http, "s-1");
    assert_eq!(stage.told(), ["opened 2025-11-25"]);
    (stage, http, stream)
}

#[test]
fn whatever_a_legacy_server_answers_to_the_probe_it_is_initialized() {
    let json = "application/json";
    let error = |code: i64| {
        format!(r#"{{"jsonrpc":"2.0","id":null,"error":{{"code":{code},"message":"Bad Request: no session"}}}}"#)
    };
    for (status, kind, body) in [
        (404, "text/plain", "Invalid session ID".to_owned()),
        (404, json, r#"{"detail":"Not Found"}"#.into()),
        (400, json, error(-32000)),
        (400, "text/plain", "Bad Request".into()),
        (405, "", String::new()),
        (406, json, error(-32000)),
        (200, json, String::new()),
        (200, json, "{}".into()),
        (200, json, "[]".into()),
        (204, "", String::new()),
        (202, "", String::new()),
        (200, "text/plain", "OK".into()),
        (200, "text/html", "<html>".into()),
        (200, json, error(-32600)),
        (200, json, error(-32602)),
        (400, json, error(-32601)),
        (200, "text/event-stream", String::new()),
        (200, "text/event-stream", format!("data: {}\n\n", error(-32603))),
    ] {
        let (mut stage, http) = Stage::http(Config::new("test", "1"));
        stage.run();
        let probe = http.next().unwrap();
        assert_eq!(method(&probe), "server/discover");
        probe.head(status, &[("content-type", kind)]);
        probe.chunk(&body);
        probe.end();
        stage.run();
        handshake(&mut stage, &http, "s");
        assert_eq!(stage.told(), ["opened 2025-11-25"], "{status} {kind} {body}");
    }
}

#[test]
fn an_answer_that_is_none_fails_its_call_at_once() {
    for (kind, body) in [
        ("text/event-stream", ""),
        ("text/event-stream", ": nothing\n\n"),
        ("text/event-stream", "data: not json\n\n"),
        ("application/json", ""),
        ("application/json", "{}"),
        ("application/json", "[]"),
        ("text/plain", "OK"),
    ] {
        let (mut stage, http, _stream) = opened();
        let result = stage.call(tool_call());
        stage.run();
        let post = http.next().unwrap();
        post.head(200, &[("content-type", kind)]);
        post.chunk(body);
        post.end();
        stage.run();
        let told = result.lock().unwrap().clone();
        assert!(told.is_some_and(|told| told.starts_with("error: ")), "{kind} {body}");
    }
}

#[test]
fn an_event_without_data_marks_the_place_and_is_no_message() {
    let (mut stage, http, stream) = opened();
    let result = stage.call(tool_call());
    stage.run();
    let post = http.next().unwrap();
    post.head(200, EVENTS);
    post.chunk("id: call/1\r\ndata:\r\n\r\n: ping\r\n\r\nretry: 250\r\n\r\n");
    post.end();
    stream.head(200, EVENTS);
    stream.chunk("id: own/1\ndata: \n\n: ping\n\n");
    stream.end();
    stage.run();
    assert!(result.lock().unwrap().is_none());
    stage.advance(249);
    assert!(http.next().is_none());
    stage.advance(1);
    let resumed = http.next().unwrap();
    assert_eq!(resumed.request().head.method, Verb::Get);
    assert_eq!(header(&resumed, "last-event-id"), Some("call/1"));
    resumed.head(200, EVENTS);
    resumed.chunk(format!("id: call/2\ndata: {}\n\n", response(&post, "{}")));
    stage.advance(750);
    assert_eq!(result.lock().unwrap().as_deref(), Some("{}"));
    let again = http.next().unwrap();
    assert_eq!(header(&again, "last-event-id"), Some("own/1"));
    assert_eq!(header(&again, "mcp-session-id"), Some("s-1"));
}

#[test]
fn an_event_in_many_lines_is_one_text_however_it_is_cut() {
    let (mut stage, http, _stream) = opened();
    let result = stage.call(tool_call());
    stage.run();
    let post = http.next().unwrap();
    let id = id_of(post.request().body.as_deref().unwrap());
    post.head(200, EVENTS);
    let event = format!(
        "event: message\r\ndata: {{\"jsonrpc\":\"2.0\",\"id\":{id},\r\ndata: \"result\":{{\"text\":\"世界\"}}}}\r\n\r\n"
    );
    for byte in event.as_bytes() {
        post.chunk([*byte]);
        stage.run();
    }
    assert_eq!(result.lock().unwrap().as_deref(), Some(r#"{"text":"世界"}"#));
}

#[test]
fn a_hundred_thousand_events_that_are_nothing_are_skipped() {
    let (mut stage, http, _stream) = opened();
    let result = stage.call(tool_call());
    stage.run();
    let post = http.next().unwrap();
    post.head(200, EVENTS);
    post.chunk("data: not json\n\n".repeat(100_000));
    post.chunk(format!("data: {}\n\n", response(&post, "{}")));
    stage.run();
    assert_eq!(result.lock().unwrap().as_deref(), Some("{}"));
}

#[test]
fn a_lost_session_is_replaced_and_what_it_held_is_asked_for_again() {
    let (mut stage, http, stream) = opened();
    stream.head(200, EVENTS);
    let subscribed = stage.call(call("resources/subscribe", r#"{"uri":"test://watched"}"#));
    stage.run();
    reply(&http.next().unwrap(), "{}");
    stage.run();
    assert!(subscribed.lock().unwrap().is_some());
    let result = stage.call(tool_call());
    stage.run();
    let first = http.next().unwrap();
    first.json(404, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}"#);
    stage.run();
    assert!(stream.is_aborted());
    // `handshake` answers what comes before the stream is asked for: the subscription and the call.
    handshake(&mut stage, &http, "s-2");
    stage.run();
    assert_eq!(result.lock().unwrap().as_deref(), Some("{}"));
    assert_eq!(stage.told(), ["opened 2025-11-25"]);
}

#[test]
fn a_session_is_ended_even_where_that_is_not_allowed() {
    for status in [204, 404, 405, 500] {
        let (mut stage, http, _stream) = opened();
        stage.client.close();
        stage.run();
        let end = http.next().unwrap();
        assert_eq!(end.request().head.method, Verb::Delete);
        assert_eq!(header(&end, "mcp-session-id"), Some("s-1"));
        end.head(status, &[]);
        stage.run();
        assert_eq!(stage.told(), ["closed"]);
    }
}

#[test]
fn what_the_server_s_own_stream_asks_is_answered_by_a_post() {
    let mut config = Config { mode: Mode::Legacy, ..Config::new("test", "1") };
    config.capabilities = Raw::from_valid(r#"{"elicitation":{"form":{"applyDefaults":true}}}"#);
    let (mut stage, http) = Stage::http(config);
    stage.run();
    let stream = handshake(&mut stage, &http, "s");
    stream.head(200, EVENTS);
    let call = stage.call(tool_call());
    stage.run();
    let post = http.next().unwrap();
    stream.chunk("id: e1\ndata: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"elicitation/create\",\"params\":{\"message\":\"?\"}}\n\n");
    stage.run();
    assert_eq!(stage.told(), ["opened 2025-11-25", "ask elicitation/create"]);
    stage.asked.lock().unwrap().remove(0).send(Ok(Raw::from_valid(r#"{"action":"accept","content":{}}"#)));
    stage.run();
    let answer = http.next().unwrap();
    assert_eq!(header(&answer, "mcp-session-id"), Some("s"));
    let body = answer.request().body.as_deref().unwrap();
    assert_eq!(body, r#"{"jsonrpc":"2.0","id":"q","result":{"action":"accept","content":{}}}"#);
    accept(&answer);
    reply(&post, "{}");
    stage.run();
    assert_eq!(call.lock().unwrap().as_deref(), Some("{}"));
    // It is taken up again where it broke.
    stream.end();
    stage.run();
    stage.advance(1_000);
    let again = http.next().unwrap();
    assert_eq!((header(&again, "last-event-id"), again.request().head.method.clone()), (Some("e1"), Verb::Get));
}

#[test]
fn a_stream_that_is_refused_is_not_asked_for_again_and_one_that_is_put_off_is() {
    for status in [401, 403, 404, 405] {
        let (mut stage, http, stream) = opened();
        stream.head(status, &[("content-type", "application/json")]);
        stream.chunk(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no"}}"#);
        stream.end();
        stage.run();
        let told = stage.told();
        assert!(told.len() == 1 && told[0].starts_with("warning: the server has no stream of its own: "), "{told:?}");
        stage.advance(10_000_000);
        assert!(http.next().is_none(), "{status}");
        let call = stage.call(tool_call());
        stage.run();
        reply(&http.next().unwrap(), "{}");
        stage.run();
        assert_eq!(call.lock().unwrap().as_deref(), Some("{}"));
    }
    for status in [429, 503] {
        let (mut stage, http, stream) = opened();
        stream.head(status, &[("retry-after", "7")]);
        stream.end();
        stage.run();
        stage.advance(6_999);
        assert!(http.next().is_none(), "{status}");
        stage.advance(1);
        assert_eq!(http.next().unwrap().request().head.method, Verb::Get);
        assert_eq!(stage.told(), [""; 0]);
    }
}

#[test]
fn a_server_that_refuses_to_hear_that_the_client_is_ready_may_be_gone_on_with() {
    for ignore in [false, true] {
        let mut config = Config { mode: Mode::Legacy, ..Config::new("test", "1") };
        config.ignore_failed_initialized = ignore;
        let (mut stage, http) = Stage::http(config);
        stage.run();
        let initialize = http.next().unwrap();
        reply(&initialize, HANDSHAKE);
        stage.run();
        let told = http.next().unwrap();
        told.json(400, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"what is that"}}"#);
        stage.run();
        let heard = stage.told();
        match ignore {
            true => assert_eq!(heard, ["opened 2025-11-25"]),
            false => assert!(heard[0].starts_with("failed "), "{heard:?}"),
        }
    }
}
