//! What the derive writes for structs, enums and serde's attributes.
#![allow(dead_code)]

use sandwire_server::Schema;
use sandwire_server::schema::{input, output};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[track_caller]
fn check<T: Schema>(expected: &str) {
    assert_eq!(input::<T>().as_str(), expected);
}

#[track_caller]
fn check_output<T: Schema>(expected: &str) {
    assert_eq!(output::<T>().as_str(), expected);
}

#[test]
fn a_struct_becomes_an_object_with_its_docs() {
    /// Two numbers.
    #[derive(Schema)]
    struct Pair {
        /// The first
        /// number.
        a: i64,
        b: u32,
        note: Option<String>,
    }
    check::<Pair>(
        r#"{"type":"object","properties":{"a":{"type":"integer","description":"The first number."},"b":{"type":"integer","minimum":0},"note":{"type":"string"}},"required":["a","b"]}"#,
    );
    check_output::<Pair>(
        r#"{"type":"object","properties":{"a":{"type":"integer","description":"The first number."},"b":{"type":"integer","minimum":0},"note":{"type":["string","null"]}},"required":["a","b","note"],"description":"Two numbers."}"#,
    );
}

#[test]
fn derived_texts_are_constants() {
    #[derive(Schema)]
    struct Empty {}
    assert_eq!(<Empty as Schema>::INPUT, Some(r#"{"type":"object"}"#));
}

#[test]
fn serde_attributes_are_understood() {
    #[derive(Schema, Serialize, Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Options {
        max_items: Vec<u8>,
        #[serde(rename = "type")]
        kind: String,
        #[serde(default)]
        deep: bool,
        #[serde(skip)]
        hidden: u8,
        #[serde(skip_serializing_if = "Option::is_none")]
        gap: Option<f64>,
        #[serde(rename(serialize = "out", deserialize = "in"))]
        both: bool,
    }
    check::<Options>(
        r#"{"type":"object","properties":{"maxItems":{"type":"array","items":{"type":"integer","minimum":0}},"type":{"type":"string"},"deep":{"type":"boolean"},"gap":{"type":"number"},"in":{"type":"boolean"}},"required":["maxItems","type","in"],"additionalProperties":false}"#,
    );
    check_output::<Options>(
        r#"{"type":"object","properties":{"maxItems":{"type":"array","items":{"type":"integer","minimum":0}},"type":{"type":"string"},"deep":{"type":"boolean"},"gap":{"type":"number"},"out":{"type":"boolean"}},"required":["maxItems","type","deep","out"],"additionalProperties":false}"#,
    );
}

#[test]
fn nested_types_are_written_out_and_keep_their_docs() {
    /// A place.
    #[derive(Schema)]
    struct Point {
        x: f64,
    }
    #[derive(Schema)]
    struct Line {
        from: Point,
        /// Where it ends.
        to: Option<Point>,
        more: BTreeMap<String, [Point; 2]>,
    }
    check::<Line>(
        r#"{"type":"object","properties":{"from":{"type":"object","properties":{"x":{"type":"number"}},"required":["x"],"description":"A place."},"to":{"type":"object","properties":{"x":{"type":"number"}},"required":["x"],"description":"Where it ends."},"more":{"type":"object","additionalProperties":{"type":"array","items":{"type":"object","properties":{"x":{"type":"number"}},"required":["x"],"description":"A place."},"minItems":2,"maxItems":2}}},"required":["from","more"]}"#,
    );
}

#[test]
fn rules_are_added_to_a_field() {
    #[derive(Schema)]
    struct Rules {
        #[schema(minimum = -1, maximum = 10.5)]
        a: f64,
        #[schema(pattern = r"^\d+$", max_length = 3, header = "Region")]
        b: String,
        #[schema(with = String, format = "date")]
        c: std::time::Duration,
    }
    check::<Rules>(
        r#"{"type":"object","properties":{"a":{"type":"number","minimum":-1,"maximum":10.5},"b":{"type":"string","pattern":"^\\d+$","maxLength":3,"x-mcp-header":"Region"},"c":{"type":"string","format":"date"}},"required":["a","b","c"]}"#,
    );
}

#[test]
fn a_default_is_told_beside_the_other_rules() {
    #[derive(Schema)]
    #[serde(rename_all = "lowercase")]
    enum Order {
        New,
        Old,
    }
    #[derive(Schema)]
    struct Search<T> {
        #[schema(default = "all \"notes\"")]
        query: String,
        /// How many.
        #[schema(minimum = 1, default = 10)]
        limit: Option<u32>,
        #[schema(default = -0.5)]
        weight: f64,
        #[schema(default = false)]
        deep: T,
        #[schema(default = "new")]
        order: Order,
        #[schema(default = ["a", "b"])]
        tags: Vec<String>,
        #[schema(default = [])]
        sizes: Vec<[u8; 2]>,
    }
    check::<Search<bool>>(
        r#"{"type":"object","properties":{"query":{"type":"string","default":"all \"notes\""},"limit":{"type":"integer","minimum":1,"default":10,"description":"How many."},"weight":{"type":"number","default":-0.5},"deep":{"type":"boolean","default":false},"order":{"type":"string","enum":["new","old"],"default":"new"},"tags":{"type":"array","items":{"type":"string"},"default":["a","b"]},"sizes":{"type":"array","items":{"type":"array","items":{"type":"integer","minimum":0},"minItems":2,"maxItems":2},"default":[]}},"required":["query","weight","deep","order","tags","sizes"]}"#,
    );

    #[derive(Schema)]
    #[serde(tag = "kind")]
    enum Shape {
        Circle {
            #[schema(default = 1)]
            radius: f64,
        },
    }
    check::<Shape>(
        r#"{"type":"object","oneOf":[{"type":"object","properties":{"kind":{"type":"string","const":"Circle"},"radius":{"type":"number","default":1}},"required":["kind","radius"]}]}"#,
    );
}

#[test]
fn enums_follow_their_tagging() {
    #[derive(Schema)]
    #[serde(rename_all = "SCREAMING-KEBAB-CASE")]
    enum Plain {
        DarkRed,
        Blue,
    }
    check::<Plain>(r#"{"type":"string","enum":["DARK-RED","BLUE"]}"#);
    check_output::<Option<Plain>>(r#"{"anyOf":[{"type":"string","enum":["DARK-RED","BLUE"]},{"type":"null"}]}"#);

    #[derive(Schema)]
    enum Told {
        /// Quick.
        Fast,
        Slow,
    }
    check::<Told>(
        r#"{"oneOf":[{"type":"string","const":"Fast","description":"Quick."},{"type":"string","const":"Slow"}]}"#,
    );

    #[derive(Schema)]
    enum Outside {
        Unit,
        One(i64),
        Two(i64, String),
        Named { a_b: bool },
    }
    check::<Outside>(
        r#"{"oneOf":[{"type":"string","const":"Unit"},{"type":"object","properties":{"One":{"type":"integer"}},"required":["One"],"additionalProperties":false},{"type":"object","properties":{"Two":{"type":"array","prefixItems":[{"type":"integer"},{"type":"string"}],"minItems":2,"maxItems":2}},"required":["Two"],"additionalProperties":false},{"type":"object","properties":{"Named":{"type":"object","properties":{"a_b":{"type":"boolean"}},"required":["a_b"]}},"required":["Named"],"additionalProperties":false}]}"#,
    );

    #[derive(Schema)]
    struct Circle {
        radius: f64,
    }
    #[derive(Schema)]
    #[serde(tag = "shape", rename_all = "lowercase")]
    enum Inside {
        Circle(Circle),
        Square { side: f64 },
        Dot,
    }
    check::<Inside>(
        r#"{"type":"object","oneOf":[{"type":"object","properties":{"shape":{"type":"string","const":"circle"},"radius":{"type":"number"}},"required":["shape","radius"]},{"type":"object","properties":{"shape":{"type":"string","const":"square"},"side":{"type":"number"}},"required":["shape","side"]},{"type":"object","properties":{"shape":{"type":"string","const":"dot"}},"required":["shape"]}]}"#,
    );

    #[derive(Schema)]
    #[serde(tag = "t", content = "c")]
    enum Beside {
        A(i64),
    }
    check::<Beside>(
        r#"{"type":"object","oneOf":[{"type":"object","properties":{"t":{"type":"string","const":"A"},"c":{"type":"integer"}},"required":["t","c"]}]}"#,
    );

    #[derive(Schema)]
    #[serde(untagged)]
    enum Either {
        Number(i64),
        Text(String),
    }
    check::<Either>(r#"{"anyOf":[{"type":"integer"},{"type":"string"}]}"#);
}

#[test]
fn a_type_that_contains_itself_is_defined_once() {
    #[derive(Schema)]
    struct Tree {
        name: String,
        children: Vec<Tree>,
        parent: Option<Box<Self>>,
    }
    let tree = r##"{"type":"object","properties":{"name":{"type":"string"},"children":{"type":"array","items":{"$ref":"#/$defs/Tree"}},"parent":{"$ref":"#/$defs/Tree"}},"required":["name","children"]"##;
    check::<Tree>(&format!(r##"{tree},"$defs":{{"Tree":{tree}}}}}}}"##));

    #[derive(Schema)]
    struct Forest {
        trees: Vec<Tree>,
    }
    check::<Forest>(&format!(
        r##"{{"type":"object","properties":{{"trees":{{"type":"array","items":{{"$ref":"#/$defs/Tree"}}}}}},"required":["trees"],"$defs":{{"Tree":{tree}}}}}}}"##
    ));
}

#[test]
fn generic_types_and_newtypes_describe_what_they_hold() {
    #[derive(Schema)]
    struct Page<T> {
        items: Vec<T>,
    }
    #[derive(Schema)]
    struct Id(u64);
    check::<Page<Id>>(
        r#"{"type":"object","properties":{"items":{"type":"array","items":{"type":"integer","minimum":0}}},"required":["items"]}"#,
    );
    check::<(Id, char)>(
        r#"{"type":"array","prefixItems":[{"type":"integer","minimum":0},{"type":"string","minLength":1,"maxLength":1}],"minItems":2,"maxItems":2}"#,
    );
}

#[test]
fn texts_are_escaped() {
    /// Say "hi"\n:
    ///
    /// - one
    /// - two
    #[derive(Schema)]
    struct Quoted {
        #[serde(rename = "a\"b")]
        a: bool,
    }
    check_output::<Quoted>(
        r#"{"type":"object","properties":{"a\"b":{"type":"boolean"}},"required":["a\"b"],"description":"Say \"hi\"\\n:\n\n- one\n- two"}"#,
    );
}
