use crate::scene::{LEGACY, Scene, code_of, config, error_of, initialize, legacy, modern, notification};
use sandwire_types::ProtocolVersion;

#[test]
fn a_legacy_version_that_is_spoken_is_echoed() {
    for version in LEGACY {
        let answer = Scene::new(config()).ask(&initialize(version));
        assert!(
            answer.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":0,"result":{{"protocolVersion":"{version}","#)),
            "{answer}"
        );
    }
}

#[test]
fn an_unknown_or_modern_version_gets_the_newest_legacy_one() {
    for version in ["2099-01-01", "2026-07-28", ""] {
        let answer = Scene::new(config()).ask(&initialize(version));
        assert!(answer.contains(r#""protocolVersion":"2025-11-25""#), "{answer}");
    }
}

#[test]
fn initialization_tells_what_the_server_is() {
    let mut config = config();
    config.instructions = Some("be \"nice\"".into());
    let answer = Scene::new(config).ask(&initialize("2025-11-25"));
    assert!(answer.contains(r#""serverInfo":{"name":"scene","version":"1"}"#), "{answer}");
    assert!(answer.contains(r#""instructions":"be \"nice\"""#), "{answer}");
    assert!(!answer.contains("resultType"), "{answer}");
}

#[test]
fn initialization_without_its_parameters_is_refused_and_may_be_repeated() {
    let mut scene = Scene::new(config());
    for params in ["", r#""protocolVersion":7,"capabilities":{}"#, r#""protocolVersion":"2025-11-25""#] {
        assert_eq!(code_of(&scene.ask(&legacy("1", "initialize", params))), -32602);
    }
    assert!(scene.ask(&initialize("2025-06-18")).contains("result"));
    assert_eq!(code_of(&scene.ask(&initialize("2025-06-18"))), -32600);
}

#[test]
fn before_initialization_only_ping_is_answered() {
    let mut scene = Scene::new(config());
    assert_eq!(scene.ask(&legacy("1", "ping", "")), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert_eq!(code_of(&scene.ask(&legacy("2", "tools/list", ""))), -32602);
    assert_eq!(code_of(&scene.ask(&legacy("3", "no/such", ""))), -32601);
    assert_eq!(scene.tell(&notification("notifications/initialized", "")), [""; 0]);
    assert!(scene.ask(&initialize("2024-11-05")).contains("2024-11-05"));
    assert!(scene.calls.is_empty());
}

#[test]
fn the_first_enveloped_request_makes_the_connection_modern() {
    let mut scene = Scene::new(config());
    scene.begin(&modern("1", "tools/list", ""));
    let refused = scene.ask(&initialize("2025-11-25"));
    assert_eq!(code_of(&refused), -32022);
    assert!(refused.contains(r#""supported":["2026-07-28","2025-11-25","#), "{refused}");
    assert!(refused.contains(r#""requested":"2025-11-25""#), "{refused}");
    let (code, message) = error_of(&scene.ask(&legacy("2", "tools/list", "")));
    assert_eq!(code, -32602);
    assert!(message.contains("io.modelcontextprotocol/protocolVersion"), "{message}");
}

#[test]
fn discovery_alone_decides_nothing() {
    let mut scene = Scene::new(config());
    let found = scene.ask(&modern("\"probe\"", "server/discover", ""));
    assert!(
        found.contains(r#""supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"]"#),
        "{found}"
    );
    assert!(found.contains(r#""resultType":"complete""#), "{found}");
    assert!(found.contains(r#""ttlMs":0,"cacheScope":"private""#), "{found}");
    assert!(found.contains(r#""io.modelcontextprotocol/serverInfo":{"name":"scene","version":"1"}"#), "{found}");
    assert!(scene.ask(&initialize("2025-11-25")).contains("2025-11-25"));
    assert_eq!(code_of(&scene.ask(&modern("1", "tools/list", ""))), -32600);
}

#[test]
fn a_version_that_is_not_spoken_is_answered_with_those_that_are() {
    let mut scene = Scene::new(config());
    let asked = modern("1", "tools/list", "").replace("2026-07-28", "2099-01-01");
    let refused = scene.ask(&asked);
    assert_eq!(code_of(&refused), -32022);
    assert!(refused.contains(r#""requested":"2099-01-01""#), "{refused}");
    assert!(scene.ask(&initialize("2025-11-25")).contains("result"), "an unknown version decides no era");
}

#[test]
fn a_server_may_speak_one_era_only() {
    let mut modern_only = config();
    modern_only.versions = vec![ProtocolVersion::V2026_07_28];
    let refused = Scene::new(modern_only).ask(&initialize("2025-11-25"));
    assert_eq!(code_of(&refused), -32022);
    assert!(refused.contains(r#""supported":["2026-07-28"]"#), "{refused}");

    let mut legacy_only = config();
    legacy_only.versions.retain(|version| *version != ProtocolVersion::V2026_07_28);
    let refused = Scene::new(legacy_only).ask(&modern("1", "server/discover", ""));
    assert_eq!(code_of(&refused), -32022);
    assert!(!refused.contains(r#"["2026-07-28""#), "{refused}");
}

#[test]
fn methods_of_the_other_era_do_not_exist() {
    let mut scene = Scene::modern();
    for method in
        ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "tasks/list"]
    {
        assert_eq!(code_of(&scene.ask(&modern("1", method, ""))), -32601, "{method}");
    }
    for version in LEGACY {
        let mut scene = Scene::legacy(version);
        for method in ["server/discover", "subscriptions/listen", "sampling/createMessage", "no/such"] {
            assert_eq!(code_of(&scene.ask(&legacy("1", method, ""))), -32601, "{method}");
        }
    }
}
