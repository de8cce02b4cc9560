//! The same verdicts as another validator, on schemas and values that were made at random.
#![allow(missing_docs, clippy::unwrap_used)]

use proptest::prelude::*;
use sandwire_schema::Schema;
use serde_json::{Map, Value, json};

const NAMES: [&str; 4] = ["a", "b", "ab", "c"];

fn name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&NAMES[..])
}

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        (-4..9i64).prop_map(Value::from),
        prop::sample::select(vec![json!(0.5), json!(1.5), json!(2.0), json!(-1.0)])
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number(),
        "[abäA😀]{0,4}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name(), inner), 0..4).prop_map(object),
        ]
    })
}

fn object(members: Vec<(&'static str, Value)>) -> Value {
    Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        Just(json!({"$ref": "#/$defs/d"})),
        assertion().prop_map(|(keyword, value)| json!({keyword: value})),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        let member = prop_oneof![assertion(), applicator(inner)];
        prop::collection::vec(member, 1..5).prop_map(|members| {
            Value::Object(
                members.into_iter().map(|(keyword, value)| (keyword.to_owned(), value)).collect::<Map<_, _>>(),
            )
        })
    })
}

fn assertion() -> impl Strategy<Value = (&'static str, Value)> {
    const TYPES: &[&str] = &["null", "boolean", "number", "string", "array", "object", "integer"];
    let one = prop::sample::select(TYPES).prop_map(Value::from);
    let many = prop::sample::subsequence(TYPES, 1..4).prop_map(Value::from);
    const COUNTS: &[&str] = &["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"];
    const BOUNDS: &[&str] = &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
    prop_oneof![
        prop_oneof![one, many].prop_map(|types| ("type", types)),
        value().prop_map(|value| ("const", value)),
        prop::collection::vec(value(), 1..4).prop_map(|values| ("enum", Value::from(values))),
        (prop::sample::select(COUNTS), 0..4u64).prop_map(|(keyword, count)| (keyword, count.into())),
        (prop::sample::select(BOUNDS), number()),
        prop::sample::select(vec![json!(2), json!(0.5), json!(3)]).prop_map(|number| ("multipleOf", number)),
        any::<bool>().prop_map(|unique| ("uniqueItems", unique.into())),
        prop::sample::select(vec!["^a", "b$", "^[^ä]*$", "\\p{Lu}"]).prop_map(|pattern| ("pattern", pattern.into())),
        prop::sample::subsequence(&NAMES[..], 0..3).prop_map(|names| ("required", names.into())),
        (name(), prop::sample::subsequence(&NAMES[..], 0..3))
            .prop_map(|(name, names)| ("dependentRequired", json!({name: names}))),
        (0..3u64).prop_map(|count| ("minContains", count.into())),
        (0..3u64).prop_map(|count| ("maxContains", count.into())),
    ]
}

fn applicator(inner: impl Strategy<Value = Value> + Clone + 'static) -> impl Strategy<Value = (&'static str, Value)> {
    const ONE: &[&str] = &[
        "not",
        "if",
        "then",
        "else",
        "contains",
        "items",
        "additionalProperties",
        "unevaluatedItems",
        "unevaluatedProperties",
    ];
    const MANY: &[&str] = &["allOf", "anyOf", "oneOf", "prefixItems"];
    const NAMED: &[&str] = &["properties", "dependentSchemas"];
    prop_oneof![
        (prop::sample::select(ONE), inner.clone()),
        (prop::sample::select(MANY), prop::collection::vec(inner.clone(), 1..4))
            .prop_map(|(keyword, schemas)| (keyword, schemas.into())),
        (prop::sample::select(NAMED), prop::collection::vec((name(), inner.clone()), 1..4))
            .prop_map(|(keyword, schemas)| (keyword, object(schemas))),
        (prop::sample::select(&["^a", "b"][..]), inner.clone())
            .prop_map(|(pattern, schema)| ("patternProperties", json!({pattern: schema}))),
        (0..3u64).prop_map(|most| ("propertyNames", json!({"maxLength": most}))),
    ]
}

fn compare(dialect: &str, schema: &Value, definition: &Value, values: &[Value]) -> Result<(), TestCaseError> {
    // A definition that refers to itself would go round.
    let definition = if definition.to_string().contains("$ref") { json!(true) } else { definition.clone() };
    let whole = json!({"$schema": dialect, "$defs": {"d": definition}, "allOf": [schema]});
    let Ok(oracle) = jsonschema::validator_for(&whole) else {
        return Ok(());
    };
    let ours = Schema::compile(&whole.to_string()).unwrap();
    for value in values {
        let verdict = ours.validate(&value.to_string());
        prop_assert_eq!(verdict.is_ok(), oracle.is_valid(value), "{} {} {:?}", whole, value, verdict);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn verdicts_are_those_of_another_validator(
        schema in schema(),
        definition in schema(),
        values in prop::collection::vec(value(), 8),
    ) {
        compare("https://json-schema.org/draft/2020-12/schema", &schema, &definition, &values)?;
        compare("http://json-schema.org/draft-07/schema#", &schema, &definition, &values)?;
    }
}
