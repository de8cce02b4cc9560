//! Types described by the schemars crate.
#![cfg(feature = "schemars")]
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use sandwire_server::schema::{Schemars, input, output};
use sandwire_server::{Schema, Server};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, Serialize, JsonSchema)]
struct Point {
    /// Across.
    x: u32,
    y: Option<f64>,
}

#[derive(Deserialize, Schema)]
struct Line {
    from: Schemars<Point>,
    #[schema(with = Schemars<Point>)]
    #[allow(dead_code)]
    to: Point,
    #[serde(default)]
    #[allow(dead_code)]
    any: Schemars<serde_json::Value>,
}

#[test]
fn a_schema_of_schemars_is_cleaned() {
    let text = input::<Schemars<Point>>();
    assert!(text.is_object());
    for word in ["$schema", "uint32", "double", "nullable", "title"] {
        assert!(!text.as_str().contains(word), "{text}");
    }
    assert!(
        text.as_str().contains(r#""x":{"description":"Across.","minimum":0,"type":"integer"}"#)
            || text.as_str().contains(r#""x":{"#),
        "{text}"
    );
}

#[test]
fn it_can_be_part_of_a_derived_one() {
    let text = input::<Line>();
    assert!(sandwire_json::Raw::parse(text.as_str()).is_ok(), "{text}");
    let point = text.get("properties").unwrap().get("from").unwrap();
    assert_eq!(point.get("type").unwrap().as_str(), r#""object""#);
    assert_eq!(text.get("properties").unwrap().get("any").unwrap().as_str(), "{}");
    assert!(sandwire_json::Raw::parse(output::<Schemars<Point>>().as_str()).is_ok());
}

#[test]
fn a_tool_takes_it_and_returns_it() {
    let server = Server::builder("points", "1.0")
        .tool("mirror", "", |Schemars(Point { x, y }): Schemars<Point>| Schemars(Point { x, y: y.map(|y| -y) }))
        .tool("line", "", |line: Line| line.from.x)
        .build()
        .unwrap();
    let result = common::call_modern(&server, "mirror", r#"{"x":1,"y":2.5}"#);
    assert!(result.contains(r#""structuredContent":{"x":1,"y":-2.5}"#), "{result}");
    assert!(common::call_modern(&server, "line", r#"{"from":{"x":3},"to":{"x":4}}"#).contains(r#""text":"3""#));
}
