//! Arguments, results and answers that are not what their schemas say.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{ERAS, call, run, run_asked};
use sandwire_server::types::model::CallToolResult;
use sandwire_server::types::{ErrorCode, Method, Raw};
use sandwire_server::{Context, Elicited, Form, Problem, Schema, Server, ToolError, ToolHandler};
use serde::Deserialize;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn raw(text: &str) -> Raw {
    Raw::parse(text).unwrap()
}

fn refusal(message: &str) -> String {
    let message = message.replace('"', "\\\"").replace('\n', "\\n");
    format!(r#"{{"content":[{{"type":"text","text":"{message}"}}],"isError":true}}"#)
}

#[test]
fn arguments_are_checked_before_the_function_runs() {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = runs.clone();
    let schema = raw(r#"{"type":"object","required":["n"],"additionalProperties":false,
        "properties":{"n":{"type":"integer","maximum":9}}}"#);
    let server = Server::builder("checked", "1.0")
        .with(
            ToolHandler::new("double", "", move |arguments: Raw| {
                counted.fetch_add(1, Ordering::Relaxed);
                arguments.to_string()
            })
            .input_schema(schema),
        )
        .build()
        .unwrap();
    for version in ERAS {
        let answers = run(&server, version, async |client| {
            [
                client.call("double", r#"{"n":10,"m":1}"#).await,
                client.call("double", "{}").await,
                client.request(Method::ToolsCall, r#"{"name":"double"}"#).await.unwrap(),
            ]
        });
        let [beyond, without, none] = answers;
        assert_eq!(
            beyond,
            refusal("invalid arguments: /n: must be at most 9\n/m: there is no such property: remove it")
        );
        assert_eq!(without, refusal("invalid arguments: lacks the property \"n\": add it"));
        assert_eq!(none, without);
    }
    assert_eq!(runs.load(Ordering::Relaxed), 0);
    assert!(call(&server, "double", r#"{"n":9.0}"#).contains("9.0"));
    assert_eq!(runs.load(Ordering::Relaxed), ERAS.len());
}

#[derive(Deserialize, Schema)]
struct Order {
    #[schema(minimum = 1, maximum = 5)]
    count: u32,
    #[schema(pattern = "^[a-z]+$")]
    name: Option<String>,
}

#[derive(Deserialize, Schema)]
struct Labels {
    labels: HashSet<String>,
}

#[test]
fn what_reading_a_type_does_not_prove_is_checked() {
    let server = Server::builder("typed", "1.0")
        .tool("order", "", |Order { count, name }: Order| format!("{count} {}", name.unwrap_or_default()))
        .tool("label", "", |Labels { labels }: Labels| labels.len().to_string())
        .build()
        .unwrap();
    assert!(call(&server, "order", r#"{"count":5,"name":"tea"}"#).contains("5 tea"));
    assert!(call(&server, "order", r#"{"count":1,"name":null}"#).contains("1 "));
    assert_eq!(call(&server, "order", r#"{"count":6}"#), refusal("invalid arguments: /count: must be at most 5"));
    assert!(call(&server, "order", r#"{"count":1,"name":"Tea"}"#).contains("must match the pattern"));
    assert!(call(&server, "label", r#"{"labels":["a","b"]}"#).contains(r#""text":"2""#));
    assert!(call(&server, "label", r#"{"labels":["a","a"]}"#).contains("must not have the same item twice"));
}

#[test]
fn a_result_that_its_schema_does_not_allow_is_not_sent() {
    let of = |text: &str| raw(text);
    let output = r#"{"type":"object","required":["sum"],"properties":{"sum":{"type":"integer"}}}"#;
    let tool = |name: &str, result: &'static str| {
        ToolHandler::new(name, "", move || sandwire_json::from_str::<CallToolResult>(result).unwrap())
            .output_schema(of(output))
    };
    let later = ToolHandler::new("later", "", async || {
        sandwire_json::from_str::<CallToolResult>(r#"{"content":[],"structuredContent":{"sum":"3"}}"#).unwrap()
    });
    let server = Server::builder("results", "1.0")
        .with(tool("good", r#"{"content":[],"structuredContent":{"sum":3}}"#))
        .with(tool("bad", r#"{"content":[],"structuredContent":{"sum":"3"}}"#))
        .with(tool("none", r#"{"content":[]}"#))
        .with(tool("failed", r#"{"content":[],"isError":true}"#))
        .with(tool("failed_structured", r#"{"content":[],"structuredContent":{"why":1},"isError":true}"#))
        .with(later.output_schema(of(output)))
        .build()
        .unwrap();
    for version in ERAS {
        run(&server, version, async |client| {
            assert!(client.call("good", "{}").await.contains("\"sum\":3"));
            assert!(client.call("failed", "{}").await.contains("\"isError\":true"));
            assert!(client.call("failed_structured", "{}").await.contains("\"why\":1"));
            for name in ["bad", "later", "none"] {
                let params = format!(r#"{{"name":"{name}","arguments":{{}}}}"#);
                let error = client.request(Method::ToolsCall, &params).await.unwrap_err();
                assert_eq!(error.code, ErrorCode::INTERNAL_ERROR, "{name}");
                assert!(error.message.contains("structured content"), "{}", error.message);
            }
        });
    }
}

#[test]
fn results_that_count_for_nothing_are_checked_too() {
    for (value, schema, fits) in [
        ("0", r#"{"type":"integer"}"#, true),
        ("false", r#"{"type":"boolean"}"#, true),
        ("\"\"", r#"{"type":"string"}"#, true),
        ("null", r#"{"type":"null"}"#, true),
        ("0", r#"{"minimum":1}"#, false),
        ("false", r#"{"const":true}"#, false),
        ("\"\"", r#"{"minLength":1}"#, false),
        ("null", r#"{"type":"object"}"#, false),
    ] {
        let result = format!(r#"{{"content":[],"structuredContent":{value}}}"#);
        let server = Server::builder("falsy", "1.0")
            .with(
                ToolHandler::new("f", "", move || sandwire_json::from_str::<CallToolResult>(&result).unwrap())
                    .output_schema(raw(schema)),
            )
            .build()
            .unwrap();
        let answer = run(&server, common::MODERN, async |client| {
            client.request(Method::ToolsCall, r#"{"name":"f","arguments":{}}"#).await
        });
        match answer {
            Ok(text) => assert!(fits && text.contains(&format!("\"structuredContent\":{value}")), "{value} {text}"),
            Err(error) => assert!(!fits, "{value} {schema} {}", error.message),
        }
    }
}

#[test]
fn a_schema_that_cannot_be_used_fails_where_the_tool_is_registered() {
    for (schema, why) in [
        (r#"{"type":"object","properties":{"a":{"$ref":"https://example.com/a.json"}}}"#, "nothing is fetched"),
        (r#"{"type":"object","$schema":"https://example.com/dialect"}"#, "is not supported"),
        (r#"{"type":"object","required":true}"#, "array of names"),
    ] {
        let tool = ToolHandler::new("t", "", |_: Raw| ()).input_schema(raw(schema));
        let error = Server::builder("refused", "1.0").with(tool).build().unwrap_err();
        assert!(matches!(error.problem(), Problem::Schema(text) if text.contains(why)), "{error}");
    }
    let old = raw(r#"{"type":"object","$schema":"http://json-schema.org/draft-07/schema#"}"#);
    let tool = ToolHandler::new("t", "", |_: Raw| ()).input_schema(old);
    assert!(Server::builder("draft7", "1.0").with(tool).build().is_ok());
}

#[test]
fn an_answer_that_the_form_does_not_allow_is_refused() {
    async fn ask(ctx: &Context) -> Result<String, ToolError> {
        let form = raw(r#"{"type":"object","required":["name"],"properties":{
            "name":{"type":"string","minLength":2},"mail":{"type":"string","format":"email"},
            "size":{"type":"string","oneOf":[{"const":"s","title":"Small"},{"const":"l","title":"Large"}]}}}"#);
        match ctx.elicit("form", Form::from_schema("Who?", form)).await? {
            Elicited::Accepted(answer) => Ok(answer.to_string()),
            _ => Ok("no".to_owned()),
        }
    }
    let server = Server::builder("forms", "1.0").tool("ask", "", ask).build().unwrap();
    fn accepting(content: &str) -> Raw {
        Raw::from_valid(format!(r#"{{"action":"accept","content":{content}}}"#))
    }
    for version in ERAS {
        let ask = |asked: common::Asked| {
            run_asked(&server, version, asked, async |client| {
                client.request(Method::ToolsCall, r#"{"name":"ask","arguments":{}}"#).await
            })
        };
        let good = ask(|_, _| Ok(accepting(r#"{"name":"Ada","mail":"ada@example.com","size":"l"}"#)));
        assert!(good.unwrap().contains("Ada"));
        let refused: [(common::Asked, &str); 4] = [
            (|_, _| Ok(accepting(r#"{"name":7}"#)), "/name: must be a string"),
            (|_, _| Ok(accepting(r#"{"name":"Ada","mail":"nowhere"}"#)), "/mail: must be an email address"),
            (|_, _| Ok(accepting(r#"{"name":"Ada","size":"m"}"#)), "/size: must be one of \"s\", \"l\""),
            (|_, _| Ok(Raw::from_valid(r#"{"action":"accept"}"#)), "lacks the property \"name\""),
        ];
        for (asked, why) in refused {
            let error = ask(asked).unwrap_err();
            assert!(error.message.contains(why), "{}", error.message);
        }
        assert!(ask(|_, _| Ok(Raw::from_valid(r#"{"action":"decline"}"#))).unwrap().contains("no"));
    }
}
