use crate::scene::{Scene, call, tool_call};
use sandwire_proto::{
    Wire,
    client::{CallError, Mode, Output},
};
use sandwire_types::Method;

#[test]
fn on_a_pipe_the_server_is_told() {
    for mut scene in [Scene::legacy(Wire::Pipe), Scene::modern(Wire::Pipe)] {
        let key = scene.call(tool_call());
        let sent = scene.request();
        scene.machine.cancel(scene.now, key, Some("changed my mind"));
        let (_, told) = scene.notification_sent();
        assert_eq!(told.method, Method::Cancelled);
        let params = told.params.unwrap();
        assert_eq!(params.get("requestId").unwrap().as_str(), sent.request.id.to_string());
        assert_eq!(params.get("reason").unwrap().as_str(), "\"changed my mind\"");
        assert!(matches!(scene.done_error(), CallError::Cancelled));
        scene.reply(&sent, "{}");
        scene.machine.cancel(scene.now, key, None);
        scene.quiet();
    }
}

#[test]
fn over_legacy_http_the_server_is_told_by_a_request_of_its_own() {
    let mut scene = Scene::legacy(Wire::Http);
    let key = scene.call(tool_call());
    let sent = scene.request();
    scene.machine.cancel(scene.now, key, None);
    let (via, told) = scene.notification_sent();
    assert_ne!(via, sent.via);
    assert_eq!(told.method, Method::Cancelled);
    assert!(matches!(scene.done_error(), CallError::Cancelled));
    scene.quiet();
}

#[test]
fn over_modern_http_the_stream_is_closed_and_nothing_said() {
    let mut scene = Scene::modern(Wire::Http);
    let key = scene.call(tool_call());
    let sent = scene.request();
    scene.machine.cancel(scene.now, key, None);
    assert!(matches!(scene.must(), Output::Abandon(exchange) if exchange == sent.exchange()));
    assert!(matches!(scene.done_error(), CallError::Cancelled));
    scene.reply(&sent, "{}");
    scene.end(&sent);
    scene.quiet();
}

#[test]
fn a_key_does_not_cancel_the_next_call_in_the_same_slot() {
    let mut scene = Scene::modern(Wire::Http);
    let first = scene.call(tool_call());
    let sent = scene.request();
    scene.reply(&sent, "{}");
    scene.done_value();
    let second = scene.call(tool_call());
    assert_eq!(first.slot(), second.slot());
    let sent = scene.request();
    scene.machine.cancel(scene.now, first, None);
    scene.quiet();
    scene.reply(&sent, "{}");
    assert_eq!(scene.done().0, second);
}

#[test]
fn a_call_that_was_not_sent_yet_is_cancelled_silently() {
    let mut scene = Scene::with(Wire::Pipe, Mode::Legacy);
    let key = scene.call(tool_call());
    scene.machine.cancel(scene.now, key, None);
    assert_eq!(scene.request().request.method, Method::Initialize);
    assert!(matches!(scene.done_error(), CallError::Cancelled));
    scene.quiet();
}

#[test]
fn a_discovery_is_never_cancelled_on_the_wire() {
    let mut scene = Scene::modern(Wire::Pipe);
    let key = scene.call(call("server/discover", ""));
    scene.request();
    scene.machine.cancel(scene.now, key, None);
    assert!(matches!(scene.done_error(), CallError::Cancelled));
    scene.quiet();
}
