//! What the specification requires of lists, prompts and completions, where no other test says so.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{ERAS, MODERN, ask, run, run_over};
use sandwire_io::client::Call;
use sandwire_proto::client;
use sandwire_server::types::{ErrorCode, ErrorObject, Method, Raw};
use sandwire_server::{Completing, Schema, Server};
use serde::Deserialize;

#[derive(Deserialize, Schema)]
struct Greeting {
    name: String,
}

fn server() -> Server {
    Server::builder("required", "1.0")
        .page_size(2)
        .tool("c", "", || ())
        .tool("a", "", || ())
        .tool("b", "", || ())
        .prompt("greet", "", |greeting: Greeting| format!("Hello {}", greeting.name))
        .completion("greet", "name", |_: Completing| vec!["Ada"])
        .build()
        .unwrap()
}

#[test]
fn lists_are_the_same_for_everybody_whatever_was_called_before() {
    let server = server();
    for version in ERAS {
        let list = async |client: &common::Client| client.request(Method::ToolsList, "{}").await.unwrap();
        let before = run(&server, version, list);
        let after = run(&server, version, async |client| {
            client.call("a", "{}").await;
            let _ = client.request(Method::PromptsList, "{}").await;
            [list(client).await, list(client).await]
        });
        assert_eq!([&before, &before], [&after[0], &after[1]], "{version}");
        assert_eq!(before, run(&server, version, list), "{version}");
    }
}

#[test]
fn prompts_refuse_what_they_do_not_know_and_what_lacks_an_argument() {
    let server = server();
    for params in [r#"{"name":"none"}"#, r#"{"name":"greet"}"#, r#"{"name":"greet","arguments":{}}"#, "{}"] {
        assert_eq!(ask(&server, Method::PromptsGet, params).unwrap_err().code, ErrorCode::INVALID_PARAMS, "{params}");
    }
    assert!(ask(&server, Method::PromptsGet, r#"{"name":"greet","arguments":{"name":"Ada"}}"#).is_ok());
}

#[test]
fn completions_refuse_what_nobody_completes() {
    let server = server();
    let complete = |of: &str| {
        let params = format!(r#"{{"ref":{of},"argument":{{"name":"name","value":"A"}}}}"#);
        ask(&server, Method::CompletionComplete, &params)
    };
    for of in [
        r#"{"type":"ref/prompt","name":"none"}"#,
        r#"{"type":"ref/resource","uri":"a://{none}"}"#,
        r#"{"type":"ref/other","name":"greet"}"#,
        r#"{"type":"ref/prompt"}"#,
        "7",
    ] {
        assert_eq!(complete(of).unwrap_err().code, ErrorCode::INVALID_PARAMS, "{of}");
    }
    assert!(complete(r#"{"type":"ref/prompt","name":"greet"}"#).unwrap().contains("Ada"));
}

#[test]
fn pages_are_kept_for_the_same_ones() {
    let nobody = |_: &Method, _: &Raw| Err(ErrorObject::internal("nobody is asked here"));
    let pages = run_over(true, &server(), MODERN, nobody, async |client| {
        let mut pages = Vec::new();
        let mut params = Raw::object();
        loop {
            let call = Call::from(client::Call::new(Method::ToolsList, Some(params)));
            let reply = client.handle.call(call).await.unwrap();
            let cursor = reply.value.get("nextCursor");
            let cache = reply.stamp.and_then(|stamp| stamp.cache);
            pages.push(
                cache
                    .map(|cache| format!("{cache:?}"))
                    .or_else(|| reply.value.get("cacheScope").map(|s| s.to_string())),
            );
            let Some(cursor) = cursor else { return pages };
            params = Raw::parse(&format!(r#"{{"cursor":{}}}"#, cursor.as_str())).unwrap();
        }
    });
    assert_eq!(pages.len(), 2);
    assert!(pages[0].is_some() && pages[0] == pages[1], "{pages:?}");
}
