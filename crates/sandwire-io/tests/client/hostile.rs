//! Servers that say too much, or nothing.

use crate::stage::{DISCOVERY, HANDSHAKE, Stage, call, reply, response, tool_call};
use sandwire_io::{
    Body, BoxFuture, HttpClient, HttpLink, HttpRequest, HttpResponse, Link,
    client::{CallError, Config, Mode, NoHooks, Timeout, connect},
    testing::{ScriptedExchange, ScriptedHttp, SimEnv},
};
use sandwire_proto::{
    Limits, TransportError, TransportErrorKind, Wire,
    http::{Headers, ResponseHead},
};
use std::{
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

fn legacy_http() -> (Stage, ScriptedHttp) {
    let mut config = Config::new("test", "1");
    config.mode = Mode::Legacy;
    config.listen = false;
    let (mut stage, http) = Stage::http(config);
    stage.run();
    reply(&http.next().unwrap(), HANDSHAKE);
    stage.run();
    accept(&http.next().unwrap());
    stage.run();
    (stage, http)
}

fn accept(exchange: &ScriptedExchange) {
    exchange.head(202, &[]);
    exchange.end();
}

/// A modern client of a server whose messages may be 600 bytes long.
fn limited() -> (Stage, ScriptedHttp) {
    let http = ScriptedHttp::new();
    let limits = Limits { max_message_bytes: 600, ..Limits::default() };
    let link = HttpLink::new(Arc::new(http.clone()), "https://example.com/", limits);
    let mut stage = Stage::new(Config::new("t", "1"), Box::new(link));
    stage.run();
    reply(&http.next().unwrap(), DISCOVERY);
    stage.run();
    (stage, http)
}

#[test]
fn a_flood_of_pings_holds_up_no_other_call_and_each_is_answered() {
    const PINGS: usize = 2000;
    let (mut stage, http) = legacy_http();
    let flooded = stage.call(tool_call());
    stage.run();
    let stream = http.next().unwrap();
    stream.head(200, &[("content-type", "text/event-stream")]);
    let pings: String =
        (0..PINGS).map(|id| format!("data: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n\n")).collect();
    stream.chunk(pings);
    stage.run();
    let mut answers: Vec<_> = std::iter::from_fn(|| http.next()).collect();
    assert!(answers.len() < 100, "{} requests wait for a server that answers none", answers.len());
    let result = stage.call(call("tools/list", ""));
    stage.run();
    reply(&http.next().unwrap(), "{}");
    stage.run();
    assert_eq!(result.lock().unwrap().as_deref(), Some("{}"));
    stream.chunk(format!("data: {}\n\n", response(&stream, "{}")));
    stream.end();
    let mut answered = 0;
    while !answers.is_empty() {
        answered += answers.len();
        answers.iter().for_each(accept);
        stage.run();
        answers = std::iter::from_fn(|| http.next()).collect();
    }
    assert_eq!(answered, PINGS);
    assert_eq!(flooded.lock().unwrap().as_deref(), Some("{}"));
}

#[test]
fn an_event_over_the_limit_is_that_fault_if_nothing_answers_after_it() {
    let (mut stage, http) = limited();
    let client = stage.client.clone();
    let results: Vec<_> = (0..2).map(|_| client.call(tool_call())).collect();
    stage.run();
    for (answers, result) in [false, true].into_iter().zip(results) {
        let exchange = http.next().unwrap();
        exchange.head(200, &[("content-type", "text/event-stream")]);
        exchange.chunk("data: ");
        for _ in 0..7 {
            exchange.chunk([b'x'; 100]);
        }
        if answers {
            exchange.chunk(format!("\n\ndata: {}\n\n", response(&exchange, "{}")));
        }
        exchange.end();
        let result = stage.pool.run_until(result);
        let refused = |error: &TransportError| error.kind() == TransportErrorKind::TooLarge;
        assert_eq!(result.is_ok(), answers);
        assert!(answers || matches!(&result, Err(CallError::Transport(error)) if refused(error)), "{result:?}");
    }
}

#[test]
fn a_response_without_an_end_ends_with_the_timeout_which_aborts_it() {
    for content in ["application/json", "text/event-stream", "text/html"] {
        let (mut stage, http) = Stage::modern_http();
        let mut short = tool_call();
        short.request.timeout = Timeout::After(50);
        let result = stage.call(short);
        stage.run();
        let exchange = http.next().unwrap();
        exchange.head(if content == "text/html" { 500 } else { 200 }, &[("content-type", content)]);
        stage.advance(49);
        assert!(!exchange.is_aborted() && result.lock().unwrap().is_none());
        stage.advance(1);
        assert!(exchange.is_aborted(), "{content}");
        assert!(result.lock().unwrap().as_ref().unwrap().contains("no answer came in time"));
    }
}

#[test]
fn a_legacy_response_without_an_end_is_aborted_when_the_server_had_time_to_hear_of_it() {
    let (mut stage, http) = legacy_http();
    let mut short = tool_call();
    short.request.timeout = Timeout::After(50);
    let result = stage.call(short);
    stage.run();
    let exchange = http.next().unwrap();
    exchange.head(200, &[("content-type", "application/json")]);
    stage.advance(50);
    assert!(result.lock().unwrap().as_ref().unwrap().contains("no answer came in time"));
    let told = http.next().unwrap();
    assert!(told.request().body.as_ref().unwrap().contains("notifications/cancelled"));
    accept(&told);
    stage.advance(10_000);
    assert!(exchange.is_aborted());
}

/// Answers everything with an event stream that never waits and never ends.
struct Endless(&'static str);

impl HttpClient for Endless {
    fn send(&self, _request: HttpRequest) -> BoxFuture<'static, Result<HttpResponse, TransportError>> {
        let headers: Headers = [("content-type", "text/event-stream")].into_iter().collect();
        let body = Box::new(Self(self.0));
        Box::pin(async { Ok(HttpResponse { head: ResponseHead { status: 200, headers }, body }) })
    }
}

impl Body for Endless {
    fn poll_chunk(&mut self, _: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, TransportError>>> {
        Poll::Ready(Some(Ok(self.0.as_bytes().to_vec())))
    }
}

#[test]
fn a_stream_that_never_waits_starves_neither_the_executor_nor_the_timeout() {
    for chunk in [": comment\n\n", "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/vendor\"}\n\n"] {
        let link = HttpLink::new(Arc::new(Endless(chunk)), "https://example.com/", Limits::default());
        assert_eq!(link.wire(), Wire::Http);
        let env = SimEnv::new(1);
        let (client, mut driver) =
            connect(Config::new("t", "1"), Arc::new(env.clone()), Box::new(link), Box::new(NoHooks));
        let result = Arc::new(Mutex::new(None));
        let told = Arc::clone(&result);
        let mut short = tool_call();
        short.request.timeout = Timeout::After(50);
        client.call_with(short, Box::new(move |result| *told.lock().unwrap() = Some(result.is_ok())));
        let mut poll = || Pin::new(&mut driver).poll(&mut Context::from_waker(Waker::noop())).is_ready();
        (0..10).for_each(|_| assert!(!poll()));
        assert_eq!(*result.lock().unwrap(), None);
        env.advance(50);
        (0..10).for_each(|_| assert!(!poll()));
        assert_eq!(*result.lock().unwrap(), Some(false));
    }
}

#[test]
fn the_last_handle_may_be_in_a_callback_of_the_call_that_ends() {
    let (mut stage, http) = Stage::modern_http();
    let client = stage.client.clone();
    let result = Arc::new(Mutex::new(None));
    let told = Arc::clone(&result);
    stage.client.call_with(
        tool_call().with_progress(Arc::new(move |_| {
            let _ = client.info();
        })),
        Box::new(move |result| *told.lock().unwrap() = Some(result.is_ok())),
    );
    stage.run();
    let Stage { mut pool, client, .. } = stage;
    drop(client);
    reply(&http.next().unwrap(), "{}");
    pool.run_until_stalled();
    assert_eq!(*result.lock().unwrap(), Some(true));
}
