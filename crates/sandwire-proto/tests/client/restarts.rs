use crate::scene::{DISCOVERY, Scene, Sent, call, config, error, notification, raw, tool_call};
use sandwire_proto::{
    PeerInfo, TransportError, TransportErrorKind, Wire,
    client::{CallError, Input, Mode, OpenError, Output},
};
use sandwire_types::{Message, Method, ProtocolVersion};
use std::sync::Arc;

fn restart(scene: &mut Scene) {
    scene.handle(Input::Restarted(TransportError::new(TransportErrorKind::Restarted, "the process was restarted")));
}

fn restarted(error: &CallError) -> bool {
    matches!(error, CallError::Transport(error) if error.kind() == TransportErrorKind::Restarted)
}

fn initialize(scene: &mut Scene) -> Sent {
    let sent = scene.request();
    assert_eq!(sent.request.method, Method::Initialize);
    assert!(sent.request.meta.envelope.is_none());
    sent
}

fn remembering(version: ProtocolVersion) -> Scene {
    Scene::with(Wire::Pipe, Mode::Remembered(Arc::new(PeerInfo::new(version, raw("{}")))))
}

#[test]
fn a_server_that_ends_over_the_probe_is_initialized() {
    let mut scene = Scene::with(Wire::Pipe, Mode::Auto);
    let waiting = scene.call(tool_call());
    let probe = scene.request();
    assert_eq!(probe.request.method, Method::ServerDiscover);
    restart(&mut scene);
    scene.finish_opening();
    let sent = scene.request();
    assert!(sent.request.meta.envelope.is_none());
    // Nobody waits for what the old server may have said.
    scene.reply(&probe, DISCOVERY);
    scene.quiet();
    scene.reply(&sent, "{}");
    assert_eq!(scene.done().0, waiting);
}

#[test]
fn a_server_that_ends_over_the_handshake_cannot_be_opened() {
    for mode in [Mode::Auto, Mode::Legacy] {
        let mut scene = Scene::with(Wire::Pipe, mode.clone());
        if matches!(mode, Mode::Auto) {
            scene.request();
            restart(&mut scene);
        }
        initialize(&mut scene);
        restart(&mut scene);
        assert!(matches!(scene.failed(), OpenError::Transport(error) if error.kind() == TransportErrorKind::Restarted));
        restart(&mut scene);
        scene.quiet();
    }
}

#[test]
fn a_server_that_reads_the_probe_late_and_ends_over_it_is_initialized_once_more() {
    let mut scene = Scene::with(Wire::Pipe, Mode::Auto);
    scene.request();
    scene.wait(10_000);
    let first = initialize(&mut scene);
    restart(&mut scene);
    let second = initialize(&mut scene);
    assert_ne!(first.request.id, second.request.id);
    restart(&mut scene);
    assert!(matches!(scene.failed(), OpenError::Transport(_)));
}

#[test]
fn a_pinned_modern_server_that_ends_over_the_probe_cannot_be_opened() {
    let mut scene = Scene::with(Wire::Pipe, Mode::Pinned(ProtocolVersion::V2026_07_28));
    scene.request();
    restart(&mut scene);
    assert!(matches!(scene.failed(), OpenError::Transport(_)));
}

#[test]
fn what_a_remembered_server_ends_over_may_be_that_it_is_legacy_now() {
    let mut scene = remembering(ProtocolVersion::V2026_07_28);
    scene.opened_output();
    scene.call(tool_call());
    scene.request();
    restart(&mut scene);
    assert!(restarted(&scene.done_error()));
    let waiting = scene.call(tool_call());
    scene.finish_opening();
    let sent = scene.request();
    assert!(sent.request.meta.envelope.is_none());
    scene.reply(&sent, "{}");
    assert_eq!(scene.done().0, waiting);
}

#[test]
fn a_modern_server_needs_no_opening_and_calls_that_were_sent_fail() {
    let mut scene = Scene::modern(Wire::Pipe);
    for _ in 0..3 {
        scene.call(tool_call());
        let lost = scene.request();
        restart(&mut scene);
        assert!(restarted(&scene.done_error()));
        let key = scene.call(tool_call());
        let sent = scene.request();
        assert_ne!(sent.request.id, lost.request.id);
        // What the old server may have said about its call is about no call.
        scene.reply(&lost, r#"{"resultType":"complete"}"#);
        let told = format!(r#"{{"progressToken":{},"progress":1}}"#, lost.request.id);
        scene.server_notification("notifications/progress", &told);
        scene.quiet();
        scene.reply(&sent, r#"{"resultType":"complete"}"#);
        assert_eq!(scene.done().0, key);
    }
}

#[test]
fn a_modern_server_that_is_replaced_by_a_legacy_one_is_opened_anew() {
    let mut scene = Scene::opened(config(Wire::Pipe, Mode::Auto));
    restart(&mut scene);
    scene.call(tool_call());
    let refused = scene.request();
    scene.refuse(&refused, error(-32022));
    assert_eq!(scene.request().request.method, Method::ServerDiscover);
}

#[test]
fn subscriptions_are_made_again_under_new_ids_for_the_same_listener() {
    let mut scene = Scene::modern(Wire::Pipe);
    let key = scene.call(call("subscriptions/listen", r#"{"notifications":{"toolsListChanged":true}}"#));
    let mut ids = vec![scene.request().request.id];
    for _ in 0..2 {
        scene.call(tool_call());
        scene.request();
        restart(&mut scene);
        assert!(restarted(&scene.done_error()));
        let again = scene.request();
        assert_eq!(again.request.method, Method::SubscriptionsListen);
        assert_eq!(again.params(), r#"{"notifications":{"toolsListChanged":true}}"#);
        assert!(!ids.contains(&again.request.id));
        for old in &ids {
            let mut stale = notification("notifications/tools/list_changed", "");
            stale.subscription = Some(old.clone());
            scene.receive(again.via, Message::Notification(stale));
        }
        scene.quiet();
        let mut told = notification("notifications/subscriptions/acknowledged", "");
        told.subscription = Some(again.request.id.clone());
        scene.receive(again.via, Message::Notification(told));
        assert!(matches!(scene.must(), Output::Event { key: told, .. } if told == key));
        ids.push(again.request.id);
    }
    scene.wait(100_000_000);
    scene.quiet();
}

#[test]
fn a_call_that_is_asked_for_input_goes_on_with_the_new_server() {
    let mut scene = Scene::modern(Wire::Pipe);
    let key = scene.call(tool_call());
    let sent = scene.request();
    scene.reply(&sent, r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}"#);
    let (ask, ..) = scene.ask();
    restart(&mut scene);
    scene.quiet();
    scene.machine.answer(scene.now, ask, Ok(raw(r#"{"roots":[]}"#))).unwrap();
    let again = scene.request();
    assert!(again.params().contains(r#""inputResponses":{"a":{"roots":[]}}"#));
    scene.reply(&again, r#"{"resultType":"complete"}"#);
    assert_eq!(scene.done().0, key);
}

#[test]
fn a_legacy_server_is_initialized_again_while_calls_wait() {
    let mut scene = Scene::legacy(Wire::Pipe);
    let lost = scene.call(tool_call());
    scene.request();
    restart(&mut scene);
    let (key, result) = scene.done();
    assert_eq!(key, lost);
    assert!(restarted(&result.unwrap_err()));
    let waiting = scene.call(tool_call());
    scene.finish_opening();
    let sent = scene.request();
    scene.reply(&sent, "{}");
    assert_eq!(scene.done().0, waiting);
}

#[test]
fn subscriptions_and_log_level_are_asked_for_again_before_the_calls_that_waited() {
    let mut scene = Scene::legacy(Wire::Pipe);
    let mut said = |method: &str, params: &str, answer: &str| {
        scene.call(call(method, params));
        let sent = scene.request();
        match answer {
            "" => scene.refuse(&sent, error(-32002)),
            answer => scene.reply(&sent, answer),
        }
        let _ = scene.done();
    };
    said("resources/subscribe", r#"{"uri":"a:1"}"#, "{}");
    said("resources/subscribe", r#"{"uri":"a:2"}"#, "{}");
    said("resources/subscribe", r#"{"uri":"a:3"}"#, "");
    said("resources/subscribe", r#"{"uri":"a:1"}"#, "{}");
    said("resources/subscribe", r#"{"uri":"a:4"}"#, "{}");
    said("resources/unsubscribe", r#"{"uri":"a:2"}"#, "{}");
    said("resources/unsubscribe", r#"{"uri":"a:4"}"#, "");
    said("logging/setLevel", r#"{"level":"debug"}"#, "{}");
    said("logging/setLevel", r#"{"level":"error"}"#, "{}");
    said("logging/setLevel", r#"{"level":"loud"}"#, "");
    for _ in 0..2 {
        restart(&mut scene);
        scene.call(tool_call());
        scene.finish_opening();
        let expected = [
            ("resources/subscribe", r#"{"uri":"a:1"}"#),
            ("resources/subscribe", r#"{"uri":"a:4"}"#),
            ("logging/setLevel", r#"{"level":"error"}"#),
        ];
        for (n, (method, params)) in expected.into_iter().enumerate() {
            let sent = scene.request();
            assert_eq!((sent.request.method.as_str(), sent.params()), (method, params));
            match n {
                0 => scene.reply(&sent, "{}"),
                1 => scene.refuse(&sent, error(-32002)),
                _ => {}
            }
        }
        let sent = scene.request();
        scene.reply(&sent, "{}");
        let _ = scene.done();
        scene.quiet();
    }
    assert_eq!(scene.machine.calls_under_way(), 0);
}

#[test]
fn no_more_subscriptions_are_kept_in_mind_than_the_limit_says() {
    let mut config = config(Wire::Pipe, Mode::Legacy);
    config.limits.max_queue = 2;
    let mut scene = Scene::opened(config);
    for n in 0..5 {
        scene.call(call("resources/subscribe", &format!(r#"{{"uri":"a:{n}"}}"#)));
        let sent = scene.request();
        scene.reply(&sent, "{}");
        let _ = scene.done();
    }
    restart(&mut scene);
    scene.finish_opening();
    for n in 0..2 {
        assert_eq!(scene.request().params(), format!(r#"{{"uri":"a:{n}"}}"#));
    }
    scene.quiet();
}

#[test]
fn what_the_old_server_asked_is_withdrawn() {
    let mut scene = Scene::legacy(Wire::Pipe);
    scene.server_request(5, "roots/list", "");
    let (ask, ..) = scene.ask();
    restart(&mut scene);
    assert!(matches!(scene.must(), Output::Unask(withdrawn) if withdrawn == ask));
    assert!(scene.machine.answer(scene.now, ask, Ok(raw("{}"))).is_err());
    scene.finish_opening();
    scene.quiet();
}

#[test]
fn after_the_end_a_restart_means_nothing() {
    let mut scene = Scene::legacy(Wire::Pipe);
    scene.machine.close(scene.now);
    assert!(matches!(scene.must(), Output::Close));
    restart(&mut scene);
    scene.quiet();
}
