use crate::{
    Ended, ExchangeId, PeerInfo, Time, TransportError, TransportErrorKind, Via, Wire,
    client::{AskKey, Call, CallKey, Config, Input, Machine, Mode, Output, Timeout},
    http::{Headers, ResponseHead},
};
use sandwire_json::Raw;
use sandwire_types::{
    ErrorCode, ErrorObject, Message, Method, Notification, ProtocolVersion, Reply, Request, RequestId, Response,
    ResultKind, WireError,
};
use std::sync::Arc;

/// Takes any bytes as a list of things that are done to a client: it does not panic, no key, id or exchange is used
/// twice, and every call ends exactly once.
pub fn client_machine(data: &[u8]) {
    let mut bytes = Bytes(data);
    let mut world = World::new(bytes.next(), bytes.next());
    while !bytes.0.is_empty() {
        world.step(&mut bytes);
        world.drain();
    }
    let open = world.calls.iter().filter(|(_, ended)| !ended).count();
    assert_eq!(open, world.machine.calls_under_way(), "a call was lost");
    world.machine.handle(world.now, Input::Closed(None));
    world.drain();
    assert!(world.calls.iter().all(|(_, ended)| *ended), "a call outlived its connection");
    assert_eq!(world.machine.calls_under_way(), 0);
}

struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn next(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    fn flag(&mut self) -> bool {
        self.next() & 1 == 1
    }

    fn pick<T: Clone>(&mut self, items: &[T]) -> Option<T> {
        items.get(usize::from(self.next()) % items.len().max(1)).cloned()
    }
}

const RESULTS: &[&str] = &[
    r#"{"supportedVersions":["2026-07-28"],"capabilities":{}}"#,
    r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}"#,
    "{}",
    r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"},"b":{"method":"elicitation/create"}},"requestState":"s"}"#,
    r#"{"resultType":"input_required","requestState":"s"}"#,
    r#"{"resultType":"input_required","inputRequests":{"a":{"method":"vendor/x"}}}"#,
    r#"{"resultType":"odd"}"#,
    r#"{"tools":[{"name":"t","inputSchema":{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}},{}],"nextCursor":"c"}"#,
    r#"{"supportedVersions":["2025-11-25"],"capabilities":{}}"#,
];
const CODES: &[i64] = &[-32601, -32020, -32022, -32001, 0];
const STATUSES: &[u16] = &[200, 202, 400, 401, 404, 405, 500, 0, 999];
const CALLS: &[(&str, &str)] = &[
    ("tools/list", ""),
    ("ping", ""),
    ("subscriptions/listen", r#"{"notifications":{}}"#),
    ("tools/call", r#"{"name":"t","arguments":{"a":"x"}}"#),
    ("resources/read", r#"{"uri":"file:///x"}"#),
];
const QUESTIONS: &[&str] = &["roots/list", "ping", "elicitation/create", "sampling/createMessage", "x"];

struct World {
    machine: Machine,
    now: Time,
    calls: Vec<(CallKey, bool)>,
    requests: Vec<(Via, RequestId)>,
    exchanges: Vec<ExchangeId>,
    asks: Vec<AskKey>,
}

impl World {
    fn new(wire: u8, mode: u8) -> Self {
        let mut config = Config::new("fuzz", "1");
        config.wire = if wire & 1 == 1 { Wire::Http } else { Wire::Pipe };
        config.mode = match mode % 4 {
            0 => Mode::Auto,
            1 => Mode::Legacy,
            2 => Mode::Pinned(ProtocolVersion::V2026_07_28),
            _ => Mode::Remembered(Arc::new(PeerInfo::new(ProtocolVersion::V2026_07_28, Raw::object()))),
        };
        config.capabilities = Raw::from_valid(r#"{"roots":{},"elicitation":{}}"#);
        config.limits.max_in_flight = 12;
        Self {
            machine: Machine::new(config),
            now: Time(0),
            calls: Vec::new(),
            requests: Vec::new(),
            exchanges: Vec::new(),
            asks: Vec::new(),
        }
    }

    fn drain(&mut self) {
        while let Some(output) = self.machine.poll() {
            match output {
                Output::Send { via, message, head } => {
                    assert_eq!(matches!(via, Via::Exchange(_)), head.is_some());
                    if let Message::Request(request) = message {
                        assert!(!self.requests.iter().any(|(_, id)| *id == request.id), "an id was used twice");
                        self.requests.push((via, request.id));
                    }
                    if let Via::Exchange(exchange) = via {
                        self.begun(exchange);
                    }
                }
                Output::Open { exchange, .. } => self.begun(exchange),
                Output::Done { key, .. } => {
                    let call = self.calls.iter_mut().find(|(have, _)| *have == key);
                    assert!(call.as_ref().is_some_and(|(_, ended)| !ended), "a call ended twice, or was never made");
                    if let Some((_, ended)) = call {
                        *ended = true;
                    }
                }
                Output::Ask { key, .. } => self.asks.push(key),
                _ => {}
            }
        }
    }

    fn begun(&mut self, exchange: ExchangeId) {
        assert!(!self.exchanges.contains(&exchange), "an exchange was used twice");
        self.exchanges.push(exchange);
    }

    fn step(&mut self, bytes: &mut Bytes<'_>) {
        match bytes.next() % 20 {
            0..=4 => self.call(bytes),
            5 => {
                let keys: Vec<_> = self.calls.iter().map(|(key, _)| *key).collect();
                if let Some(key) = bytes.pick(&keys) {
                    self.machine.cancel(self.now, key, None);
                }
            }
            6 => {
                if let Some(key) = bytes.pick(&self.asks) {
                    let answer = if bytes.flag() { Ok(Raw::object()) } else { Err(ErrorObject::internal("no")) };
                    // An answer to a question that is closed is refused.
                    let _ = self.machine.answer(self.now, key, answer);
                }
            }
            7 => {
                // So is a notification once the connection is closed.
                let _ = self.machine.notify(self.now, Notification::new("vendor/note".into(), None));
            }
            8 if bytes.next() < 16 => self.machine.close(self.now),
            8 | 9 => {
                self.now = self.now.after(u64::from(bytes.next()) * 100);
                self.machine.handle(self.now, Input::Tick);
            }
            _ => {
                if let Some(input) = self.input(bytes) {
                    self.machine.handle(self.now, input);
                }
            }
        }
    }

    fn call(&mut self, bytes: &mut Bytes<'_>) {
        let Some((method, params)) = bytes.pick(CALLS) else { return };
        let mut call = Call::new(method.into(), (!params.is_empty()).then(|| Raw::from_valid(params)));
        let options = bytes.next();
        call.progress = options & 1 == 1;
        call.reset_on_progress = options & 2 == 2;
        if options & 4 == 4 {
            call.timeout = Timeout::After(u64::from(options) * 50);
        }
        if let Ok(key) = self.machine.request(self.now, call) {
            assert!(!self.calls.iter().any(|(have, _)| *have == key), "a key was used twice");
            self.calls.push((key, false));
        }
    }

    fn input(&mut self, bytes: &mut Bytes<'_>) -> Option<Input> {
        Some(match bytes.next() % 10 {
            0..=2 => {
                let (via, id) = bytes.pick(&self.requests)?;
                let result = if bytes.next().is_multiple_of(4) {
                    let data = Raw::from_valid(r#"{"supported":["2026-07-28","2025-11-25"]}"#);
                    Err(ErrorObject::new(ErrorCode(bytes.pick(CODES)?), "scripted").with_data(data))
                } else {
                    Ok(reply(bytes.pick(RESULTS)?))
                };
                let id = (!bytes.next().is_multiple_of(7)).then_some(id);
                Input::Message { via, message: Message::Response(Response { id, null_id: false, result }) }
            }
            3 => {
                let exchange = bytes.pick(&self.exchanges)?;
                let kind = bytes.next();
                let mut headers = Headers::new();
                match kind % 4 {
                    0 => headers.push("content-type", "application/json"),
                    1 => headers.push("content-type", "text/event-stream"),
                    _ => {}
                }
                if kind & 8 == 8 {
                    headers.push("mcp-session-id", "s");
                }
                Input::Head { exchange, head: ResponseHead { status: bytes.pick(STATUSES)?, headers } }
            }
            4 => {
                let exchange = bytes.pick(&self.exchanges)?;
                let event_id = bytes.flag().then(|| "e".into());
                Input::Mark { exchange, event_id, retry_ms: Some(u64::from(bytes.next())) }
            }
            5 => {
                let exchange = bytes.pick(&self.exchanges)?;
                let kind = if bytes.flag() { TransportErrorKind::Opaque } else { TransportErrorKind::Closed };
                let lost = Ended::Lost(TransportError::new(kind, "scripted"));
                Input::Ended { exchange, how: if bytes.flag() { lost } else { Ended::Finished } }
            }
            6 => {
                let (via, id) = bytes.pick(&self.requests)?;
                let mut error = WireError::new(ErrorCode::INVALID_REQUEST, "scripted");
                error.is_response = bytes.flag();
                error.id = bytes.flag().then_some(id);
                Input::Garbage { via, error }
            }
            7 => self.notification(bytes)?,
            8 => {
                let request = Request::new(i64::from(bytes.next() % 8), bytes.pick(QUESTIONS)?.into());
                Input::Message { via: Via::Pipe, message: Message::Request(request) }
            }
            _ => match bytes.next() {
                0..16 => Input::Closed(None),
                16..64 => Input::Restarted(TransportError::new(TransportErrorKind::Restarted, "scripted")),
                _ => Input::Tick,
            },
        })
    }

    fn notification(&mut self, bytes: &mut Bytes<'_>) -> Option<Input> {
        let (via, id) = bytes.pick(&self.requests)?;
        let what = bytes.next();
        let (method, params) = match what % 4 {
            0 => (Method::Progress, Some(format!(r#"{{"progressToken":{id},"progress":{what}}}"#))),
            1 => (Method::Cancelled, Some(format!(r#"{{"requestId":{id}}}"#))),
            2 => (Method::Cancelled, Some(r#"{"requestId":3}"#.into())),
            _ => (Method::ToolsListChanged, None),
        };
        let subscription = params.is_none().then_some(id);
        let params = params.map(Raw::from_valid);
        Some(Input::Message { via, message: Message::Notification(Notification { method, params, subscription }) })
    }
}

fn reply(text: &str) -> Reply {
    let kind = sandwire_json::find(text, "resultType")
        .map_or(ResultKind::Complete, |kind| ResultKind::from(kind.trim_matches('"')));
    Reply { value: Raw::from_valid(text), kind, stamp: None }
}
