use crate::stage::Stage;
use sandwire_client::{ErrorKind, Options};
use sandwire_json::Raw;
use sandwire_types::{
    ErrorCode, Method,
    model::{CallToolResult, ElicitAction, ElicitResult},
};

fn options() -> Options {
    Options::new("c", "1")
}

/// Lists one tool with this output schema.
fn list(stage: &mut Stage, output: &str) {
    let tool = format!(r#"{{"name":"t","inputSchema":{{"type":"object"}},"outputSchema":{output}}}"#);
    let client = stage.client.clone();
    let listed = stage.begin(async move { client.list_all_tools().await });
    let request = stage.request();
    stage.reply(request.id, &format!(r#"{{"tools":[{tool}]}}"#));
    stage.run();
    assert_eq!(listed.take().unwrap().unwrap().len(), 1);
}

/// Calls it, and has the server give this result.
fn call(stage: &mut Stage, result: &str) -> Result<CallToolResult, sandwire_client::Error> {
    let client = stage.client.clone();
    let called = stage.begin(client.call_tool("t", &()));
    let request = stage.request();
    assert_eq!(request.method, Method::ToolsCall);
    stage.reply(request.id, result);
    stage.run();
    called.take().unwrap()
}

fn both(run: impl Fn(&mut Stage)) {
    run(&mut Stage::modern(options()));
    run(&mut Stage::legacy(options()));
}

#[test]
fn structured_content_is_checked_once_the_tool_was_listed() {
    both(|stage| {
        let bad = r#"{"content":[],"structuredContent":{"n":"3"}}"#;
        assert!(call(stage, bad).is_ok(), "nothing is known of the tool");
        list(stage, r#"{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}"#);
        assert!(call(stage, r#"{"content":[],"structuredContent":{"n":3}}"#).is_ok());
        let error = call(stage, bad).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Protocol);
        assert!(error.to_string().contains("the tool `t` gave structured content"), "{error}");
        assert!(error.to_string().contains("/n: must be an integer"), "{error}");
        let error = call(stage, r#"{"content":[]}"#).unwrap_err();
        assert!(error.to_string().contains("gave no structured content"), "{error}");
        assert!(call(stage, r#"{"content":[],"structuredContent":{"n":"3"},"isError":true}"#).is_ok());
        assert!(call(stage, r#"{"content":[],"isError":true}"#).is_ok());
    });
}

#[test]
fn values_that_count_for_nothing_are_checked_and_kept() {
    for (value, fitting, not) in [
        ("0", r#"{"type":"integer"}"#, r#"{"minimum":1}"#),
        ("false", r#"{"type":"boolean"}"#, r#"{"const":true}"#),
        ("\"\"", r#"{"type":"string"}"#, r#"{"minLength":1}"#),
        ("null", r#"{"type":"null"}"#, r#"{"type":"object"}"#),
    ] {
        let result = format!(r#"{{"content":[],"structuredContent":{value}}}"#);
        both(|stage| {
            list(stage, fitting);
            let given = call(stage, &result).unwrap().structured_content;
            assert_eq!(given.as_ref().map(Raw::as_str), Some(value));
            list(stage, not);
            assert!(call(stage, &result).is_err(), "{value} {not}");
            assert!(call(stage, r#"{"content":[]}"#).is_err(), "absent is not null");
        });
    }
}

#[test]
fn what_cannot_be_checked_is_no_result() {
    for (schema, why) in [
        (r#"{"$ref":"https://example.com/schema.json"}"#, "nothing is fetched"),
        (r#"{"$schema":"https://example.com/dialect"}"#, "is not supported"),
    ] {
        both(|stage| {
            list(stage, schema);
            let error = call(stage, r#"{"content":[],"structuredContent":1}"#).unwrap_err();
            assert!(error.to_string().contains(why), "{error}");
        });
        let mut stage = Stage::modern(options().unchecked_results());
        list(&mut stage, schema);
        assert!(call(&mut stage, r#"{"content":[],"structuredContent":1}"#).is_ok());
    }
}

#[test]
fn changed_tools_are_not_held_to_what_they_were() {
    let mut stage = Stage::legacy(options());
    list(&mut stage, r#"{"type":"object"}"#);
    assert!(call(&mut stage, r#"{"content":[]}"#).is_err());
    stage.tell(Method::ToolsListChanged, "", None);
    assert!(call(&mut stage, r#"{"content":[]}"#).is_ok());
}

const FORM: &str = r#"{"message":"?","requestedSchema":{"type":"object","required":["age"],"properties":{
    "age":{"type":"integer","minimum":0},"mail":{"type":"string","format":"email"},
    "many":{"type":"array","items":{"type":"string","enum":["p","q"]},"maxItems":1}}}}"#;

#[test]
fn forms_that_are_filled_in_badly_are_not_sent() {
    for (content, why) in [
        (r#"{"age":3,"mail":"a@b.example","many":["p"]}"#, None),
        (r#"{"age":"3"}"#, Some("/age: must be an integer")),
        (r#"{"age":-1}"#, Some("/age: must be at least 0")),
        ("{}", Some("lacks the property \"age\"")),
        (r#"{"age":3,"mail":"nowhere"}"#, Some("/mail: must be an email address")),
        (r#"{"age":3,"many":["r"]}"#, Some("/many/0: must be one of")),
    ] {
        let content = content.to_owned();
        let mut stage = Stage::legacy(options().on_elicitation(move |_| {
            let mut result = ElicitResult::new(ElicitAction::Accept);
            result.content = Some(sandwire_json::from_str(&content).unwrap());
            async move { Ok(result) }
        }));
        let answer = stage.ask(Method::ElicitationCreate, FORM);
        match why {
            None => assert!(answer.is_ok(), "{answer:?}"),
            Some(why) => {
                let error = answer.unwrap_err();
                assert_eq!(error.code, ErrorCode::INTERNAL_ERROR);
                assert!(error.message.contains(why), "{}", error.message);
            }
        }
    }
    let mut stage = Stage::legacy(options().on_elicitation(|_| async { Ok(ElicitResult::new(ElicitAction::Decline)) }));
    assert!(stage.ask(Method::ElicitationCreate, FORM).is_ok());
}
