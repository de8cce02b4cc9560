//! Tools, their arguments, their schemas and their errors.

use crate::stage::{Answerer, Caller, MODERN, VERSIONS, complete, error};
use sandwire_client::ErrorKind;
use sandwire_server::{
    Schema, Server, Warning,
    schema::{Schemars, input, output},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

#[derive(Deserialize, Schema)]
struct Free {
    #[serde(default)]
    word: Option<String>,
}

#[derive(Deserialize, Schema)]
struct Bound {
    city: String,
    days: u8,
}

/// A server that counts how often its strict tool was run.
fn server() -> (Server, Arc<AtomicUsize>) {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let server = Server::builder("s", "1")
        .tool("free", "", async |free: Free| format!("{:?}", free.word))
        .tool("none", "", async || "none")
        .tool("bound", "", move |bound: Bound| {
            counted.fetch_add(1, Ordering::SeqCst);
            format!("{} {}", bound.city, bound.days)
        })
        .resource("file:///a", "", async || "a")
        .resource("file:///dir/{name}", "", async |_: Named| None::<String>)
        .build();
    (server.unwrap(), runs)
}

#[derive(Deserialize, Schema)]
struct Named {
    #[allow(dead_code)]
    name: String,
}

#[test]
fn b66_arguments_may_be_left_out() {
    for version in VERSIONS {
        let mut server = Answerer::open(version, server().0);
        for params in [r#""name":"free""#, r#""name":"free","arguments":{}"#, r#""name":"free","arguments":null"#] {
            assert_eq!(server.call("1", "tools/call", params).at("/result/content/0/text"), "None", "{version}");
        }
        assert_eq!(server.call("2", "tools/call", r#""name":"none""#).at("/result/content/0/text"), "none");
        let told = server.call("3", "tools/call", r#""name":"bound""#);
        assert_eq!(told.at("/result/isError"), true, "{version}: {}", told.0);
    }
}

#[test]
fn b68_what_is_wrong_with_arguments_is_for_the_model_to_read() {
    let wrong = [
        (r#"{}"#, "city"),
        (r#"{"city":"Bern"}"#, "days"),
        (r#"{"city":7,"days":1}"#, "city"),
        (r#"{"city":"Bern","days":"1"}"#, "days"),
        (r#"{"city":"Bern","days":-1}"#, "days"),
        (r#"{"city":"Bern","days":256}"#, "days"),
        (r#"{"city":null,"days":1}"#, "city"),
    ];
    for version in VERSIONS {
        let (server, runs) = server();
        let mut server = Answerer::open(version, server);
        for (arguments, named) in wrong {
            let told = server.call("1", "tools/call", &format!(r#""name":"bound","arguments":{arguments}"#));
            assert_eq!(told.at("/result/isError"), true, "{version}: {arguments}: {}", told.0);
            assert!(told.at("/result/content/0/text").as_str().unwrap().contains(named), "{}", told.0);
        }
        assert_eq!(runs.load(Ordering::SeqCst), 0, "{version}");
        let told = server.call("2", "tools/call", r#""name":"bound","arguments":{"city":"Bern","days":1}"#);
        assert_eq!(told.at("/result/content/0/text"), "Bern 1");
        // What is no object is no call of a tool.
        for arguments in ["[]", "7", "\"{}\"", "true"] {
            let told = server.call("3", "tools/call", &format!(r#""name":"bound","arguments":{arguments}"#));
            assert_eq!(told.code(), -32602, "{version}: {arguments}");
        }
        assert_eq!(runs.load(Ordering::SeqCst), 1);
    }
}

#[test]
fn b69_a_tool_that_is_not_there_is_an_error_of_the_protocol() {
    for version in VERSIONS {
        let (server, _) = server();
        server.tools().disable("none");
        let mut server = Answerer::open(version, server);
        for name in ["nope", "", "FREE", "free ", "none"] {
            let told = server.call("1", "tools/call", &format!(r#""name":"{name}","arguments":{{}}"#));
            assert_eq!(told.code(), -32602, "{version}: {name}");
        }
        for params in ["", r#""name":7"#, r#""name":null"#] {
            assert_eq!(server.call("1", "tools/call", params).code(), -32602, "{version}: {params}");
        }
    }
}

#[test]
fn b70_a_resource_that_is_not_there_has_the_code_of_its_era() {
    for version in VERSIONS {
        let code = if version == MODERN { -32602 } else { -32002 };
        let mut server = Answerer::open(version, server().0);
        for uri in ["file:///b", "nowhere:", "file:///dir/lost"] {
            let told = server.call("1", "resources/read", &format!(r#""uri":"{uri}""#));
            assert_eq!(told.code(), code, "{version}: {uri}");
        }
        // Servers are not always of one mind with their version.
        for code in [-32602, -32002] {
            let mut client = Caller::open(version);
            let read = client.start(client.client.read_resource("file:///b"));
            let asked = client.hear();
            client.say(&error(asked.id(), code, "no such resource"));
            let error = read.get().unwrap_err();
            assert!(error.is_not_found() && error.kind() == ErrorKind::Server, "{version}: {code}");
        }
    }
}

/// A client that knows that the tool gives what this schema says.
fn knowing(version: &str, schema: &str) -> Caller {
    let mut client = Caller::open(version);
    let tool = format!(r#"{{"name":"t","inputSchema":{{"type":"object"}},"outputSchema":{schema}}}"#);
    let list = client.client.list_tools();
    client.call(list, &complete(&format!(r#""tools":[{tool}]"#))).unwrap();
    client
}

#[test]
fn b71_what_a_tool_says_of_its_failure_need_not_fit_its_schema() {
    let schema = r#"{"type":"object","properties":{"sum":{"type":"integer"}},"required":["sum"]}"#;
    let failures = [r#"{"err":"x"}"#, r#"{"sum":"none"}"#, "null", "7"];
    for version in ["2025-06-18", "2025-11-25", MODERN] {
        for failure in failures {
            let mut client = knowing(version, schema);
            let content = format!(r#""content":[{{"type":"text","text":"no disk"}}],"structuredContent":{failure}"#);
            let call = client.client.call_tool("t", &());
            let got = client.call(call, &complete(&format!(r#"{content},"isError":true"#))).unwrap();
            assert_eq!(got.is_error, Some(true), "{version}");
            assert_eq!(got.content[0].as_text(), Some("no disk"));
            assert_eq!(got.structured_content.unwrap().as_str(), failure);
        }
        // A failure without any, too.
        let mut client = knowing(version, schema);
        let call = client.client.call_tool("t", &());
        assert!(client.call(call, &complete(r#""content":[],"isError":true"#)).is_ok());
        // And in types, it is told as the failure that it is.
        let mut client = knowing(version, schema);
        let call = client.client.call_tool("t", &()).structured::<Value>();
        let failed = complete(r#""content":[{"type":"text","text":"no disk"}],"structuredContent":{},"isError":true"#);
        let error = client.call(call, &failed).unwrap_err();
        assert_eq!((error.kind(), error.to_string().contains("no disk")), (ErrorKind::Tool, true));
    }
}

#[test]
fn b72_a_result_that_is_nothing_is_a_result() {
    let nothings = [("integer", "0"), ("null", "null"), ("boolean", "false"), ("string", "\"\""), ("array", "[]")];
    for (kind, value) in nothings {
        let mut client = knowing(MODERN, &format!(r#"{{"type":"{kind}"}}"#));
        let call = client.client.call_tool("t", &());
        let got = client.call(call, &complete(&format!(r#""content":[],"structuredContent":{value}"#))).unwrap();
        assert_eq!(got.structured_content.unwrap().as_str(), value, "{kind}");
        let call = client.client.call_tool("t", &()).structured::<Value>();
        let got = client.call(call, &complete(&format!(r#""content":[],"structuredContent":{value}"#))).unwrap();
        assert_eq!(got.to_string(), value, "{kind}");
    }
    let mut client = Caller::open(MODERN);
    let call = client.client.call_tool("t", &());
    assert!(client.call(call, &complete(r#""content":[]"#)).unwrap().structured_content.is_none());
    // A server writes them as well.
    let server = Server::builder("s", "1").tool("zero", "", async || sandwire_server::Json(0)).build().unwrap();
    let mut server = Answerer::open(MODERN, server);
    assert_eq!(server.call("1", "tools/call", r#""name":"zero""#).at("/result/structuredContent"), 0);
}

#[test]
fn b74_a_name_is_looked_at_to_its_end() {
    for name in ["name\n", "\nname", "na\nme", "name ", "name\r", "name\0", "name\u{2028}", "n\u{e4}me", "name/"] {
        let server = Server::builder("s", "1").tool(name, "", async || "x").build();
        let warned = server.as_ref().is_ok_and(|it| it.warnings() == [Warning::ToolNameCharacters(name.into())]);
        assert!(server.is_err() || warned, "{name:?}");
    }
    let server = Server::builder("s", "1").tool("Na-me_1.0", "", async || "x").build().unwrap();
    assert!(server.warnings().is_empty());
}

#[derive(Deserialize, Serialize, Schema, JsonSchema)]
#[allow(dead_code)]
struct Everything {
    count: Option<u32>,
    ratio: f64,
    tags: Option<Vec<String>>,
    small: u8,
    big: i64,
    single: f32,
    map: std::collections::BTreeMap<String, Option<u16>>,
    #[serde(default)]
    nested: Option<Nested>,
    letter: char,
}

#[derive(Deserialize, Serialize, Schema, JsonSchema)]
#[allow(dead_code)]
struct Nested {
    size: usize,
    at: Option<(f64, u8)>,
}

/// Fails where a schema says what strict clients drop.
fn strict(schema: &Value, path: &str) {
    match schema {
        Value::Object(members) => {
            assert!(members.get("nullable").is_none(), "{path}: nullable");
            assert!(members.get("format").is_none_or(|format| format == "uri"), "{path}: {schema}");
            for (key, value) in members {
                strict(value, &format!("{path}/{key}"));
            }
        }
        Value::Array(items) => items.iter().for_each(|item| strict(item, path)),
        _ => {}
    }
}

/// Whether a schema lets a type be one of several, by a list of them.
fn lists_types(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => members.get("type").is_some_and(Value::is_array) || members.values().any(lists_types),
        Value::Array(items) => items.iter().any(lists_types),
        _ => false,
    }
}

#[test]
fn b75_schemas_say_nothing_that_strict_clients_drop() {
    for (text, arguments) in [
        (input::<Everything>(), true),
        (output::<Everything>(), false),
        (input::<Schemars<Everything>>(), true),
        (output::<Schemars<Everything>>(), false),
    ] {
        let schema: Value = serde_json::from_str(text.as_str()).unwrap();
        strict(&schema, "");
        assert!(jsonschema::meta::is_valid(&schema), "{text}");
        // What may be left out of arguments needs no null.
        assert!(!arguments || !lists_types(&schema["properties"]["count"]), "{text}");
        assert!(!arguments || !lists_types(&schema["properties"]["tags"]), "{text}");
        let required = schema["required"].as_array().unwrap();
        assert!(!arguments || !required.contains(&"count".into()), "{text}");
        let value = r#"{"ratio":0.5,"small":1,"big":-1,"single":1.5,"map":{},"letter":"x"}"#;
        let value: Value = serde_json::from_str(value).unwrap();
        assert!(!arguments || jsonschema::is_valid(&schema, &value), "{text}");
    }
}
