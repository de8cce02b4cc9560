use crate::scene::{HANDSHAKE, Scene, Sent, call, config, error, tool_call};
use sandwire_proto::{
    ExchangeId, TransportErrorKind, Via, Wire,
    client::{CallError, Input, Mode, OpenError, Output, SessionLoss, Warning},
    http::{Headers, ResponseHead, Verb},
};
use sandwire_types::{Message, Method, Response};

/// Answers `initialize` with a session, then accepts what follows.
fn handshake(scene: &mut Scene, session: &str) -> Sent {
    let initialize = scene.must();
    handshake_sent(scene, initialize, session)
}

fn handshake_sent(scene: &mut Scene, initialize: Output, session: &str) -> Sent {
    let Output::Send { via, message: Message::Request(request), head } = initialize else { panic!("{initialize:?}") };
    let initialize = Sent { via, request, head };
    assert_eq!(initialize.request.method, Method::Initialize);
    assert_eq!(initialize.header("mcp-session-id"), None);
    let headers: Headers = [("Content-Type", "application/json"), ("MCP-Session-Id", session)].into_iter().collect();
    scene.handle(Input::Head { exchange: initialize.exchange(), head: ResponseHead { status: 200, headers } });
    scene.respond(&initialize, Ok(HANDSHAKE));
    scene.end(&initialize);
    match scene.must() {
        Output::Send { via: Via::Exchange(exchange), head: Some(head), .. } => {
            assert_eq!(head.headers.get("mcp-session-id"), Some(session));
            scene.accepted(exchange);
        }
        other => panic!("{other:?}"),
    }
    scene.opened_output();
    initialize
}

fn listening(scene: &mut Scene, session: &str) -> ExchangeId {
    let (exchange, head) = scene.opened_exchange();
    assert_eq!(head.method, Verb::Get);
    assert_eq!(head.headers.get("accept"), Some("text/event-stream"));
    assert_eq!(head.headers.get("mcp-session-id"), Some(session));
    exchange
}

fn lost(error: &CallError) -> bool {
    matches!(error, CallError::Transport(error) if error.kind() == TransportErrorKind::Restarted && error.http_status() == Some(404))
}

/// Answers a request with the status that says that the session is over.
fn forget(scene: &mut Scene, exchange: ExchangeId) {
    scene.head_of(exchange, 404, None);
    scene.ended(exchange);
}

#[test]
fn the_session_is_repeated_in_every_later_request() {
    let mut scene = Scene::with(Wire::Http, Mode::Legacy);
    handshake(&mut scene, "s-1");
    listening(&mut scene, "s-1");
    scene.call(tool_call());
    assert_eq!(scene.request().header("mcp-session-id"), Some("s-1"));
}

#[test]
fn an_expired_session_is_replaced_once_and_the_call_made_again() {
    for with_body in [false, true] {
        let mut scene = Scene::with(Wire::Http, Mode::Legacy);
        handshake(&mut scene, "old");
        let stream = listening(&mut scene, "old");
        let key = scene.call(tool_call());
        let other = scene.call(tool_call());
        let (first, parallel) = (scene.request(), scene.request());
        for sent in [&first, &parallel] {
            scene.head_of(sent.exchange(), 404, with_body.then_some("application/json"));
            if with_body {
                scene.receive(
                    sent.via,
                    Message::Response(Response { id: None, null_id: false, result: Err(error(-32001)) }),
                );
            }
            scene.end(sent);
        }
        assert!(matches!(scene.must(), Output::Abandon(exchange) if exchange == stream));
        handshake(&mut scene, "new");
        for expected in [key, other] {
            let again = scene.request();
            assert_eq!(again.header("mcp-session-id"), Some("new"));
            if expected == other {
                listening(&mut scene, "new");
            }
            if expected == key {
                scene.reply(&again, "{}");
                continue;
            }
            // A second expiry in a row is told.
            scene.head_of(again.exchange(), 404, None);
            scene.end(&again);
        }
        for _ in 0..2 {
            match scene.done() {
                (ended, Ok(_)) => assert_eq!(ended, key),
                (ended, Err(error)) => {
                    assert_eq!(ended, other);
                    assert!(lost(&error), "{error:?}");
                }
            }
        }
        scene.quiet();
    }
}

#[test]
fn a_call_may_be_failed_with_its_session_instead() {
    let mut config = config(Wire::Http, Mode::Legacy);
    config.session_loss = SessionLoss::Fail;
    let mut scene = Scene::new(config);
    handshake(&mut scene, "old");
    let stream = listening(&mut scene, "old");
    let keys = [scene.call(tool_call()), scene.call(tool_call())];
    let sent = [scene.request(), scene.request()];
    forget(&mut scene, sent[0].exchange());
    assert!(matches!(scene.must(), Output::Abandon(exchange) if exchange == stream));
    let initialize = scene.must();
    // An error in the body tells it in other words.
    scene.head_of(sent[1].exchange(), 404, Some("application/json"));
    scene.refuse(&sent[1], error(-32001));
    for key in keys {
        assert!(matches!(scene.done(), (ended, Err(error)) if ended == key && lost(&error)));
    }
    // Later calls have the new session.
    scene.call(tool_call());
    handshake_sent(&mut scene, initialize, "new");
    assert_eq!(scene.request().header("mcp-session-id"), Some("new"));
    listening(&mut scene, "new");
    scene.quiet();
}

#[test]
fn what_the_old_session_knew_is_asked_for_again() {
    let mut scene = Scene::with(Wire::Http, Mode::Legacy);
    handshake(&mut scene, "old");
    listening(&mut scene, "old");
    scene.call(call("resources/subscribe", r#"{"uri":"a:1"}"#));
    let subscribed = scene.request();
    scene.reply(&subscribed, "{}");
    scene.end(&subscribed);
    let _ = scene.done();
    scene.call(tool_call());
    let expired = scene.request();
    forget(&mut scene, expired.exchange());
    assert!(matches!(scene.must(), Output::Abandon(_)));
    handshake(&mut scene, "new");
    let again = scene.request();
    assert_eq!(again.request.method, Method::ResourcesSubscribe);
    assert_eq!(again.header("mcp-session-id"), Some("new"));
    assert_eq!(scene.request().request.method, Method::ToolsCall);
    // Nobody waits for its answer, and its own 404 begins nothing.
    forget(&mut scene, again.exchange());
    listening(&mut scene, "new");
    scene.quiet();
}

#[test]
fn a_stream_that_is_forgotten_begins_a_new_session_once() {
    let mut scene = Scene::with(Wire::Http, Mode::Legacy);
    handshake(&mut scene, "1");
    let mut stream = listening(&mut scene, "1");
    for session in ["2", "3"] {
        scene.head_of(stream, 200, Some("text/event-stream"));
        scene.ended(stream);
        scene.wait(1_000);
        let (again, _) = scene.opened_exchange();
        forget(&mut scene, again);
        if session == "3" {
            break;
        }
        handshake(&mut scene, session);
        stream = listening(&mut scene, session);
    }
    scene.wait(1_000_000);
    scene.quiet();
    // A call that succeeds shows that the session is good.
    scene.call(tool_call());
    let sent = scene.request();
    assert_eq!(sent.header("mcp-session-id"), Some("2"));
    scene.reply(&sent, "{}");
}

#[test]
fn a_stream_that_was_never_there_is_not_asked_for_again_and_that_is_told() {
    for status in [400, 401, 403, 404, 405, 406, 410, 501] {
        let mut scene = Scene::with(Wire::Http, Mode::Legacy);
        handshake(&mut scene, "s");
        let stream = listening(&mut scene, "s");
        scene.head_of(stream, status, None);
        scene.ended(stream);
        assert!(matches!(scene.warned(), Warning::StreamRefused(error) if error.http_status() == Some(status)));
        scene.wait(1_000_000);
        scene.quiet();
    }
}

#[test]
fn a_stream_is_asked_for_again_while_the_server_is_overloaded() {
    for status in [429, 500, 502, 503, 504, 409] {
        let mut scene = Scene::with(Wire::Http, Mode::Legacy);
        handshake(&mut scene, "s");
        let mut stream = listening(&mut scene, "s");
        let mut waited = 0;
        for attempt in 0..11 {
            scene.head_of(stream, status, Some("application/json"));
            scene.ended(stream);
            if attempt < 10 {
                scene.quiet();
                let wait = (1_000 << attempt.min(5)).min(30_000);
                scene.wait(wait - 1);
                scene.quiet();
                scene.wait(1);
                stream = listening(&mut scene, "s");
                waited += wait;
            }
        }
        assert!(matches!(scene.warned(), Warning::StreamRefused(error) if error.http_status() == Some(status)));
        scene.wait(1_000_000);
        scene.quiet();
        assert_eq!(waited, 181_000);
    }
}

#[test]
fn an_overloaded_server_says_when_to_ask_for_the_stream_again() {
    for (seconds, wait) in [("2", 2_000), ("45", 45_000), ("99999999999999999999", 1_000), ("Tue, 01 Dec 2026", 1_000)]
    {
        let mut scene = Scene::with(Wire::Http, Mode::Legacy);
        handshake(&mut scene, "s");
        let stream = listening(&mut scene, "s");
        let mut head = ResponseHead::new(503);
        head.headers.push("Retry-After", seconds);
        scene.handle(Input::Head { exchange: stream, head });
        scene.ended(stream);
        scene.wait(wait - 1);
        scene.quiet();
        scene.wait(1);
        listening(&mut scene, "s");
    }
}

#[test]
fn a_server_that_refuses_to_hear_that_the_client_is_ready_is_opened_only_if_that_is_ignored() {
    for ignore in [false, true] {
        for status in [400, 405, 500] {
            let mut config = config(Wire::Http, Mode::Legacy);
            config.ignore_failed_initialized = ignore;
            let mut scene = Scene::new(config);
            let initialize = scene.request();
            scene.reply(&initialize, HANDSHAKE);
            let (Via::Exchange(exchange), _) = scene.notification_sent() else { panic!() };
            scene.head_of(exchange, status, None);
            scene.quiet();
            scene.ended(exchange);
            if ignore {
                scene.opened_output();
            } else {
                let failed = scene.failed();
                assert!(matches!(failed, OpenError::Transport(error) if error.http_status() == Some(status)));
            }
        }
    }
}

#[test]
fn without_a_session_a_missing_page_is_a_missing_page() {
    let mut scene = Scene::legacy(Wire::Http);
    scene.call(tool_call());
    let sent = scene.request();
    scene.head_of(sent.exchange(), 404, None);
    scene.end(&sent);
    assert!(matches!(scene.done_error(), CallError::Transport(error) if error.http_status() == Some(404)));
}

#[test]
fn closing_ends_the_session_and_tolerates_a_refusal() {
    for answer in [Some(200), Some(405), None] {
        let mut scene = Scene::with(Wire::Http, Mode::Legacy);
        handshake(&mut scene, "s");
        let stream = listening(&mut scene, "s");
        scene.machine.close(scene.now);
        assert!(matches!(scene.must(), Output::Abandon(exchange) if exchange == stream));
        let (exchange, head) = scene.opened_exchange();
        assert_eq!(head.method, Verb::Delete);
        assert_eq!(head.headers.get("mcp-session-id"), Some("s"));
        scene.quiet();
        match answer {
            Some(status) => scene.head_of(exchange, status, None),
            None => scene.wait(2_000),
        }
        assert!(matches!(scene.must(), Output::Close));
        scene.quiet();
    }
}

#[test]
fn a_server_without_a_stream_of_its_own_is_asked_once() {
    let mut scene = Scene::with(Wire::Http, Mode::Legacy);
    handshake(&mut scene, "s");
    let stream = listening(&mut scene, "s");
    scene.head_of(stream, 405, None);
    scene.ended(stream);
    scene.warned();
    scene.wait(100_000);
    scene.quiet();
}

#[test]
fn the_server_s_own_stream_is_taken_up_again_where_it_broke() {
    let mut scene = Scene::with(Wire::Http, Mode::Legacy);
    handshake(&mut scene, "s");
    let stream = listening(&mut scene, "s");
    scene.head_of(stream, 200, Some("text/event-stream"));
    scene.mark(stream, "e7", Some(300));
    scene.receive(
        Via::Exchange(stream),
        Message::Notification(crate::scene::notification("notifications/tools/list_changed", "")),
    );
    assert!(matches!(scene.must(), Output::Notification(_)));
    scene.ended(stream);
    scene.wait(299);
    scene.quiet();
    scene.wait(1);
    let (_, head) = scene.opened_exchange();
    assert_eq!(head.headers.get("last-event-id"), Some("e7"));
}

#[test]
fn a_session_that_is_no_token_is_not_repeated() {
    let mut scene = Scene::with(Wire::Http, Mode::Legacy);
    let initialize = scene.request();
    let headers: Headers = [("Content-Type", "application/json"), ("Mcp-Session-Id", "a b")].into_iter().collect();
    scene.handle(Input::Head { exchange: initialize.exchange(), head: ResponseHead { status: 200, headers } });
    scene.respond(&initialize, Ok(HANDSHAKE));
    match scene.must() {
        Output::Send { head: Some(head), .. } => assert_eq!(head.headers.get("mcp-session-id"), None),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_stream_to_take_up_again_waits_for_the_new_session() {
    let mut scene = Scene::with(Wire::Http, Mode::Legacy);
    handshake(&mut scene, "old");
    let stream = listening(&mut scene, "old");
    scene.call(tool_call());
    scene.call(tool_call());
    let (broken, expired) = (scene.request(), scene.request());
    scene.head_of(broken.exchange(), 200, Some("text/event-stream"));
    scene.mark(broken.exchange(), "e1", Some(500));
    scene.end(&broken);
    scene.head_of(expired.exchange(), 404, None);
    scene.end(&expired);
    assert!(matches!(scene.must(), Output::Abandon(exchange) if exchange == stream));
    let initialize = scene.request();
    scene.wait(500);
    scene.quiet();
    assert!(scene.machine.deadline().is_some_and(|at| at > scene.now), "the machine does not spin");
    scene.respond(&initialize, Ok(HANDSHAKE));
    assert!(matches!(scene.must(), Output::Send { .. }));
}

#[test]
fn a_new_session_does_not_take_up_the_stream_of_the_old_one() {
    let mut scene = Scene::with(Wire::Http, Mode::Legacy);
    handshake(&mut scene, "old");
    let stream = listening(&mut scene, "old");
    scene.head_of(stream, 200, Some("text/event-stream"));
    scene.mark(stream, "e1", None);
    scene.ended(stream);
    scene.call(tool_call());
    let expired = scene.request();
    scene.head_of(expired.exchange(), 404, None);
    scene.end(&expired);
    handshake(&mut scene, "new");
    scene.request();
    let (_, head) = scene.opened_exchange();
    assert_eq!(head.headers.get("last-event-id"), None);
}
