//! What is written, for every method and version, is what the official schema of that version says.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod spec;

use std::sync::Arc;

use sandwire_types::model::{Described, InputRequiredResult, check_params, check_result, params_type, result_type};
use sandwire_types::wire::{Incoming, Memo, decode, encode, legacy, modern};
use sandwire_types::*;
use spec::Schemas;
use spec::generate::Generator;

const ROUNDS: u64 = 60;

fn parties(method: &Method, version: ProtocolVersion) -> bool {
    method.may_send(Side::Client, version) || method.may_send(Side::Server, version)
}

/// An address to visit cannot be told to a peer that only knows forms, which declares no such thing.
fn expressible(version: ProtocolVersion, method: &Method, value: &Raw) -> bool {
    *method != Method::ElicitationCreate || version >= ProtocolVersion::V2025_11_25 || value.get("url").is_none()
}

fn envelope() -> Arc<Envelope> {
    let capabilities = Raw::parse(r#"{"elicitation":{"form":{}}}"#).unwrap();
    let info = Raw::parse(r#"{"name":"c","version":"1"}"#).unwrap();
    Arc::new(Envelope::new(ProtocolVersion::LATEST.as_str(), capabilities, Some(info)))
}

#[test]
fn results_fit_every_version() {
    let Some(spec) = spec::directory() else { return };
    for version in KNOWN_VERSIONS.iter().copied() {
        let schemas = Schemas::load(&spec, version);
        for method in Method::KNOWN.iter().filter(|method| method.is_request() && parties(method, version)) {
            let (Some(noun), Some(kind)) = (spec::result_noun(method), result_type(method)) else { continue };
            if !schemas.has(noun) {
                assert!(matches!(method, Method::TasksGet), "{version} {noun}");
                continue;
            }
            for seed in 0..ROUNDS {
                let value = Generator::new(seed * 77 + 1).value(&kind);
                assert_eq!(check_result(method, &Reply::new(value.clone())), Ok(()), "{method} {value}");
                let text = result_text(version, method, &value);
                schemas.assert_valid(noun, &text);
                if version.era() == Era::Legacy {
                    assert_no_modern_words(&text);
                }
            }
        }
    }
}

fn result_text(version: ProtocolVersion, method: &Method, value: &Raw) -> String {
    let reply = match version.era() {
        Era::Legacy => Reply::new(legacy::lower_result(version, method, value)),
        Era::Modern => Reply::new(modern::lower_result(method, value)).stamped(Stamp {
            server_info: Some(Raw::parse(r#"{"name":"s","version":"1"}"#).unwrap()),
            cache: method.is_cacheable().then_some(CacheHint { ttl_ms: 0, scope: CacheScope::Private }),
            subscription: (*method == Method::SubscriptionsListen).then(|| 1.into()),
        }),
    };
    let text = encode(&Message::Response(Response::new(1.into(), Ok(reply))));
    assert!(matches!(decode(&text, &mut Memo::new()), Ok(Incoming::One(Message::Response(_)))));
    json::find(&text, "result").unwrap().to_owned()
}

#[test]
fn questions_of_a_modern_server_fit() {
    let Some(spec) = spec::directory() else { return };
    let version = ProtocolVersion::LATEST;
    let schemas = Schemas::load(&spec, version);
    for seed in 0..ROUNDS * 4 {
        let value = Generator::new(seed * 77 + 1).value(&InputRequiredResult::TYPE);
        let reply = Reply { kind: ResultKind::InputRequired, ..Reply::new(value).stamped(Stamp::default()) };
        assert_eq!(check_result(&Method::ToolsCall, &reply), Ok(()));
        let lowered = Reply { value: modern::lower_input(&reply.value), ..reply };
        let text = encode(&Message::Response(Response::new(1.into(), Ok(lowered))));
        schemas.assert_valid("InputRequiredResult", json::find(&text, "result").unwrap());
    }
}

#[test]
fn calls_fit_every_version() {
    let Some(spec) = spec::directory() else { return };
    for version in KNOWN_VERSIONS.iter().copied() {
        let schemas = Schemas::load(&spec, version);
        for method in Method::KNOWN.iter().filter(|method| parties(method, version)) {
            let (Some(noun), Some(kind)) = (spec::call_noun(method), params_type(method)) else { continue };
            if !schemas.has(noun) {
                assert!(version == ProtocolVersion::LATEST, "{version} {noun}");
                continue;
            }
            for seed in 0..ROUNDS {
                let params = Generator::new(seed * 77 + 1).value(&kind);
                assert_eq!(check_params(method, &params), Ok(()), "{method} {params}");
                if !expressible(version, method, &params) {
                    continue;
                }
                let text = call_text(version, method, &params);
                schemas.assert_valid(noun, &text);
                if version.era() == Era::Legacy {
                    assert_no_modern_words(json::find(&text, "params").unwrap());
                }
            }
        }
    }
}

fn call_text(version: ProtocolVersion, method: &Method, params: &Raw) -> String {
    let (envelope, params) = match version.era() {
        Era::Legacy => (None, legacy::lower_params(version, method, params)),
        Era::Modern => (Some(envelope()), modern::lower_params(method, params)),
    };
    let message = if method.is_request() {
        let mut request = Request::new("r", method.clone());
        request.params = Some(params);
        request.meta.envelope = envelope;
        request.meta.progress_token = Some(0.into());
        Message::Request(request)
    } else {
        let subscription = envelope.filter(|_| *method == Method::SubscriptionsAcknowledged).map(|_| 1.into());
        Message::Notification(Notification { subscription, ..Notification::new(method.clone(), Some(params)) })
    };
    let text = encode(&message);
    assert!(decode(&text, &mut Memo::new()).is_ok(), "{text}");
    text
}

/// The words that only the modern era has, where the protocol's own members stand.
#[track_caller]
fn assert_no_modern_words(text: &str) {
    let modern = [
        modern::SERVER_INFO,
        modern::SUBSCRIPTION_ID,
        modern::PROTOCOL_VERSION,
        modern::CLIENT_CAPABILITIES,
        modern::CLIENT_INFO,
        modern::LOG_LEVEL,
        modern::TTL_MS,
        modern::CACHE_SCOPE,
        "inputResponses",
        "requestState",
        "inputRequests",
        "pollIntervalMs",
        "supportedVersions",
    ];
    for word in modern {
        assert!(!text.contains(&format!("\"{word}\"")), "{word} in {text}");
    }
    assert!(json::find(text, modern::RESULT_TYPE).is_none(), "{text}");
}

#[test]
fn stamped_results_lose_their_stamp_on_the_way_to_a_legacy_peer() {
    for method in Method::KNOWN.iter().filter(|method| method.is_request()) {
        let Some(kind) = result_type(method) else { continue };
        for seed in 0..ROUNDS {
            let value = Generator::new(seed + 1).value(&kind);
            let text = result_text(ProtocolVersion::LATEST, method, &value);
            for version in HANDSHAKE_VERSIONS.iter().filter(|version| parties(method, **version)) {
                let lowered = legacy::lower_result(*version, method, &Raw::parse(&text).unwrap());
                assert_no_modern_words(lowered.as_str());
            }
        }
    }
}

#[test]
fn errors_fit_every_version() {
    let Some(spec) = spec::directory() else { return };
    for version in KNOWN_VERSIONS.iter().copied() {
        let schemas = Schemas::load(&spec, version);
        let noun = ["JSONRPCErrorResponse", "JSONRPCError"].into_iter().find(|noun| schemas.has(noun)).unwrap();
        for data in [None, Some(Raw::parse(r#"{"uri":"x"}"#).unwrap())] {
            let error = ErrorObject { data, ..ErrorObject::method_not_found(&"x/y".into()) };
            for id in [Some(1.into()), Some("a".into()), None] {
                let response = Response::refusal(id.clone(), error.clone(), Some(version));
                let text = encode(&Message::Response(response));
                // The older schemas have no word for an id that could not be read; JSON-RPC has: null.
                let exception = id.is_none() && version < ProtocolVersion::V2025_11_25;
                assert_eq!(schemas.difference(noun, &text).is_some(), exception, "{version} {text}");
            }
        }
    }
}

/// The tasks extension keeps its schema apart.
#[test]
fn tasks_of_the_extension_fit() {
    let Some(spec) = spec::directory() else { return };
    let text = std::fs::read_to_string(spec.join("ext-tasks-draft/schema.json")).unwrap();
    let schemas = Schemas::parse(ProtocolVersion::LATEST, &text);
    let members = r#""createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":1,"ttlMs":null,"pollInterval":5,"pollIntervalMs":5"#;
    for (status, more) in [
        ("working", ""),
        (
            "input_required",
            r#","inputRequests":{"a":{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"u","elicitationId":"e"}}}"#,
        ),
        ("completed", r#","result":{"content":[],"structuredContent":1.10}"#),
        ("failed", r#","error":{"code":-32603,"message":"m","data":[1.10]}"#),
        ("cancelled", r#","statusMessage":"s""#),
    ] {
        let text = format!(r#"{{"taskId":"t","status":"{status}",{members}{more}}}"#);
        let task: model::Task = json::from_str(&text).unwrap();
        let lowered = modern::lower_result(&Method::TasksGet, &json::to_raw(&task));
        assert!(!lowered.as_str().contains("elicitationId") && lowered.get("ttl").is_none(), "{lowered}");
        schemas.assert_valid("DetailedTask", lowered.as_str());
        for (method, noun, kind) in
            [(Method::TasksGet, "GetTaskResult", "complete"), (Method::ToolsCall, "CreateTaskResult", "task")]
        {
            let reply = Reply { kind: kind.into(), ..Reply::new(lowered.clone()).stamped(Stamp::default()) };
            assert_eq!(check_result(&method, &reply), Ok(()));
            let text = encode(&Message::Response(Response::new(1.into(), Ok(reply))));
            schemas.assert_valid(noun, json::find(&text, "result").unwrap());
        }
        let notification = modern::lower_params(&Method::Tasks, &json::to_raw(&task));
        schemas.assert_valid("TaskStatusNotificationParams", notification.as_str());
    }
}

/// The experimental tasks of 2025-11-25 are types and nothing more: whoever speaks them finds every shape.
#[test]
fn experimental_tasks_come_back_as_they_came() {
    fn comes_back<T: json::Read + json::Write>(schemas: Option<&Schemas>, noun: &str, text: &str) {
        let value: T = json::from_str(text).unwrap_or_else(|error| panic!("{noun}: {error}"));
        let written = json::to_raw(&value);
        assert_eq!(written.as_str(), text, "{noun}");
        if let Some(schemas) = schemas {
            schemas.assert_valid(noun, text);
        }
    }
    let schemas = spec::directory().map(|spec| Schemas::load(&spec, ProtocolVersion::V2025_11_25));
    let schemas = schemas.as_ref();
    let task = r#"{"taskId":"t","status":"input_required","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:40:00Z","statusMessage":"s","ttl":60000,"pollInterval":5000}"#;
    let forever = r#"{"taskId":"t","status":"working","createdAt":"a","lastUpdatedAt":"b","ttl":null}"#;
    comes_back::<model::Task>(schemas, "Task", task);
    comes_back::<model::Task>(None, "Task", forever);
    comes_back::<model::Task>(schemas, "GetTaskResult", task);
    comes_back::<model::Task>(schemas, "CancelTaskResult", task);
    comes_back::<model::Task>(schemas, "TaskStatusNotificationParams", task);
    comes_back::<model::CreateTaskResult>(
        schemas,
        "CreateTaskResult",
        &format!(r#"{{"task":{task},"_meta":{{"a/b":1}}}}"#),
    );
    comes_back::<model::ListTasksResult>(
        schemas,
        "ListTasksResult",
        &format!(r#"{{"tasks":[{task}],"nextCursor":""}}"#),
    );
    comes_back::<model::RelatedTaskMetadata>(schemas, "RelatedTaskMetadata", r#"{"taskId":"t"}"#);
    comes_back::<model::TaskMetadata>(schemas, "TaskMetadata", r#"{"ttl":60000}"#);
    comes_back::<model::CallToolRequestParams>(schemas, "CallToolRequestParams", r#"{"name":"n","task":{"ttl":1}}"#);
    let tool = r#"{"name":"n","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}"#;
    comes_back::<model::Tool>(schemas, "Tool", tool);
    let capabilities = r#"{"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}}"#;
    comes_back::<model::ServerCapabilities>(schemas, "ServerCapabilities", capabilities);
    let capabilities = r#"{"tasks":{"requests":{"sampling":{"createMessage":{}},"elicitation":{"create":{}}}}}"#;
    comes_back::<model::ClientCapabilities>(schemas, "ClientCapabilities", capabilities);
}
