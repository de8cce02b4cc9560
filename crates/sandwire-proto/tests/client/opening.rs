use crate::scene::{DISCOVERY, HANDSHAKE, Scene, error, raw, tool_call};
use sandwire_proto::{
    PeerIncompatible, PeerInfo, TransportErrorKind, Via, Wire,
    client::{CallError, Config, Input, Mode, OpenError, Output},
};
use sandwire_types::{ErrorObject, Method, ProtocolVersion};
use std::sync::Arc;

fn unsupported(versions: &str) -> ErrorObject {
    error(-32022).with_data(raw(&format!(r#"{{"supported":{versions},"requested":"2026-07-28"}}"#)))
}

fn probed(wire: Wire) -> (Scene, crate::scene::Sent) {
    let mut scene = Scene::with(wire, Mode::Auto);
    let probe = scene.request();
    assert_eq!(probe.request.method, Method::ServerDiscover);
    (scene, probe)
}

fn falls_back(scene: &mut Scene) {
    let initialize = scene.request();
    assert_eq!(initialize.request.method, Method::Initialize);
    assert!(initialize.params().starts_with(r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":"#));
    assert!(initialize.request.meta.envelope.is_none());
    assert_eq!(initialize.header("mcp-protocol-version"), None);
    scene.quiet();
}

#[test]
fn a_modern_server_is_found_by_discovery() {
    for wire in [Wire::Pipe, Wire::Http] {
        let (mut scene, probe) = probed(wire);
        let envelope = probe.request.meta.envelope.clone().unwrap();
        assert_eq!(envelope.version(), "2026-07-28");
        assert_eq!(envelope.capabilities().as_str(), "{}");
        scene.reply(&probe, DISCOVERY);
        scene.opened_output();
        let peer = scene.machine.peer().unwrap();
        assert_eq!(peer.version, ProtocolVersion::V2026_07_28);
        assert_eq!(peer.capabilities.as_str(), r#"{"tools":{}}"#);
        scene.quiet();
    }
}

#[test]
fn no_single_error_code_decides_for_a_legacy_server() {
    for code in [-32601, -32602, -32600, -32000, -32001, 0, -32020] {
        for wire in [Wire::Pipe, Wire::Http] {
            let (mut scene, probe) = probed(wire);
            scene.refuse(&probe, error(code));
            falls_back(&mut scene);
        }
    }
}

#[test]
fn a_discovery_that_cannot_be_read_means_a_legacy_server() {
    let (mut scene, probe) = probed(Wire::Pipe);
    scene.reply(&probe, "{}");
    falls_back(&mut scene);
}

#[test]
fn a_server_that_lists_only_legacy_versions_is_initialized() {
    let (mut scene, probe) = probed(Wire::Pipe);
    scene.reply(&probe, r#"{"supportedVersions":["2025-11-25"],"capabilities":{}}"#);
    falls_back(&mut scene);
}

#[test]
fn a_refused_version_is_replaced_by_a_mutual_one() {
    let (mut scene, probe) = probed(Wire::Http);
    scene.refuse(&probe, unsupported(r#"["2099-01-01","2026-07-28"]"#));
    let again = scene.request();
    assert_eq!(again.request.method, Method::ServerDiscover);
    assert_ne!(again.request.id, probe.request.id);
    scene.refuse(&again, unsupported(r#"["2026-07-28","2025-11-25"]"#));
    falls_back(&mut scene);
}

#[test]
fn a_modern_server_without_a_common_version_is_not_called_legacy() {
    let (mut scene, probe) = probed(Wire::Http);
    scene.refuse(&probe, unsupported(r#"["2099-01-01"]"#));
    assert!(matches!(scene.failed(), OpenError::Incompatible(PeerIncompatible::NoCommonVersion)));
}

#[test]
fn a_refusal_that_lists_legacy_versions_means_a_legacy_handshake() {
    let (mut scene, probe) = probed(Wire::Http);
    scene.refuse(&probe, unsupported(r#"["2025-06-18"]"#));
    falls_back(&mut scene);
}

#[test]
fn a_bare_client_error_means_a_legacy_server() {
    for status in [400, 404, 405, 406, 415] {
        let (mut scene, probe) = probed(Wire::Http);
        scene.head_of(probe.exchange(), status, Some("text/plain"));
        scene.end(&probe);
        falls_back(&mut scene);
    }
}

#[test]
fn an_outage_or_a_missing_authorization_is_no_verdict() {
    for status in [401, 403, 429, 500, 502, 503] {
        let (mut scene, probe) = probed(Wire::Http);
        scene.head_of(probe.exchange(), status, None);
        scene.end(&probe);
        match scene.failed() {
            OpenError::Transport(error) => assert_eq!(error.http_status(), Some(status)),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn an_error_in_the_body_of_a_refusal_is_no_verdict_either() {
    for status in [401, 503] {
        let (mut scene, probe) = probed(Wire::Http);
        scene.head_of(probe.exchange(), status, Some("application/json"));
        scene.refuse(&probe, error(-32000));
        assert!(matches!(scene.failed(), OpenError::Transport(_)));
    }
}

#[test]
fn a_network_error_is_no_verdict_but_a_browser_s_silence_is() {
    let (mut scene, probe) = probed(Wire::Http);
    scene.lost(probe.exchange(), TransportErrorKind::Unreachable);
    assert!(matches!(scene.failed(), OpenError::Transport(_)));

    let (mut scene, probe) = probed(Wire::Http);
    scene.lost(probe.exchange(), TransportErrorKind::Opaque);
    falls_back(&mut scene);
}

#[test]
fn silence_means_legacy_on_a_pipe_and_failure_over_http() {
    let (mut scene, probe) = probed(Wire::Pipe);
    scene.wait(10_000);
    // The probe is not cancelled: a legacy server would not know what that is about.
    falls_back(&mut scene);
    scene.reply(&probe, DISCOVERY);
    scene.quiet();

    let (mut scene, _) = probed(Wire::Http);
    scene.wait(10_000);
    assert!(matches!(scene.failed(), OpenError::Timeout));
}

#[test]
fn the_handshake_accepts_every_legacy_version_and_no_other() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut scene = Scene::with(Wire::Pipe, Mode::Legacy);
        let initialize = scene.request();
        scene.reply(&initialize, &HANDSHAKE.replace("2025-11-25", version));
        assert_eq!(scene.notification_sent().1.method, Method::Initialized);
        scene.opened_output();
        assert_eq!(scene.machine.peer().unwrap().version.as_str(), version);
    }
    for version in ["1999-01-01", "2026-07-28"] {
        let mut scene = Scene::with(Wire::Pipe, Mode::Legacy);
        let initialize = scene.request();
        scene.reply(&initialize, &HANDSHAKE.replace("2025-11-25", version));
        assert!(matches!(scene.failed(), OpenError::Incompatible(PeerIncompatible::NoCommonVersion)));
    }
}

#[test]
fn initialize_refused_by_a_modern_server_leads_to_one_more_probe() {
    let (mut scene, probe) = probed(Wire::Pipe);
    scene.wait(10_000);
    let initialize = scene.request();
    scene.refuse(&initialize, unsupported(r#"["2026-07-28"]"#));
    let again = scene.request();
    assert_eq!(again.request.method, Method::ServerDiscover);
    scene.reply(&again, DISCOVERY);
    scene.opened_output();
    drop(probe);
}

#[test]
fn a_modern_server_that_starts_slowly_is_probed_again_after_it_refuses_initialize() {
    let (mut scene, probe) = probed(Wire::Pipe);
    scene.wait(10_000);
    let initialize = scene.request();
    // Its answer to the probe comes late and is for nobody.
    scene.reply(&probe, DISCOVERY);
    scene.refuse(&initialize, error(-32601));
    let again = scene.request();
    assert_eq!(again.request.method, Method::ServerDiscover);
    scene.reply(&again, DISCOVERY);
    scene.opened_output();

    // A server that has answered the probe is not asked again.
    let (mut scene, probe) = probed(Wire::Pipe);
    scene.refuse(&probe, error(-32601));
    let initialize = scene.request();
    scene.refuse(&initialize, error(-32601));
    assert!(matches!(scene.failed(), OpenError::Refused(_)));
}

#[test]
fn a_silent_server_that_refuses_the_second_probe_too_cannot_be_opened() {
    let (mut scene, _) = probed(Wire::Pipe);
    for expected in [Some(Method::ServerDiscover), None] {
        scene.wait(10_000);
        let initialize = scene.request();
        assert_eq!(initialize.request.method, Method::Initialize);
        scene.refuse(&initialize, error(-32601));
        if let Some(method) = expected {
            assert_eq!(scene.request().request.method, method);
        }
    }
    assert!(matches!(scene.failed(), OpenError::Refused(_)));
}

#[test]
fn initialize_is_never_cancelled() {
    let mut scene = Scene::with(Wire::Pipe, Mode::Legacy);
    scene.request();
    scene.wait(60_000);
    assert!(matches!(scene.failed(), OpenError::Timeout));
    scene.quiet();
}

#[test]
fn a_pinned_version_is_spoken_or_nothing() {
    let mut scene = Scene::with(Wire::Pipe, Mode::Pinned(ProtocolVersion::V2025_06_18));
    let initialize = scene.request();
    assert!(initialize.params().contains("2025-06-18"));
    scene.reply(&initialize, HANDSHAKE);
    assert!(matches!(scene.failed(), OpenError::Incompatible(PeerIncompatible::PinnedVersion)));

    let mut scene = Scene::with(Wire::Pipe, Mode::Pinned(ProtocolVersion::V2026_07_28));
    let probe = scene.request();
    scene.refuse(&probe, error(-32601));
    assert!(matches!(scene.failed(), OpenError::Refused(_)));
}

#[test]
fn a_remembered_modern_server_is_asked_nothing() {
    let peer = Arc::new(PeerInfo::new(ProtocolVersion::V2026_07_28, raw("{}")));
    let mut scene = Scene::with(Wire::Pipe, Mode::Remembered(peer));
    scene.opened_output();
    let call = scene.call(tool_call());
    let sent = scene.request();
    assert!(sent.request.meta.envelope.is_some());
    // It turns out that the server has changed.
    scene.refuse(&sent, unsupported(r#"["2099-01-01"]"#));
    let probe = scene.request();
    assert_eq!(probe.request.method, Method::ServerDiscover);
    scene.refuse(&probe, error(-32601));
    scene.finish_opening();
    let again = scene.request();
    assert_eq!(again.request.method, Method::ToolsCall);
    assert!(again.request.meta.envelope.is_none());
    scene.reply(&again, r#"{"content":[]}"#);
    assert_eq!(scene.done().0, call);
}

#[test]
fn a_remembered_legacy_server_is_not_probed() {
    let peer = Arc::new(PeerInfo::new(ProtocolVersion::V2025_06_18, raw("{}")));
    let mut scene = Scene::with(Wire::Pipe, Mode::Remembered(peer));
    falls_back(&mut scene);
}

#[test]
fn calls_made_before_the_opening_is_over_wait_and_keep_their_order() {
    let mut scene = Scene::with(Wire::Pipe, Mode::Legacy);
    let first = scene.call(tool_call());
    let second = scene.call(tool_call());
    let initialize = scene.request();
    scene.quiet();
    scene.reply(&initialize, HANDSHAKE);
    scene.notification_sent();
    scene.opened_output();
    let (a, b) = (scene.request(), scene.request());
    scene.reply(&b, "{}");
    scene.reply(&a, "{}");
    assert_eq!(scene.done().0, second);
    assert_eq!(scene.done().0, first);
}

#[test]
fn calls_that_wait_fail_with_the_opening() {
    let mut scene = Scene::with(Wire::Http, Mode::Auto);
    let call = scene.call(tool_call());
    let probe = scene.request();
    scene.head_of(probe.exchange(), 503, None);
    scene.end(&probe);
    let (key, result) = scene.done();
    assert_eq!(key, call);
    assert!(matches!(result, Err(CallError::Open(_))));
    scene.failed();
    assert!(matches!(scene.machine.request(scene.now, tool_call()), Err(CallError::Open(_))));
    scene.quiet();
}

#[test]
fn a_link_that_closes_during_the_opening_fails_it() {
    let mut scene = Scene::new(Config::new("test", "1"));
    scene.request();
    scene.handle(Input::Closed(None));
    assert!(matches!(scene.must(), Output::Failed(error) if matches!(*error, OpenError::Closed)));
}

#[test]
fn a_ping_during_the_handshake_is_answered() {
    let mut scene = Scene::with(Wire::Pipe, Mode::Legacy);
    scene.request();
    scene.server_request(1, "ping", "");
    assert_eq!(scene.response_sent().result.unwrap().value.as_str(), "{}");
}

#[test]
fn over_http_nothing_is_called_before_the_server_knows_that_the_client_is_ready() {
    let mut scene = Scene::with(Wire::Http, Mode::Legacy);
    scene.call(tool_call());
    let initialize = scene.request();
    scene.reply(&initialize, HANDSHAKE);
    let (via, _) = scene.notification_sent();
    scene.quiet();
    let Via::Exchange(exchange) = via else { panic!() };
    scene.head_of(exchange, 202, None);
    scene.opened_output();
    assert_eq!(scene.request().request.method, Method::ToolsCall);
    scene.opened_exchange();
}

#[test]
fn a_pinned_version_that_was_refused_and_is_listed_is_asked_for_once_more() {
    for (list, again) in [(r#"["2026-07-28"]"#, true), (r#"["2027-01-01"]"#, false)] {
        let mut scene = Scene::with(Wire::Http, Mode::Pinned(ProtocolVersion::V2026_07_28));
        let probe = scene.request();
        scene.head_of(probe.exchange(), 400, Some("application/json"));
        scene.refuse(&probe, unsupported(list));
        if again {
            let second = scene.request();
            assert_eq!(second.header("mcp-protocol-version"), Some("2026-07-28"));
            scene.refuse(&second, unsupported(list));
        }
        assert!(matches!(scene.failed(), OpenError::Incompatible(PeerIncompatible::PinnedVersion)));
    }
}
