//! The attributes work for a crate that depends on nothing else of ours.
#![cfg(feature = "server")]
#![allow(missing_docs, clippy::unwrap_used)]

use sandwire::{Context, Schema, Server, handlers, prompt, resource, tool};

#[derive(serde::Serialize, Schema)]
struct Sum {
    sum: i64,
}

#[tool]
async fn add(a: i64, b: i64, ctx: &Context) -> Sum {
    ctx.progress(1.0, None, None);
    Sum { sum: a + b }
}

#[resource("notes://{id}")]
fn note(id: String) -> String {
    id
}

#[prompt]
fn greet(name: Option<String>) -> String {
    name.unwrap_or_default()
}

struct Fixed;

#[handlers]
impl Fixed {
    #[tool]
    fn fixed(&self) -> u8 {
        7
    }
}

#[test]
fn everything_that_is_written_reaches_the_server_through_the_facade() {
    let server = Server::builder("facade", "1.0")
        .with(add::tool())
        .with(note::resource())
        .with(greet::prompt())
        .with(Fixed)
        .build()
        .unwrap();
    let names: Vec<_> = server.tools().names();
    assert_eq!(names.iter().map(|name| &**name).collect::<Vec<_>>(), ["add", "fixed"]);
    assert_eq!(
        sandwire::server::schema::output::<Sum>().as_str(),
        r#"{"type":"object","properties":{"sum":{"type":"integer"}},"required":["sum"]}"#
    );
}
