use crate::site::{CAPABILITIES, Site, post, tool};
use sandwire_json::Raw;
use sandwire_proto::server::Config;
use sandwire_server::http::Guard;
use sandwire_types::ProtocolVersion;

fn request(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":"a","method":"{method}","params":{{{params}}}}}"#)
}

fn initialize(version: &str) -> String {
    let params =
        format!(r#""protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}"#);
    request("initialize", &params)
}

#[test]
fn initialization_opens_no_session() {
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let got = Site::new().send(post(&[]), &initialize(version));
        assert_eq!(got.head.status, 200);
        assert_eq!(got.header("content-type"), "application/json");
        assert_eq!(got.header("mcp-session-id"), "");
        assert!(got.body.contains(&format!(r#""protocolVersion":"{version}""#)), "{}", got.body);
        assert!(!got.body.contains("resultType"), "{}", got.body);
    }
    let unknown = Site::new().send(post(&[("MCP-Protocol-Version", "2099-01-01")]), &initialize("2099-01-01"));
    assert!(unknown.body.contains(r#""protocolVersion":"2025-11-25""#), "{}", unknown.body);
}

#[test]
fn a_body_may_begin_with_a_byte_order_mark() {
    let body = format!("\u{feff}{}", request("ping", ""));
    let got = Site::new().send(post(&[("MCP-Protocol-Version", "2025-11-25")]), &body);
    assert_eq!((got.head.status, got.body.as_str()), (200, r#"{"jsonrpc":"2.0","id":"a","result":{}}"#));
}

#[test]
fn the_version_header_says_how_a_request_is_read() {
    let site = Site::new();
    for (version, status) in [
        (None, 200),
        (Some("2025-03-26"), 200),
        (Some("2025-06-18"), 200),
        (Some("2025-11-25"), 200),
        (Some("2024-11-05"), 200),
        (Some("2024-01-01"), 400),
        (Some(""), 400),
    ] {
        let head = version.map_or_else(|| post(&[]), |version| post(&[("MCP-Protocol-Version", version)]));
        for body in [request("tools/list", ""), request("tools/call", &tool("add")), request("ping", "")] {
            let got = site.send(head.clone(), &body);
            assert_eq!(got.head.status, status, "{version:?}: {}", got.body);
            assert!(got.body.contains("\"id\":\"a\""), "{}", got.body);
        }
        let got = site.send(head, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        assert_eq!(got.head.status, if status == 200 { 202 } else { 400 });
    }
}

#[test]
fn errors_of_a_request_are_in_band() {
    let site = Site::new();
    for (method, code) in [("no/such", -32601), ("prompts/list", -32601), ("server/discover", -32601)] {
        let got = site.send(post(&[("MCP-Protocol-Version", "2025-11-25")]), &request(method, ""));
        assert_eq!((got.head.status, got.code()), (200, code), "{method}");
    }
}

#[test]
fn an_unreadable_id_is_null_for_old_versions_and_absent_for_new_ones() {
    let site = Site::new();
    for (version, id) in [("2025-03-26", true), ("2025-06-18", true), ("2025-11-25", false), ("2026-07-28", false)] {
        let got = site.send(post(&[("MCP-Protocol-Version", version)]), "{");
        assert_eq!((got.head.status, got.code()), (400, -32700));
        assert_eq!(got.body.contains("\"id\":null"), id, "{version}: {}", got.body);
    }
    assert!(site.send(post(&[]), "{").body.contains("\"id\":null"));
}

#[test]
fn batches_are_answered_in_one_version_only() {
    let site = Site::new();
    let note = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let batch = format!("[{},{note},{}]", request("ping", ""), request("tools/list", "").replace("\"a\"", "\"b\""));
    let got = site.send(post(&[]), &batch);
    assert_eq!(
        got.body,
        r#"[{"jsonrpc":"2.0","id":"a","result":{}},{"jsonrpc":"2.0","id":"b","result":{"tools":[]}}]"#
    );
    assert_eq!(site.send(post(&[]), &format!("[{note}]")).head.status, 202);
    assert_eq!(site.send(post(&[]), &format!("[{}]", initialize("2025-03-26"))).code(), -32600);
    for version in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let got = site.send(post(&[("MCP-Protocol-Version", version)]), &batch);
        assert_eq!((got.head.status, got.code()), (400, -32600));
    }
    let loud = request("tools/call", &format!(r#"{},"_meta":{{"progressToken":1}}"#, tool("loud")));
    let got = site.send(post(&[]), &format!("[{loud},{}]", request("ping", "").replace("\"a\"", "\"b\"")));
    assert_eq!(got.header("content-type"), "text/event-stream");
    assert_eq!(got.body.matches("data: ").count(), 4, "{}", got.body);
}

#[test]
fn a_bad_message_in_a_batch_is_answered_by_itself() {
    let site = Site::new();
    let items = [
        request("ping", ""),
        r#"{"jsonrpc":"1.0","id":"b","method":"ping"}"#.into(),
        "7".into(),
        initialize("2025-03-26").replace("\"a\"", "\"c\""),
        r#"{"jsonrpc":"2.0","method":7}"#.into(),
        request("tools/list", "").replace("\"a\"", "\"d\""),
    ];
    let got = site.send(post(&[]), &format!("[{}]", items.join(",")));
    assert_eq!(got.head.status, 200);
    let answers: Vec<_> = got.body.split(r#"{"jsonrpc":"2.0","id":"#).skip(1).collect();
    let is_error = |answer: &&str| answer.contains(r#""error":{"code":-32600,"#);
    assert_eq!(answers.iter().map(is_error).collect::<Vec<_>>(), [false, true, true, true, true, false]);
    let ids: Vec<_> = answers.iter().filter_map(|answer| answer.split(',').next()).collect();
    assert_eq!(ids, [r#""a""#, r#""b""#, "null", r#""c""#, "null", r#""d""#]);
}

#[test]
fn nothing_is_promised_that_could_follow_a_request() {
    let site = Site::new();
    let opened = site.send(post(&[]), &initialize("2025-11-25"));
    assert!(!opened.body.contains("listChanged") && !opened.body.contains("\"subscribe\""), "{}", opened.body);
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        let got = site.send(post(&[]), &request(method, r#""uri":"a:b""#));
        assert_eq!((got.head.status, got.code()), (200, -32601), "{method}: {}", got.body);
        assert!(got.body.contains("nothing can follow"), "{}", got.body);
    }
}

#[test]
fn questions_to_the_client_are_refused() {
    let got = Site::new().send(post(&[]), &request("tools/call", &tool("ask")));
    assert_eq!(got.head.status, 200);
    assert!(got.code() != 0);
}

#[test]
fn responses_of_the_client_are_accepted() {
    let got = Site::new().send(post(&[]), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert_eq!(got.head.status, 202);
}

#[test]
fn a_modern_server_names_its_versions_to_a_legacy_client() {
    let mut config = Config::new(Raw::from_valid(r#"{"name":"site","version":"1"}"#), Raw::from_valid(CAPABILITIES));
    config.versions = vec![ProtocolVersion::V2026_07_28];
    let site = Site::of(config, Guard::default());
    let got = site.send(post(&[]), &initialize("2025-11-25"));
    assert_eq!((got.head.status, got.code()), (400, -32022));
    assert!(got.body.contains(r#""supported":["2026-07-28"]"#), "{}", got.body);
    let got = site.send(post(&[]), &request("tools/list", ""));
    assert_eq!((got.head.status, got.code()), (400, -32022));
}
