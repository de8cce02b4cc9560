//! Tables that change while the server runs.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{ERAS, LEGACY, call, run};
use sandwire_server::types::Method;
use sandwire_server::{Capability, Context, PromptHandler, ResourceHandler, Server, ToolHandler, Warning};

#[test]
fn tools_come_and_go_and_clients_hear_of_it() {
    let server = Server::builder("live", "1.0").tool("a", "", || "a").build().unwrap();
    run(&server, LEGACY, async |client| {
        client.call("a", "{}").await;
        assert_eq!(client.heard().await, Vec::<String>::new());
        server.tools().add(ToolHandler::new("b", "", || "b")).unwrap();
        assert!(client.call("b", "{}").await.contains(r#""b""#));
        assert_eq!(client.heard().await, ["notifications/tools/list_changed "]);
        assert!(server.tools().disable("a"));
        assert!(!server.tools().disable("a"));
        let unknown = client.request(Method::ToolsCall, r#"{"name":"a"}"#).await.unwrap_err();
        assert_eq!(unknown.message, "unknown tool: a");
        let list = client.request(Method::ToolsList, "{}").await.unwrap();
        assert!(list.contains(r#""name":"b""#) && !list.contains(r#""name":"a""#), "{list}");
        assert!(server.tools().enable("a"));
        assert!(client.call("a", "{}").await.contains(r#""a""#));
        assert!(server.tools().remove("b"));
        assert!(!server.tools().remove("b"));
    });
    assert_eq!(server.tools().names().iter().map(|name| &**name).collect::<Vec<_>>(), ["a"]);
}

#[test]
fn a_call_under_way_finishes_on_the_tool_it_found() {
    let server = Server::builder("live", "1.0")
        .tool("leave", "", async |ctx: &Context| {
            ctx.server().tools().remove("leave");
            std::future::ready(()).await;
            "done"
        })
        .build()
        .unwrap();
    for version in ERAS {
        server.tools().remove("leave");
        server
            .tools()
            .add(ToolHandler::new("leave", "", async |ctx: &Context| {
                ctx.server().tools().remove("leave");
                "done"
            }))
            .unwrap();
        let result = run(&server, version, async |client| client.call("leave", "{}").await);
        assert!(result.contains("done"), "{result}");
    }
}

#[test]
fn prompts_and_resources_change_too() {
    let server =
        Server::builder("live", "1.0").declare(Capability::Prompts).declare(Capability::Resources).build().unwrap();
    run(&server, LEGACY, async |client| {
        client.request(Method::PromptsList, "{}").await.unwrap();
        server.prompts().add(PromptHandler::new("p", "", || "x")).unwrap();
        server.resources().add(ResourceHandler::new("r://1", "", || "fixed")).unwrap();
        server.resources().add(ResourceHandler::new("r://{+rest}", "", |rest: Rest| rest.rest)).unwrap();
        client.request(Method::PromptsGet, r#"{"name":"p"}"#).await.unwrap();
        let read = client.request(Method::ResourcesRead, r#"{"uri":"r://1"}"#).await.unwrap();
        assert!(read.contains("fixed"));
        assert!(server.resources().disable("r://1"));
        let read = client.request(Method::ResourcesRead, r#"{"uri":"r://1"}"#).await.unwrap();
        assert!(read.contains(r#""text":"1""#), "{read}");
        client.heard().await;
        client.request(Method::ResourcesSubscribe, r#"{"uri":"r://1"}"#).await.unwrap();
        server.resources().updated("r://1");
        server.resources().updated("r://2");
        client.request(Method::PromptsList, "{}").await.unwrap();
        assert_eq!(client.heard().await, [r#"notifications/resources/updated {"uri":"r://1"}"#]);
    });
    #[derive(serde::Deserialize, sandwire_server::Schema)]
    struct Rest {
        rest: String,
    }
}

#[test]
fn what_was_not_declared_cannot_be_added() {
    let server = Server::builder("live", "1.0").tool("a", "", || "a").build().unwrap();
    let error = server.prompts().add(PromptHandler::new("p", "", || "x")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot register `prompts`: the server was built without this capability; declare it in the builder"
    );
    let error = server.tools().add(ToolHandler::new("a", "", || "x")).unwrap_err();
    assert_eq!(error.to_string(), "cannot register `a`: another one has the same name; remove or rename it");
    assert!(call(&server, "a", "{}").contains(r#""a""#));
}

#[test]
fn names_that_some_clients_refuse_are_served_and_warned_of() {
    let (long, longest) = ("n".repeat(129), "n".repeat(128));
    let server =
        Server::builder("live", "1.0").tool("Fine_1.0-x", "", || "").tool(&longest, "", || "").build().unwrap();
    assert_eq!(server.warnings(), []);
    for name in ["über", "a/b", &long] {
        server.tools().add(ToolHandler::new(name, "", || "served")).unwrap();
    }
    let warnings = server.warnings();
    assert_eq!(
        warnings,
        [
            Warning::ToolNameCharacters("über".into()),
            Warning::ToolNameCharacters("a/b".into()),
            Warning::ToolNameLength(long.into()),
        ]
    );
    assert!(warnings[1].to_string().starts_with("the tool name `a/b` has characters that some clients refuse; use"));
    run(&server, LEGACY, async |client| assert!(client.call("a/b", "{}").await.contains("served")));
}
