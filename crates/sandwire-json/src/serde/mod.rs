//! Serde's traits over [`Reader`] and [`Writer`].
//!
//! This is for the types of others: a tool's arguments, say. A type is read from the text directly,
//! without a tree between, and an error names the member.
//!
//! ```
//! #[derive(serde::Deserialize)]
//! struct Add {
//!     terms: Vec<u32>,
//! }
//!
//! let add: Add = sandwire_json::serde::from_str(r#"{"terms":[1,2]}"#)?;
//! assert_eq!(add.terms, [1, 2]);
//! let error = sandwire_json::serde::from_str::<Add>(r#"{"terms":[1,-2]}"#).err();
//! assert_eq!(error.map(|error| error.path().to_owned()).as_deref(), Some("terms[1]"));
//! # Ok::<(), sandwire_json::Error>(())
//! ```

mod de;
mod raw;
mod ser;

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Error, ErrorKind, Raw, Reader, Writer};

/// Reads a whole text into a type that serde describes.
///
/// # Errors
/// When the text is not JSON or not a `T`; the error's path names the member.
pub fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    let mut r = Reader::new(text);
    let value = read(&mut r)?;
    r.end()?;
    Ok(value)
}

/// Reads the next value into a type that serde describes, leaving the reader after it.
///
/// # Errors
/// When it is not JSON or not a `T`; the error's path names the member.
pub fn read<T: DeserializeOwned>(r: &mut Reader<'_>) -> Result<T, Error> {
    T::deserialize(de::Deserializer { r })
}

/// Writes a type that serde describes.
///
/// # Errors
/// When the type refuses, or has a map whose keys are not strings or numbers.
pub fn to_raw<T: Serialize + ?Sized>(value: &T) -> Result<Raw, Error> {
    let mut w = Writer::new();
    write(&mut w, value)?;
    Ok(w.into_raw())
}

/// Writes a type that serde describes as the next value.
///
/// # Errors
/// As [`to_raw`]; the writer is of no further use then.
pub fn write<T: Serialize + ?Sized>(w: &mut Writer, value: &T) -> Result<(), Error> {
    value.serialize(ser::Serializer { w })
}

/// The name by which serde_json's `RawValue` asks a format for the text itself.
const RAW_VALUE: &str = "$serde_json::private::RawValue";

impl serde::de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(ErrorKind::Custom, 0, message.to_string())
    }

    fn invalid_type(unexpected: serde::de::Unexpected<'_>, expected: &dyn serde::de::Expected) -> Self {
        let message = format!("expected {expected}, found {}", noun(unexpected));
        Self::new(ErrorKind::Type, 0, message)
    }

    fn invalid_value(unexpected: serde::de::Unexpected<'_>, expected: &dyn serde::de::Expected) -> Self {
        let mut message = format!("expected {expected}, found ");
        show(&mut message, unexpected);
        Self::new(ErrorKind::Value, 0, message)
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(ErrorKind::Missing, 0, "required member is missing").in_member(field)
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::new(ErrorKind::Duplicate, 0, "member appears twice").in_member(field)
    }

    fn unknown_field(field: &str, _: &'static [&'static str]) -> Self {
        Self::new(ErrorKind::Value, 0, "unknown member").in_member(field)
    }
}

/// JSON's word for what was found.
fn noun(unexpected: serde::de::Unexpected<'_>) -> &'static str {
    use serde::de::Unexpected;
    match unexpected {
        Unexpected::Bool(_) => "true or false",
        Unexpected::Unsigned(_) | Unexpected::Signed(_) => "an integer",
        Unexpected::Float(_) => "a number",
        Unexpected::Str(_) | Unexpected::Char(_) | Unexpected::Bytes(_) => "a string",
        Unexpected::Unit | Unexpected::Option => "null",
        Unexpected::Seq => "an array",
        _ => "an object",
    }
}

/// What was found, without serde's own text for it, which would link the printing of floats.
fn show(message: &mut String, unexpected: serde::de::Unexpected<'_>) {
    use serde::de::Unexpected;
    match unexpected {
        Unexpected::Unsigned(number) => crate::number::push_decimal(message, number),
        Unexpected::Signed(number) => {
            if number < 0 {
                message.push('-');
            }
            crate::number::push_decimal(message, number.unsigned_abs());
        }
        Unexpected::Str(text) => {
            message.push('"');
            message.push_str(text);
            message.push('"');
        }
        other => message.push_str(noun(other)),
    }
}

impl serde::ser::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(ErrorKind::Custom, 0, message.to_string())
    }
}
