//! Attributes on functions and on `impl` blocks.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{ask, call_modern, modern};
use sandwire_server::types::Method;
use sandwire_server::{Completing, Context, Schema, Server, ToolError, handlers, prompt, resource, tool};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicI64, Ordering};

/// Adds two numbers.
///
/// Or fails.
#[tool]
async fn add(
    /// The first one.
    a: i64,
    #[serde(default)] b: i64,
    ctx: &Context,
) -> Result<i64, ToolError> {
    ctx.progress(1.0, None, None);
    a.checked_add(b).ok_or_else(|| ToolError::new("too large"))
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, Schema)]
#[serde(rename_all = "lowercase")]
enum Unit {
    Celsius,
    Kelvin,
}

#[derive(Serialize, Schema)]
struct Weather {
    degrees: f64,
    unit: Unit,
}

#[tool(name = "weather.now", title = "Weather", read_only, open_world = false, deny_unknown_arguments)]
fn weather(ctx: &Context, #[schema(min_length = 1)] city: String, unit: Option<Unit>) -> Result<Weather, String> {
    let _ = ctx.is_cancelled();
    if city == "Atlantis" {
        Err("it sank".to_owned())
    } else {
        Ok(Weather { degrees: 20.5, unit: unit.unwrap_or(Unit::Kelvin) })
    }
}

#[tool]
fn r#move(mut steps: u32) -> u32 {
    steps += 1;
    steps
}

/// One note.
#[resource("notes://{shelf}/{id}", title = "Note", mime_type = "text/markdown")]
async fn note(shelf: String, id: u32) -> Option<String> {
    (id == 1).then(|| format!("# {shelf}"))
}

/// Asks for a review.
#[prompt]
fn review(
    /// What to review.
    code: String,
    strict: Option<bool>,
) -> String {
    format!("{code} {strict:?}")
}

fn server() -> Server {
    Server::builder("attributes", "1.0")
        .with(add::tool())
        .with(weather::tool())
        .with(r#move::tool())
        .with(note::resource().completing("shelf", |_: Completing| ["top", "bottom"]))
        .with(review::prompt())
        .build()
        .unwrap()
}

#[test]
fn a_function_with_an_attribute_is_still_a_function() {
    assert_eq!(r#move(2), 3);
    assert_eq!(review("x".into(), None), "x None");
}

#[test]
fn parameters_are_the_arguments() {
    let server = server();
    assert_eq!(
        modern(&server, Method::ToolsList, "{}").split(r#","outputSchema""#).next().unwrap(),
        concat!(
            r#"{"tools":[{"name":"add","inputSchema":{"type":"object","properties":{"a":{"type":"integer","description":"The first one."},"#,
            r#""b":{"type":"integer"}},"required":["a"]},"description":"Adds two numbers.\n\nOr fails.""#,
        )
    );
    assert!(call_modern(&server, "add", r#"{"a":2}"#).contains(r#""text":"2""#));
    assert!(
        call_modern(&server, "add", r#"{"a":9223372036854775807,"b":1}"#)
            .contains(r#""text":"too large"}],"isError":true"#)
    );
    assert!(call_modern(&server, "move", r#"{"steps":1}"#).contains(r#""text":"2""#));
    assert_eq!(
        call_modern(&server, "weather.now", r#"{"city":"Paris","unit":"celsius"}"#),
        concat!(
            r#"{"content":[{"type":"text","text":"{\"degrees\":20.5,\"unit\":\"celsius\"}"}],"#,
            r#""structuredContent":{"degrees":20.5,"unit":"celsius"}}"#,
        )
    );
    assert!(call_modern(&server, "weather.now", r#"{"city":"Atlantis"}"#).contains("it sank"));
    assert!(call_modern(&server, "weather.now", r#"{"city":"Paris","unit":"f"}"#).contains("unit"));
    assert!(call_modern(&server, "weather.now", r#"{"city":"Paris","town":1}"#).contains("town"));
}

#[test]
fn options_reach_the_list() {
    let list = modern(&server(), Method::ToolsList, "{}");
    for part in [
        r#""name":"weather.now","inputSchema":{"type":"object","properties":{"city":{"type":"string","minLength":1},"unit":{"type":"string","enum":["celsius","kelvin"]}},"required":["city"],"additionalProperties":false},"title":"Weather""#,
        r#""annotations":{"readOnlyHint":true,"openWorldHint":false}"#,
        r#""name":"move""#,
    ] {
        assert!(list.contains(part), "{list}");
    }
}

#[test]
fn resources_and_prompts_are_reached_the_same_way() {
    let server = server();
    assert_eq!(
        ask(&server, Method::ResourcesRead, r#"{"uri":"notes://top/1"}"#).unwrap(),
        r##"{"contents":[{"uri":"notes://top/1","mimeType":"text/markdown","text":"# top"}]}"##
    );
    assert_eq!(
        ask(&server, Method::ResourcesTemplatesList, "{}").unwrap(),
        r#"{"resourceTemplates":[{"uriTemplate":"notes://{shelf}/{id}","name":"note","title":"Note","description":"One note.","mimeType":"text/markdown"}]}"#
    );
    assert_eq!(
        ask(&server, Method::PromptsGet, r#"{"name":"review","arguments":{"code":"x","strict":"true"}}"#).unwrap(),
        r#"{"messages":[{"role":"user","content":{"type":"text","text":"x Some(true)"}}]}"#
    );
}

struct Counter {
    count: AtomicI64,
}

#[handlers]
impl Counter {
    const STEP: i64 = 1;

    fn bump(&self, by: i64) -> i64 {
        self.count.fetch_add(by, Ordering::Relaxed) + by
    }

    /// Counts on.
    #[tool]
    fn next(&self) -> i64 {
        self.bump(Self::STEP)
    }

    /// Counts on by more.
    #[tool(name = "skip")]
    async fn jump(&self, ctx: &Context, by: i64) -> i64 {
        ctx.progress(1.0, None, None);
        self.bump(by)
    }

    /// Knows nothing of the counter.
    #[tool]
    fn fixed() -> &'static str {
        "fixed"
    }

    #[resource("counter://{name}")]
    fn value(&self, name: String) -> String {
        format!("{name} = {}", self.count.load(Ordering::Relaxed))
    }

    #[prompt]
    async fn ask(&self, what: Option<String>) -> String {
        what.unwrap_or_else(|| "nothing".to_owned())
    }
}

#[test]
fn marked_methods_share_their_value() {
    let server = Server::builder("counter", "1.0").with(Counter { count: AtomicI64::new(0) }).build().unwrap();
    let text = |result: String| result.split(r#""text":""#).nth(1).unwrap().split('"').next().unwrap().to_owned();
    let one = |name, arguments: &str| {
        text(common::run(&server, common::LEGACY, async |client| client.call(name, arguments).await))
    };
    assert_eq!(one("next", "{}"), "1");
    assert_eq!(one("skip", r#"{"by":10}"#), "11");
    assert_eq!(one("fixed", "{}"), "fixed");
    assert_eq!(
        ask(&server, Method::ResourcesRead, r#"{"uri":"counter://c"}"#).unwrap(),
        r#"{"contents":[{"uri":"counter://c","mimeType":"text/plain","text":"c = 11"}]}"#
    );
    assert!(ask(&server, Method::PromptsGet, r#"{"name":"ask"}"#).unwrap().contains("nothing"));
}

#[test]
fn local_functions_can_have_attributes_too() {
    /// Inside.
    #[tool]
    fn inner() {}
    assert!(Server::builder("local", "1.0").with([inner::tool()]).build().is_ok());
}
