use crate::scene::{Scene, config, raw};
use sandwire_proto::{
    Via, Wire,
    client::{Mode, Output},
};
use sandwire_types::{ErrorCode, Message, Method, ProtocolVersion, Request};

#[test]
fn a_ping_is_answered_with_exactly_nothing() {
    let mut scene = Scene::legacy(Wire::Pipe);
    scene.server_request(7, "ping", "");
    let response = scene.response_sent();
    assert_eq!(response.id, Some(7.into()));
    let reply = response.result.unwrap();
    assert_eq!(reply.value.as_str(), "{}");
    assert!(reply.stamp.is_none());
}

#[test]
fn what_is_declared_is_asked_and_answered() {
    let mut scene = Scene::legacy(Wire::Pipe);
    for method in ["sampling/createMessage", "elicitation/create", "roots/list"] {
        scene.server_request(1, method, r#"{"message":"?"}"#);
        let (key, asked, params) = scene.ask();
        assert_eq!(asked.as_str(), method);
        assert_eq!(params.as_str(), r#"{"message":"?"}"#);
        scene.machine.answer(scene.now, key, Ok(raw(r#"{"a":1}"#))).unwrap();
        assert_eq!(scene.response_sent().result.unwrap().value.as_str(), r#"{"a":1}"#);
        assert!(scene.machine.answer(scene.now, key, Ok(raw("{}"))).is_err());
    }
}

#[test]
fn what_is_not_declared_is_refused() {
    let mut scene = Scene::opened(config(Wire::Pipe, Mode::Legacy));
    for method in ["sampling/createMessage", "elicitation/create", "roots/list", "vendor/ask", "tools/list"] {
        scene.server_request(1, method, "");
        assert_eq!(scene.response_sent().result.unwrap_err().code, ErrorCode::METHOD_NOT_FOUND, "{method}");
    }
}

#[test]
fn undeclared_modes_and_tools_are_invalid_params() {
    // An empty elicitation capability means forms.
    let mut scene = Scene::legacy(Wire::Pipe);
    scene.server_request(1, "elicitation/create", r#"{"mode":"url","url":"https://example.com"}"#);
    assert_eq!(scene.response_sent().result.unwrap_err().code, ErrorCode::INVALID_PARAMS);
    scene.server_request(2, "elicitation/create", r#"{"mode":"form"}"#);
    scene.ask();
    scene.server_request(3, "sampling/createMessage", r#"{"tools":[]}"#);
    assert_eq!(scene.response_sent().result.unwrap_err().code, ErrorCode::INVALID_PARAMS);

    let mut only_urls = config(Wire::Pipe, Mode::Legacy);
    only_urls.capabilities = raw(r#"{"elicitation":{"url":{}}}"#);
    let mut scene = Scene::opened(only_urls);
    scene.server_request(1, "elicitation/create", r#"{"message":"form without a mode"}"#);
    assert_eq!(scene.response_sent().result.unwrap_err().code, ErrorCode::INVALID_PARAMS);
    scene.server_request(1, "elicitation/create", r#"{"mode":"url"}"#);
    scene.ask();
}

#[test]
fn a_withdrawn_question_needs_no_answer() {
    let mut scene = Scene::legacy(Wire::Pipe);
    scene.server_request(5, "roots/list", "");
    let (key, ..) = scene.ask();
    scene.server_notification("notifications/cancelled", r#"{"requestId":5}"#);
    assert!(matches!(scene.must(), Output::Unask(withdrawn) if withdrawn == key));
    assert!(scene.machine.answer(scene.now, key, Ok(raw("{}"))).is_err());
    scene.server_notification("notifications/cancelled", r#"{"requestId":"5"}"#);
    scene.server_notification("notifications/cancelled", "");
    scene.quiet();
}

#[test]
fn over_http_an_answer_is_a_request_of_its_own() {
    let mut scene = Scene::legacy(Wire::Http);
    scene.call(crate::scene::tool_call());
    let sent = scene.request();
    scene.receive(sent.via, Message::Request(Request::new(1, Method::Ping)));
    match scene.must() {
        Output::Send { via: Via::Exchange(exchange), message: Message::Response(_), head: Some(head) } => {
            assert_ne!(exchange, sent.exchange());
            assert_eq!(head.headers.get("mcp-protocol-version"), Some("2025-11-25"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_modern_server_is_not_answered() {
    let mut scene = Scene::modern(Wire::Pipe);
    scene.server_request(1, "ping", "");
    scene.server_request(2, "roots/list", "");
    scene.quiet();
}

#[test]
fn notifications_pass_in_order() {
    let mut scene = Scene::open(Wire::Pipe, ProtocolVersion::V2025_06_18);
    for n in 0..3 {
        scene.server_notification("notifications/message", &format!(r#"{{"level":"info","data":{n}}}"#));
    }
    for n in 0..3 {
        match scene.must() {
            Output::Notification(told) => assert!(told.params.unwrap().as_str().ends_with(&format!("{n}}}"))),
            other => panic!("{other:?}"),
        }
    }
}
