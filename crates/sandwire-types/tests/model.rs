//! Nouns: what is unknown survives, what is wrong is named, and serde sees the same text.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use sandwire_types::json::{ErrorKind, from_str, to_raw};
use sandwire_types::model::*;
use sandwire_types::*;

#[track_caller]
fn comes_back<T: json::Read + json::Write>(text: &str) -> T {
    let noun: T = from_str(text).unwrap();
    assert_eq!(to_raw(&noun).as_str(), text);
    noun
}

#[test]
fn unknown_things_survive() {
    let result: CallToolResult = comes_back(
        r#"{"content":[{"type":"hologram","depth":1.50},{"type":"text","text":"a","annotations":{"audience":["user","robot"],"priority":0.50,"x":null},"y":[]}],"z":12345678901234567890123}"#,
    );
    assert!(matches!(&result.content[0], ContentBlock::Other(raw) if raw.get("depth").unwrap().as_str() == "1.50"));
    let ContentBlock::Text(text) = &result.content[1] else { panic!() };
    assert_eq!(text.annotations.as_ref().unwrap().audience.as_ref().unwrap()[1], Role::Other("robot".into()));
    assert_eq!(result.extra.get("z").unwrap().as_str(), "12345678901234567890123");
    comes_back::<ServerCapabilities>(r#"{"tools":{"listChanged":true,"sorted":true},"teleport":{}}"#);
    comes_back::<ClientCapabilities>(r#"{"roots":{},"extensions":{"a.b/c":{"x":1.0}},"teleport":{}}"#);
    comes_back::<LoggingMessageNotificationParams>(r#"{"level":"loud","data":null}"#);
    comes_back::<PrimitiveSchemaDefinition>(r#"{"type":"color","default":"red"}"#);
    comes_back::<ElicitRequestParams>(r#"{"mode":"voice","message":"m"}"#);
    comes_back::<Task>(r#"{"taskId":"t","status":"dreaming","createdAt":"","lastUpdatedAt":"","ttl":null}"#);
    comes_back::<ReadResourceResult>(r#"{"contents":[{"uri":"a","stream":"b"}]}"#);
}

#[test]
fn null_is_nothing_except_where_it_is_a_value() {
    let page: ListToolsResult = comes_back(r#"{"tools":[],"nextCursor":null}"#);
    assert_eq!(page.next_cursor, None);
    let mut page = page;
    page.next_cursor = Some("x".into());
    assert_eq!(to_raw(&page).as_str(), r#"{"tools":[],"nextCursor":"x"}"#);
    let result: CallToolResult = comes_back(r#"{"content":[],"structuredContent":null}"#);
    assert_eq!(result.structured_content, Some(Raw::null()));
    let result: CallToolResult = comes_back(r#"{"content":[]}"#);
    assert_eq!(result.structured_content, None);
    let task: Task = comes_back(r#"{"taskId":"t","status":"working","createdAt":"","lastUpdatedAt":"","ttlMs":null}"#);
    assert_eq!(task.ttl_ms, Some(None));
}

#[test]
fn numbers_keep_their_digits() {
    let progress: ProgressNotificationParams =
        comes_back(r#"{"progressToken":9007199254740993,"progress":1.10,"total":18446744073709551615}"#);
    assert_eq!(progress.progress_token, RequestId::Number(9_007_199_254_740_993));
    assert_eq!(progress.total.unwrap().as_u64(), Some(u64::MAX));
    assert_eq!(progress.progress.as_f64(), 1.1);
}

#[test]
fn wrong_things_are_named() {
    for (text, path, kind) in [
        (r#"{"tools":[{"name":"a","inputSchema":{}},{"inputSchema":{}}]}"#, "tools[1].name", ErrorKind::Missing),
        (r#"{"tools":[{"name":1,"inputSchema":{}}]}"#, "tools[0].name", ErrorKind::Type),
        (r#"{"tools":[{"name":"a","inputSchema":null}]}"#, "tools[0].inputSchema", ErrorKind::Type),
        (r#"{"tools":[{"name":"a","name":"b","inputSchema":{}}]}"#, "tools[0].name", ErrorKind::Duplicate),
        (
            r#"{"tools":[{"name":"a","inputSchema":{},"annotations":{"title":{}}}]}"#,
            "tools[0].annotations.title",
            ErrorKind::Type,
        ),
        (r#"{"tools":[{"name":"a","inputSchema":{},"icons":[{}]}]}"#, "tools[0].icons[0].src", ErrorKind::Missing),
    ] {
        let error = from_str::<ListToolsResult>(text).unwrap_err();
        assert_eq!((error.path(), error.kind()), (path, kind), "{text}");
        let error = check_result(&Method::ToolsList, &Reply::new(Raw::parse(text).unwrap())).unwrap_err();
        assert_eq!((error.path(), error.kind()), (path, kind), "{text}");
    }
    assert!(from_str::<TextContent>(r#"{"type":"image","text":""}"#).is_err());
    assert!(from_str::<TextContent>(r#"{"text":""}"#).is_err());
    assert!(from_str::<ListToolsResult>(r#"{"tools":["a"]}"#).is_err());
}

#[test]
fn results_are_checked_by_method_and_kind() {
    let reply = |text: &str, kind: ResultKind| Reply { kind, ..Reply::new(Raw::parse(text).unwrap()) };
    let call = Method::ToolsCall;
    assert!(check_result(&call, &reply(r#"{"content":[]}"#, ResultKind::Complete)).is_ok());
    assert!(check_result(&call, &reply("{}", ResultKind::Complete)).is_err());
    assert!(
        check_result(&call, &reply(r#"{"inputRequests":{"a":{"method":"roots/list"}}}"#, ResultKind::InputRequired))
            .is_ok()
    );
    assert!(check_result(&call, &reply(r#"{"inputRequests":[]}"#, ResultKind::InputRequired)).is_err());
    assert!(check_result(&call, &reply(r#"{"taskId":1}"#, "task".into())).is_ok());
    let task = r#"{"task":{"taskId":"t","status":"working","createdAt":"","lastUpdatedAt":"","ttl":null}}"#;
    assert!(check_result(&call, &reply(task, ResultKind::Complete)).is_ok());
    assert!(check_result(&call, &reply(r#"{"task":{}}"#, ResultKind::Complete)).is_err());
    assert!(check_result(&"x/y".into(), &reply("{}", ResultKind::Complete)).is_ok());
}

#[test]
fn serde_sees_the_same_text() {
    let text = r#"{"name":"a","inputSchema":{"type":"object","x":12345678901234567890123},"unknown":1.10}"#;
    let tool: Tool = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&tool).unwrap(), text);
    assert_eq!(json::serde::from_str::<Tool>(text).unwrap(), tool);
    assert_eq!(json::serde::to_raw(&tool).unwrap().as_str(), text);
    let value = serde_json::to_value(ContentBlock::text("a")).unwrap();
    assert_eq!(value, serde_json::json!({"type": "text", "text": "a"}));
    assert_eq!(serde_json::from_value::<ContentBlock>(value).unwrap(), ContentBlock::text("a"));
    assert_eq!(serde_json::from_str::<Role>("\"user\"").unwrap(), Role::User);
    assert!(serde_json::from_str::<Tool>("{}").unwrap_err().to_string().contains("name"));
}

#[test]
fn a_title_is_shown_before_a_name() {
    let mut tool = Tool::new("name", Raw::object());
    assert_eq!(tool.display_name(), "name");
    tool.annotations = Some(ToolAnnotations::new().with(|hints| hints.title = Some("hint".into())));
    assert_eq!(tool.display_name(), "hint");
    tool.title = Some("title".into());
    assert_eq!(tool.display_name(), "title");
}

#[test]
fn elicitation_without_a_mode_is_by_forms() {
    let capabilities = |text: &str| from_str::<ClientCapabilities>(text).unwrap();
    for (text, form, url) in [
        ("{}", false, false),
        (r#"{"elicitation":{}}"#, true, false),
        (r#"{"elicitation":{"form":{}}}"#, true, false),
        (r#"{"elicitation":{"url":{}}}"#, false, true),
        (r#"{"elicitation":{"form":{},"url":{}}}"#, true, true),
    ] {
        assert_eq!(capabilities(text).has_form_elicitation(), form, "{text}");
        assert_eq!(capabilities(text).has_url_elicitation(), url, "{text}");
    }
}

#[test]
fn methods_and_versions() {
    for method in Method::KNOWN {
        assert_eq!(&Method::from(method.as_str()), method);
        assert!(
            KNOWN_VERSIONS
                .iter()
                .any(|version| { method.may_send(Side::Client, *version) || method.may_send(Side::Server, *version) })
        );
        assert_eq!(method.is_request(), !method.as_str().starts_with("notifications/"));
    }
    assert_eq!(Method::from("a/b").as_str(), "a/b");
    let sent = |method: Method, side: Side| -> Vec<&str> {
        KNOWN_VERSIONS
            .iter()
            .filter(|version| method.may_send(side, **version))
            .map(|version| version.as_str())
            .collect()
    };
    assert_eq!(sent(Method::Initialize, Side::Client).len(), 4);
    assert_eq!(sent(Method::ServerDiscover, Side::Client), ["2026-07-28"]);
    assert_eq!(sent(Method::ElicitationCreate, Side::Server), ["2025-06-18", "2025-11-25"]);
    assert_eq!(sent(Method::Progress, Side::Client).len(), 4);
    assert_eq!(sent(Method::Progress, Side::Server).len(), 5);
    assert_eq!(sent(Method::Cancelled, Side::Client).len(), 5);
    assert_eq!(sent(Method::TasksGet, Side::Client), ["2025-11-25", "2026-07-28"]);
    assert_eq!(sent(Method::TasksGet, Side::Server), ["2025-11-25"]);
    for version in KNOWN_VERSIONS {
        assert_eq!(ProtocolVersion::parse(version.as_str()), Some(*version));
    }
    assert_eq!(ProtocolVersion::parse("2024-10-07"), None);
    assert_eq!([HANDSHAKE_VERSIONS, MODERN_VERSIONS].concat(), KNOWN_VERSIONS);
    let batching: Vec<_> = KNOWN_VERSIONS.iter().filter(|version| version.allows_batch()).collect();
    assert_eq!(batching, [&ProtocolVersion::V2025_03_26]);
}

#[test]
fn metadata_is_split_off() {
    let (rest, meta) = split_meta(&Raw::parse(r#"{"a":1.0,"_meta":{"b":2},"c":[]}"#).unwrap());
    assert_eq!(rest.as_str(), r#"{"a":1.0,"c":[]}"#);
    assert_eq!(meta.unwrap().as_str(), r#"{"b":2}"#);
    let object = Raw::parse(r#"{ "a":{"_meta":1} }"#).unwrap();
    assert_eq!(split_meta(&object), (object.clone(), None));
}
