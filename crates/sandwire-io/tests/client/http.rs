use crate::stage::{HANDSHAKE, Stage, call, id_of, reply, response, tool_call};
use futures::future::poll_immediate;
use sandwire_io::{
    Body, BoxFuture, HttpClient, HttpLink, HttpRequest, HttpResponse, Link, LinkEvent,
    client::{Config, Mode},
    testing::ScriptedHttp,
};
use sandwire_proto::{
    Ended, ExchangeId, Limits, TransportError, TransportErrorKind, Via,
    http::{Headers, RequestHead, ResponseHead, Verb},
};
use sandwire_types::{Message, Method, Request};
use std::{
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

#[test]
fn a_call_is_a_post_answered_by_json() {
    let (mut stage, http) = Stage::modern_http();
    let result = stage.call(tool_call());
    stage.run();
    let exchange = http.next().unwrap();
    let request = exchange.request();
    assert_eq!(request.url, "https://example.com/mcp");
    assert_eq!(request.head.headers.get("mcp-method"), Some("tools/call"));
    let body = request.body.as_ref().unwrap();
    assert!(body.contains(r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#), "{body}");
    assert_eq!(sandwire_json::find(body, "method"), Some("\"tools/call\""));
    reply(&exchange, r#"{"resultType":"complete","content":[]}"#);
    stage.run();
    assert_eq!(result.lock().unwrap().as_deref(), Some(r#"{"resultType":"complete","content":[]}"#));
    assert!(!exchange.is_aborted());
}

#[test]
fn each_event_is_delivered_when_it_arrives() {
    let (mut stage, http) = Stage::modern_http();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&seen);
    let result = stage.call(tool_call().with_progress(Arc::new(move |params| {
        told.lock().unwrap().push(params.get("progress").unwrap().to_string());
    })));
    stage.run();
    let exchange = http.next().unwrap();
    let id = id_of(exchange.request().body.as_ref().unwrap());
    exchange.head(200, &[("Content-Type", "text/event-stream")]);
    for (step, expected) in [("1", 1), ("2", 2), ("3", 3)] {
        let event = format!(
            "data: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{{\"progressToken\":{id},\"progress\":{step}}}}}\r\n\r\n"
        );
        // One byte at a time, nothing early, nothing late.
        for byte in event.as_bytes() {
            exchange.chunk([*byte]);
            stage.run();
        }
        assert_eq!(seen.lock().unwrap().len(), expected);
        assert!(result.lock().unwrap().is_none());
    }
    exchange.chunk(format!(": done\n\ndata: {}\n\n", response(&exchange, "{}")));
    stage.run();
    assert_eq!(*seen.lock().unwrap(), ["1", "2", "3"]);
    assert!(result.lock().unwrap().is_some());
}

#[test]
fn many_exchanges_run_side_by_side() {
    let (mut stage, http) = Stage::modern_http();
    let results: Vec<_> = (0..100).map(|_| stage.call(tool_call())).collect();
    stage.run();
    let exchanges: Vec<_> = std::iter::from_fn(|| http.next()).collect();
    assert_eq!(exchanges.len(), 100);
    for (n, exchange) in exchanges.iter().enumerate().rev() {
        reply(exchange, &format!(r#"{{"n":{n}}}"#));
        stage.run();
        assert!(results[n].lock().unwrap().is_some());
    }
    for (n, result) in results.iter().enumerate() {
        assert_eq!(result.lock().unwrap().as_deref(), Some(format!(r#"{{"n":{n}}}"#).as_str()));
    }
}

#[test]
fn dropping_a_call_aborts_its_exchange_and_no_other() {
    let (mut stage, http) = Stage::modern_http();
    let first = stage.client.call(tool_call());
    let second = stage.call(tool_call());
    stage.run();
    let (a, b) = (http.next().unwrap(), http.next().unwrap());
    a.head(200, &[("content-type", "text/event-stream")]);
    stage.run();
    drop(first);
    stage.run();
    assert!(a.is_aborted());
    assert!(!b.is_aborted());
    assert!(http.next().is_none(), "a modern cancellation is not a message");
    reply(&b, "{}");
    stage.run();
    assert!(second.lock().unwrap().is_some());
    // The slot is used again; an old cancellation must not reach it.
    let third = stage.call(tool_call());
    stage.run();
    reply(&http.next().unwrap(), "{}");
    stage.run();
    assert!(third.lock().unwrap().is_some());
}

#[test]
fn an_error_in_a_failed_response_is_delivered_and_a_page_is_not() {
    let (mut stage, http) = Stage::modern_http();
    let result = stage.call(tool_call());
    stage.run();
    let exchange = http.next().unwrap();
    exchange.json(400, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"no such tool"}}"#);
    stage.run();
    assert_eq!(result.lock().unwrap().as_deref(), Some("error: no such tool"));
    for (kind, body) in [("application/json", "{\"oops\":1}"), ("text/html", "<html>")] {
        let result = stage.call(tool_call());
        stage.run();
        let exchange = http.next().unwrap();
        exchange.head(503, &[("content-type", kind)]);
        exchange.chunk(body);
        exchange.end();
        stage.run();
        assert!(result.lock().unwrap().as_ref().unwrap().contains("HTTP 5xx"), "{result:?}");
        assert!(!exchange.is_aborted());
    }
}

#[test]
fn a_body_over_the_limit_fails_its_call_alone() {
    let http = ScriptedHttp::new();
    let limits = Limits { max_message_bytes: 600, ..Limits::default() };
    let link = HttpLink::new(Arc::new(http.clone()), "https://example.com/", limits);
    let mut stage = Stage::new(Config::new("t", "1"), Box::new(link));
    stage.run();
    reply(&http.next().unwrap(), crate::stage::DISCOVERY);
    let result = stage.call(tool_call());
    stage.run();
    let exchange = http.next().unwrap();
    exchange.head(200, &[("content-type", "application/json")]);
    for _ in 0..7 {
        exchange.chunk([b'x'; 100]);
    }
    stage.run();
    assert!(result.lock().unwrap().as_ref().unwrap().contains("size limit"), "{result:?}");
    assert!(exchange.is_aborted());
    let result = stage.call(tool_call());
    stage.run();
    reply(&http.next().unwrap(), "{}");
    stage.run();
    assert_eq!(result.lock().unwrap().as_deref(), Some("{}"));
}

#[test]
fn a_legacy_session_is_opened_used_and_ended() {
    let mut config = Config::new("test", "1");
    config.mode = Mode::Legacy;
    let (mut stage, http) = Stage::http(config);
    stage.run();
    let initialize = http.next().unwrap();
    initialize.head(200, &[("content-type", "application/json"), ("mcp-session-id", "s-1")]);
    initialize.chunk(response(&initialize, HANDSHAKE));
    initialize.end();
    stage.run();
    let initialized = http.next().unwrap();
    assert!(initialized.request().body.as_ref().unwrap().contains("notifications/initialized"));
    initialized.head(202, &[]);
    initialized.end();
    stage.run();
    let stream = http.next().unwrap();
    assert_eq!(stream.request().head.method, Verb::Get);
    assert!(stream.request().body.is_none());
    stream.head(200, &[("content-type", "text/event-stream")]);
    stream.chunk("id: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n");
    stage.run();
    assert_eq!(stage.told(), ["opened 2025-11-25", "notifications/tools/list_changed"]);
    stage.client.close();
    stage.run();
    let end = http.next().unwrap();
    assert_eq!(end.request().head.method, Verb::Delete);
    assert_eq!(end.request().head.headers.get("mcp-session-id"), Some("s-1"));
    assert!(stream.is_aborted());
    end.head(405, &[]);
    end.end();
    stage.run();
    assert_eq!(stage.told(), ["closed"]);
}

#[test]
fn a_legacy_stream_that_broke_is_resumed_after_the_time_it_named() {
    let mut config = Config::new("test", "1");
    config.mode = Mode::Legacy;
    config.listen = false;
    let (mut stage, http) = Stage::http(config);
    stage.run();
    reply(&http.next().unwrap(), HANDSHAKE);
    stage.run();
    let initialized = http.next().unwrap();
    initialized.head(202, &[]);
    initialized.end();
    let result = stage.call(tool_call());
    stage.run();
    let first = http.next().unwrap();
    first.head(200, &[("content-type", "text/event-stream")]);
    first.chunk("id: p1\nretry: 500\ndata:\n\n");
    first.end();
    stage.run();
    stage.advance(499);
    assert!(http.next().is_none());
    stage.advance(1);
    let second = http.next().unwrap();
    assert_eq!(second.request().head.headers.get("last-event-id"), Some("p1"));
    second.head(200, &[("content-type", "text/event-stream")]);
    second.chunk(format!("id: p2\ndata: {}\n\n", response(&first, r#"{"content":[]}"#)));
    second.end();
    stage.run();
    assert_eq!(result.lock().unwrap().as_deref(), Some(r#"{"content":[]}"#));
}

#[test]
fn a_network_error_fails_the_opening_and_every_call() {
    let (mut stage, http) = Stage::http(Config::new("test", "1"));
    let result = stage.call(tool_call());
    stage.run();
    http.next().unwrap().fail(TransportError::new(TransportErrorKind::Unreachable, "nobody is there"));
    stage.run();
    assert_eq!(result.lock().unwrap().as_deref(), Some("error: nobody is there"));
    assert!(futures::executor::block_on(stage.client.ready()).is_err());
    let late = stage.call(tool_call());
    stage.run();
    assert_eq!(late.lock().unwrap().as_deref(), Some("error: nobody is there"));
}

#[test]
fn what_arrives_after_an_exchange_was_abandoned_is_not_told() {
    let http = ScriptedHttp::new();
    let mut link = HttpLink::new(Arc::new(http.clone()), "https://example.com/", Limits::default());
    let exchange = ExchangeId(7);
    let head = Some(Box::new(RequestHead::new(Verb::Post)));
    link.send(Via::Exchange(exchange), Message::Request(Request::new(1, Method::Ping)), head);
    let scripted = http.next().unwrap();
    scripted.json(200, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    let mut poll = || futures::executor::block_on(poll_immediate(futures::future::poll_fn(|cx| link.poll(cx))));
    assert!(matches!(poll(), Some(LinkEvent::Head { .. })));
    link.abandon(exchange);
    let mut poll = || futures::executor::block_on(poll_immediate(futures::future::poll_fn(|cx| link.poll(cx))));
    assert!(poll().is_none());
    let _: Poll<()> = Poll::Pending;
    link.close();
    let mut poll = || futures::executor::block_on(poll_immediate(futures::future::poll_fn(|cx| link.poll(cx))));
    assert!(matches!(poll(), Some(LinkEvent::Closed(None))));
}

#[test]
fn too_long_a_request_is_not_sent() {
    let http = ScriptedHttp::new();
    let limits = Limits { max_message_bytes: 20, ..Limits::default() };
    let mut link = HttpLink::new(Arc::new(http.clone()), "https://example.com/", limits);
    let head = Some(Box::new(RequestHead::new(Verb::Post)));
    link.send(Via::Exchange(ExchangeId(1)), Message::Request(Request::new(1, Method::Ping)), head);
    assert!(http.next().is_none());
    let event = futures::executor::block_on(futures::future::poll_fn(|cx| link.poll(cx)));
    let LinkEvent::Ended { how: Ended::Lost(error), .. } = event else { panic!("{event:?}") };
    assert_eq!(error.kind(), TransportErrorKind::TooLarge);
}

#[test]
fn an_observer_sees_every_text_both_ways() {
    let http = ScriptedHttp::new();
    let mut link = HttpLink::new(Arc::new(http.clone()), "https://example.com/", Limits::default());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let record = Arc::clone(&seen);
    link.observe(Arc::new(move |direction, text: &str| {
        record.lock().unwrap().push(format!("{direction:?} {}", sandwire_json::find(text, "method").unwrap_or("-")));
    }));
    let mut stage = Stage::new(Config::new("t", "1"), Box::new(link));
    stage.run();
    reply(&http.next().unwrap(), crate::stage::DISCOVERY);
    stage.run();
    stage.call(call("tools/list", ""));
    stage.run();
    assert_eq!(*seen.lock().unwrap(), ["Sent \"server/discover\"", "Received -", "Sent \"tools/list\""]);
}

/// Accepts the first request, and notes what happens to its connection.
#[derive(Clone, Default)]
struct Connections(Arc<Mutex<Vec<String>>>);

impl HttpClient for Connections {
    fn send(&self, request: HttpRequest) -> BoxFuture<'static, Result<HttpResponse, TransportError>> {
        let this = self.clone();
        Box::pin(async move {
            let first = this.note(format!("{:?} wants one", request.head.method)) == 1;
            if !first {
                std::future::pending::<()>().await;
            }
            Ok(HttpResponse { head: ResponseHead { status: 202, headers: Headers::new() }, body: Box::new(this) })
        })
    }
}

impl Body for Connections {
    fn poll_chunk(&mut self, _: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, TransportError>>> {
        self.note("one is free".to_owned());
        Poll::Ready(None)
    }
}

impl Connections {
    fn note(&self, what: String) -> usize {
        let mut noted = self.0.lock().unwrap();
        noted.push(what);
        noted.len()
    }
}

#[test]
fn what_begins_first_has_the_first_choice_of_connections() {
    let http = Connections::default();
    let mut link = HttpLink::new(Arc::new(http.clone()), "https://example.com/", Limits::default());
    let send = |link: &mut HttpLink, exchange, id: i64| {
        let head = Some(Box::new(RequestHead::new(Verb::Post)));
        link.send(Via::Exchange(ExchangeId(exchange)), Message::Request(Request::new(id, Method::Ping)), head);
    };
    let poll =
        |link: &mut HttpLink| futures::executor::block_on(poll_immediate(futures::future::poll_fn(|cx| link.poll(cx))));
    send(&mut link, 1, 1);
    assert!(matches!(poll(&mut link), Some(LinkEvent::Head { .. })));
    assert_eq!(*http.0.lock().unwrap(), ["Post wants one", "one is free"]);
    link.open(ExchangeId(2), Box::new(RequestHead::new(Verb::Get)));
    send(&mut link, 3, 2);
    assert!(matches!(poll(&mut link), Some(LinkEvent::Ended { .. })));
    assert!(poll(&mut link).is_none());
    assert_eq!(http.0.lock().unwrap().split_off(2), ["Get wants one", "Post wants one"]);
}
