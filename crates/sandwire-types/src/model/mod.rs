//! The specification's nouns, the same for every version.

use sandwire_json::shape::Type;
use sandwire_json::{Read, Write};
use serde::de::Error as _;
use serde::ser::Error as _;
use serde_json::value::RawValue;

mod logging;
mod macros;

pub use logging::LoggingLevel;

/// A type whose JSON is described by a table.
pub trait Described {
    /// What its JSON must be.
    const TYPE: Type;
}

fn serialize<T: Write, S: serde::Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    let text = sandwire_json::to_raw(value);
    let raw = RawValue::from_string(String::from(text.as_str())).map_err(S::Error::custom)?;
    serde::Serialize::serialize(&raw, serializer)
}

fn deserialize<'de, T: Read, D: serde::Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let raw: Box<RawValue> = serde::Deserialize::deserialize(deserializer)?;
    sandwire_json::from_str(raw.get()).map_err(D::Error::custom)
}
