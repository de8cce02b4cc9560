//! What a client answers that was compiled without what it would need. Run by `cargo xtask features`.
#![cfg(not(any(feature = "asks", feature = "listen", feature = "resume")))]
#![allow(missing_docs, dead_code, unreachable_pub, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "client/scene.rs"]
mod scene;

use sandwire_proto::{
    ApiMisuse, PeerIncompatible, TransportErrorKind, Via, Wire,
    client::{CallError, Mode},
};
use sandwire_types::{ErrorCode, Message, Method, ProtocolVersion, RequestId};
use scene::{HANDSHAKE, Scene, call, notification, tool_call};

#[test]
fn what_a_legacy_server_asks_does_not_exist() {
    let mut scene = Scene::legacy(Wire::Pipe);
    for (id, method) in ["elicitation/create", "sampling/createMessage", "roots/list", "x/unknown"].iter().enumerate() {
        scene.server_request(id as i64, method, "{}");
        let refused = scene.response_sent();
        assert_eq!(refused.id, Some(RequestId::Number(id as i64)));
        assert_eq!(refused.result.unwrap_err().code, ErrorCode::METHOD_NOT_FOUND, "{method}");
    }
    scene.server_request(9, "ping", "");
    assert_eq!(scene.response_sent().result.unwrap().value.as_str(), "{}");
    scene.quiet();
}

#[test]
fn a_modern_result_that_asks_for_input_fails_the_call() {
    let mut scene = Scene::modern(Wire::Pipe);
    scene.call(tool_call());
    let sent = scene.request();
    let asks = r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list","params":{}}}}"#;
    scene.reply(&sent, asks);
    assert!(matches!(scene.done_error(), CallError::Incompatible(PeerIncompatible::NeedsInput)));
    scene.call(tool_call());
    let sent = scene.request();
    scene.reply(&sent, r#"{"resultType":"complete","content":[]}"#);
    assert!(scene.done_value().contains("content"), "the connection goes on");
}

#[test]
fn no_stream_is_opened_for_what_belongs_to_no_call() {
    let mut scene = Scene::with(Wire::Http, Mode::Pinned(ProtocolVersion::V2025_11_25));
    let opening = scene.request();
    scene.reply(&opening, HANDSHAKE);
    scene.end(&opening);
    let (Via::Exchange(exchange), told) = scene.notification_sent() else { panic!("told on a pipe") };
    assert_eq!(told.method, Method::Initialized);
    scene.accepted(exchange);
    scene.opened_output();
    scene.wait(60_000);
    scene.quiet();
}

#[test]
fn a_subscription_is_refused() {
    let mut scene = Scene::modern(Wire::Pipe);
    let listen = call("subscriptions/listen", r#"{"notifications":{"toolsListChanged":true}}"#);
    let refused = scene.machine.request(scene.now, listen);
    assert!(matches!(refused, Err(CallError::Misuse(ApiMisuse::NoSubscriptions))));
    let mut event = notification("notifications/tools/list_changed", "");
    event.subscription = Some(RequestId::Number(1));
    scene.receive(Via::Pipe, Message::Notification(event));
    scene.quiet();
}

#[test]
fn a_stream_that_breaks_fails_its_call() {
    let mut scene = Scene::modern(Wire::Http);
    scene.call(tool_call());
    let exchange = scene.request().exchange();
    scene.head_of(exchange, 200, Some("text/event-stream"));
    scene.mark(exchange, "7", Some(10));
    scene.lost(exchange, TransportErrorKind::Closed);
    assert!(matches!(scene.done_error(), CallError::Transport(_)));
    scene.wait(60_000);
    scene.quiet();
}
