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

#[test]
fn messages_that_use_tools_keep_to_the_rules() {
    let text = r#"{"role":"user","content":{"type":"text","text":"hi"}}"#;
    let uses = |ids: &[&str]| {
        let blocks: Vec<String> =
            ids.iter().map(|id| format!(r#"{{"type":"tool_use","id":"{id}","name":"t","input":{{}}}}"#)).collect();
        format!(r#"{{"role":"assistant","content":[{{"type":"text","text":"so"}},{}]}}"#, blocks.join(","))
    };
    let results = |ids: &[&str], more: &str| {
        let blocks: Vec<String> =
            ids.iter().map(|id| format!(r#"{{"type":"tool_result","toolUseId":"{id}","content":[]}}"#)).collect();
        format!(r#"{{"role":"user","content":[{}{more}]}}"#, blocks.join(","))
    };
    let single = r#"{"role":"user","content":{"type":"tool_result","toolUseId":"a","content":[]}}"#;
    let mut config = config(Wire::Pipe, Mode::Legacy);
    config.capabilities = raw(r#"{"sampling":{"tools":{}}}"#);
    for (valid, messages) in [
        (true, vec![]),
        (true, vec![text.to_owned()]),
        (true, vec![text.into(), uses(&["a"]), single.into()]),
        (true, vec![text.into(), uses(&["a", "b"]), results(&["b", "a"], ""), uses(&["c"]), results(&["c"], "")]),
        (false, vec![uses(&["a"]), results(&["a"], r#",{"type":"text","text":"and"}"#)]),
        (false, vec![uses(&["a"])]),
        (false, vec![uses(&["a"]), text.into()]),
        (false, vec![uses(&["a"]), text.into(), results(&["a"], "")]),
        (false, vec![uses(&["a", "b"]), results(&["a"], "")]),
        (false, vec![uses(&["a"]), results(&["b"], "")]),
        (false, vec![uses(&["a"]), results(&["a", "b"], "")]),
        (false, vec![single.into()]),
    ] {
        let mut scene = Scene::opened(config.clone());
        let params = format!(r#"{{"messages":[{}],"maxTokens":7,"tools":[]}}"#, messages.join(","));
        scene.server_request(1, "sampling/createMessage", &params);
        if valid {
            assert_eq!(scene.ask().2.as_str(), params);
        } else {
            let refused = scene.response_sent().result.unwrap_err();
            assert_eq!(refused.code, ErrorCode::INVALID_PARAMS, "{params}");
        }
    }
}

#[test]
fn the_end_of_a_visit_is_told_once_and_only_of_visits_that_were_asked_for() {
    let mut config = config(Wire::Pipe, Mode::Legacy);
    config.capabilities = raw(r#"{"elicitation":{"url":{}}}"#);
    let mut scene = Scene::opened(config);
    let end = |scene: &mut Scene, id: &str| {
        let params = format!(r#"{{"elicitationId":{id}}}"#);
        scene.server_notification("notifications/elicitation/complete", &params);
    };
    let told = |scene: &mut Scene, id: &str| match scene.must() {
        Output::Notification(told) => {
            assert_eq!(told.params.unwrap().get("elicitationId").unwrap().as_str(), id);
        }
        other => panic!("{other:?}"),
    };
    end(&mut scene, r#""e1""#);
    scene.server_notification("notifications/elicitation/complete", "");
    scene.quiet();
    let url = r#"{"mode":"url","url":"https://example.com","message":"m","elicitationId":"e1"}"#;
    scene.server_request(1, "elicitation/create", url);
    scene.ask();
    end(&mut scene, r#""e2""#);
    scene.quiet();
    end(&mut scene, r#""e1""#);
    told(&mut scene, r#""e1""#);
    end(&mut scene, r#""e1""#);
    scene.quiet();
    // An error may ask for visits, too.
    scene.call(crate::scene::tool_call());
    let sent = scene.request();
    let mut required = crate::scene::error(-32042);
    required.data = Some(raw(&format!(r#"{{"elicitations":[{},{url}]}}"#, url.replace("e1", "e3"))));
    scene.refuse(&sent, required);
    scene.done_error();
    for id in [r#""e1""#, r#""e3""#] {
        end(&mut scene, id);
        told(&mut scene, id);
    }
    end(&mut scene, "7");
    scene.quiet();
}

#[test]
fn a_ping_of_ours_that_is_refused_ends_nothing_else() {
    let mut scene = Scene::legacy(Wire::Pipe);
    scene.call(crate::scene::call("ping", ""));
    let ping = scene.request();
    scene.refuse(&ping, crate::scene::error(-32601));
    scene.done_error();
    scene.call(crate::scene::tool_call());
    let sent = scene.request();
    scene.reply(&sent, "{}");
    scene.done_value();
}
