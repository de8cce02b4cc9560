//! Messages that are right pass, those that are wrong do not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use serde_json::{Value, json};
use wire_check::{Checker, Side, VERSIONS, Violation};

const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const MODERN: &str = "2026-07-28";

#[track_caller]
fn refused(result: Result<(), Violation>, reason: &str) {
    let violation = result.expect_err(reason);
    assert!(violation.reason.contains(reason), "{violation}");
}

fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

fn request(id: i64, method: &str, mut params: Value) -> String {
    params["_meta"] = meta();
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

fn result(id: i64, result: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string()
}

fn initialize(version: &str) -> [String; 2] {
    let about = json!({ "name": "x", "version": "1" });
    let asked = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": about });
    let told = json!({ "protocolVersion": version, "capabilities": {}, "serverInfo": about });
    let asked = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": asked });
    [asked.to_string(), result(1, told)]
}

/// A conversation in which an agreed version is known.
fn agreed(version: &str) -> Option<Checker> {
    let checker = Checker::new()?;
    let [asked, told] = initialize(version);
    checker.watch(Side::Client, &asked).unwrap();
    checker.watch(Side::Server, &told).unwrap();
    Some(checker)
}

#[test]
fn every_legacy_version_is_read_from_the_handshake() {
    for version in LEGACY {
        let Some(checker) = agreed(version) else { return };
        checker.watch(Side::Client, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).unwrap();
        checker.watch(Side::Client, r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#).unwrap();
        checker.watch(Side::Server, r#"{"jsonrpc":"2.0","id":"a","method":"roots/list"}"#).unwrap();
        checker.watch(Side::Client, r#"{"jsonrpc":"2.0","id":"a","result":{"roots":[]}}"#).unwrap();
        checker.watch(Side::Server, r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}"#).unwrap();
        let ping = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
        checker.watch(Side::Client, ping).unwrap();
        let again = checker.watch(Side::Client, ping).unwrap_err();
        assert_eq!((again.version.as_str(), again.from), (version, Side::Client));
        assert!(again.to_string().contains("still under way"), "{again}");
        let elicit = r#"{"jsonrpc":"2.0","id":"b","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}"#;
        assert_eq!(checker.watch(Side::Server, elicit).is_ok(), version >= "2025-06-18");
        refused(checker.watch(Side::Server, r#"{"jsonrpc":"2.0","id":3,"method":"tools/list"}"#), "Server may say");
        refused(
            checker.watch(Side::Client, &request(4, "server/discover", json!({})).replace(MODERN, version)),
            "has no",
        );
    }
}

#[test]
fn a_result_is_that_of_the_method_it_answers() {
    for version in VERSIONS {
        let Some(checker) = Checker::new() else { return };
        let ask = |id, method, params| checker.check(version, Side::Client, &request(id, method, params)).unwrap();
        let read = json!({ "uri": "a:b" });
        ask(1, "tools/call", json!({ "name": "a" }));
        ask(2, "resources/read", read.clone());
        ask(3, "resources/read", read);
        let contents = json!({
            "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "contents": [{ "uri": "a:b", "text": "" }]
        });
        refused(checker.check(version, Side::Server, &result(1, contents.clone())), "CallToolResult");
        checker.check(version, Side::Server, &result(2, contents)).unwrap();
        refused(checker.check(version, Side::Server, &result(2, json!({}))), "that of no request");
        let bad = json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "contents": [{ "uri": 7 }] });
        let violation = checker.check(version, Side::Server, &result(3, bad)).unwrap_err();
        assert!(violation.reason.contains("/contents/0"), "{violation}");
    }
}

#[test]
fn a_message_is_well_formed() {
    for version in VERSIONS {
        let Some(checker) = Checker::new() else { return };
        let check = |message: &str| {
            checker.restart();
            checker.check(version, Side::Client, message)
        };
        let right = request(1, "tools/call", json!({ "name": "a" }));
        for (of, to) in [
            (r#""2.0""#, r#""1.0""#),
            (r#""jsonrpc":"2.0""#, r#""x":1"#),
            (r#""id":1"#, r#""id":null"#),
            (r#""id":1"#, r#""id":1.5"#),
            (r#""id":1"#, r#""id":true"#),
            (r#""name":"a""#, r#""name":1"#),
            (r#""name":"a""#, r#""other":"a""#),
            (r#""method":"tools/call""#, r#""method":7"#),
            (r#""params":{"#, r#""params":[{"#),
            (r#""id":1"#, r#""id":1,"id":1"#),
        ] {
            let wrong = right.replacen(of, to, 1);
            assert!(wrong != right && check(&wrong).is_err(), "{version} takes {wrong}");
        }
        refused(check(&right.replacen(r#""id":1"#, r#""id":1,"id":1"#, 1)), "twice");
        refused(check(r#"{"jsonrpc":"2.0"}"#), "neither");
        refused(check("{"), "EOF");
        check(&right).unwrap();
        refused(checker.check("2025-01-01", Side::Client, &right), "no such version");
    }
}

#[test]
fn a_batch_is_of_one_version_only() {
    for version in VERSIONS {
        let Some(checker) = Checker::new() else { return };
        let batch = format!("[{},{}]", request(1, "ping", json!({})), request(2, "ping", json!({})));
        let is_fine = checker.check(version, Side::Client, &batch).is_ok();
        assert_eq!(is_fine, version == "2025-03-26", "{version}");
        assert!(checker.check(version, Side::Client, "[]").is_err());
        if is_fine {
            let nobody = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}"#;
            checker.check(version, Side::Server, &format!("[{},{nobody}]", result(1, json!({})))).unwrap();
        }
    }
}

#[test]
fn an_error_without_an_id_says_so_in_the_way_of_its_version() {
    for version in VERSIONS {
        let Some(checker) = Checker::new() else { return };
        let null = checker.check(
            version,
            Side::Server,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}"#,
        );
        let absent = checker.check(version, Side::Server, r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"?"}}"#);
        assert_eq!((null.is_ok(), absent.is_ok()), (version < "2025-11-25", version >= "2025-11-25"), "{version}");
        refused(
            checker.check(version, Side::Server, r#"{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"?"}}"#),
            "1.5",
        );
        refused(checker.check(version, Side::Server, r#"{"jsonrpc":"2.0","id":1,"error":{"code":1}}"#), "message");
    }
}

#[test]
fn the_data_of_errors_is_held_against_their_definitions() {
    let Some(checker) = Checker::new() else { return };
    let error = |code: i64, data: Value| {
        let error = json!({ "code": code, "message": "?", "data": data });
        checker.check(MODERN, Side::Server, &json!({ "jsonrpc": "2.0", "id": 1, "error": error }).to_string())
    };
    error(-32022, json!({ "supported": [MODERN], "requested": "x" })).unwrap();
    refused(error(-32022, json!({ "supported": [MODERN] })), "UnsupportedProtocolVersionError");
    error(-32021, json!({ "requiredCapabilities": { "sampling": {} } })).unwrap();
    refused(error(-32021, json!({})), "MissingRequiredClientCapabilityError");
    error(-32001, json!(["anything"])).unwrap();
}

#[test]
fn a_fraction_may_stand_in_the_answer_to_a_form_and_nowhere_else() {
    for version in ["2025-06-18", "2025-11-25"] {
        let Some(checker) = agreed(version) else { return };
        let ask = |id| {
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"elicitation/create","params":{{"message":"?","requestedSchema":{{"type":"object","properties":{{}}}}}}}}"#
            )
        };
        for id in [7, 8] {
            checker.watch(Side::Server, &ask(id)).unwrap();
        }
        checker.watch(Side::Client, &result(7, json!({ "action": "accept", "content": { "a": 1.5 } }))).unwrap();
        refused(
            checker.watch(Side::Client, &result(8, json!({ "action": "accept", "content": { "a": {} } }))),
            "ElicitResult",
        );
    }
    let Some(checker) = Checker::new() else { return };
    let call = |id, answer: Value| {
        let params = json!({ "name": "a", "inputResponses": { "k": answer }, "requestState": "s" });
        checker.watch(Side::Client, &request(id, "tools/call", params))
    };
    call(1, json!({ "action": "accept", "content": { "a": 1.5 } })).unwrap();
    refused(call(2, json!({ "action": "accept", "content": { "a": [1.5] } })), "inputResponses");
    refused(call(3, json!({ "action": "sent" })), "inputResponses");
    let progress =
        json!({ "jsonrpc": "2.0", "method": "resources/read", "id": 9, "params": { "uri": 1.5, "_meta": meta() } });
    assert!(checker.watch(Side::Client, &progress.to_string()).is_err());
}

#[test]
fn every_modern_request_says_what_its_client_can() {
    let Some(checker) = Checker::new() else { return };
    for method in ["tools/list", "server/discover", "vendor.example/own"] {
        let bare = json!({ "jsonrpc": "2.0", "id": method, "method": method });
        refused(checker.check(MODERN, Side::Client, &bare.to_string()), "RequestParams");
        let empty = json!({ "jsonrpc": "2.0", "id": method, "method": method, "params": { "_meta": {} } });
        assert!(checker.check(MODERN, Side::Client, &empty.to_string()).is_err());
    }
    checker.watch(Side::Client, &request(1, "vendor.example/own", json!({}))).unwrap();
    refused(checker.watch(Side::Server, &result(1, json!({ "x": 1 }))), "resultType");
    refused(checker.watch(Side::Client, &request(2, "ping", json!({}))), "this version has no ping");
    refused(checker.watch(Side::Server, &request(2, "elicitation/create", json!({}))), "Server may say");
    refused(
        checker.watch(
            Side::Client,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#,
        ),
        "Client may say",
    );
    checker
        .watch(Side::Client, r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#)
        .unwrap();
}

#[test]
fn what_a_result_is_may_differ_from_what_its_method_gives() {
    let Some(checker) = Checker::new() else { return };
    let call = |id| checker.watch(Side::Client, &request(id, "tools/call", json!({ "name": "a" }))).unwrap();
    (1..=5).for_each(call);
    let form = json!({ "message": "?", "requestedSchema": { "type": "object", "properties": {} } });
    let ask = json!({ "resultType": "input_required", "inputRequests": { "k": { "method": "elicitation/create", "params": form } } });
    checker.watch(Side::Server, &result(1, ask)).unwrap();
    let ask = json!({ "resultType": "input_required", "inputRequests": { "k": { "method": "tools/list" } } });
    refused(checker.watch(Side::Server, &result(2, ask)), "InputRequiredResult");
    let task = json!({
        "resultType": "task", "taskId": "t", "status": "working", "createdAt": "2026-07-28T00:00:00Z",
        "lastUpdatedAt": "2026-07-28T00:00:00Z", "ttlMs": null
    });
    checker.watch(Side::Server, &result(3, task.clone())).unwrap();
    refused(
        checker.watch(Side::Server, &result(4, json!({ "resultType": "task", "taskId": "t" }))),
        "CreateTaskResult",
    );
    checker.watch(Side::Server, &result(5, json!({ "resultType": "vendor.example/other", "x": 1 }))).unwrap();

    checker.watch(Side::Client, &request(6, "tasks/get", json!({ "taskId": "t" }))).unwrap();
    refused(checker.watch(Side::Client, &request(7, "tasks/get", json!({}))), "GetTaskRequest");
    refused(checker.watch(Side::Client, &request(8, "tasks/list", json!({}))), "has no");
    let mut told = task;
    told["resultType"] = json!("complete");
    checker.watch(Side::Server, &result(6, told.clone())).unwrap();
    let told = json!({ "jsonrpc": "2.0", "method": "notifications/tasks", "params": told });
    checker.watch(Side::Server, &told.to_string()).unwrap();
    assert!(checker.watch(Side::Client, &told.to_string()).is_err());
}

#[test]
fn a_task_of_2025_answers_a_call_that_wants_one() {
    let Some(checker) = agreed("2025-11-25") else { return };
    let call = |id, params: Value| {
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        checker.watch(Side::Client, &call.to_string()).unwrap();
    };
    call(2, json!({ "name": "a", "task": {} }));
    call(3, json!({ "name": "a" }));
    let task = json!({ "task": {
        "taskId": "t", "status": "working", "createdAt": "2025-11-25T00:00:00Z",
        "lastUpdatedAt": "2025-11-25T00:00:00Z", "ttl": null
    } });
    checker.watch(Side::Server, &result(2, task.clone())).unwrap();
    refused(checker.watch(Side::Server, &result(3, task)), "CallToolResult");
}

#[test]
fn what_a_peer_says_is_remembered_and_not_judged() {
    let Some(checker) = Checker::new() else { return };
    checker.hear(Side::Client, r#"{"jsonrpc":"1.0","id":"x","method":"tools/list","params":7}"#);
    checker.hear(Side::Client, "no JSON");
    checker.check("2025-11-25", Side::Server, r#"{"jsonrpc":"2.0","id":"x","result":{"tools":[]}}"#).unwrap();
    checker.hear(Side::Client, r#"{"jsonrpc":"2.0","id":"x","method":"tools/list"}"#);
    checker.restart();
    assert!(checker.check("2025-11-25", Side::Server, r#"{"jsonrpc":"2.0","id":"x","result":{"tools":[]}}"#).is_err());
}
