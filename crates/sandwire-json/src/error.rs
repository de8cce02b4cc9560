use std::borrow::Cow;
use std::fmt;

/// What was wrong with a text, where, and in which member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    kind: ErrorKind,
    offset: usize,
    path: String,
    message: Cow<'static, str>,
}

/// The kind of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The text is not JSON.
    Syntax,
    /// Arrays and objects are nested deeper than [`MAX_DEPTH`](crate::MAX_DEPTH).
    Depth,
    /// A required member is absent.
    Missing,
    /// A value of one JSON type stands where another is required.
    Type,
    /// A number does not fit the type that was asked for.
    Range,
    /// An object has the same member twice.
    Duplicate,
    /// A value has the right type and is not one of those allowed.
    Value,
    /// A type's own codec refused the value.
    Custom,
}

impl Error {
    /// An error of `kind` at a byte offset, with a message in lower case and without a final stop.
    pub fn new(kind: ErrorKind, offset: usize, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Inner { kind, offset, path: String::new(), message: message.into() }))
    }

    /// The error for a required member that is absent from the object read last.
    pub fn missing(key: &str, reader: &crate::Reader<'_>) -> Self {
        Self::new(ErrorKind::Missing, reader.offset(), "required member is missing").in_member(key)
    }

    /// The error for a member that an object has twice.
    pub fn duplicate(reader: &crate::Reader<'_>) -> Self {
        Self::new(ErrorKind::Duplicate, reader.offset(), "member appears twice")
    }

    /// The kind of error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The byte offset into the text that was being read.
    pub fn offset(&self) -> usize {
        self.0.offset
    }

    /// The member concerned, as in `tools[3].name`; empty for the value itself.
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// What was wrong, without the place.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What was wrong, and where: what is displayed.
    pub fn to_text(&self) -> String {
        let mut text = String::from(self.message());
        text.push_str(" at ");
        if self.path().is_empty() {
            text.push_str("byte ");
            crate::number::push_decimal(&mut text, self.offset() as u64);
        } else {
            text.push_str(self.path());
        }
        text
    }

    /// Gives an error without a place one.
    #[must_use]
    pub(crate) fn at_least(mut self, offset: usize) -> Self {
        if self.0.offset == 0 {
            self.0.offset = offset;
        }
        self
    }

    /// Says that the value concerned lies in the member `key` of an object.
    #[must_use]
    pub fn in_member(mut self, key: &str) -> Self {
        let path = &mut self.0.path;
        let dot = if path.is_empty() || path.starts_with('[') { "" } else { "." };
        path.insert_str(0, dot);
        path.insert_str(0, key);
        self
    }

    /// Says that the value concerned is item `index` of an array.
    #[must_use]
    pub fn in_item(self, index: usize) -> Self {
        let mut place = String::from("[");
        crate::number::push_decimal(&mut place, index as u64);
        place.push(']');
        self.in_member(&place)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text())
    }
}

impl std::error::Error for Error {}
