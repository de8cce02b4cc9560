//! Resources, templates, prompts and completions.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{LEGACY, MODERN, ask, run};
use sandwire_server::types::{ErrorCode, Method};
use sandwire_server::{Completing, Context, Json, PromptHandler, ResourceHandler, Schema, Server, ToolError};
use serde::{Deserialize, Serialize};

#[derive(Deserialize, Serialize, Schema)]
struct Note {
    id: u32,
}

#[derive(Deserialize, Schema)]
struct Search {
    topic: String,
    /// At most so many.
    limit: Option<u32>,
}

fn server() -> Server {
    Server::builder("library", "1.0")
        .resource("notes://all", "All notes.", || "one, two")
        .with(
            ResourceHandler::new("notes://logo", "", || vec![0xff_u8, 0, 1])
                .name("logo")
                .mime_type("image/png")
                .size(3),
        )
        .resource("notes://{id}", "One note.", |note: Note| (note.id == 1).then_some(Json(note)))
        .resource("find://{topic}{?limit}", "", async |search: Search, _: &Context| {
            format!("{} {:?}", search.topic, search.limit)
        })
        .resource("broken://it", "", || Err::<String, _>("no disk"))
        .build()
        .unwrap()
}

fn read(uri: &str) -> String {
    ask(&server(), Method::ResourcesRead, &format!(r#"{{"uri":"{uri}"}}"#)).unwrap()
}

#[test]
fn resources_are_read_at_their_address() {
    assert_eq!(
        read("notes://all"),
        r#"{"contents":[{"uri":"notes://all","mimeType":"text/plain","text":"one, two"}]}"#
    );
    assert_eq!(read("notes://logo"), r#"{"contents":[{"uri":"notes://logo","mimeType":"image/png","blob":"/wAB"}]}"#);
    assert_eq!(
        read("notes://1"),
        r#"{"contents":[{"uri":"notes://1","mimeType":"application/json","text":"{\"id\":1}"}]}"#
    );
    assert_eq!(
        read("find://a%20b?limit=3"),
        r#"{"contents":[{"uri":"find://a%20b?limit=3","mimeType":"text/plain","text":"a b Some(3)"}]}"#
    );
    assert_eq!(read("find://007"), r#"{"contents":[{"uri":"find://007","mimeType":"text/plain","text":"007 None"}]}"#);
}

#[test]
fn an_address_where_nothing_is_gives_the_error_of_the_era() {
    for uri in ["notes://2", "notes://x", "notes://1/2", "other://1"] {
        for (version, code) in [(MODERN, ErrorCode::INVALID_PARAMS), (LEGACY, ErrorCode::RESOURCE_NOT_FOUND)] {
            let params = format!(r#"{{"uri":"{uri}"}}"#);
            let error = run(&server(), version, async |client| client.request(Method::ResourcesRead, &params).await)
                .unwrap_err();
            assert_eq!(error.code, code, "{uri}");
            assert_eq!(error.data.unwrap().as_str(), params);
        }
    }
}

#[test]
fn a_resource_that_cannot_be_read_is_an_error() {
    let error = ask(&server(), Method::ResourcesRead, r#"{"uri":"broken://it"}"#).unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (ErrorCode::INTERNAL_ERROR, "no disk"));
}

#[test]
fn resources_and_templates_are_listed_apart() {
    assert_eq!(
        ask(&server(), Method::ResourcesList, "{}").unwrap(),
        concat!(
            r#"{"resources":[{"uri":"notes://all","name":"notes://all","description":"All notes."},"#,
            r#"{"uri":"notes://logo","name":"logo","mimeType":"image/png","size":3},{"uri":"broken://it","name":"broken://it"}]}"#,
        )
    );
    assert_eq!(
        ask(&server(), Method::ResourcesTemplatesList, "{}").unwrap(),
        concat!(
            r#"{"resourceTemplates":[{"uriTemplate":"notes://{id}","name":"notes://{id}","description":"One note."},"#,
            r#"{"uriTemplate":"find://{topic}{?limit}","name":"find://{topic}{?limit}"}]}"#,
        )
    );
}

#[test]
fn templates_that_cannot_work_fail_when_the_server_is_built() {
    let fails = |uri: &str| {
        Server::builder("bad", "1.0").resource(uri, "", |note: Note| Json(note)).build().unwrap_err().to_string()
    };
    assert_eq!(fails("notes://{id"), "cannot register `notes://{id`: the template has a `{` without its `}`");
    assert_eq!(
        fails("notes://{ide}"),
        "cannot register `notes://{ide}`: the function has no parameter for the variable `ide`"
    );
    assert_eq!(fails("notes://1"), "cannot register `notes://1`: the template has no variable for the parameter `id`");
    assert_eq!(
        fails("notes://{id}/{x}"),
        "cannot register `notes://{id}/{x}`: the function has no parameter for the variable `x`"
    );
}

#[test]
fn a_tool_reads_a_resource_of_its_server() {
    let server = Server::builder("reader", "1.0")
        .resource("notes://{id}", "", async |note: Note| Json(note))
        .tool("read", "", async |ctx: &Context| -> Result<String, ToolError> {
            let result = ctx.read_resource("notes://7").await?;
            Ok(format!("{} contents", result.contents.len()))
        })
        .tool("miss", "", async |ctx: &Context| ctx.read_resource("no://thing").await.map(|_| ()))
        .build()
        .unwrap();
    assert_eq!(common::call(&server, "read", "{}"), r#"{"content":[{"type":"text","text":"1 contents"}]}"#);
    assert_eq!(
        common::call(&server, "miss", "{}"),
        r#"{"content":[{"type":"text","text":"there is no such resource"}],"isError":true}"#
    );
}

#[derive(Deserialize, Schema)]
struct Greeting {
    /// Whom.
    name: String,
    #[serde(default)]
    times: u32,
    loud: Option<bool>,
}

fn prompts() -> Server {
    Server::builder("prompts", "1.0")
        .with(
            PromptHandler::new("greet", "Greets.", |greeting: Greeting| {
                format!("{} {} {:?}", greeting.name, greeting.times, greeting.loud)
            })
            .title("Greeting")
            .completing("name", |typed: Completing| {
                (0..500).map(|number| format!("{}{number}", typed.value)).collect::<Vec<_>>()
            }),
        )
        .prompt("plain", "", async || "Hello")
        .resource("notes://{id}", "", |note: Note| Json(note))
        .completion("notes://{id}", "id", async |typed: Completing| {
            vec![format!("{}-{}", typed.argument, typed.given("other").unwrap_or("none"))]
        })
        .build()
        .unwrap()
}

#[test]
fn a_prompt_is_filled_in_with_texts() {
    let get = |params| ask(&prompts(), Method::PromptsGet, params);
    assert_eq!(
        get(r#"{"name":"greet","arguments":{"name":"Ada","times":"2","loud":"true","unknown":"x"}}"#).unwrap(),
        r#"{"messages":[{"role":"user","content":{"type":"text","text":"Ada 2 Some(true)"}}]}"#
    );
    assert_eq!(
        get(r#"{"name":"greet","arguments":{"name":"7"}}"#).unwrap(),
        r#"{"messages":[{"role":"user","content":{"type":"text","text":"7 0 None"}}]}"#
    );
    assert_eq!(
        get(r#"{"name":"plain"}"#).unwrap(),
        r#"{"messages":[{"role":"user","content":{"type":"text","text":"Hello"}}]}"#
    );
    for (params, message) in [
        (r#"{"name":"greet"}"#, "the prompt needs the argument `name`"),
        (r#"{"name":"nope"}"#, "unknown prompt: nope"),
        (r#"{"name":"greet","arguments":{"name":"a","times":"many"}}"#, "`times`"),
    ] {
        let error = get(params).unwrap_err();
        assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
        assert!(error.message.contains(message), "{}", error.message);
    }
}

#[test]
fn prompts_are_listed_with_their_arguments() {
    assert_eq!(
        ask(&prompts(), Method::PromptsList, "{}").unwrap(),
        concat!(
            r#"{"prompts":[{"name":"greet","title":"Greeting","description":"Greets.","arguments":[{"name":"name","description":"Whom.","required":true},"#,
            r#"{"name":"times","required":false},{"name":"loud","required":false}]},{"name":"plain"}]}"#,
        )
    );
    #[derive(Deserialize, Schema)]
    struct Lists {
        #[allow(dead_code)]
        all: Vec<String>,
    }
    let error = Server::builder("bad", "1.0").prompt("p", "", |_: Lists| "").build().unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot register `p`: a client can only give text for the argument `all`; take a string, number or boolean"
    );
}

#[test]
fn completions_propose_at_most_a_hundred_values() {
    let complete = |params| ask(&prompts(), Method::CompletionComplete, params);
    let many =
        complete(r#"{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"name","value":"x"}}"#).unwrap();
    assert!(many.starts_with(r#"{"completion":{"values":["x0","x1","#), "{many}");
    assert!(many.ends_with(r#""x99"],"total":500,"hasMore":true}}"#), "{many}");
    assert_eq!(
        complete(
            r#"{"ref":{"type":"ref/resource","uri":"notes://{id}"},"argument":{"name":"id","value":""},"context":{"arguments":{"other":"o"}}}"#
        )
        .unwrap(),
        r#"{"completion":{"values":["id-o"],"total":1,"hasMore":false}}"#
    );
    assert_eq!(
        complete(r#"{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"loud","value":""}}"#).unwrap(),
        r#"{"completion":{"values":[]}}"#
    );
    for bad in [
        r#"{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"other","value":""}}"#,
        r#"{"ref":{"type":"ref/prompt","name":"nope"},"argument":{"name":"name","value":""}}"#,
        r#"{"ref":{"type":"ref/other"},"argument":{"name":"name","value":""}}"#,
        r#"{"ref":{"type":"ref/prompt","name":"greet"}}"#,
    ] {
        assert_eq!(complete(bad).unwrap_err().code, ErrorCode::INVALID_PARAMS, "{bad}");
    }
}

#[test]
fn completions_of_nothing_fail_when_the_server_is_built() {
    let build = |of, argument| {
        let builder = Server::builder("bad", "1.0").resource("notes://{id}", "", |note: Note| Json(note));
        builder.completion(of, argument, |_: Completing| ["x"]).build().unwrap_err().to_string()
    };
    assert_eq!(build("nope", "id"), "cannot register `nope`: there is no prompt or resource template of that name");
    assert_eq!(build("notes://{id}", "x"), "cannot register `notes://{id}`: it has no argument `x` to complete");
}
