//! The specification's own examples are right, and no longer so when a part is missing that must be there.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use wire_check::{Checker, Side, Violation};

const MODERN: &str = "2026-07-28";

/// What each example is, by its folder, with its name.
fn examples() -> Option<Vec<(String, PathBuf, Value)>> {
    Checker::new()?;
    let spec = wire_check::directory()?;
    let list = |path: &Path| std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let mut all = Vec::new();
    for folder in list(&spec.join("schema").join(MODERN).join("examples")) {
        for file in list(&folder) {
            let noun = folder.file_name().unwrap().to_string_lossy().into_owned();
            let value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
            all.push((noun, file, value));
        }
    }
    assert!(all.len() > 100, "only {} examples", all.len());
    Some(all)
}

/// The request whose result a definition is.
fn method(result: &str) -> Option<&'static str> {
    Some(match result {
        "CallToolResult" | "InputRequiredResult" => "tools/call",
        "CompleteResult" => "completion/complete",
        "DiscoverResult" => "server/discover",
        "GetPromptResult" => "prompts/get",
        "ListPromptsResult" => "prompts/list",
        "ListResourcesResult" => "resources/list",
        "ListResourceTemplatesResult" => "resources/templates/list",
        "ListToolsResult" => "tools/list",
        "ReadResourceResult" => "resources/read",
        "SubscriptionsListenResult" => "subscriptions/listen",
        _ => return None,
    })
}

/// Judges an example as the message, or inside the message, that it is made for.
fn judge(noun: &str, value: &Value) -> Option<Result<(), Violation>> {
    let checker = Checker::new()?;
    let answer = |method: &str, message: Value| {
        let id = message["id"].clone();
        checker.hear(Side::Client, &json!({ "jsonrpc": "2.0", "id": id, "method": method }).to_string());
        checker.check(MODERN, Side::Server, &message.to_string())
    };
    if let Some(method) = noun.strip_suffix("Response").and_then(method) {
        return Some(answer(method, value.clone()));
    }
    if let Some(method) = method(noun) {
        return Some(answer(method, json!({ "jsonrpc": "2.0", "id": 1, "result": value })));
    }
    let embedded = matches!(noun, "CreateMessageRequest" | "ElicitRequest" | "ListRootsRequest");
    if embedded {
        let result = json!({ "resultType": "input_required", "inputRequests": { "k": value } });
        return Some(answer("tools/call", json!({ "jsonrpc": "2.0", "id": 1, "result": result })));
    }
    if noun.ends_with("Request") {
        return Some(checker.check(MODERN, Side::Client, &value.to_string()));
    }
    if noun.ends_with("Notification") {
        return Some(checker.check(MODERN, Side::Server, &value.to_string()));
    }
    if noun.ends_with("Error") {
        let is_whole = value.get("error").is_some();
        let message = if is_whole { value.clone() } else { json!({ "jsonrpc": "2.0", "id": 1, "error": value }) };
        return Some(checker.check(MODERN, Side::Server, &message.to_string()));
    }
    None
}

/// One example lacks members that its result must have. Its schema takes it for the other result that it might be.
const INCOMPLETE: &str = "read-resource-result-response.json";

#[test]
fn the_examples_of_messages_pass() {
    let Some(examples) = examples() else { return };
    let mut judged = 0;
    let mut refused = Vec::new();
    for (noun, file, value) in examples {
        let Some(result) = judge(&noun, &value) else { continue };
        judged += 1;
        match result {
            Ok(()) => {}
            Err(violation) if file.ends_with(INCOMPLETE) => refused.push(violation.reason),
            Err(violation) => panic!("{}: {violation}", file.display()),
        }
    }
    assert!(judged >= 55, "only {judged} are messages");
    assert!(matches!(&refused[..], [reason] if reason.contains("cacheScope")), "{refused:?}");
}

/// Every object inside a value, by its path.
fn objects(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            found.push(path.to_owned());
            members
                .iter()
                .for_each(|(name, inner)| objects(inner, &format!("{path}/{}", name.replace('/', "~1")), found));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, inner)| objects(inner, &format!("{path}/{at}"), found));
        }
        _ => {}
    }
}

#[test]
fn the_examples_fail_when_they_are_broken() {
    let Some(examples) = examples() else { return };
    let (mut broken, mut noticed) = (0, 0);
    for (noun, file, value) in examples {
        if judge(&noun, &value).is_none() {
            continue;
        }
        let mut at_top = 0;
        let mut places = Vec::new();
        objects(&value, "", &mut places);
        for place in places {
            let names: Vec<String> = value.pointer(&place).unwrap().as_object().unwrap().keys().cloned().collect();
            for name in names {
                let mut wrong = value.clone();
                wrong.pointer_mut(&place).unwrap().as_object_mut().unwrap().remove(&name);
                broken += 1;
                if judge(&noun, &wrong).is_some_and(|result| result.is_err()) {
                    noticed += 1;
                    at_top += usize::from(place.is_empty());
                }
            }
        }
        assert!(at_top > 0, "{}: nothing in it has to be there", file.display());
    }
    assert!(noticed * 3 > broken, "{noticed} of {broken} were noticed");
}
