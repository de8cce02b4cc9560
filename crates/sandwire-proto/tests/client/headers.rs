use crate::scene::{Scene, call, error, tool_call};
use sandwire_proto::{
    Wire,
    client::{CallError, Warning},
    http::{
        Headers, ParamHeaders, Verb,
        param_headers::{InvalidAnnotation, annotations, decode_value, encode_value},
    },
};
use sandwire_types::Method;

#[test]
fn a_modern_request_names_its_version_method_and_target() {
    let mut scene = Scene::modern(Wire::Http);
    for (call, name) in [
        (tool_call(), Some("echo")),
        (call("prompts/get", r#"{"name":"Hello, 世界"}"#), Some("=?base64?SGVsbG8sIOS4lueVjA==?=")),
        (call("resources/read", r#"{"uri":"file:///a b"}"#), Some("file:///a b")),
        (call("tools/list", ""), None),
    ] {
        let method = call.method.clone();
        scene.call(call);
        let sent = scene.request();
        assert_eq!(sent.head.as_ref().unwrap().method, Verb::Post);
        assert_eq!(sent.header("MCP-Protocol-Version"), Some("2026-07-28"));
        assert_eq!(sent.header("Mcp-Method"), Some(method.as_str()));
        assert_eq!(sent.header("Mcp-Name"), name);
        assert_eq!(sent.header("Accept"), Some("application/json, text/event-stream"));
        assert_eq!(sent.header("Content-Type"), Some("application/json"));
        assert_eq!(sent.header("Mcp-Session-Id"), None);
    }
}

#[test]
fn a_legacy_request_names_its_version_from_2025_06_18_on_and_nothing_modern() {
    for (version, header) in [("2025-03-26", None), ("2025-06-18", Some("2025-06-18"))] {
        let version = sandwire_types::ProtocolVersion::parse(version).unwrap();
        let mut scene = Scene::open(Wire::Http, version);
        scene.call(tool_call());
        let sent = scene.request();
        assert_eq!(sent.header("MCP-Protocol-Version"), header);
        assert_eq!(sent.header("Mcp-Method"), None);
        assert_eq!(sent.header("Mcp-Name"), None);
    }
}

const TOOLS: &str = r#"{"tools":[
    {"name":"echo","inputSchema":{"type":"object","properties":{
        "region":{"type":"string","x-mcp-header":"Region"},
        "deep":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}},
        "flag":{"type":"boolean","x-mcp-header":"Flag"}}}},
    {"name":"plain","inputSchema":{"type":"object"}},
    {"name":"bad","inputSchema":{"type":"object","properties":{"x":{"type":"number","x-mcp-header":"X"}}}}
],"resultType":"complete"}"#;

#[test]
fn annotated_arguments_are_mirrored_and_invalid_tools_dropped() {
    let mut scene = Scene::modern(Wire::Http);
    scene.call(call("tools/list", ""));
    let sent = scene.request();
    scene.reply(&sent, TOOLS);
    let warning = scene.warned();
    assert!(matches!(&warning, Warning::ToolDropped { tool, fault: InvalidAnnotation::Type } if tool == "bad"));
    assert!(
        warning.to_string().starts_with("the tool bad is left out: x-mcp-header stands at a property"),
        "{warning}"
    );
    let listed = scene.done_value();
    assert!(listed.contains(r#""name":"echo""#) && listed.contains(r#""name":"plain""#));
    assert!(!listed.contains(r#""name":"bad""#));
    assert!(listed.ends_with(r#""resultType":"complete"}"#));
    scene.quiet();

    scene.call(call("tools/call", r#"{"name":"echo","arguments":{"region":"us west 1","deep":{"n":42},"flag":null}}"#));
    let sent = scene.request();
    assert_eq!(sent.header("mcp-param-region"), Some("us west 1"));
    assert_eq!(sent.header("mcp-param-n"), Some("42"));
    assert_eq!(sent.header("mcp-param-flag"), None);

    scene.call(call("tools/call", r#"{"name":"plain","arguments":{"region":"x"}}"#));
    assert_eq!(scene.request().header("mcp-param-region"), None);
}

#[test]
fn a_pipe_and_a_legacy_server_have_nothing_mirrored_or_dropped() {
    for mut scene in [Scene::modern(Wire::Pipe), Scene::legacy(Wire::Http)] {
        scene.call(call("tools/list", ""));
        let sent = scene.request();
        scene.reply(&sent, TOOLS);
        assert!(scene.done_value().contains(r#""name":"bad""#));
    }
}

#[test]
fn a_header_mismatch_has_the_tools_listed_again_and_the_call_made_once_more() {
    let mut scene = Scene::modern(Wire::Http);
    let key = scene.call(call("tools/call", r#"{"name":"echo","arguments":{"region":"eu"}}"#));
    let first = scene.request();
    assert_eq!(first.header("mcp-param-region"), None);
    scene.refuse(&first, error(-32020));
    let list = scene.request();
    assert_eq!(list.request.method, Method::ToolsList);
    scene.reply(&list, r#"{"tools":[],"nextCursor":""}"#);
    let more = scene.request();
    assert_eq!(more.params(), r#"{"cursor":""}"#);
    scene.reply(&more, TOOLS);
    scene.warned();
    let again = scene.request();
    assert_ne!(again.request.id, first.request.id);
    assert_eq!(again.header("mcp-param-region"), Some("eu"));
    scene.refuse(&again, error(-32020));
    let (ended, result) = scene.done();
    assert_eq!(ended, key);
    assert!(matches!(result, Err(CallError::Peer(error)) if error.code.0 == -32020));
    scene.quiet();
}

#[test]
fn values_that_a_field_cannot_carry_are_wrapped() {
    for (value, field) in [
        ("us west 1", "us west 1"),
        ("", ""),
        ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
        ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ("\tindented", "=?base64?CWluZGVudGVk?="),
    ] {
        assert_eq!(encode_value(value), field);
        assert_eq!(decode_value(field).unwrap(), value);
    }
    assert_eq!(decode_value("=?base64?unfinished").unwrap(), "=?base64?unfinished");
    assert_eq!(decode_value("=?BASE64?SGVsbG8=?=").unwrap(), "=?BASE64?SGVsbG8=?=");
    for bad in ["=?base64?SGVsbG8?=", "=?base64?SGVs!!!bG8=?=", "=?base64?/w==?="] {
        assert!(decode_value(bad).is_err(), "{bad}");
    }
}

#[test]
fn annotations_follow_the_rules_or_are_invalid() {
    let property = |inside: &str| format!(r#"{{"type":"object","properties":{{"p":{inside}}}}}"#);
    for valid in [
        property(r#"{"type":"string","x-mcp-header":"Method"}"#),
        property(r#"{"type":"object","properties":{"q":{"x-mcp-header":"Q","type":"boolean"}}}"#),
        r#"{"type":"object","properties":{"x-mcp-header":{"type":"string"}}}"#.into(),
        property(r#"{"type":"string","default":{"x-mcp-header":1}}"#),
    ] {
        assert!(annotations(&valid).is_ok(), "{valid}");
    }
    use InvalidAnnotation as Fault;
    for (fault, invalid) in [
        (Fault::Name, property(r#"{"type":"string","x-mcp-header":""}"#)),
        (Fault::Name, property(r#"{"type":"string","x-mcp-header":"a b"}"#)),
        (Fault::Name, property(r#"{"type":"string","x-mcp-header":7}"#)),
        (Fault::Type, property(r#"{"type":"number","x-mcp-header":"N"}"#)),
        (Fault::Type, property(r#"{"type":["string"],"x-mcp-header":"N"}"#)),
        (Fault::Type, property(r#"{"x-mcp-header":"N"}"#)),
        (Fault::Place, property(r#"{"type":"array","items":{"type":"string","x-mcp-header":"N"}}"#)),
        (Fault::Place, property(r#"{"anyOf":[{"type":"string","x-mcp-header":"N"}]}"#)),
        (Fault::Place, r#"{"type":"object","x-mcp-header":"N"}"#.into()),
        (Fault::Place, r#"{"$defs":{"d":{"type":"string","x-mcp-header":"N"}}}"#.into()),
        (
            Fault::Duplicate,
            r#"{"properties":{"a":{"type":"string","x-mcp-header":"N"},"b":{"type":"string","x-mcp-header":"n"}}}"#
                .into(),
        ),
    ] {
        assert_eq!(annotations(&invalid), Err(fault), "{invalid}");
    }
}

#[test]
fn what_was_learned_is_replaced_by_the_next_list() {
    let mut learned = ParamHeaders::new();
    let with = r#"{"tools":[{"name":"t","inputSchema":{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}}]}"#;
    let without = r#"{"tools":[{"name":"t","inputSchema":{}}]}"#;
    let mirrored = |learned: &ParamHeaders| {
        let mut headers = Headers::new();
        learned.mirror(r#"{"name":"t","arguments":{"a":"v"}}"#, &mut headers);
        headers.get("mcp-param-a").map(String::from)
    };
    assert!(learned.learn(&crate::scene::raw(with), &mut Vec::new()).is_none());
    assert_eq!(mirrored(&learned).as_deref(), Some("v"));
    assert!(learned.learn(&crate::scene::raw(without), &mut Vec::new()).is_none());
    assert_eq!(mirrored(&learned), None);
}
