//! Header fields, statuses, and arguments that are repeated in header fields.
#![allow(missing_docs, clippy::unwrap_used)]

use sandwire_proto::http::{Headers, ResponseHead, param_headers};

#[test]
fn a_field_that_is_set_stands_alone() {
    let mut headers: Headers = [("Accept", "a"), ("accept", " b "), ("Host", "h")].into_iter().collect();
    assert_eq!((headers.len(), headers.is_empty()), (3, false));
    assert_eq!(headers.get_all("ACCEPT").collect::<Vec<_>>(), ["a", "b"]);
    headers.set("ACCEPT", "c");
    assert_eq!(headers.get_all("accept").collect::<Vec<_>>(), ["c"]);
    assert_eq!(headers.len(), 2);
    headers.remove("accept");
    assert_eq!((headers.get("accept"), headers.get("host")), (None, Some("h")));
}

#[test]
fn success_is_from_200_to_299() {
    let is_success = |status| ResponseHead::new(status).is_success();
    assert_eq!([199, 200, 299, 300].map(is_success), [false, true, true, false]);
}

#[test]
fn a_schema_mentions_the_keyword_or_does_not() {
    assert!(param_headers::mentions_header(r#"{"x-mcp-header":"A"}"#));
    for other in ["", "{}", r#"{"x-mcp-heade":"A"}"#, r#"{"x-mcp":"header"}"#, "x-mcp-heade"] {
        assert!(!param_headers::mentions_header(other), "{other}");
    }
}

#[test]
fn fields_repeat_arguments_by_their_value() {
    let property = |name: &str, kind: &str| format!(r#""{name}":{{"type":"{kind}","x-mcp-header":"{name}"}}"#);
    let properties = [property("text", "string"), property("size", "integer"), property("on", "boolean")].join(",");
    let schema = format!(r#"{{"type":"object","properties":{{{properties}}}}}"#);
    let repeats = |arguments: &str, fields: &[(&'static str, &str)]| {
        let names = fields.iter().map(|(name, value)| (["mcp-param-", name].concat(), (*value).to_owned()));
        let mut headers = Headers::new();
        names.for_each(|(name, value)| headers.push(name, value));
        param_headers::mirrored(&schema, arguments, &headers)
    };
    assert!(repeats("{}", &[]));
    assert!(repeats(r#"{"text":"a","size":42,"on":true}"#, &[("text", "a"), ("size", "42"), ("on", "true")]));
    assert!(repeats(r#"{"size":42.0}"#, &[("size", "42")]) && repeats(r#"{"size":-42}"#, &[("size", "-42.00")]));
    assert!(repeats(r#"{"text":"ä"}"#, &[("text", "=?base64?w6Q=?=")]));
    for (arguments, fields) in [
        ("{}", &[("text", "a")][..]),
        (r#"{"text":"a"}"#, &[]),
        (r#"{"text":"a"}"#, &[("text", "b")]),
        (r#"{"text":"a"}"#, &[("text", "a"), ("text", "a")]),
        (r#"{"size":42}"#, &[("size", "43")]),
        (r#"{"size":42}"#, &[("size", "42.5")]),
        (r#"{"size":42}"#, &[("size", "42.")]),
        (r#"{"size":42}"#, &[("size", "x")]),
        (r#"{"on":true}"#, &[("on", "false")]),
        (r#"{"on":true}"#, &[]),
    ] {
        assert!(!repeats(arguments, fields), "{arguments} {fields:?}");
    }
}
