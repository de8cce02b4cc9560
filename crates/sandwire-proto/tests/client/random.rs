//! Whatever is done to a client, it does not panic, and every call ends exactly once.

use crate::scene::{call, config, error, notification, raw, reply};
use proptest::prelude::*;
use sandwire_proto::{
    Ended, ExchangeId, Time, TransportError, TransportErrorKind, Via, Wire,
    client::{Call, Input, Machine, Mode, Output, Timeout},
    http::{Headers, ResponseHead},
};
use sandwire_types::{ErrorCode, Message, Method, ProtocolVersion, Request, RequestId, Response, WireError};
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
enum Step {
    Call(u8),
    Cancel(u8),
    Answer(u8, bool),
    Notify,
    /// Answers one of the open requests, some of them wrongly.
    Reply(u8, u8),
    Error(u8, i64),
    Head(u8, u16, u8),
    Mark(u8),
    End(u8, bool),
    Garbage(u8, bool),
    Note(u8, u8),
    Ask(u8),
    Wait(u32),
    Close,
    LinkClosed,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => any::<u8>().prop_map(Step::Call),
        2 => any::<u8>().prop_map(Step::Cancel),
        2 => (any::<u8>(), any::<bool>()).prop_map(|(which, ok)| Step::Answer(which, ok)),
        1 => Just(Step::Notify),
        9 => (any::<u8>(), any::<u8>()).prop_map(|(which, what)| Step::Reply(which, what)),
        3 => (any::<u8>(), prop::sample::select(vec![-32601, -32020, -32022, -32001, 0]))
            .prop_map(|(which, code)| Step::Error(which, code)),
        6 => (any::<u8>(), prop::sample::select(vec![200u16, 202, 400, 401, 404, 405, 500, 0, 999]), any::<u8>())
            .prop_map(|(which, status, kind)| Step::Head(which, status, kind)),
        2 => any::<u8>().prop_map(Step::Mark),
        5 => (any::<u8>(), any::<bool>()).prop_map(|(which, lost)| Step::End(which, lost)),
        1 => (any::<u8>(), any::<bool>()).prop_map(|(which, response)| Step::Garbage(which, response)),
        2 => (any::<u8>(), any::<u8>()).prop_map(|(which, what)| Step::Note(which, what)),
        2 => any::<u8>().prop_map(Step::Ask),
        3 => (0u32..20_000).prop_map(Step::Wait),
        1 => Just(Step::Close),
        1 => Just(Step::LinkClosed),
    ];
    prop::collection::vec(step, 0..80)
}

const RESULTS: &[&str] = &[
    crate::scene::DISCOVERY,
    crate::scene::HANDSHAKE,
    "{}",
    r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"},"b":{"method":"elicitation/create"}},"requestState":"s"}"#,
    r#"{"resultType":"input_required","requestState":"s"}"#,
    r#"{"resultType":"input_required","inputRequests":{"a":{"method":"vendor/x"}}}"#,
    r#"{"resultType":"odd"}"#,
    r#"{"tools":[{"name":"echo","inputSchema":{"properties":{"text":{"type":"string","x-mcp-header":"T"}}}},{}],"nextCursor":"c"}"#,
    r#"{"supportedVersions":["2025-11-25"],"capabilities":{}}"#,
];

struct World {
    machine: Machine,
    now: Time,
    calls: BTreeMap<u64, u32>,
    keys: Vec<sandwire_proto::client::CallKey>,
    requests: Vec<(Via, RequestId)>,
    exchanges: Vec<ExchangeId>,
    asks: Vec<sandwire_proto::client::AskKey>,
}

fn pick<T: Clone>(items: &[T], which: u8) -> Option<T> {
    (!items.is_empty()).then(|| items[usize::from(which) % items.len()].clone())
}

impl World {
    fn new(wire: Wire, mode: u8) -> Self {
        let mode = match mode % 4 {
            0 => Mode::Auto,
            1 => Mode::Legacy,
            2 => Mode::Pinned(ProtocolVersion::V2026_07_28),
            _ => Mode::Remembered(std::sync::Arc::new(sandwire_proto::PeerInfo::new(
                ProtocolVersion::V2026_07_28,
                raw("{}"),
            ))),
        };
        let mut config = config(wire, mode);
        config.capabilities = raw(r#"{"roots":{},"elicitation":{}}"#);
        config.limits.max_in_flight = 12;
        Self {
            machine: Machine::new(config),
            now: Time(0),
            calls: BTreeMap::new(),
            keys: Vec::new(),
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
                        assert!(!self.exchanges.contains(&exchange));
                        self.exchanges.push(exchange);
                    }
                }
                Output::Open { exchange, .. } => self.exchanges.push(exchange),
                Output::Done { key, .. } => {
                    let left = self.calls.get_mut(&key.as_u64()).expect("a call nobody made");
                    *left += 1;
                    assert_eq!(*left, 1, "a call ended twice");
                }
                Output::Ask { key, .. } => self.asks.push(key),
                _ => {}
            }
        }
    }

    fn step(&mut self, step: Step) {
        let input = match step {
            Step::Call(which) => {
                let mut call = match which % 5 {
                    0 => call("tools/list", ""),
                    1 => call("ping", ""),
                    2 => call("subscriptions/listen", r#"{"notifications":{}}"#),
                    _ => crate::scene::tool_call(),
                };
                call.progress = which % 2 == 0;
                call.timeout = if which % 3 == 0 { Timeout::After(u64::from(which) * 50) } else { Timeout::Default };
                self.call(call);
                return;
            }
            Step::Cancel(which) => {
                if let Some(key) = pick(&self.keys, which) {
                    self.machine.cancel(self.now, key, None);
                }
                return;
            }
            Step::Answer(which, ok) => {
                if let Some(key) = pick(&self.asks, which) {
                    let answer = if ok { Ok(raw("{}")) } else { Err(error(-1)) };
                    let _ = self.machine.answer(self.now, key, answer);
                }
                return;
            }
            Step::Notify => {
                let _ = self.machine.notify(self.now, notification("vendor/note", ""));
                return;
            }
            Step::Reply(which, what) => {
                let Some((via, id)) = pick(&self.requests, which) else { return };
                let id = (what % 7 != 0).then_some(id);
                let result = Ok(reply(RESULTS[usize::from(what) % RESULTS.len()]));
                Input::Message { via, message: Message::Response(Response { id, result }) }
            }
            Step::Error(which, code) => {
                let Some((via, id)) = pick(&self.requests, which) else { return };
                let data = raw(r#"{"supported":["2026-07-28","2025-11-25"]}"#);
                let result = Err(error(code).with_data(data));
                Input::Message { via, message: Message::Response(Response { id: Some(id), result }) }
            }
            Step::Head(which, status, kind) => {
                let Some(exchange) = pick(&self.exchanges, which) else { return };
                let mut headers = Headers::new();
                match kind % 4 {
                    0 => headers.push("content-type", "application/json"),
                    1 => headers.push("content-type", "text/event-stream"),
                    2 => headers.push("mcp-session-id", "s"),
                    _ => {}
                }
                if kind % 8 == 0 {
                    headers.push("mcp-session-id", "t");
                }
                Input::Head { exchange, head: ResponseHead { status, headers } }
            }
            Step::Mark(which) => {
                let Some(exchange) = pick(&self.exchanges, which) else { return };
                Input::Mark { exchange, event_id: Some("e".into()), retry_ms: Some(u64::from(which)) }
            }
            Step::End(which, lost) => {
                let Some(exchange) = pick(&self.exchanges, which) else { return };
                let kind = if which % 2 == 0 { TransportErrorKind::Opaque } else { TransportErrorKind::Closed };
                let how = if lost { Ended::Lost(TransportError::new(kind, "scripted")) } else { Ended::Finished };
                Input::Ended { exchange, how }
            }
            Step::Garbage(which, response) => {
                let Some((via, id)) = pick(&self.requests, which) else { return };
                let mut error = WireError::new(ErrorCode::INVALID_REQUEST, "scripted");
                error.is_response = response;
                error.id = Some(id);
                Input::Garbage { via, error }
            }
            Step::Note(which, what) => {
                let via = pick(&self.requests, which).map_or(Via::Pipe, |(via, _)| via);
                let id = pick(&self.requests, what).map_or_else(|| "7".into(), |(_, id)| id.to_string());
                let mut told = match what % 4 {
                    0 => notification(
                        "notifications/progress",
                        &format!(r#"{{"progressToken":{id},"progress":{what}}}"#),
                    ),
                    1 => notification("notifications/cancelled", &format!(r#"{{"requestId":{id}}}"#)),
                    2 => notification("notifications/cancelled", r#"{"requestId":3}"#),
                    _ => notification("notifications/tools/list_changed", ""),
                };
                if what % 4 == 3 {
                    told.subscription = pick(&self.requests, what).map(|(_, id)| id);
                }
                Input::Message { via, message: Message::Notification(told) }
            }
            Step::Ask(which) => {
                let method = ["roots/list", "ping", "elicitation/create", "sampling/createMessage", "x"];
                let method = Method::from(method[usize::from(which) % method.len()]);
                let request = Request::new(RequestId::Number(i64::from(which % 8)), method);
                Input::Message { via: Via::Pipe, message: Message::Request(request) }
            }
            Step::Wait(milliseconds) => {
                self.now = self.now.after(u64::from(milliseconds));
                Input::Tick
            }
            Step::Close => return self.machine.close(self.now),
            Step::LinkClosed => Input::Closed(None),
        };
        self.machine.handle(self.now, input);
    }

    fn call(&mut self, call: Call) {
        if let Ok(key) = self.machine.request(self.now, call) {
            assert!(self.calls.insert(key.as_u64(), 0).is_none(), "a key was used twice");
            self.keys.push(key);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics_and_no_call_is_lost(http in any::<bool>(), mode in any::<u8>(), steps in steps()) {
        let mut world = World::new(if http { Wire::Http } else { Wire::Pipe }, mode);
        for step in steps {
            world.step(step);
            world.drain();
        }
        let ended: usize = world.calls.values().map(|times| *times as usize).sum();
        prop_assert_eq!(world.calls.len() - ended, world.machine.calls_under_way());
        world.machine.handle(world.now, Input::Closed(None));
        world.drain();
        prop_assert!(world.calls.values().all(|times| *times == 1));
        prop_assert_eq!(world.machine.calls_under_way(), 0);
    }
}
