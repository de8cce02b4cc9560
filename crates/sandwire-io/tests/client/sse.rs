//! Servers with two addresses, scripted.

use crate::stage::{HANDSHAKE, Stage, id_of, tool_call};
use sandwire_io::{
    SseLink,
    client::{Config, Mode},
    testing::{ScriptedExchange, ScriptedHttp},
};
use sandwire_proto::{Limits, TransportError, TransportErrorKind, http::Verb};
use std::sync::Arc;

const URL: &str = "https://example.com/v1/sse";

fn link(http: &ScriptedHttp, limits: Limits) -> SseLink {
    SseLink::new(Arc::new(http.clone()), URL, limits)
}

fn legacy() -> Config {
    Config { mode: Mode::Legacy, ..Config::new("test", "1") }
}

/// The stream of events that the client asks for.
fn stream(http: &ScriptedHttp) -> ScriptedExchange {
    let stream = http.next().unwrap();
    assert_eq!(stream.request().head.method, Verb::Get);
    assert_eq!(stream.request().head.headers.get("accept"), Some("text/event-stream"));
    assert_eq!(stream.request().url, URL);
    assert_eq!(stream.request().body, None);
    stream.head(200, &[("content-type", "text/event-stream")]);
    stream
}

/// A message that the client posts.
fn posted(http: &ScriptedHttp, method: &str) -> ScriptedExchange {
    let post = http.next().unwrap();
    assert_eq!(post.request().head.method, Verb::Post);
    assert_eq!(post.request().head.headers.get("content-type"), Some("application/json"));
    let body = post.request().body.as_deref().unwrap();
    assert!(body.contains(&format!("\"method\":\"{method}\"")), "{body}");
    post
}

fn accept(post: &ScriptedExchange) {
    post.head(202, &[("content-type", "text/plain")]);
    post.chunk("Accepted");
    post.end();
}

fn answer(stream: &ScriptedExchange, post: &ScriptedExchange, result: &str) {
    let id = id_of(post.request().body.as_deref().unwrap());
    stream.chunk(format!("event: message\r\ndata: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\r\n\r\n"));
}

/// Opens a connection over a stream.
fn handshake(stage: &mut Stage, http: &ScriptedHttp) -> ScriptedExchange {
    let stream = stream(http);
    stream.chunk("event: endpoint\ndata: /messages?id=1\n\n");
    stage.run();
    let initialize = posted(http, "initialize");
    assert_eq!(initialize.request().url, "https://example.com/messages?id=1");
    accept(&initialize);
    answer(&stream, &initialize, HANDSHAKE);
    stage.run();
    accept(&posted(http, "notifications/initialized"));
    stage.run();
    assert_eq!(stage.told(), ["opened 2025-11-25"]);
    stream
}

fn opened(config: Config, limits: Limits) -> (Stage, ScriptedHttp, ScriptedExchange) {
    let http = ScriptedHttp::new();
    let mut stage = Stage::new(config, Box::new(link(&http, limits)));
    stage.run();
    let stream = handshake(&mut stage, &http);
    (stage, http, stream)
}

#[test]
fn http_turns_into_it_when_the_server_refuses_everything_else() {
    let (mut stage, http) = Stage::http(Config::new("test", "1"));
    let result = stage.call(tool_call());
    stage.run();
    for method in ["server/discover", "initialize"] {
        let refused = posted(&http, method);
        refused.head(405, &[("content-type", "text/html")]);
        refused.chunk("<html>");
        refused.end();
        stage.run();
    }
    let stream = http.next().unwrap();
    assert_eq!(stream.request().head.method, Verb::Get);
    assert_eq!(stream.request().head.headers.get("accept"), Some("text/event-stream"));
    assert_eq!(stream.request().url, "https://example.com/mcp");
    stream.head(200, &[("content-type", "text/event-stream; charset=utf-8")]);
    stage.run();
    assert!(http.next().is_none(), "nothing is sent before the server said where to");
    stream.chunk(": hello\n\nevent: endpoint\ndata: messages?id=1\n\n");
    stage.run();
    let initialize = posted(&http, "initialize");
    assert_eq!(initialize.request().url, "https://example.com/messages?id=1");
    assert_eq!(initialize.request().head.headers.get("mcp-protocol-version"), None);
    answer(&stream, &initialize, &HANDSHAKE.replace("2025-11-25", "2024-11-05"));
    stage.run();
    accept(&posted(&http, "notifications/initialized"));
    stage.run();
    let call = posted(&http, "tools/call");
    accept(&call);
    // What keeps the connection alive is no message.
    stream.chunk("event: message\ndata:\n\n: ping\n\nevent: endpoint\ndata:\n\nevent: other\ndata: x\n\n");
    answer(&stream, &call, r#"{"content":[]}"#);
    stage.run();
    assert_eq!(result.lock().unwrap().as_deref(), Some(r#"{"content":[]}"#));
    assert_eq!(stage.told(), ["opened 2024-11-05"]);
    stage.client.close();
    stage.run();
    assert!(stream.is_aborted());
    assert_eq!(stage.told(), ["closed"]);
}

#[test]
fn a_server_without_such_a_stream_is_told_by_what_it_refused() {
    for answer in ["status", "page", "end", "silence"] {
        let (mut stage, http) = Stage::http(legacy());
        stage.run();
        let refused = http.next().unwrap();
        refused.json(400, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no such thing here"}}"#);
        stage.run();
        let stream = http.next().unwrap();
        match answer {
            "status" => stream.head(405, &[]),
            "page" => stream.head(200, &[("content-type", "text/html")]),
            "end" => {
                stream.head(200, &[("content-type", "text/event-stream")]);
                stream.end();
            }
            _ => stage.advance(10_000),
        }
        stage.run();
        assert_eq!(stage.told(), ["failed no such thing here", "closed"], "{answer}");
        assert!(http.next().is_none());
    }
}

#[test]
fn messages_go_to_no_other_origin() {
    let http = ScriptedHttp::new();
    let mut stage = Stage::new(legacy(), Box::new(link(&http, Limits::default())));
    stage.run();
    stream(&http).chunk("event: endpoint\ndata: https://example.org/messages\n\n");
    stage.run();
    let told = stage.told();
    assert!(told[0].contains("another origin"), "{told:?}");
    assert!(http.next().is_none());
}

#[test]
fn calls_wait_until_the_end_of_the_handshake_has_arrived() {
    let http = ScriptedHttp::new();
    let mut stage = Stage::new(legacy(), Box::new(link(&http, Limits::default())));
    let results = [stage.call(tool_call()), stage.call(tool_call())];
    stage.run();
    let stream = stream(&http);
    stream.chunk("event: endpoint\ndata: /messages\n\n");
    stage.run();
    let initialize = posted(&http, "initialize");
    answer(&stream, &initialize, HANDSHAKE);
    stage.run();
    let told = posted(&http, "notifications/initialized");
    stage.run();
    assert!(http.next().is_none());
    told.head(202, &[]);
    stage.run();
    // Requests do not wait for each other: a server may answer the one while it works on the other.
    let calls = [posted(&http, "tools/call"), posted(&http, "tools/call")];
    answer(&stream, &calls[1], r#"{"n":1}"#);
    answer(&stream, &calls[0], r#"{"n":0}"#);
    stage.run();
    for (n, result) in results.iter().enumerate() {
        assert_eq!(result.lock().unwrap().as_deref(), Some(format!("{{\"n\":{n}}}").as_str()));
    }
}

#[test]
fn a_message_that_cannot_be_posted_fails_its_call_only() {
    let (mut stage, http, stream) = opened(legacy(), Limits::default());
    let results = [stage.call(tool_call()), stage.call(tool_call()), stage.call(tool_call())];
    stage.run();
    let posts = [posted(&http, "tools/call"), posted(&http, "tools/call"), posted(&http, "tools/call")];
    posts[0].head(500, &[]);
    posts[1].fail(TransportError::new(TransportErrorKind::Unreachable, "no route"));
    accept(&posts[2]);
    stage.run();
    assert!(results[0].lock().unwrap().as_deref().unwrap().contains("HTTP 5xx"));
    assert_eq!(results[1].lock().unwrap().as_deref(), Some("error: no route"));
    answer(&stream, &posts[2], "{}");
    stage.run();
    assert_eq!(results[2].lock().unwrap().as_deref(), Some("{}"));
}

#[test]
fn what_is_too_long_is_not_sent_and_what_is_too_much_neither() {
    let limits = Limits { max_message_bytes: 400, max_in_flight: 2, max_queue: 1, ..Limits::default() };
    let (mut stage, http, stream) = opened(legacy(), limits);
    let long = stage.call(crate::stage::call("tools/call", &format!(r#"{{"name":"{}"}}"#, "x".repeat(400))));
    stage.run();
    assert!(long.lock().unwrap().as_deref().unwrap().contains("size limit"));
    let results = [stage.call(tool_call()), stage.call(tool_call()), stage.call(tool_call())];
    stage.run();
    assert!(results[2].lock().unwrap().as_deref().unwrap().contains("too many"));
    let first = posted(&http, "tools/call");
    posted(&http, "tools/call");
    assert!(http.next().is_none());
    // Nor is more kept of an event.
    stream.chunk(format!("data: {}", "x".repeat(500)));
    stage.run();
    stream.chunk("\n\n");
    answer(&stream, &first, "{}");
    stage.run();
    assert_eq!(results[0].lock().unwrap().as_deref(), Some("{}"));
}

#[test]
fn a_stream_that_ends_is_made_anew() {
    let (mut stage, http, stream) = opened(legacy(), Limits::default());
    let lost = stage.call(tool_call());
    stage.run();
    posted(&http, "tools/call");
    stream.end();
    stage.run();
    assert!(lost.lock().unwrap().as_deref().unwrap().contains("made anew"));
    let waiting = stage.call(tool_call());
    stage.run();
    let stream = handshake(&mut stage, &http);
    let call = posted(&http, "tools/call");
    answer(&stream, &call, "{}");
    stage.run();
    assert_eq!(waiting.lock().unwrap().as_deref(), Some("{}"));
}

#[test]
fn a_stream_that_ends_over_and_over_is_given_up() {
    let (mut stage, http, mut stream) = opened(legacy(), Limits::default());
    for _ in 0..3 {
        stream.fail(TransportError::new(TransportErrorKind::Closed, "reset"));
        stage.run();
        stream = handshake(&mut stage, &http);
    }
    // One message more shows that it is of use.
    stream.chunk("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n");
    stage.run();
    assert_eq!(stage.told(), ["notifications/tools/list_changed"]);
    for _ in 0..3 {
        stream.end();
        stage.run();
        stream = handshake(&mut stage, &http);
    }
    stream.end();
    stage.run();
    assert_eq!(stage.told(), ["closed"]);
    assert!(http.next().is_none());
}

#[test]
fn a_stream_of_nothing_leaves_the_others_their_turn() {
    let (mut stage, http, stream) = opened(legacy(), Limits::default());
    for _ in 0..10_000 {
        stream.chunk(": nothing\n\n");
    }
    let result = stage.call(tool_call());
    stage.run();
    let call = posted(&http, "tools/call");
    answer(&stream, &call, "{}");
    stage.run();
    assert_eq!(result.lock().unwrap().as_deref(), Some("{}"));
}
