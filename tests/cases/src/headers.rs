//! The headers that repeat what a message says.

use crate::{
    servers::echo,
    stage::{House, HttpCaller, LEGACY, MODERN, complete, head, request},
};
use proptest::prelude::*;
use sandwire_proto::http::{RequestHead, Verb};
use sandwire_server::{Server, ToolHandler};

#[test]
fn b117_the_version_in_the_header_is_that_in_the_body() {
    for house in [House::new(echo()), House::stateless(echo())] {
        for named in LEGACY.into_iter().chain(["", "1999-01-01", "2026-07-29"]) {
            let mut head = head(Verb::Post, &[("mcp-protocol-version", named)]);
            head.headers.push("mcp-method", "tools/list");
            let body = request(MODERN, "7", "tools/list", "");
            let got = house.send(head, &body);
            assert_eq!(got.status(), 400, "{named:?}: {}", got.body);
            let expected: &[i64] =
                if named.starts_with("1999") || named.ends_with("29") { &[-32020, -32022] } else { &[-32020] };
            assert!(expected.contains(&got.said().code()), "{named:?}: {}", got.body);
        }
        // And the other way about.
        for body in LEGACY {
            let mut head = head(Verb::Post, &[("mcp-protocol-version", MODERN)]);
            head.headers.push("mcp-method", "tools/list");
            let got = house.begin_as(head, &request(body, "7", "tools/list", ""), "").response().whole();
            assert_eq!((got.status(), got.said().id()), (400, "7"), "{}", got.body);
        }
        // The method has to be there, too, and right.
        for method in ["", "tools/call", "TOOLS/LIST"] {
            let mut head = head(Verb::Post, &[("mcp-protocol-version", MODERN)]);
            if !method.is_empty() {
                head.headers.push("mcp-method", method);
            }
            let got = house.send(head, &request(MODERN, "7", "tools/list", ""));
            assert_eq!((got.status(), got.said().code()), (400, -32020), "{method}");
        }
    }
}

/// A server with one tool of this name.
fn named(name: &str) -> Server {
    Server::builder("s", "1").with(ToolHandler::new(name, "", async || "x")).build().unwrap()
}

/// What a client of ours sends to call a tool of this name: the header and the message.
fn sent(name: &str) -> (String, String) {
    let mut client = HttpCaller::open(MODERN);
    client.start(client.client.call_tool(name, &()));
    let asked = client.next();
    (asked.header("mcp-name").unwrap().to_owned(), asked.said().0.clone())
}

fn call(name_header: &str) -> RequestHead {
    let mut head = head(Verb::Post, &[("mcp-protocol-version", MODERN)]);
    head.headers.push("mcp-method", "tools/call");
    head.headers.push("mcp-name", name_header);
    head
}

#[test]
fn b118_names_that_a_header_cannot_carry_are_wrapped_and_unwrapped() {
    let names = [
        "Załączniki/raport.pdf",
        "a b",
        " a",
        "a ",
        "\u{1f980}",
        "a\nb",
        "=?base64?YQ==?=",
        "=?x?=",
        "\u{7f}",
        "plain",
    ];
    for name in names {
        let (header, body) = sent(name);
        assert!(header.bytes().all(|byte| (0x20..0x7f).contains(&byte)), "{header:?}");
        let house = House::stateless(named(name));
        let got = house.send(call(&header), &body);
        assert_eq!(
            (got.status(), got.said().at("/result/content/0/text")),
            (200, "x".into()),
            "{name:?}: {}",
            got.body
        );
    }
    // A resource's address, too.
    let mut client = HttpCaller::open(MODERN);
    client.start(client.client.read_resource("file:///Załączniki/raport.pdf"));
    let asked = client.next();
    assert_eq!(asked.header("mcp-name"), Some("=?base64?ZmlsZTovLy9aYcWCxIVjem5pa2kvcmFwb3J0LnBkZg==?="));
    // What is not what it says it is, or is another name.
    let (_, body) = sent("\u{e4}");
    let house = House::stateless(named("\u{e4}"));
    for wrong in
        ["=?base64?!!!?=", "=?base64?w6Q?x=", "=?base64?w6U=?=", "\u{e4}\u{e4}", "=?base64??=", "=?base64?/w==?=", ""]
    {
        let got = house.send(call(wrong), &body);
        assert_eq!((got.status(), got.said().code()), (400, -32020), "{wrong:?}: {}", got.body);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn b118_any_name_at_all_arrives(name in "\\PC{1,40}") {
        let (header, body) = sent(&name);
        let got = House::stateless(named(&name)).send(call(&header), &body);
        prop_assert_eq!(got.status(), 200, "{:?}: {}", name, got.body);
    }
}

#[test]
fn b121_blanks_around_a_value_are_none_of_it_and_control_characters_no_value() {
    let server = || {
        let schema = r#"{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}"#;
        let routed = ToolHandler::new("fast", "", async |_: sandwire_json::Raw| "x");
        let routed = routed.input_schema(sandwire_json::Raw::parse(schema).unwrap());
        Server::builder("s", "1").with(routed).build().unwrap()
    };
    let params = r#""name":"fast","arguments":{"region":"eu"}"#;
    let send = |name: &str, region: &str| {
        let mut head = head(Verb::Post, &[("mcp-protocol-version", MODERN)]);
        head.headers.push("mcp-method", " tools/call\t");
        head.headers.push("mcp-name", name);
        head.headers.push("mcp-param-region", region);
        House::stateless(server()).send(head, &request(MODERN, "7", "tools/call", params))
    };
    for (name, region) in [("fast", "eu"), (" fast ", "eu"), ("\tfast\t", " eu"), ("  fast", "\teu  ")] {
        let got = send(name, region);
        assert_eq!(got.status(), 200, "{name:?} {region:?}: {}", got.body);
    }
    for (name, region) in [
        ("fast", "e\nu"),
        ("fast", "eu\r\nx: y"),
        ("fast", "eu\0"),
        ("fa\nst", "eu"),
        ("fast\x0b", "eu"),
        ("fast", "us"),
        ("fast", ""),
    ] {
        let got = send(name, region);
        assert_eq!(got.status(), 400, "{name:?} {region:?}: {}", got.body);
        assert_eq!(got.said().code(), -32020);
    }
    // The client wraps what would be misread.
    let mut client = HttpCaller::open(MODERN);
    let list = client.start(client.client.list_tools());
    let schema = r#"{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}"#;
    let tool = format!(r#"{{"name":"fast","inputSchema":{schema}}}"#);
    client.next().reply(&complete(&format!(r#""tools":[{tool}]"#)));
    client.run();
    assert!(list.get().is_ok());
    for (region, plain) in [("eu", true), ("eu\n", false), (" eu", false), ("e\r\nx: y", false), ("\u{e4}", false)] {
        client.start(client.client.call_tool("fast", &serde_json::json!({ "region": region })));
        let asked = client.next();
        let header = asked.header("mcp-param-region").unwrap().to_owned();
        assert_eq!(header == region, plain, "{header:?}");
        assert!(header.bytes().all(|byte| (0x20..0x7f).contains(&byte)));
    }
}
