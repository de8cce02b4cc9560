//! Tools: what functions may look like, what they may return, and what becomes of bad arguments.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{ERAS, LEGACY, MODERN, ask, call, run};
use sandwire_server::types::model::{CallToolResult, ContentBlock};
use sandwire_server::types::{ErrorCode, ErrorObject, Method, Raw};
use sandwire_server::{Context, Json, Schema, Server, ToolError, ToolHandler};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Deserialize, Schema)]
struct Pair {
    a: i64,
    b: i64,
}

#[derive(Serialize, Schema)]
struct Sum {
    sum: i64,
}

async fn soon() {
    let mut waited = false;
    std::future::poll_fn(|cx| {
        if std::mem::replace(&mut waited, true) {
            return std::task::Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await;
}

#[test]
fn every_form_of_function_is_a_tool() {
    async fn borrowing(pair: Pair, ctx: &Context) -> i64 {
        soon().await;
        assert_eq!(ctx.client_info().map(|info| info.name).as_deref(), Some("tester"));
        pair.a + pair.b
    }
    async fn only_context(ctx: &Context) -> String {
        soon().await;
        ctx.client_info().map(|info| info.version).unwrap_or_default()
    }
    let one = Arc::new(1);
    let server = Server::builder("forms", "1.0")
        .tool("nothing", "", || 3)
        .tool("arguments", "", |Pair { a, b }: Pair| a + b)
        .tool("context", "", |ctx: &Context| ctx.protocol_version() >= LEGACY)
        .tool("both", "", |pair: Pair, _: &Context| pair.a * pair.b)
        .tool("async_nothing", "", async || {
            soon().await;
            3
        })
        .tool("async_arguments", "", async |Pair { a, b }: Pair| {
            soon().await;
            a - b
        })
        .tool("async_context", "", only_context)
        .tool("async_both", "", borrowing)
        .tool("async_closure", "", async |pair: Pair, _: &Context| pair.a)
        .tool("async_block", "", move |pair: Pair, ctx: Context| {
            let one = one.clone();
            async move {
                soon().await;
                ctx.progress(1.0, None, None);
                pair.a + *one
            }
        })
        .build()
        .unwrap();
    for (name, expected) in [
        ("nothing", "3"),
        ("arguments", "5"),
        ("context", "true"),
        ("both", "6"),
        ("async_nothing", "3"),
        ("async_arguments", "1"),
        ("async_both", "5"),
        ("async_closure", "3"),
        ("async_block", "4"),
    ] {
        for version in ERAS {
            let result = run(&server, version, async |client| client.call(name, r#"{"a":3,"b":2}"#).await);
            let structured =
                if version == MODERN { expected.to_owned() } else { format!(r#"{{"result":{expected}}}"#) };
            assert_eq!(
                result,
                format!(r#"{{"content":[{{"type":"text","text":"{expected}"}}],"structuredContent":{structured}}}"#),
                "{name} {version:?}"
            );
        }
    }
    assert_eq!(call(&server, "async_context", "{}"), r#"{"content":[{"type":"text","text":"1.0"}]}"#);
}

#[test]
fn what_a_tool_returns_becomes_its_result() {
    #[derive(Debug)]
    struct Broken;
    impl std::fmt::Display for Broken {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("it broke")
        }
    }
    fn question() -> Result<String, ToolError> {
        let number: i64 = "x".parse()?;
        Ok(number.to_string())
    }
    let server = Server::builder("returns", "1.0")
        .tool("text", "", || "hi \"there\"")
        .tool("unit", "", || {})
        .tool("structure", "", |pair: Pair| Sum { sum: pair.a + pair.b })
        .tool("some", "", || Some("text".to_owned()))
        .tool("none", "", || None::<String>)
        .tool("ok", "", || Ok::<_, Broken>(Sum { sum: 1 }))
        .tool("error", "", || Err::<Sum, _>(Broken))
        .tool("question", "", question)
        .tool("blocks", "", || vec![ContentBlock::text("a"), ContentBlock::text("b")])
        .tool("whole", "", || CallToolResult::error("no"))
        .tool("json", "", || Json(vec![Sum { sum: 1 }]))
        .build()
        .unwrap();
    for (name, expected) in [
        ("text", r#"{"content":[{"type":"text","text":"hi \"there\""}]}"#),
        ("unit", r#"{"content":[]}"#),
        ("structure", r#"{"content":[{"type":"text","text":"{\"sum\":5}"}],"structuredContent":{"sum":5}}"#),
        ("some", r#"{"content":[{"type":"text","text":"text"}]}"#),
        ("none", r#"{"content":[]}"#),
        ("ok", r#"{"content":[{"type":"text","text":"{\"sum\":1}"}],"structuredContent":{"sum":1}}"#),
        ("error", r#"{"content":[{"type":"text","text":"it broke"}],"isError":true}"#),
        ("question", r#"{"content":[{"type":"text","text":"invalid digit found in string"}],"isError":true}"#),
        ("blocks", r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#),
        ("whole", r#"{"content":[{"type":"text","text":"no"}],"isError":true}"#),
    ] {
        assert_eq!(call(&server, name, r#"{"a":3,"b":2}"#), expected, "{name}");
    }
    let list = run(&server, MODERN, async |client| client.call("json", "{}").await);
    assert_eq!(list, r#"{"content":[{"type":"text","text":"[{\"sum\":1}]"}],"structuredContent":[{"sum":1}]}"#);
}

#[test]
fn an_error_object_is_answered_as_it_is() {
    let server = Server::builder("errors", "1.0")
        .tool("fail", "", || {
            Err::<(), _>(ErrorObject::new(ErrorCode(-7), "seven").with_data(Raw::parse("[7]").unwrap()))
        })
        .build()
        .unwrap();
    let error = ask(&server, Method::ToolsCall, r#"{"name":"fail"}"#).unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (ErrorCode(-7), "seven"));
    assert_eq!(error.data.unwrap().as_str(), "[7]");
}

#[test]
fn bad_arguments_are_named_and_never_reach_the_handler() {
    #[derive(Deserialize, Schema)]
    struct Deep {
        #[allow(dead_code)]
        list: Vec<Pair>,
    }
    let server = Server::builder("strict", "1.0")
        .tool("add", "", |_: Pair| -> i64 { panic!("must not run") })
        .tool("deep", "", |_: Deep| -> i64 { panic!("must not run") })
        .build()
        .unwrap();
    for (name, arguments, expected) in [
        ("add", r#"{"a":1,"b":"two"}"#, "`b`"),
        ("add", r#"{"a":1}"#, "`b`"),
        ("add", r#"{"a":1,"b":1e99}"#, "`b`"),
        ("deep", r#"{"list":[{"a":1,"b":2},{"a":1,"b":null}]}"#, "`list[1].b`"),
    ] {
        let result = call(&server, name, arguments);
        assert!(result.ends_with(r#"],"isError":true}"#), "{result}");
        assert!(result.contains("invalid arguments") && result.contains(expected), "{result}");
    }
}

#[test]
fn a_tool_that_is_not_there_is_an_error() {
    let server = Server::builder("few", "1.0").tool("one", "", || 1).build().unwrap();
    let error = ask(&server, Method::ToolsCall, r#"{"name":"two"}"#).unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (ErrorCode::INVALID_PARAMS, "unknown tool: two"));
    let error = ask(&server, Method::ToolsCall, "{}").unwrap_err();
    assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
}

#[test]
fn the_list_says_what_the_types_say() {
    let server = Server::builder("list", "1.0")
        .tool("add", "Adds.", |pair: Pair| Sum { sum: pair.a + pair.b })
        .with(ToolHandler::new("now", "", || "now").title("Now").read_only().idempotent().open_world(false))
        .build()
        .unwrap();
    assert_eq!(
        ask(&server, Method::ToolsList, "{}").unwrap(),
        concat!(
            r#"{"tools":[{"name":"add","inputSchema":{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]},"#,
            r#""description":"Adds.","outputSchema":{"type":"object","properties":{"sum":{"type":"integer"}},"required":["sum"]}},"#,
            r#"{"name":"now","inputSchema":{"type":"object","additionalProperties":false},"title":"Now","#,
            r#""annotations":{"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}}]}"#,
        )
    );
}

#[test]
fn a_number_as_output_is_wrapped_for_legacy_clients_only() {
    let server = Server::builder("number", "1.0").tool("n", "", || 3).build().unwrap();
    let schema = |version| {
        let list = run(&server, version, async |client| client.request(Method::ToolsList, "{}").await.unwrap());
        let tools = Raw::parse(&list).unwrap().get("tools").unwrap();
        let mut schema = String::new();
        tools
            .reader()
            .array(&mut |reader| {
                schema = sandwire_json::find(reader.raw()?, "outputSchema").unwrap_or_default().to_owned();
                Ok(())
            })
            .unwrap();
        schema
    };
    assert_eq!(schema(MODERN), r#"{"type":"integer"}"#);
    assert_eq!(schema(LEGACY), r#"{"type":"object","properties":{"result":{"type":"integer"}},"required":["result"]}"#);
}

#[test]
fn a_tool_with_a_schema_of_its_own_takes_any_json() {
    let schema = Raw::parse(r#"{"type":"object","properties":{"x":{"type":"number"}}}"#).unwrap();
    let server = Server::builder("raw", "1.0")
        .with(ToolHandler::new("echo", "", |arguments: Raw| arguments.to_string()).input_schema(schema))
        .build()
        .unwrap();
    assert_eq!(call(&server, "echo", r#"{"x":1.50}"#), r#"{"content":[{"type":"text","text":"{\"x\":1.50}"}]}"#);
}

#[test]
fn half_a_surrogate_pair_passes_as_text_and_is_a_replacement_character_in_strings() {
    #[derive(Deserialize, Schema)]
    struct Words {
        text: String,
    }
    let server = Server::builder("halves", "1.0")
        .tool("read", "", |Words { text }: Words| text)
        .with(
            ToolHandler::new("pass", "", |arguments: Raw| arguments.to_string())
                .input_schema(Raw::from_valid(r#"{"type":"object"}"#)),
        )
        .build()
        .unwrap();
    let arguments = r#"{"text":"cut \ud83d"}"#;
    let text = |text: &str| format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#);
    assert_eq!(call(&server, "read", arguments), text("cut \u{fffd}"));
    assert_eq!(call(&server, "pass", arguments), text(r#"{\"text\":\"cut \\ud83d\"}"#));
}

#[test]
fn arguments_that_are_no_object_fail_when_the_server_is_built() {
    let error = Server::builder("bad", "1.0").tool("n", "", |n: i64| n).build().unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot register `n`: its arguments are not an object; take a struct with named fields"
    );
    let error = Server::builder("bad", "1.0").tool("n", "", || 1).tool("n", "", || 2).build().unwrap_err();
    assert_eq!(error.to_string(), "cannot register `n`: another one has the same name; remove or rename it");
}

#[test]
fn lists_come_in_pages() {
    let mut builder = Server::builder("pages", "1.0").page_size(2);
    for name in ["e", "d", "c", "b", "a"] {
        builder = builder.tool(name, "", || ());
    }
    let server = builder.build().unwrap();
    let mut names = String::new();
    let mut cursor = None;
    let mut pages = 0;
    loop {
        let params = cursor.map_or("{}".to_owned(), |cursor| format!(r#"{{"cursor":{cursor}}}"#));
        let page = Raw::parse(&ask(&server, Method::ToolsList, &params).unwrap()).unwrap();
        pages += 1;
        page.get("tools")
            .unwrap()
            .reader()
            .array(&mut |reader| {
                names.push_str(sandwire_json::find(reader.raw()?, "name").unwrap_or_default());
                Ok(())
            })
            .unwrap();
        match page.get("nextCursor") {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    assert_eq!((names.as_str(), pages), (r#""e""d""c""b""a""#, 3));
    for cursor in [r#""""#, r#""0""#, r#""3""#, r#""01""#, r#""x""#, "7", r#""99999999999999999999999""#] {
        let error = ask(&server, Method::ToolsList, &format!(r#"{{"cursor":{cursor}}}"#)).unwrap_err();
        assert_eq!(error.code, ErrorCode::INVALID_PARAMS, "{cursor}");
    }
}

#[test]
fn a_sync_handler_answers_without_a_future() {
    use sandwire_server::Answer;
    let server =
        Server::raw(sandwire_server::Config::new(Raw::object(), Raw::parse(r#"{"tools":{}}"#).unwrap()), |_| {
            Answer::Ready(Ok(sandwire_server::types::Reply::new(Raw::parse(r#"{"tools":[]}"#).unwrap())))
        });
    assert_eq!(ask(&server, Method::ToolsList, "{}").unwrap(), r#"{"tools":[]}"#);
}
