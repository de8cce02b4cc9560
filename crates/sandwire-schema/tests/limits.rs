//! What must not run for long, and what violations say.
#![allow(missing_docs, clippy::unwrap_used)]

use sandwire_schema::{Compiler, Draft, Limits, Schema};

fn schema(text: &str) -> Schema {
    Schema::compile(text).unwrap()
}

/// What is said about a value, a line each: path, keyword, sentence.
fn said(schema_text: &str, value: &str) -> Vec<String> {
    let errors = schema(schema_text).validate(value).unwrap_err();
    let line = |one: &sandwire_schema::Violation| format!("{} {} {}", one.path(), one.keyword(), one.message());
    errors.violations().iter().map(line).collect()
}

fn refused(text: &str) -> String {
    Schema::compile(text).unwrap_err().to_text()
}

#[test]
fn references_that_go_round_end() {
    for round in [
        r##"{"$ref":"#"}"##,
        r##"{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}"##,
        r##"{"not":{"$ref":"#"}}"##,
        r##"{"anyOf":[{"$ref":"#"},true]}"##,
        r##"{"$dynamicRef":"#x","$dynamicAnchor":"x"}"##,
        r##"{"propertyNames":{"$ref":"#"},"if":{"$ref":"#"}}"##,
    ] {
        let errors = schema(round).validate(r#"{"a":1}"#).unwrap_err();
        assert!(errors.to_text().starts_with("the check goes too deep"), "{round}: {errors}");
        assert_eq!(errors.violations().len(), 1);
    }
}

#[test]
fn schemas_that_multiply_end() {
    let mut text = String::from(r##"{"$ref":"#/$defs/d0","$defs":{"##);
    for level in 0..40 {
        let next = level + 1;
        text += &format!(r##""d{level}":{{"allOf":[{{"$ref":"#/$defs/d{next}"}},{{"$ref":"#/$defs/d{next}"}}]}},"##);
    }
    text += r#""d40":true}}"#;
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let text = text.replace("allOf", keyword).replace(r#""d40":true"#, r#""d40":false"#);
        let errors = schema(&text).validate("1");
        assert!(errors.is_err(), "{keyword}");
    }
    let errors = schema(&text).validate("1").unwrap_err();
    assert!(errors.to_text().starts_with("the check takes too long"), "{errors}");
}

#[test]
fn a_schema_may_only_be_so_large() {
    let many = format!(r#"{{"allOf":[{}true]}}"#, "true,".repeat(20_000));
    assert!(refused(&many).contains("too many schemas"));
    let deep = format!("{}true{}", r#"{"not":"#.repeat(200), "}".repeat(200));
    assert!(refused(&deep).contains("nested too deep"));
    let limits = Limits { schemas: 2, ..Limits::default() };
    assert!(Compiler::new().limits(limits).compile(r#"{"allOf":[true,true]}"#).is_err());
    assert!(Compiler::new().limits(limits).compile(r#"{"allOf":[true]}"#).is_ok());
}

#[test]
fn large_values_are_checked() {
    let unique = schema(r#"{"type":"array","uniqueItems":true,"items":{"type":"object","required":["a"]}}"#);
    let items: Vec<_> = (0..20_000).map(|number| format!(r#"{{"a":[{number}]}}"#)).collect();
    assert!(unique.validate(&format!("[{}]", items.join(","))).is_ok());
    let again = format!(r#"[{},{{"a":[7.0]}}]"#, items.join(","));
    assert_eq!(unique.validate(&again).unwrap_err().to_text(), "must not have the same item twice");
    let long = "9".repeat(100_000);
    assert!(schema(r#"{"type":"integer","multipleOf":9}"#).validate(&long).is_ok());
}

#[test]
fn violations_say_where_what_and_how_to_mend_it() {
    let form = r#"{"type":"object","required":["name"],"additionalProperties":false,"properties":{
        "name":{"type":"string","minLength":2,"pattern":"^[a-z]+$"},
        "size":{"enum":["s","m",3]},"n":{"type":["integer","null"],"minimum":1,"multipleOf":5},
        "list":{"prefixItems":[{"const":1}],"items":false,"maxItems":3}}}"#;
    assert_eq!(said(form, "[]"), [" type must be an object"]);
    assert_eq!(
        said(form, r#"{"size":"l","x/y":0,"n":1.5,"list":[2,3]}"#),
        [
            " required lacks the property \"name\": add it",
            "/size enum must be one of \"s\", \"m\", 3",
            "/x~1y additionalProperties there is no such property: remove it",
            "/n type must be null or an integer",
            "/n multipleOf must be a multiple of 5",
            "/list/0 const must be 1",
            "/list/1 items is one item too many: remove it",
        ]
    );
    assert_eq!(
        said(form, r#"{"name":"Ä","n":0}"#),
        [
            "/name minLength must have at least 2 characters",
            "/name pattern must match the pattern \"^[a-z]+$\"",
            "/n minimum must be at least 1",
        ]
    );
    assert_eq!(said("false", "1"), ["  nothing is allowed here: remove it"]);
    assert_eq!(said(r#"{"oneOf":[{"const":"a"},{"const":"b"}]}"#, "1"), [" oneOf must be one of \"a\", \"b\""]);
    assert_eq!(said("true", "{"), ["  the value is not JSON: expected a member name"]);
}

#[test]
fn violations_are_bounded() {
    let items = format!("[{}0]", "0,".repeat(500));
    assert_eq!(said(r#"{"items":{"type":"string"}}"#, &items).len(), 8);
    let limits = Limits { errors: 2, ..Limits::default() };
    let two = Compiler::new().limits(limits).compile(r#"{"items":{"type":"string"}}"#).unwrap();
    assert_eq!(two.validate(&items).unwrap_err().violations().len(), 2);
    let long = format!(r#"{{"const":"{}"}}"#, "x".repeat(5000));
    assert!(said(&long, "1")[0].len() < 300);
}

#[test]
fn what_is_elsewhere_is_refused_and_not_fetched() {
    for reference in ["https://example.com/schema.json", "other.json", "file:///etc/passwd", "#/$defs/none", "#none"] {
        let text = format!(r#"{{"properties":{{"a":{{"$ref":"{reference}"}}}}}}"#);
        let error = Schema::compile(&text).unwrap_err();
        assert_eq!((error.path(), error.keyword()), ("/properties/a/$ref", "$ref"));
        assert!(error.message().contains(reference) && error.message().contains("nothing is fetched"), "{error}");
    }
}

#[test]
fn dialects() {
    assert_eq!(schema("{}").draft(), Draft::Draft202012);
    assert_eq!(schema(r#"{"$schema":"https://json-schema.org/draft/2020-12/schema"}"#).draft(), Draft::Draft202012);
    assert_eq!(schema(r##"{"$schema":"http://json-schema.org/draft-07/schema#"}"##).draft(), Draft::Draft7);
    let other = r#"{"$schema":"https://json-schema.org/draft/2019-09/schema"}"#;
    assert!(refused(other).ends_with("is not supported: use draft 2020-12 or draft-07"), "{}", refused(other));
}

#[test]
fn schemas_that_mean_nothing_are_refused() {
    for (text, words) in [
        ("{", "JSON text"),
        ("1", "an object, true or false"),
        (r#"{"type":"text"}"#, "a type is one of"),
        (r#"{"required":true}"#, "an array of names"),
        (r#"{"minLength":-1}"#, "from 0 on"),
        (r#"{"minimum":"1"}"#, "a number"),
        (r#"{"multipleOf":0}"#, "above 0"),
        (r#"{"pattern":"("}"#, "cannot be used"),
        (r#"{"properties":[]}"#, "an object"),
        (r#"{"allOf":{}}"#, "an array of schemas"),
        (r#"{"properties":{"a":3}}"#, "an object, true or false"),
    ] {
        assert!(refused(text).contains(words), "{text}: {}", refused(text));
    }
}

#[test]
fn each_of_the_members_with_one_name_is_checked() {
    let one = schema(r#"{"properties":{"a":{"type":"integer"}}}"#);
    assert!(one.validate(r#"{"a":1,"a":"x"}"#).is_err());
    assert!(one.validate(r#"{"a":"x","a":1}"#).is_err());
}
