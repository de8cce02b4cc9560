//! Whatever comes, nothing panics, and every call has exactly one end.

use crate::scene::{Scene, config, initialize_with, legacy, modern_as, notification};
use proptest::prelude::*;
use sandwire_json::{Raw, find};
use sandwire_proto::{
    Input,
    server::{Change, Clock, Progress},
};
use sandwire_types::{LoggingLevel, Method};
use std::{collections::HashMap, sync::Arc};

const METHODS: [&str; 12] = [
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/read",
    "resources/subscribe",
    "logging/setLevel",
    "subscriptions/listen",
    "tasks/get",
    "no/such",
    "notifications/initialized",
];

#[derive(Clone, Debug)]
enum Step {
    Modern { id: u8, method: usize },
    Legacy { id: u8, method: usize },
    Initialize(usize),
    Initialized,
    Cancel(u8),
    Garbage(String),
    Response(u8),
    Reply(usize),
    End(usize),
    Progress(usize, f64),
    Log(usize),
    Ask(usize, u8),
    Record(usize, u8),
    Suspend(usize),
    Changed(u8),
    Closed,
}

fn step() -> impl Strategy<Value = Step> {
    let method = 0..METHODS.len();
    prop_oneof![
        6 => (0..6u8, method.clone()).prop_map(|(id, method)| Step::Modern { id, method }),
        6 => (0..6u8, method).prop_map(|(id, method)| Step::Legacy { id, method }),
        2 => (0..6usize).prop_map(Step::Initialize),
        1 => Just(Step::Initialized),
        3 => (0..6u8).prop_map(Step::Cancel),
        2 => "\\PC{0,20}".prop_map(Step::Garbage),
        2 => (0..6u8).prop_map(Step::Response),
        6 => (0..8usize).prop_map(Step::Reply),
        2 => (0..8usize).prop_map(Step::End),
        2 => (0..8usize, any::<f64>()).prop_map(|(call, progress)| Step::Progress(call, progress)),
        1 => (0..8usize).prop_map(Step::Log),
        3 => (0..8usize, 0..3u8).prop_map(|(call, name)| Step::Ask(call, name)),
        1 => (0..8usize, 0..3u8).prop_map(|(call, name)| Step::Record(call, name)),
        2 => (0..8usize).prop_map(Step::Suspend),
        2 => (0..4u8).prop_map(Step::Changed),
        1 => Just(Step::Closed),
    ]
}

fn request_of(step: &Step) -> Option<(String, String)> {
    let can = r#"{"elicitation":{},"roots":{}}"#;
    let params = r#""name":"t","level":"info","uri":"a:b","notifications":{"toolsListChanged":true}"#;
    match step {
        Step::Modern { id, method } => {
            let id = if id % 2 == 0 { id.to_string() } else { format!("\"{id}\"") };
            let token = r#","progressToken":1"#;
            Some((id.clone(), modern_as(&id, METHODS[*method], params, can, token)))
        }
        Step::Legacy { id, method } => Some((id.to_string(), legacy(&id.to_string(), METHODS[*method], params))),
        Step::Initialize(version) => {
            let versions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "x"];
            Some(("0".into(), initialize_with(versions[*version], can)))
        }
        _ => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn every_request_is_answered_or_cancelled_exactly_once(steps in prop::collection::vec(step(), 0..60)) {
        let mut scene = Scene::new(config());
        let sealer = Arc::clone(&scene.sealer);
        let clock = Clock { sealer: &sealer, unix_time: None };
        let mut open: HashMap<String, usize> = HashMap::new();
        let mut closed = false;
        for step in &steps {
            let key = |at: &usize| scene.calls.get(*at).map(|(key, _)| *key);
            let request = request_of(step);
            if let Some((id, _)) = request.as_ref().filter(|_| !closed) {
                *open.entry(id.clone()).or_default() += 1;
            }
            let sent = match step {
                Step::Initialized => scene.tell(&notification("notifications/initialized", "")),
                Step::Cancel(id) => {
                    let before = scene.machine.in_flight();
                    let id = if id % 2 == 0 { id.to_string() } else { format!("\"{id}\"") };
                    let cancelled = scene.cancelled.len();
                    let sent = scene.tell(&notification("notifications/cancelled", &format!("\"requestId\":{id}")));
                    if scene.cancelled.len() > cancelled || scene.machine.in_flight() < before {
                        *open.get_mut(&id).unwrap() -= 1;
                    }
                    sent
                }
                Step::Garbage(text) => {
                    scene.tell(text);
                    Vec::new()
                }
                Step::Response(id) => scene.tell(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)),
                Step::Reply(at) => match key(at) {
                    Some(key) => scene.reply(key, "{}"),
                    None => Vec::new(),
                },
                Step::End(at) => {
                    if let Some(key) = key(at).filter(|key| !scene.machine.is_running(*key)) {
                        scene.machine.end(key);
                    }
                    Vec::new()
                }
                Step::Progress(at, progress) => {
                    if let Some(key) = key(at) {
                        scene.machine.progress(key, Progress { progress: *progress, ..Progress::default() });
                    }
                    scene.drain()
                }
                Step::Log(at) => {
                    if let Some(key) = key(at) {
                        scene.machine.log(key, LoggingLevel::Alert, None, Raw::null());
                    }
                    scene.drain()
                }
                Step::Ask(at, name) => {
                    if let Some(key) = key(at) {
                        let _ = scene.machine.ask(key, &name.to_string(), &Method::RootsList, &Raw::object(), clock);
                    }
                    scene.drain()
                }
                Step::Record(at, name) => {
                    if let Some(key) = key(at) {
                        let _ = scene.machine.record(key, &name.to_string(), Raw::null(), clock);
                    }
                    scene.drain()
                }
                Step::Suspend(at) => {
                    if let Some(key) = key(at) {
                        scene.machine.suspend(key);
                    }
                    scene.drain()
                }
                Step::Changed(which) => {
                    let change = match which {
                        0 => Change::Tools,
                        1 => Change::Prompts,
                        2 => Change::Resources,
                        _ => Change::Resource("a:b".into()),
                    };
                    scene.machine.changed(&change);
                    scene.drain()
                }
                Step::Closed => {
                    let sent = scene.input(Input::Closed(None));
                    closed = true;
                    open.clear();
                    sent
                }
                _ => scene.tell(&request.unwrap().1),
            };
            for text in sent {
                let is_response = find(&text, "result").is_some() || find(&text, "error").is_some();
                if let Some(id) = find(&text, "id").filter(|_| is_response) {
                    let waiting = open.get_mut(id);
                    prop_assert!(waiting.as_ref().is_some_and(|count| **count > 0), "answered twice: {text}");
                    *waiting.unwrap() -= 1;
                }
                if closed {
                    prop_assert!(!is_response, "an answer after the end: {text}");
                }
            }
        }
        // What is left without an end is what the endpoint still has, and the subscriptions.
        for (key, _) in std::mem::take(&mut scene.calls) {
            for text in scene.reply(key, "{}") {
                if let Some(id) = find(&text, "id").filter(|_| find(&text, "method").is_none()) {
                    *open.get_mut(id).unwrap() -= 1;
                }
            }
        }
        let left: usize = open.values().sum();
        prop_assert_eq!(left, if closed { 0 } else { scene.machine.in_flight() });
    }
}
