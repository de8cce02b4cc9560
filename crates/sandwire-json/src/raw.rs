use std::sync::Arc;

use crate::{Error, Kind, Read, Reader, Write, Writer, find};

/// One JSON value as text, kept as it came; cloning counts a reference.
///
/// Equality is that of the text: `1` and `1.0` differ, and so do `{}` and `{ }`.
///
/// ```
/// use sandwire_json::Raw;
///
/// let raw = Raw::parse(r#" {"big": 12345678901234567890123, "price": 1.10} "#)?;
/// assert_eq!(raw.as_str(), r#"{"big": 12345678901234567890123, "price": 1.10}"#);
/// assert_eq!(raw.get("price").map(|price| price.to_string()).as_deref(), Some("1.10"));
/// # Ok::<(), sandwire_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Raw(Arc<str>);

impl Raw {
    /// Checks a text and keeps it, without the white space around it.
    ///
    /// # Errors
    /// When it is not one JSON value, or nested too deep.
    pub fn parse(text: &str) -> Result<Self, Error> {
        crate::from_str(text)
    }

    /// Keeps a text without checking it: that it is one JSON value is the caller's duty.
    pub fn from_valid(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The value `{}`.
    pub fn object() -> Self {
        Self("{}".into())
    }

    /// The value `null`.
    pub fn null() -> Self {
        Self("null".into())
    }

    /// The JSON string that stands for `value`.
    pub fn string(value: &str) -> Self {
        crate::to_raw(value)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text, shared.
    pub fn into_arc(self) -> Arc<str> {
        self.0
    }

    /// The type of the value.
    pub fn kind(&self) -> Kind {
        self.reader().peek().unwrap_or(Kind::Null)
    }

    /// Whether the value is an object.
    pub fn is_object(&self) -> bool {
        self.kind() == Kind::Object
    }

    /// Whether the value is `null`.
    pub fn is_null(&self) -> bool {
        self.kind() == Kind::Null
    }

    /// A reader over the text.
    pub fn reader(&self) -> Reader<'_> {
        Reader::new(&self.0)
    }

    /// The value of an object's first member of that name.
    pub fn get(&self, key: &str) -> Option<Self> {
        find(&self.0, key).map(Self::from_valid)
    }
}

impl std::fmt::Debug for Raw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::fmt::Display for Raw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Read for Raw {
    const NULL: bool = true;

    fn read(r: &mut Reader<'_>) -> Result<Self, Error> {
        r.raw().map(Self::from_valid)
    }
}

impl Write for Raw {
    fn write(&self, w: &mut Writer) {
        w.raw(&self.0);
    }
}
