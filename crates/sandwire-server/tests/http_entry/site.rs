//! A server with a few telling tools, behind the entry.

use std::{
    future::poll_fn,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Waker},
};

use futures_executor::block_on;
use sandwire_io::{Answer, Body, Bytes, Call, Changes, Endpoint, HttpService, testing::SimEnv};
use sandwire_json::{Raw, find};
use sandwire_proto::{
    http::{Headers, RequestHead, ResponseHead, Verb, param_headers::mirrored},
    server::{Change, Config, Progress},
};
use sandwire_server::http::{Guard, HttpEntry};
use sandwire_types::{ErrorObject, LoggingLevel, Method, Reply};

pub(crate) struct Site {
    pub(crate) entry: HttpEntry,
    pub(crate) env: SimEnv,
    pub(crate) server: Arc<Telling>,
}

pub(crate) struct Telling {
    config: Arc<Config>,
    changes: Changes,
    pub(crate) saw_cancel: Arc<AtomicBool>,
    pub(crate) dropped: Arc<AtomicBool>,
}

impl Telling {
    pub(crate) fn announce(&self, change: &Change) {
        self.changes.announce(change);
    }
}

struct OnDrop(Arc<AtomicBool>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

fn text(text: &str) -> Result<Reply, ErrorObject> {
    let text = Raw::string(text);
    Ok(Reply::new(Raw::from_valid(format!(r#"{{"content":[{{"type":"text","text":{}}}]}}"#, text.as_str()))))
}

impl Endpoint for Telling {
    fn config(&self) -> Arc<Config> {
        self.config.clone()
    }

    fn changes(&self) -> Option<&Changes> {
        Some(&self.changes)
    }

    fn is_mirrored(&self, tool: &str, arguments: &str, headers: &Headers) -> bool {
        let property = |kind: &str, header: &str| format!(r#"{{"type":"{kind}","x-mcp-header":"{header}"}}"#);
        let properties =
            format!(r#"{{"region":{},"size":{}}}"#, property("string", "Region"), property("integer", "Size"));
        let schema = format!(r#"{{"type":"object","properties":{properties}}}"#);
        tool != "routed" || mirrored(&schema, arguments, headers)
    }

    fn call(&self, call: Call) -> Answer {
        if call.request.method != Method::ToolsCall {
            return Answer::Ready(Ok(Reply::new(Raw::from_valid(r#"{"tools":[]}"#))));
        }
        let params = call.request.params.clone().unwrap_or_else(Raw::object);
        let name = find(params.as_str(), "name").unwrap_or_default().trim_matches('"').to_owned();
        match name.as_str() {
            "fail" => Answer::Ready(Err(ErrorObject::invalid_params("no such tool"))),
            "loud" => {
                call.outlet.progress(Progress { progress: 1.0, ..Progress::default() });
                call.outlet.log(LoggingLevel::Warning, None, Raw::string("a\nb"));
                Answer::Ready(text("loud"))
            }
            "ask" => Answer::Pending(Box::pin(async move {
                let question =
                    Raw::from_valid(r#"{"message":"?","requestedSchema":{"type":"object","properties":{}}}"#);
                let answer = call.outlet.ask("who", Method::ElicitationCreate, question).await?;
                text(answer.as_str())
            })),
            "wait" => {
                let dropped = OnDrop(self.dropped.clone());
                Answer::Pending(Box::pin(async move {
                    let _dropped = dropped;
                    call.outlet.progress(Progress { progress: 1.0, ..Progress::default() });
                    std::future::pending().await
                }))
            }
            "watch" => {
                let saw = self.saw_cancel.clone();
                Answer::Pending(Box::pin(async move {
                    call.outlet.cancelled().await;
                    saw.store(true, Ordering::SeqCst);
                    text("never read")
                }))
            }
            _ => Answer::Ready(text(&name)),
        }
    }
}

pub(crate) struct Got {
    pub(crate) head: ResponseHead,
    pub(crate) body: String,
}

impl Got {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.head.headers.get(name).unwrap_or_default()
    }

    pub(crate) fn code(&self) -> i64 {
        let error = find(&self.body, "error").unwrap_or_else(|| panic!("no error: {}", self.body));
        sandwire_json::from_str::<ErrorObject>(error).unwrap().code.0
    }
}

pub(crate) const CAPABILITIES: &str = r#"{"tools":{"listChanged":true},"resources":{"subscribe":true},"logging":{}}"#;

impl Site {
    pub(crate) fn new() -> Self {
        Self::guarded(Guard::default())
    }

    pub(crate) fn guarded(guard: Guard) -> Self {
        let info = Raw::from_valid(r#"{"name":"site","version":"1"}"#);
        Self::of(Config::new(info, Raw::from_valid(CAPABILITIES)), guard)
    }

    pub(crate) fn of(config: Config, guard: Guard) -> Self {
        let env = SimEnv::new(1);
        let server = Arc::new(Telling {
            config: Arc::new(config),
            changes: Changes::default(),
            saw_cancel: Arc::default(),
            dropped: Arc::default(),
        });
        let entry = HttpEntry::guarded(server.clone(), Arc::new(env.clone()), guard);
        Self { entry, env, server }
    }

    pub(crate) fn start(&self, head: RequestHead, body: &str) -> (ResponseHead, Box<dyn Body>) {
        block_on(self.entry.handle(head, Box::new(Bytes::new(body))))
    }

    pub(crate) fn send(&self, head: RequestHead, body: &str) -> Got {
        let (head, mut body) = self.start(head, body);
        let bytes = block_on(async {
            let mut bytes = Vec::new();
            while let Some(chunk) = poll_fn(|cx| body.poll_chunk(cx)).await {
                bytes.extend(chunk.unwrap());
            }
            bytes
        });
        Got { head, body: String::from_utf8(bytes).unwrap() }
    }

    /// A request that is right in every respect.
    pub(crate) fn modern(&self, method: &str, params: &str) -> Got {
        let (head, body) = modern(method, params);
        self.send(head, &body)
    }
}

pub(crate) fn post(headers: &[(&'static str, &str)]) -> RequestHead {
    let mut head = RequestHead::new(Verb::Post);
    head.headers = headers.iter().map(|(name, value)| (*name, *value)).collect();
    for (name, value) in [
        ("host", "localhost:3000"),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ] {
        if head.headers.get(name).is_none() {
            head.headers.push(name, value);
        }
    }
    head
}

pub(crate) fn envelope(capabilities: &str, meta: &str) -> String {
    format!(
        r#""_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{capabilities}{meta}}}"#
    )
}

pub(crate) fn modern(method: &str, params: &str) -> (RequestHead, String) {
    modern_as(method, params, "{}", "")
}

pub(crate) fn modern_as(method: &str, params: &str, capabilities: &str, meta: &str) -> (RequestHead, String) {
    let comma = if params.is_empty() { "" } else { "," };
    let params = format!("{{{}{comma}{params}}}", envelope(capabilities, meta));
    let body = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{params}}}"#);
    let mut head = post(&[("MCP-Protocol-Version", "2026-07-28")]);
    head.headers.push("Mcp-Method", method);
    if let Some(name) = find(&params, "name").or_else(|| find(&params, "uri")) {
        head.headers.push("Mcp-Name", name.trim_matches('"'));
    }
    (head, body)
}

pub(crate) fn tool(name: &str) -> String {
    format!(r#""name":"{name}","arguments":{{}}"#)
}

/// The next chunk, if it is there.
pub(crate) fn chunk(body: &mut Box<dyn Body>) -> Poll<Option<String>> {
    body.poll_chunk(&mut Context::from_waker(Waker::noop()))
        .map(|chunk| chunk.map(|chunk| String::from_utf8(chunk.unwrap()).unwrap()))
}
