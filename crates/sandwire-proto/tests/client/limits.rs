use crate::scene::{Scene, call, config, notification, raw, tool_call};
use sandwire_proto::{
    ApiMisuse, Limits, Wire,
    client::{CallError, Mode},
};
use sandwire_types::{ErrorCode, ProtocolVersion};

fn limited(limits: Limits) -> Scene {
    let mut config = config(Wire::Pipe, Mode::Pinned(ProtocolVersion::V2025_11_25));
    config.capabilities = raw(r#"{"roots":{}}"#);
    config.limits = limits;
    Scene::opened(config)
}

#[test]
fn calls_in_flight_are_counted() {
    let mut scene = limited(Limits { max_in_flight: 2, ..Limits::default() });
    scene.call(tool_call());
    scene.call(tool_call());
    let refused = scene.machine.request(scene.now, tool_call());
    assert!(matches!(refused, Err(CallError::Misuse(ApiMisuse::TooManyInFlight))));
    let sent = scene.request();
    scene.reply(&sent, "{}");
    scene.call(tool_call());
}

#[test]
fn messages_are_measured() {
    let mut scene = limited(Limits { max_message_bytes: 100, ..Limits::default() });
    let long = format!(r#"{{"text":"{}"}}"#, "x".repeat(100));
    let refused = scene.machine.request(scene.now, call("tools/call", &long));
    assert!(matches!(refused, Err(CallError::Misuse(ApiMisuse::MessageTooLarge))));
    let refused = scene.machine.notify(scene.now, notification("vendor/note", &long));
    assert_eq!(refused, Err(ApiMisuse::MessageTooLarge));
}

#[test]
fn params_are_objects() {
    let mut scene = limited(Limits::default());
    let refused = scene.machine.request(scene.now, call("tools/call", "[1]"));
    assert!(matches!(refused, Err(CallError::Misuse(ApiMisuse::ParamsNotObject))));
}

#[test]
fn the_opening_is_the_machine_s_own_business() {
    let mut scene = limited(Limits::default());
    let refused = scene.machine.request(scene.now, call("initialize", ""));
    assert!(matches!(refused, Err(CallError::Misuse(ApiMisuse::ReservedMethod))));
    for method in ["notifications/initialized", "notifications/cancelled"] {
        assert_eq!(scene.machine.notify(scene.now, notification(method, "")), Err(ApiMisuse::ReservedMethod));
    }
}

#[test]
fn requests_of_the_server_are_counted() {
    let mut scene = limited(Limits { max_peer_requests: 1, ..Limits::default() });
    scene.server_request(1, "roots/list", "");
    let (first, ..) = scene.ask();
    scene.server_request(2, "roots/list", "");
    assert_eq!(scene.response_sent().result.unwrap_err().code, ErrorCode::INTERNAL_ERROR);
    scene.machine.answer(scene.now, first, Ok(raw("{}"))).unwrap();
    scene.response_sent();
    scene.server_request(3, "roots/list", "");
    scene.ask();
}

#[test]
fn notifications_that_wait_for_the_opening_are_counted() {
    let mut config = config(Wire::Pipe, Mode::Legacy);
    config.limits.max_queue = 3;
    let mut scene = Scene::new(config);
    let results: Vec<_> =
        (0..6).map(|_| scene.machine.notify(scene.now, notification("vendor/note", "")).is_ok()).collect();
    assert_eq!(results.iter().filter(|accepted| **accepted).count(), 4);
    assert!(!results[5]);
}
