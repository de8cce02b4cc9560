use crate::scene::{Scene, Sent, tool_call};
use sandwire_proto::{
    PeerMisbehaved, TransportErrorKind, Via, Wire,
    client::{CallError, CallKey, Output},
    http::Verb,
};
use sandwire_types::{Message, Method, Response};

fn streaming() -> (Scene, CallKey, Sent) {
    let mut scene = Scene::legacy(Wire::Http);
    let key = scene.call(tool_call());
    let sent = scene.request();
    scene.head_of(sent.exchange(), 200, Some("text/event-stream; charset=utf-8"));
    (scene, key, sent)
}

#[test]
fn a_legacy_stream_is_taken_up_again_after_its_last_event() {
    for retry in [Some(500), None] {
        let (mut scene, key, sent) = streaming();
        scene.mark(sent.exchange(), "e1", retry);
        scene.end(&sent);
        scene.quiet();
        let wait = retry.unwrap_or(1000);
        scene.wait(wait - 1);
        scene.quiet();
        scene.wait(1);
        let (exchange, head) = scene.opened_exchange();
        assert_eq!(head.method, Verb::Get);
        assert_eq!(head.headers.get("last-event-id"), Some("e1"));
        scene.head_of(exchange, 200, Some("text/event-stream"));
        let id = Some(sent.request.id.clone());
        let response = Response { id, null_id: false, result: Ok(crate::scene::reply("{}")) };
        scene.receive(Via::Exchange(exchange), Message::Response(response));
        assert_eq!(scene.done().0, key);
    }
}

#[test]
fn a_stream_without_an_event_id_is_lost() {
    let (mut scene, _, sent) = streaming();
    scene.mark(sent.exchange(), "", Some(10));
    scene.end(&sent);
    assert!(matches!(scene.done_error(), CallError::Misbehaved(PeerMisbehaved::EndedWithoutResponse)));
}

#[test]
fn a_stream_that_brings_nothing_new_is_given_up() {
    let (mut scene, _, sent) = streaming();
    scene.mark(sent.exchange(), "e1", Some(10));
    scene.lost(sent.exchange(), TransportErrorKind::Closed);
    for _ in 0..3 {
        scene.wait(10);
        let (exchange, _) = scene.opened_exchange();
        scene.lost(exchange, TransportErrorKind::Unreachable);
    }
    assert!(matches!(scene.done_error(), CallError::Transport(_)));
    scene.quiet();
}

#[test]
fn a_server_that_does_not_resume_loses_the_call() {
    let (mut scene, _, sent) = streaming();
    scene.mark(sent.exchange(), "e1", Some(10));
    scene.end(&sent);
    scene.wait(10);
    let (exchange, _) = scene.opened_exchange();
    scene.head_of(exchange, 405, None);
    scene.ended(exchange);
    assert!(matches!(scene.done_error(), CallError::Transport(error) if error.http_status() == Some(405)));
}

#[test]
fn a_server_that_is_overloaded_when_it_is_to_resume_is_asked_again() {
    let (mut scene, key, sent) = streaming();
    scene.mark(sent.exchange(), "e1", Some(10));
    scene.end(&sent);
    for status in [503, 429] {
        scene.wait(10);
        let (exchange, head) = scene.opened_exchange();
        assert_eq!(head.headers.get("last-event-id"), Some("e1"));
        scene.head_of(exchange, status, None);
        scene.ended(exchange);
        scene.quiet();
    }
    scene.wait(10);
    let (exchange, _) = scene.opened_exchange();
    let id = Some(sent.request.id.clone());
    scene.head_of(exchange, 200, Some("text/event-stream"));
    let response = Response { id, null_id: false, result: Ok(crate::scene::reply("{}")) };
    scene.receive(Via::Exchange(exchange), Message::Response(response));
    assert_eq!(scene.done().0, key);
}

#[test]
fn a_call_that_waits_to_be_resumed_can_be_cancelled() {
    let (mut scene, key, sent) = streaming();
    scene.mark(sent.exchange(), "e1", None);
    scene.end(&sent);
    scene.machine.cancel(scene.now, key, None);
    assert_eq!(scene.notification_sent().1.method, Method::Cancelled);
    assert!(matches!(scene.done_error(), CallError::Cancelled));
    scene.wait(10_000);
    while let Some(output) = scene.next() {
        assert!(matches!(output, Output::Abandon(_)), "{output:?}");
    }
}
