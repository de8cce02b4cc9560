//! What clients hear of that belongs to no request: by a bus, beside calls, and at the end.

use crate::{
    hall::{V, request},
    site::{modern, modern_as, post},
};
use sandwire_io::{Bytes, HttpService, MemoryBus, testing::SimEnv};
use sandwire_json::find;
use sandwire_proto::{http::Verb, server::Change};
use sandwire_server::{
    Capability, Form, ResourceHandler, Server, ToolError, ToolHandler,
    http::{Guard, HttpEntry, Sessions, SessionsDriver},
    types::{CacheScope, LoggingLevel, Method},
};
use std::{
    sync::Arc,
    task::{Context, Poll, Waker},
};

struct Instance {
    server: Server,
    entry: HttpEntry,
    _driver: SessionsDriver,
}

type Response = (sandwire_proto::http::ResponseHead, Box<dyn sandwire_io::Body>);

impl Instance {
    fn new(bus: &MemoryBus) -> Self {
        let server = Server::builder("heard", "1")
            .tool("visit", "", async |ctx: sandwire_server::Context| {
                ctx.elicit("pay", Form::url("Pay", "https://pay.example").id("visit-1")).await?;
                Ok::<_, ToolError>("paid")
            })
            .declare(Capability::Logging)
            .declare(Capability::Resources)
            .event_bus(Arc::new(bus.clone()))
            .with(ResourceHandler::new("note://kept", "", || "kept").cached(7, CacheScope::Public))
            .with(ResourceHandler::new("note://late", "", async || "late").cached(8, CacheScope::Private))
            .with(ResourceHandler::new("note://other", "", || "other"))
            .cached(Method::ToolsList, 60_000, CacheScope::Public)
            .cached(Method::ResourcesRead, 9, CacheScope::Private)
            .page_size(1)
            .with(ToolHandler::new("second", "", || "second"))
            .state_keys([1; 32], [[2; 32]])
            .build()
            .unwrap();
        let env = Arc::new(SimEnv::new(3));
        let (entry, driver) =
            HttpEntry::with_sessions(Arc::new(server.clone()), env, Guard::default(), Sessions::default());
        Self { server, entry, _driver: driver }
    }

    fn send(&self, head: sandwire_proto::http::RequestHead, body: &str) -> Response {
        let mut response = self.entry.handle(head, Box::new(Bytes::new(body)));
        match response.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(response) => response,
            Poll::Pending => panic!("no response"),
        }
    }

    fn say(&self, session: &str, verb: Verb, body: &str) -> Response {
        let mut head = post(&[("Mcp-Session-Id", session), ("MCP-Protocol-Version", V)]);
        head.method = verb;
        self.send(head, body)
    }

    /// A legacy session and its stream.
    fn session(&self) -> (String, Response) {
        let params = format!(
            r#""protocolVersion":"{V}","capabilities":{{"elicitation":{{"url":{{}}}}}},"clientInfo":{{"name":"c","version":"1"}}"#
        );
        let (head, _) = self.send(post(&[]), &request(0, "initialize", &params));
        let session = head.headers.get("mcp-session-id").unwrap().to_owned();
        self.say(&session, Verb::Post, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        let stream = self.say(&session, Verb::Get, "");
        (session, stream)
    }

    fn listen(&self) -> Response {
        let (head, body) = modern("subscriptions/listen", r#""notifications":{"toolsListChanged":true}"#);
        let mut stream = self.send(head, &body);
        assert!(now(&mut stream).contains("acknowledged"));
        stream
    }
}

/// What there is now of a body.
fn now((_, body): &mut Response) -> String {
    let mut text = String::new();
    while let Poll::Ready(Some(chunk)) = body.poll_chunk(&mut Context::from_waker(Waker::noop())) {
        text.push_str(&String::from_utf8(chunk.unwrap()).unwrap());
    }
    text
}

#[test]
fn clients_of_both_eras_and_all_instances_hear_of_a_change_once() {
    let bus = MemoryBus::default();
    let (one, two) = (Instance::new(&bus), Instance::new(&bus));
    let mut streams = [one.listen(), two.listen(), one.session().1, two.session().1];
    one.server.tools().add(ToolHandler::new("new", "", || "new")).unwrap();
    for stream in &mut streams {
        assert_eq!(now(stream).matches("notifications/tools/list_changed").count(), 1);
    }
    drop(one);
    two.server.tools().remove("second");
    assert!(now(&mut streams[1]).contains("list_changed"), "an instance that is gone is not missed");
}

#[test]
fn a_change_travels_as_text() {
    for change in [Change::Tools, Change::Prompts, Change::Resources, Change::Resource("a:\"b".into())] {
        assert_eq!(Change::read(&change.write()), Some(change));
    }
    for text in ["", "{}", r#"{"changed":"all"}"#, r#"{"changed":"resource"}"#, r#"{"changed":"tools"} x"#] {
        assert_eq!(Change::read(text), None, "{text}");
    }
}

#[test]
fn a_server_that_stops_ends_subscriptions_with_their_results() {
    let instance = Instance::new(&MemoryBus::default());
    let (mut listen, mut legacy) = (instance.listen(), instance.session().1);
    instance.server.end_subscriptions();
    let end = now(&mut listen);
    assert!(end.contains(r#""resultType":"complete""#) && end.contains(r#"subscriptionId":7"#), "{end}");
    assert!(matches!(listen.1.poll_chunk(&mut Context::from_waker(Waker::noop())), Poll::Ready(None)));
    assert_eq!(now(&mut legacy), "");
}

#[test]
fn a_message_beside_calls_reaches_legacy_clients_that_want_it() {
    let instance = Instance::new(&MemoryBus::default());
    let (mut listen, (session, mut legacy)) = (instance.listen(), instance.session());
    instance.server.log(&LoggingLevel::Debug, None, "not yet");
    assert_eq!(now(&mut legacy), "");
    instance.say(&session, Verb::Post, &request(1, "logging/setLevel", r#""level":"debug""#));
    instance.server.log(&LoggingLevel::Debug, Some("db"), "slow");
    let told = now(&mut legacy);
    assert!(told.contains(r#""level":"debug","logger":"db","data":"slow""#), "{told}");
    assert_eq!(now(&mut listen), "", "the modern era has messages of calls only");
}

#[test]
fn who_was_sent_to_an_address_is_told_that_it_is_done_there_and_nobody_else() {
    let instance = Instance::new(&MemoryBus::default());
    let ((session, mut asked), (_, mut other)) = (instance.session(), instance.session());
    let mut call = instance.say(&session, Verb::Post, &request(5, "tools/call", r#""name":"visit""#));
    let question = now(&mut call);
    assert!(question.contains(r#""elicitationId":"visit-1""#), "{question}");
    instance.server.elicitation_completed("visit-2");
    assert_eq!(now(&mut asked), "");
    instance.server.elicitation_completed("visit-1");
    instance.server.elicitation_completed("visit-1");
    let told = now(&mut asked);
    assert_eq!(told.matches("notifications/elicitation/complete").count(), 1, "{told}");
    assert!(told.contains(r#""elicitationId":"visit-1""#), "{told}");
    assert_eq!(now(&mut other), "");

    let (head, body) = modern_as("tools/call", r#""name":"visit""#, r#"{"elicitation":{"url":{}}}"#, "");
    let answer = now(&mut instance.send(head, &body));
    assert!(answer.contains("https://pay.example") && !answer.contains("elicitationId"), "{answer}");
}

#[test]
fn lists_and_resources_say_how_long_they_may_be_kept_and_questions_do_not() {
    let instance = Instance::new(&MemoryBus::default());
    let ask = |method: &str, params: &str| {
        let (head, body) = modern_as(method, params, r#"{"elicitation":{"url":{}}}"#, "");
        let answer = now(&mut instance.send(head, &body));
        let result = find(&answer, "result").unwrap_or_else(|| panic!("{answer}"));
        (
            find(result, "ttlMs").unwrap_or_default().to_owned(),
            find(result, "cacheScope").unwrap_or_default().to_owned(),
        )
    };
    let hint = |ttl: &str, scope: &str| (ttl.to_owned(), format!("\"{scope}\""));
    for page in ["", r#""cursor":"1""#] {
        assert_eq!(ask("tools/list", page), hint("60000", "public"), "each page");
    }
    assert_eq!(ask("resources/list", ""), hint("0", "private"));
    assert_eq!(ask("resources/read", r#""uri":"note://kept""#), hint("7", "public"));
    assert_eq!(ask("resources/read", r#""uri":"note://late""#), hint("8", "private"));
    assert_eq!(ask("resources/read", r#""uri":"note://other""#), hint("9", "private"));
    assert_eq!(ask("tools/call", r#""name":"visit""#), Default::default());
}

#[test]
fn another_instance_with_the_same_keys_goes_on_with_a_call() {
    let bus = MemoryBus::default();
    let can = r#"{"elicitation":{"url":{}}}"#;
    let (head, body) = modern_as("tools/call", r#""name":"visit""#, can, "");
    let first = now(&mut Instance::new(&bus).send(head, &body));
    let state = find(find(&first, "result").unwrap(), "requestState").unwrap();
    let answers = r#""inputResponses":{"pay":{"action":"accept"}}"#;
    let (head, body) = modern_as("tools/call", &format!(r#""name":"visit","requestState":{state},{answers}"#), can, "");
    let second = now(&mut Instance::new(&bus).send(head, &body));
    assert!(second.contains(r#""text":"paid""#), "{second}");
}
