//! Types described by the schemars crate.

use super::{Direction, Node, Schema};
use sandwire_json::Raw;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::ops::{Deref, DerefMut};

/// A value whose schema comes from schemars.
///
/// ```
/// use sandwire_server::schema::Schemars;
///
/// #[derive(schemars::JsonSchema)]
/// struct Point {
///     x: u32,
/// }
///
/// let schema = sandwire_server::schema::input::<Schemars<Point>>();
/// assert_eq!(schema.get("required").unwrap().as_str(), r#"["x"]"#);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Schemars<T>(pub T);

impl<T: JsonSchema> Schema for Schemars<T> {
    const NODE: &'static Node = &Node::Dynamic(describe::<T>);
}

impl<T> Deref for Schemars<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Schemars<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

pub(super) const PLACE: u8 = 1;
pub(super) type Dynamics = [Option<fn(Direction) -> Raw>; 32];
pub(super) const NO_DYNAMICS: Dynamics = [None; 32];

fn describe<T: JsonSchema>(direction: Direction) -> Raw {
    let mut settings = SchemaSettings::draft2020_12();
    settings.meta_schema = None;
    settings.inline_subschemas = true;
    if direction == Direction::Output {
        settings = settings.for_serialize();
    }
    let mut value = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Value::Object(members) = &mut value {
        members.remove("title");
    }
    simplify(&mut value, direction);
    Raw::from_valid(value.to_string())
}

/// Takes out what schemars says about Rust's number types and JSON Schema does not define, and what makes a type one of
/// several where it need not be: some clients drop both.
fn simplify(value: &mut Value, direction: Direction) {
    match value {
        Value::Object(members) => {
            if members.get("format").and_then(Value::as_str).is_some_and(is_number_format) {
                members.remove("format");
            }
            if direction == Direction::Input {
                without_null(members);
            }
            members.values_mut().for_each(|member| simplify(member, direction));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| simplify(item, direction)),
        _ => {}
    }
}

/// Leaves `null` to the members that are required: of the others, absence says the same.
fn without_null(schema: &mut Map<String, Value>) {
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    for (name, property) in properties {
        let Some(Value::Array(types)) = property.get("type") else { continue };
        let rest: Vec<_> = types.iter().filter(|kind| *kind != "null").cloned().collect();
        if let ([one], Value::Object(members)) = (&*rest, property)
            && !required.iter().any(|required| required == name)
        {
            members.insert("type".into(), one.clone());
            if members.get("default").is_some_and(Value::is_null) {
                members.remove("default");
            }
        }
    }
}

fn is_number_format(format: &str) -> bool {
    let digits = format.strip_prefix("uint").or_else(|| format.strip_prefix("int"));
    matches!(format, "float" | "double") || digits.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Puts the members of each schema made at run time where the description left a place for it.
pub(super) fn fill_in(dynamics: &Dynamics, bytes: &[u8], direction: Direction) -> Vec<u8> {
    let mut made = dynamics.iter().flatten();
    let mut filled = Vec::with_capacity(bytes.len());
    for (index, part) in bytes.split(|byte| *byte == PLACE).enumerate() {
        if index > 0
            && let Some(schema) = made.next()
        {
            let schema = schema(direction);
            let members = schema.as_str().trim_start_matches('{').strip_suffix('}').unwrap_or_default();
            if members.is_empty() && filled.last() == Some(&b',') {
                filled.pop();
            }
            filled.extend_from_slice(members.as_bytes());
            if members.is_empty() && part.first() == Some(&b',') {
                filled.extend_from_slice(part.get(1..).unwrap_or_default());
                continue;
            }
        }
        filled.extend_from_slice(part);
    }
    filled
}
