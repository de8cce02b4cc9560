//! The transport of the oldest servers is found out.

use crate::scene::{HANDSHAKE, Scene, Sent, config, error, raw, tool_call};
use sandwire_proto::{
    PeerInfo, TransportError, TransportErrorKind, Via, Wire,
    client::{CallError, Input, Mode, OpenError, Output},
};
use sandwire_types::{Method, ProtocolVersion};
use std::sync::Arc;

/// A client whose `initialize` over HTTP was sent.
fn initializing() -> (Scene, Sent) {
    let mut scene = Scene::with(Wire::Http, Mode::Auto);
    let probe = scene.request();
    scene.head_of(probe.exchange(), 404, Some("text/plain"));
    scene.end(&probe);
    let initialize = scene.request();
    assert_eq!(initialize.request.method, Method::Initialize);
    (scene, initialize)
}

/// The request that follows on the other link.
fn downgraded(scene: &mut Scene) -> Sent {
    assert!(matches!(scene.must(), Output::Downgrade));
    let again = scene.request();
    assert_eq!(again.request.method, Method::Initialize);
    assert_eq!(again.via, Via::Pipe);
    assert!(again.head.is_none());
    scene.quiet();
    again
}

fn refused(status: u16) -> (Scene, Sent) {
    let (mut scene, initialize) = initializing();
    scene.head_of(initialize.exchange(), status, None);
    scene.end(&initialize);
    let again = downgraded(&mut scene);
    (scene, again)
}

fn failure(kind: TransportErrorKind) -> Option<TransportError> {
    Some(TransportError::new(kind, "scripted"))
}

#[test]
fn a_server_that_refuses_a_post_may_have_two_addresses() {
    for status in [400, 404, 405] {
        let (mut scene, initialize) = refused(status);
        let key = scene.call(tool_call());
        scene.reply(&initialize, &HANDSHAKE.replace("2025-11-25", "2024-11-05"));
        assert_eq!(scene.notification_sent().0, Via::Pipe);
        scene.opened_output();
        let sent = scene.request();
        assert_eq!(sent.via, Via::Pipe);
        scene.reply(&sent, "{}");
        assert_eq!(scene.done().0, key);
        // There is no session to end, and no stream to drop.
        scene.machine.close(scene.now);
        assert!(matches!(scene.must(), Output::Close));
        scene.quiet();
    }
}

#[test]
fn an_error_of_such_a_server_in_the_body_changes_nothing() {
    for code in [-32000, -32600, -32700] {
        let (mut scene, initialize) = initializing();
        scene.head_of(initialize.exchange(), 400, Some("application/json"));
        scene.refuse(&initialize, error(code));
        downgraded(&mut scene);
    }
}

#[test]
fn a_modern_error_and_other_statuses_are_what_they_say() {
    for code in [-32020, -32021, -32022] {
        let (mut scene, initialize) = initializing();
        scene.head_of(initialize.exchange(), 400, Some("application/json"));
        scene.refuse(&initialize, error(code));
        assert!(matches!(scene.failed(), OpenError::Refused(_)));
    }
    for status in [401, 403, 406, 429, 500, 503] {
        let (mut scene, initialize) = initializing();
        scene.head_of(initialize.exchange(), status, None);
        scene.end(&initialize);
        assert!(matches!(scene.failed(), OpenError::Transport(error) if error.http_status() == Some(status)));
    }
    // The same error under a status of success is no sign either.
    let (mut scene, initialize) = initializing();
    scene.head_of(initialize.exchange(), 200, Some("application/json"));
    scene.refuse(&initialize, error(-32601));
    assert!(matches!(scene.failed(), OpenError::Refused(_)));
}

#[test]
fn a_pinned_legacy_version_and_a_remembered_server_may_be_found_so_too() {
    let peer = Arc::new(PeerInfo::new(ProtocolVersion::V2024_11_05, raw("{}")));
    for mode in [Mode::Legacy, Mode::Pinned(ProtocolVersion::V2024_11_05), Mode::Remembered(peer)] {
        let mut scene = Scene::with(Wire::Http, mode.clone());
        let initialize = scene.request();
        scene.head_of(initialize.exchange(), 405, None);
        scene.end(&initialize);
        let again = downgraded(&mut scene);
        assert_eq!(again.params().contains("2024-11-05"), matches!(mode, Mode::Pinned(_)));
    }
}

#[test]
fn what_was_refused_is_told_if_the_server_is_none_of_those() {
    let closes = [
        None,
        failure(TransportErrorKind::Status),
        failure(TransportErrorKind::Other),
        failure(TransportErrorKind::Closed),
    ];
    for close in closes {
        let (mut scene, _) = refused(404);
        scene.handle(Input::Closed(close));
        match scene.must() {
            Output::Failed(error) => {
                assert!(matches!(&*error, OpenError::Transport(error) if error.http_status() == Some(404)));
            }
            other => panic!("{other:?}"),
        }
    }
    let (mut scene, _) = refused(405);
    scene.wait(9_999);
    scene.quiet();
    scene.wait(1);
    assert!(matches!(scene.failed(), OpenError::Transport(error) if error.http_status() == Some(405)));
}

#[test]
fn what_is_known_of_the_other_transport_is_told_itself() {
    for kind in [TransportErrorKind::Malformed, TransportErrorKind::Unauthorized] {
        let (mut scene, _) = refused(404);
        scene.handle(Input::Closed(failure(kind)));
        assert!(matches!(scene.must(), Output::Failed(error)
            if matches!(&*error, OpenError::Transport(error) if error.kind() == kind)));
    }
    let (mut scene, again) = refused(404);
    let error = TransportError::status(500, None);
    scene.handle(Input::Unsent { id: again.request.id.clone(), error });
    assert!(matches!(scene.failed(), OpenError::Transport(error) if error.http_status() == Some(500)));
    let (mut scene, again) = refused(404);
    scene.refuse(&again, crate::scene::error(-32602));
    assert!(matches!(scene.failed(), OpenError::Refused(_)));
}

#[test]
fn a_connection_that_was_open_is_not_taken_for_another_transport() {
    let mut scene = Scene::new(config(Wire::Http, Mode::Legacy));
    let initialize = scene.request();
    let headers = [("content-type", "application/json"), ("mcp-session-id", "s")].into_iter().collect();
    let head = sandwire_proto::http::ResponseHead { status: 200, headers };
    scene.handle(Input::Head { exchange: initialize.exchange(), head });
    scene.respond(&initialize, Ok(HANDSHAKE));
    let (Via::Exchange(told), _) = scene.notification_sent() else { panic!("told on a pipe") };
    scene.accepted(told);
    scene.opened_output();
    let (listening, _) = scene.opened_exchange();
    scene.head_of(listening, 405, None);
    scene.ended(listening);
    scene.warned();
    // The server forgets the session, and then everything.
    scene.call(tool_call());
    for _ in 0..2 {
        let sent = scene.request();
        scene.head_of(sent.exchange(), 404, None);
        scene.end(&sent);
    }
    assert!(matches!(scene.done_error(), CallError::Open(_)));
    scene.failed();
}

#[test]
fn a_stream_that_is_made_anew_is_opened_anew() {
    let (mut scene, initialize) = refused(404);
    scene.reply(&initialize, HANDSHAKE);
    scene.notification_sent();
    scene.opened_output();
    scene.call(tool_call());
    scene.request();
    scene.handle(Input::Restarted(TransportError::new(TransportErrorKind::Restarted, "the stream ended")));
    assert!(matches!(scene.done_error(), CallError::Transport(_)));
    scene.finish_opening();
    // Its answer has all the time of any other.
    scene.handle(Input::Restarted(TransportError::new(TransportErrorKind::Restarted, "the stream ended")));
    assert_eq!(scene.request().request.method, Method::Initialize);
    scene.wait(59_999);
    scene.quiet();
}
