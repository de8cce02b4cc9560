use crate::scene::{Scene, call, error, reply, tool_call};
use sandwire_proto::{
    PeerIncompatible, PeerMisbehaved, TransportErrorKind, Via, Wire,
    client::{CallError, Input, Output},
    http::ResponseHead,
};
use sandwire_types::{ErrorCode, Message, ProtocolVersion, RequestId, Response, WireError};

#[test]
fn a_refused_authorization_is_told_with_its_challenge_whatever_the_body_says() {
    for version in [ProtocolVersion::V2026_07_28, ProtocolVersion::V2025_11_25] {
        for status in [401, 403] {
            let mut scene = Scene::open(Wire::Http, version);
            scene.call(tool_call());
            let sent = scene.request();
            let headers = [("content-type", "application/json"), ("WWW-Authenticate", "Bearer scope=\"write\"")];
            let head = ResponseHead { status, headers: headers.into_iter().collect() };
            scene.handle(Input::Head { exchange: sent.exchange(), head });
            scene.refuse(&sent, error(-32001));
            let CallError::Transport(failure) = scene.done_error() else { panic!("told by the body") };
            assert_eq!(failure.http_status(), Some(status));
            assert_eq!(failure.challenge(), Some("Bearer scope=\"write\""));
            assert_eq!(failure.message(), "scripted");
        }
    }
}

#[test]
fn every_request_has_an_id_of_its_own() {
    for mut scene in [Scene::legacy(Wire::Pipe), Scene::modern(Wire::Pipe)] {
        let mut ids = std::collections::HashSet::new();
        for _ in 0..1000 {
            scene.call(tool_call());
            let sent = scene.request();
            assert!(ids.insert(sent.request.id.clone()));
            scene.reply(&sent, "{}");
            scene.done_value();
        }
    }
}

#[test]
fn late_answers_and_answers_to_nobody_are_ignored() {
    let mut scene = Scene::modern(Wire::Pipe);
    scene.call(tool_call());
    let sent = scene.request();
    scene.reply(&sent, r#"{"n":1}"#);
    assert_eq!(scene.done_value(), r#"{"n":1}"#);
    scene.reply(&sent, r#"{"n":2}"#);
    scene.receive(Via::Pipe, Message::Response(Response::new("65536".into(), Ok(reply("{}")))));
    scene.receive(Via::Pipe, Message::Response(Response::new((-1).into(), Ok(reply("{}")))));
    scene.receive(Via::Pipe, Message::Response(Response { id: None, null_id: false, result: Err(error(-32700)) }));
    scene.quiet();
}

#[test]
fn a_malformed_answer_fails_its_call_alone() {
    let mut scene = Scene::modern(Wire::Pipe);
    let first = scene.call(tool_call());
    scene.call(tool_call());
    let (bad, good) = (scene.request(), scene.request());
    let mut fault = WireError::new(ErrorCode::INVALID_REQUEST, "both result and error");
    fault.id = Some(bad.request.id.clone());
    fault.is_response = true;
    scene.handle(Input::Garbage { via: Via::Pipe, error: fault });
    let (key, result) = scene.done();
    assert_eq!(key, first);
    assert!(matches!(result, Err(CallError::Misbehaved(PeerMisbehaved::InvalidMessage))));
    scene.reply(&good, "{}");
    scene.done_value();
}

#[test]
fn a_line_that_is_no_message_changes_nothing() {
    let mut scene = Scene::modern(Wire::Pipe);
    scene.call(tool_call());
    let sent = scene.request();
    scene.handle(Input::Garbage { via: Via::Pipe, error: WireError::new(ErrorCode::PARSE_ERROR, "no JSON") });
    scene.reply(&sent, "{}");
    scene.done_value();
    scene.quiet();
}

#[test]
fn a_result_without_a_kind_is_complete_and_an_unknown_kind_is_invalid() {
    let mut scene = Scene::modern(Wire::Pipe);
    scene.call(tool_call());
    let sent = scene.request();
    scene.reply(&sent, r#"{"content":[]}"#);
    scene.done_value();
    for kind in ["foo", "task"] {
        scene.call(tool_call());
        let sent = scene.request();
        scene.reply(&sent, &format!(r#"{{"resultType":"{kind}"}}"#));
        assert!(matches!(scene.done_error(), CallError::Misbehaved(PeerMisbehaved::UnknownResultType)));
    }
}

#[test]
fn a_method_that_the_version_lacks_is_not_sent() {
    let mut scene = Scene::modern(Wire::Pipe);
    scene.call(call("ping", ""));
    assert!(matches!(scene.done_error(), CallError::Incompatible(PeerIncompatible::MethodNotInVersion)));
    let mut scene = Scene::legacy(Wire::Pipe);
    scene.call(call("subscriptions/listen", r#"{"notifications":{}}"#));
    assert!(matches!(scene.done_error(), CallError::Incompatible(_)));
    scene.call(call("vendor/method", ""));
    scene.request();
}

#[test]
fn an_error_in_the_body_is_delivered_whatever_the_status() {
    for status in [200, 400, 404, 500] {
        let mut scene = Scene::modern(Wire::Http);
        scene.call(tool_call());
        let sent = scene.request();
        scene.head_of(sent.exchange(), status, Some("application/json"));
        // The server could not read the id.
        scene.receive(sent.via, Message::Response(Response { id: None, null_id: false, result: Err(error(-32602)) }));
        match scene.done_error() {
            CallError::Peer(error) => assert_eq!(error.code.0, -32602),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_status_without_a_message_is_a_transport_error() {
    let mut scene = Scene::modern(Wire::Http);
    scene.call(tool_call());
    let sent = scene.request();
    scene.head_of(sent.exchange(), 502, Some("text/html"));
    scene.end(&sent);
    match scene.done_error() {
        CallError::Transport(error) => assert_eq!(error.http_status(), Some(502)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_request_that_is_merely_accepted_fails() {
    let mut scene = Scene::modern(Wire::Http);
    scene.call(tool_call());
    let sent = scene.request();
    scene.head_of(sent.exchange(), 202, None);
    assert!(matches!(scene.must(), Output::Abandon(_)));
    assert!(matches!(scene.done_error(), CallError::Misbehaved(PeerMisbehaved::AcceptedRequest)));
}

#[test]
fn a_page_instead_of_an_answer_fails_at_once() {
    let mut scene = Scene::modern(Wire::Http);
    scene.call(tool_call());
    let sent = scene.request();
    scene.head_of(sent.exchange(), 200, Some("text/html; charset=utf-8"));
    assert!(matches!(scene.must(), Output::Abandon(_)));
    assert!(matches!(scene.done_error(), CallError::Misbehaved(PeerMisbehaved::UnexpectedContentType)));
}

#[test]
fn a_modern_stream_that_ends_without_the_answer_loses_the_call() {
    let mut scene = Scene::modern(Wire::Http);
    scene.call(tool_call());
    let sent = scene.request();
    scene.head_of(sent.exchange(), 200, Some("text/event-stream"));
    scene.mark(sent.exchange(), "1", None);
    scene.end(&sent);
    assert!(matches!(scene.done_error(), CallError::Misbehaved(PeerMisbehaved::EndedWithoutResponse)));

    scene.call(tool_call());
    let sent = scene.request();
    scene.lost(sent.exchange(), TransportErrorKind::Closed);
    assert!(matches!(scene.done_error(), CallError::Transport(_)));
}

#[test]
fn a_body_that_is_no_message_fails_the_call() {
    let mut scene = Scene::modern(Wire::Http);
    scene.call(tool_call());
    let sent = scene.request();
    scene.head_of(sent.exchange(), 200, Some("application/json"));
    scene.handle(Input::Garbage { via: sent.via, error: WireError::new(ErrorCode::PARSE_ERROR, "no JSON") });
    scene.end(&sent);
    assert!(matches!(scene.done_error(), CallError::Misbehaved(PeerMisbehaved::InvalidMessage)));
}

#[test]
fn the_stream_of_an_answered_call_is_dropped_if_it_does_not_end() {
    let mut scene = Scene::modern(Wire::Http);
    scene.call(tool_call());
    let sent = scene.request();
    scene.head_of(sent.exchange(), 200, Some("text/event-stream"));
    scene.respond(&sent, Ok("{}"));
    scene.done_value();
    scene.quiet();
    scene.wait(5_000);
    assert!(matches!(scene.must(), Output::Abandon(exchange) if exchange == sent.exchange()));
}

#[test]
fn a_closed_link_ends_every_call_once() {
    let mut scene = Scene::modern(Wire::Pipe);
    let keys = [scene.call(tool_call()), scene.call(tool_call())];
    scene.request();
    scene.request();
    scene.handle(Input::Closed(None));
    for key in keys {
        let (ended, result) = scene.done();
        assert_eq!(ended, key);
        assert!(matches!(result, Err(CallError::Closed(None))));
    }
    scene.quiet();
    assert!(scene.machine.request(scene.now, tool_call()).is_err());
}

#[test]
fn closing_ends_calls_and_the_link() {
    let mut scene = Scene::modern(Wire::Pipe);
    scene.call(tool_call());
    scene.request();
    scene.machine.close(scene.now);
    assert!(matches!(scene.done_error(), CallError::Closed(None)));
    assert!(matches!(scene.must(), Output::Close));
    scene.machine.close(scene.now);
    scene.quiet();
}

#[test]
fn an_id_that_came_back_as_text_is_the_number_it_spells_and_nothing_else_is() {
    let mut scene = Scene::legacy(Wire::Pipe);
    scene.call(tool_call());
    let sent = scene.request();
    let RequestId::Number(id) = sent.request.id else { panic!("{:?}", sent.request.id) };
    for other in
        [String::new(), " ".into(), format!(" {id}"), format!("{id}.0"), format!("0{id}"), format!("+{id}"), "x".into()]
    {
        scene.receive(
            sent.via,
            Message::Response(Response::new(RequestId::from(&*other), Ok(crate::scene::reply("{}")))),
        );
        scene.quiet();
    }
    let id = RequestId::from(&*id.to_string());
    scene.receive(sent.via, Message::Response(Response::new(id, Ok(crate::scene::reply(r#"{"a":1}"#)))));
    assert_eq!(scene.done_value(), r#"{"a":1}"#);
}
