//! What a peer sends that is not quite what it should be.

use crate::stage::{Answerer, Caller, ERAS, VERSIONS, complete, result};
use sandwire_client::ErrorKind;
use sandwire_json::Raw;
use sandwire_server::{Context, Elicited, Form, Schema, Server, ToolError};
use sandwire_types::model::{CallToolResult, ContentBlock};
use serde::Deserialize;

/// Calls a tool that gives this result.
fn called(version: &str, members: &str) -> CallToolResult {
    let mut client = Caller::open(version);
    let call = client.client.call_tool("t", &());
    client.call(call, &complete(members)).unwrap_or_else(|error| panic!("{version}: {error}: {members}"))
}

/// Blocks of content that are strange, and stay what they are.
const STRANGE: [&str; 11] = [
    r#"{"type":"resource_link","uri":"ui://demo/view/v1","mimeType":"text/html"}"#,
    r#"{"type":"resource_link","uri":"ui://demo","name":"demo"}"#,
    r#"{"type":"resource_link"}"#,
    r#"{"type":"resource","resource":{"uri":"file:///x"}}"#,
    r#"{"type":"resource"}"#,
    r#"{"type":"image","data":"AA=="}"#,
    r#"{"type":"audio"}"#,
    r#"{"type":"text"}"#,
    r#"{"type":"hologram","depth":1.50}"#,
    r#"{"type":7}"#,
    r#"{}"#,
];

#[test]
fn b26_a_block_that_is_strange_hides_no_other() {
    for version in VERSIONS {
        for block in STRANGE {
            let members = format!(r#""content":[{{"type":"text","text":"ok"}},{block}]"#);
            let got = called(version, &members);
            assert_eq!((got.content.len(), got.content[0].as_text()), (2, Some("ok")), "{version}: {block}");
            assert_eq!(sandwire_json::to_raw(&got.content[1]).as_str(), block, "{version}");
        }
    }
}

#[test]
fn b27_a_scope_or_a_time_that_means_nothing_takes_no_tool_away() {
    let hints = [
        r#""ttlMs":0,"cacheScope":"""#,
        r#""ttlMs":0,"cacheScope":"shared""#,
        r#""ttlMs":0,"cacheScope":null"#,
        r#""ttlMs":0,"cacheScope":7"#,
        r#""ttlMs":-1,"cacheScope":"private""#,
        r#""ttlMs":1.5,"cacheScope":"private""#,
        r#""ttlMs":"soon","cacheScope":"public""#,
        r#""ttlMs":null"#,
        r#""cacheScope":"public""#,
    ];
    for version in ERAS {
        for hint in hints {
            let mut client = Caller::open(version);
            let call = client.client.list_tools();
            let tools = r#""tools":[{"name":"search","inputSchema":{"type":"object"}}]"#;
            let got = client.call(call, &format!(r#"{{{tools},{hint},"resultType":"complete"}}"#));
            let got = got.unwrap_or_else(|error| panic!("{version}: {hint}: {error}"));
            assert_eq!(got.tools.len(), 1, "{version}: {hint}");
        }
    }
}

#[test]
fn b29_a_result_is_read_as_what_was_asked_for() {
    let results = [
        r#"{"foo":1}"#,
        r#"{"tools":[],"foo":{"a":null}}"#,
        r#"{"content":[],"isError":true}"#,
        r#"{"roots":1e400,"n":12345678901234567890}"#,
    ];
    for version in ERAS {
        for expected in results {
            let mut client = Caller::open(version);
            let call = client.client.request("x/foo", Some(Raw::object()));
            let got = client.call(call, expected).unwrap();
            assert_eq!(got.value.as_str(), expected, "{version}");
        }
    }
}

#[test]
fn b30_an_entry_that_is_none_takes_no_other_away() {
    let whole = r#"{"name":"a","inputSchema":{"type":"object"}}"#;
    for version in ERAS {
        for bad in ["null", "7", "\"a\"", "[]", "{}", r#"{"name":null}"#, r#"{"name":"b"}"#] {
            for list in [format!("{bad},{whole}"), format!("{whole},{bad}")] {
                let mut client = Caller::open(version);
                let call = client.client.list_tools();
                match client.call(call, &complete(&format!(r#""tools":[{list}]"#))) {
                    Ok(got) => assert!(got.tools.iter().any(|tool| tool.name == "a"), "{version}: {list}"),
                    Err(error) => assert_eq!(error.kind(), ErrorKind::Decode, "{version}: {list}: {error}"),
                }
                client.assert_lives();
            }
        }
        for no_list in ["null", "{}", "7", "\"\""] {
            let mut client = Caller::open(version);
            let call = client.client.list_tools();
            let error = client.call(call, &complete(&format!(r#""tools":{no_list}"#))).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Decode, "{version}: {no_list}");
            client.assert_lives();
        }
    }
}

#[test]
fn b31_a_member_that_is_null_is_one_that_is_absent() {
    for version in VERSIONS {
        let got = called(
            version,
            r#""content":[{"type":"text","text":"x","annotations":null,"_meta":null}],"isError":null,"_meta":null"#,
        );
        let ContentBlock::Text(text) = &got.content[0] else { panic!("{got:?}") };
        assert!(text.annotations.is_none() && text.meta.is_none() && got.is_error.is_none());

        let mut client = Caller::open(version);
        let call = client.client.list_tools();
        let tool = r#"{"name":"a","title":null,"description":null,"inputSchema":{"type":"object"},"outputSchema":null,"annotations":null,"icons":null,"execution":null,"_meta":null}"#;
        let got = client.call(call, &complete(&format!(r#""tools":[{tool}],"nextCursor":null,"_meta":null"#))).unwrap();
        assert!(got.next_cursor.is_none() && got.tools[0].description.is_none(), "{version}");
        assert!(got.tools[0].output_schema.is_none() && got.tools[0].annotations.is_none());
    }
}

#[test]
fn b35_a_tool_that_failed_says_so_in_blocks_of_any_type() {
    for version in VERSIONS {
        let block = r#"{"type":"error","text":"denied"}"#;
        let got = called(version, &format!(r#""content":[{block}],"isError":true"#));
        assert_eq!(got.is_error, Some(true), "{version}");
        assert_eq!(sandwire_json::to_raw(&got.content[0]).as_str(), block);
    }
}

#[derive(Deserialize, Schema)]
struct Who {
    name: String,
}

/// A server whose tool asks who is there.
pub fn asking() -> Server {
    let ask = async |context: Context| {
        let who = context.elicit("who", Form::<Who>::new("Who are you?")).await?;
        Ok::<_, ToolError>(match who {
            Elicited::Accepted(who) => who.name,
            Elicited::Declined => "declined".into(),
            Elicited::Cancelled => "cancelled".into(),
        })
    };
    Server::builder("asking", "1").tool("ask", "", ask).build().unwrap()
}

#[test]
fn b36_an_answer_of_a_person_may_have_null_for_its_content() {
    for (answer, expected) in [
        (r#"{"action":"decline","content":null}"#, "declined"),
        (r#"{"action":"cancel","content":null}"#, "cancelled"),
        (r#"{"action":"decline"}"#, "declined"),
        (r#"{"action":"decline","content":{}}"#, "declined"),
        (r#"{"action":"accept","content":{"name":"Ann"}}"#, "Ann"),
    ] {
        for version in ["2025-06-18", "2025-11-25"] {
            let mut server = Answerer::open_as(version, r#"{"elicitation":{}}"#, asking());
            server.ask("1", "tools/call", r#""name":"ask","arguments":{}"#);
            let question = server.hear();
            assert_eq!(question.method(), "elicitation/create");
            server.say(&result(question.id(), answer));
            assert_eq!(server.hear().at("/result/content/0/text"), expected, "{version}: {answer}");
        }
        let mut server = Answerer::new(asking());
        let capabilities = r#"{"elicitation":{}}"#;
        server.say(&crate::stage::body_of("1", "tools/call", r#""name":"ask","arguments":{}"#, capabilities));
        let question = server.hear();
        assert_eq!(question.at("/result/resultType"), "input_required");
        let state = question.at("/result/requestState");
        let params =
            format!(r#""name":"ask","arguments":{{}},"requestState":{state},"inputResponses":{{"who":{answer}}}"#);
        server.say(&crate::stage::body_of("2", "tools/call", &params, capabilities));
        assert_eq!(server.hear().at("/result/content/0/text"), expected, "modern: {answer}");
    }
}

#[derive(Deserialize, Schema)]
struct Exact {
    id: u64,
    signed: i64,
    any: Raw,
}

#[test]
fn b37_a_number_keeps_its_digits() {
    for digits in ["1915883588174806058", "9007199254740993", "-9223372036854775808", "1.10", "1e400", "0.1", "-0"] {
        for version in ["2025-06-18", "2025-11-25", "2026-07-28"] {
            let got = called(version, &format!(r#""content":[],"structuredContent":{{"id":{digits}}}"#));
            assert_eq!(got.structured_content.unwrap().as_str(), format!(r#"{{"id":{digits}}}"#), "{version}");
        }
    }
    for version in VERSIONS {
        let say = async |exact: Exact| format!("{} {} {}", exact.id, exact.signed, exact.any.as_str());
        let server = Server::builder("exact", "1").tool("say", "", say).build().unwrap();
        let mut server = Answerer::open(version, server);
        let arguments = r#"{"id":18446744073709551615,"signed":-9007199254740993,"any":1.10}"#;
        let told = server.call("1", "tools/call", &format!(r#""name":"say","arguments":{arguments}"#));
        assert_eq!(told.at("/result/content/0/text"), "18446744073709551615 -9007199254740993 1.10", "{version}");
    }
}
