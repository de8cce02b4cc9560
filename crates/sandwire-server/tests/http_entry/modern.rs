use crate::site::{Site, modern, post, tool};

#[test]
fn a_request_is_answered_with_json() {
    let got = Site::new().modern("tools/call", &tool("add"));
    assert_eq!(got.head.status, 200);
    assert_eq!(got.header("content-type"), "application/json");
    assert_eq!(
        got.body,
        r#"{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","content":[{"type":"text","text":"add"}],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"site","version":"1"}}}}"#
    );
    let got = Site::new().modern("tools/list", "");
    assert!(got.body.contains(r#""ttlMs":0,"cacheScope":"private""#), "{}", got.body);
    assert!(Site::new().modern("server/discover", "").body.contains("supportedVersions"));
}

#[test]
fn faults_are_reported_in_order() {
    let site = Site::new();
    let (good, body) = modern("tools/call", &tool("add"));
    let with = |name: &'static str, value: &str| {
        let mut head = good.clone();
        head.headers.set(name, value);
        head
    };
    let without = |name: &str| {
        let mut head = good.clone();
        head.headers.remove(name);
        head
    };
    let twice = |name: &'static str| {
        let mut head = good.clone();
        let value = head.headers.get(name).unwrap().to_owned();
        head.headers.push(name, value);
        head
    };
    let v999 = body.replace("2026-07-28", "v999");
    let no_capabilities = body.replace("io.modelcontextprotocol/clientCapabilities", "x");
    for (what, head, body, status, code) in [
        ("not JSON", good.clone(), "{", 400, -32700),
        ("not a message", good.clone(), "7", 400, -32600),
        ("a batch", good.clone(), &format!("[{body}]"), 400, -32600),
        ("an empty batch", good.clone(), "[]", 400, -32600),
        ("a response", good.clone(), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, 400, -32600),
        ("a null id", good.clone(), &body.replace("\"id\":7", "\"id\":null"), 400, -32600),
        ("half an envelope", good.clone(), &no_capabilities, 400, -32602),
        ("no envelope", good.clone(), r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{}}"#, 400, -32602),
        ("two versions", twice("MCP-Protocol-Version"), &body, 400, -32020),
        ("two methods", twice("Mcp-Method"), &body, 400, -32020),
        ("two names", twice("Mcp-Name"), &body, 400, -32020),
        ("another version in the header", with("MCP-Protocol-Version", "2025-11-25"), &body, 400, -32020),
        ("another version in the body", good.clone(), &v999, 400, -32020),
        ("an unknown version in both", with("MCP-Protocol-Version", "v999"), &v999, 400, -32022),
        ("an unknown version in the body, none in the header", without("MCP-Protocol-Version"), &v999, 400, -32022),
        ("no version header", without("MCP-Protocol-Version"), &body, 400, -32020),
        ("no method header", without("Mcp-Method"), &body, 400, -32020),
        ("another method", with("Mcp-Method", "tools/list"), &body, 400, -32020),
        ("a method in another case", with("Mcp-Method", "Tools/Call"), &body, 400, -32020),
        ("no name header", without("Mcp-Name"), &body, 400, -32020),
        ("another name", with("Mcp-Name", "sub"), &body, 400, -32020),
        ("a name that is no base64", with("Mcp-Name", "=?base64?YWR!?="), &body, 400, -32020),
        ("a name in base64", with("Mcp-Name", "=?base64?YWRk?="), &body, 200, 0),
        ("a name with space around it", with("Mcp-Name", " add\t"), &body, 200, 0),
    ] {
        let got = site.send(head, body);
        assert_eq!(got.head.status, status, "{what}: {}", got.body);
        assert_eq!(got.header("content-type"), "application/json", "{what}");
        if status != 200 {
            assert_eq!(got.code(), code, "{what}: {}", got.body);
            let has_id = !matches!(code, -32700 | -32600);
            assert_eq!(got.body.contains("\"id\":7"), has_id, "{what}: {}", got.body);
            assert!(!got.body.contains("\"id\":null"), "{what}: {}", got.body);
        }
    }
}

#[test]
fn an_unsupported_version_is_answered_with_those_that_are() {
    let (mut head, body) = modern("tools/list", "");
    head.headers.set("MCP-Protocol-Version", "v999");
    let got = Site::new().send(head, &body.replace("2026-07-28", "v999"));
    assert!(
        got.body.contains(r#""supported":["2026-07-28","#) && got.body.contains(r#""requested":"v999""#),
        "{}",
        got.body
    );
}

#[test]
fn statuses_tell_what_went_wrong() {
    let site = Site::new();
    for (method, params, status, code) in [
        ("no/such", "", 404, -32601),
        ("initialize", "", 404, -32601),
        ("ping", "", 404, -32601),
        ("logging/setLevel", "", 404, -32601),
        ("prompts/list", "", 404, -32601),
        ("tools/call", r#""name":"fail""#, 200, -32602),
        ("tools/call", r#""name":"ask""#, 400, -32021),
    ] {
        let got = site.modern(method, params);
        assert_eq!((got.head.status, got.code()), (status, code), "{method}: {}", got.body);
        assert!(got.body.contains("\"id\":7"));
    }
}

#[test]
fn notifications_are_accepted_and_not_answered() {
    let site = Site::new();
    for body in [
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        r#"{"jsonrpc":"2.0","method":"no/such"}"#,
        r#"{"jsonrpc":"2.0","method":"no/such","params":[1]}"#,
    ] {
        let got = site.send(post(&[("MCP-Protocol-Version", "2026-07-28")]), body);
        assert_eq!((got.head.status, got.body.as_str()), (202, ""));
    }
}

#[test]
fn arguments_are_compared_with_the_headers_that_repeat_them() {
    let site = Site::new();
    let send = |arguments: &str, fields: &[(&'static str, &str)]| {
        let (mut head, body) = modern("tools/call", &format!(r#""name":"routed","arguments":{arguments}"#));
        for (name, value) in fields {
            head.headers.push(*name, *value);
        }
        let got = site.send(head, &body);
        if got.head.status == 200 { 0 } else { got.code() }
    };
    let arguments = r#"{"region":"us west","size":42}"#;
    let region = ("Mcp-Param-Region", "us west");
    let size = ("mcp-param-size", "42");
    for (arguments, fields, code) in [
        (arguments, &[region, size][..], 0),
        (arguments, &[("MCP-PARAM-REGION", "=?base64?dXMgd2VzdA==?="), ("mcp-param-size", "42.0")], 0),
        (arguments, &[region], -32020),
        (arguments, &[region, ("mcp-param-size", "43")], -32020),
        (arguments, &[("mcp-param-region", "US west"), size], -32020),
        (arguments, &[("mcp-param-region", "=?base64?###?="), size], -32020),
        (arguments, &[region, region, size], -32020),
        ("{}", &[], 0),
        (r#"{"region":null}"#, &[], 0),
        ("{}", &[region], -32020),
        (r#"{"region":"Ü"}"#, &[("mcp-param-region", "=?base64?w5w=?=")], 0),
    ] {
        assert_eq!(send(arguments, fields), code, "{arguments} {fields:?}");
    }
}

#[test]
fn sessions_and_resumption_do_not_exist() {
    let (mut head, body) = modern("tools/list", "");
    head.headers.push("Mcp-Session-Id", "x");
    head.headers.push("Last-Event-ID", "1");
    let got = Site::new().send(head, &body);
    assert_eq!(got.head.status, 200);
    assert_eq!(got.header("mcp-session-id"), "");
}

#[test]
fn deep_and_broken_bodies_are_refused() {
    let site = Site::new();
    let (head, _) = modern("tools/list", "");
    for body in [format!("{}{}", "[".repeat(10_000), "]".repeat(10_000)), "{\"a\":".repeat(10_000), "\u{feff}{}".into()]
    {
        let got = site.send(head.clone(), &body);
        assert_eq!(got.head.status, 400);
    }
    let bytes = sandwire_io::Bytes::new(vec![b'"', 0xff, b'"']);
    let (head, _) = futures_executor::block_on(sandwire_io::HttpService::handle(&site.entry, head, Box::new(bytes)));
    assert_eq!(head.status, 400);
}
