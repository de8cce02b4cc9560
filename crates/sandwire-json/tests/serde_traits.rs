//! Types that serde describes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, HashMap};

use sandwire_json::serde::{from_str, to_raw};
use sandwire_json::{ErrorKind, Raw};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Everything {
    a: i64,
    b: u64,
    c: f64,
    d: Option<bool>,
    e: String,
    f: Vec<u8>,
    g: (i32, String),
    h: BTreeMap<String, Shape>,
    i: HashMap<u16, i8>,
    j: Unit,
    k: New,
    l: [Shape; 2],
    m: Option<()>,
    n: char,
    o: i128,
    #[serde(default)]
    p: Option<String>,
    #[serde(flatten)]
    rest: BTreeMap<String, serde_json::Value>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Unit;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct New(u8);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Shape {
    Dot,
    Circle(f32),
    Line(i8, i8),
    Rect { width: u32, height: u32 },
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type")]
enum Tagged {
    A { x: i64 },
    B,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Untagged {
    Number(u64),
    Text(String),
    List(Vec<Untagged>),
}

fn everything() -> Everything {
    Everything {
        a: i64::MIN,
        b: u64::MAX,
        c: 0.1,
        d: Some(true),
        e: "é\"\n".into(),
        f: vec![0, 255],
        g: (-1, "t".into()),
        h: [("x".into(), Shape::Line(1, -1)), ("y".into(), Shape::Rect { width: 1, height: 2 })].into(),
        i: [(7, -8)].into(),
        j: Unit,
        k: New(9),
        l: [Shape::Dot, Shape::Circle(1.5)],
        m: None,
        n: '😀',
        o: i128::MIN,
        p: None,
        rest: [("more".into(), serde_json::json!({"deep": [1, -2, 2.5, null]}))].into(),
    }
}

#[test]
fn everything_comes_back_and_is_what_serde_json_writes() {
    let value = everything();
    let text = to_raw(&value).unwrap();
    assert_eq!(from_str::<Everything>(text.as_str()).unwrap(), value);
    assert_eq!(serde_json::from_str::<Everything>(text.as_str()).unwrap(), value);
    assert_eq!(text.as_str(), serde_json::to_string(&value).unwrap());
}

#[test]
fn tagged_and_untagged_enums() {
    for value in [Tagged::A { x: -5 }, Tagged::B] {
        assert_eq!(from_str::<Tagged>(to_raw(&value).unwrap().as_str()).unwrap(), value);
    }
    let value = Untagged::List(vec![Untagged::Number(1), Untagged::Text("x".into())]);
    assert_eq!(from_str::<Untagged>(to_raw(&value).unwrap().as_str()).unwrap(), value);
}

#[test]
fn errors_name_the_member() {
    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct Args {
        a: Vec<Inner>,
        b: Option<Shape>,
    }
    #[derive(Debug, Deserialize)]
    #[allow(dead_code)]
    struct Inner {
        b: u8,
    }
    for (text, path, kind) in [
        (r#"{"a":[{"b":1},{"b":"x"}]}"#, "a[1].b", ErrorKind::Type),
        (r#"{"a":[{"b":1},{"b":300}]}"#, "a[1].b", ErrorKind::Value),
        (r#"{"a":[{"b":1.5}]}"#, "a[0].b", ErrorKind::Type),
        (r#"{"a":[{"b":99999999999999999999}]}"#, "a[0].b", ErrorKind::Range),
        (r#"{"a":[{}]}"#, "a[0].b", ErrorKind::Missing),
        (r#"{"a":[{"b":1,"b":2}]}"#, "a[0].b", ErrorKind::Duplicate),
        (r#"{"a":[],"c":1}"#, "c", ErrorKind::Value),
        (r#"{"a":[],"b":{"rect":{"width":1,"height":null}}}"#, "b.rect.height", ErrorKind::Type),
        (r#"{"a":[],"b":"square"}"#, "b", ErrorKind::Custom),
        (r#"{}"#, "a", ErrorKind::Missing),
        (r#"{"a":{}}"#, "a", ErrorKind::Type),
    ] {
        let error = from_str::<Args>(text).unwrap_err();
        assert_eq!((error.path(), error.kind()), (path, error.kind().max_of(kind)), "{text}: {error}");
    }
    let error = from_str::<Args>(r#"{"a":[{"b":"x"}]}"#).unwrap_err();
    assert_eq!(error.to_string(), "expected an integer, found a string at a[0].b");
}

trait MaxOf {
    fn max_of(self, expected: ErrorKind) -> ErrorKind;
}

impl MaxOf for ErrorKind {
    /// The expected kind, except that serde gives an unknown variant no kind of its own.
    fn max_of(self, expected: ErrorKind) -> ErrorKind {
        if expected == ErrorKind::Custom { self } else { expected }
    }
}

#[test]
fn texts_pass_through_both_formats() {
    #[derive(Serialize, Deserialize)]
    struct Holder {
        ours: Raw,
        theirs: Box<RawValue>,
        number: sandwire_json::Number,
    }
    let text = r#"{"ours":{"big":12345678901234567890123},"theirs":[1.10, 2],"number":3.140}"#;
    let holder: Holder = from_str(text).unwrap();
    assert_eq!(holder.ours.as_str(), r#"{"big":12345678901234567890123}"#);
    assert_eq!(holder.theirs.get(), "[1.10, 2]");
    assert_eq!(to_raw(&holder).unwrap().as_str(), text);
    assert_eq!(serde_json::to_string(&holder).unwrap(), text);
    let holder: Holder = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&holder).unwrap(), text);
    let value = serde_json::json!({"a": [1]});
    let raw: Raw = serde_json::from_value(value.clone()).unwrap();
    assert_eq!(raw.as_str(), r#"{"a":[1]}"#);
    assert_eq!(serde_json::to_value(&raw).unwrap(), value);
}

#[test]
fn malformed_rests_are_refused() {
    assert!(from_str::<(u8,)>("[1,2]").is_err());
    assert!(from_str::<u8>("1 1").is_err());
    assert!(from_str::<Shape>(r#"{"circle":1,"dot":null}"#).is_err());
    assert!(from_str::<Shape>("{}").is_err());
    assert!(from_str::<()>("nul").is_err());
}
