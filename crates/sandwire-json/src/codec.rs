use std::sync::Arc;

use crate::{Error, Kind, Raw, Reader, Writer, scan};

/// A type that can be read from JSON text.
///
/// It is apart from [`Write`] so that a program which only writes links no reader.
pub trait Read: Sized {
    /// Whether `null` is one of the type's values, and not the absence of one.
    const NULL: bool = false;

    /// Reads one value, leaving the reader after it.
    ///
    /// # Errors
    /// When the next value is not of this type.
    fn read(r: &mut Reader<'_>) -> Result<Self, Error>;
}

/// A type that can be written as JSON text.
pub trait Write {
    /// Writes one value.
    fn write(&self, w: &mut Writer);
}

/// Reads a whole text.
///
/// # Errors
/// When the text is not JSON, is not a `T`, or has something after it.
pub fn from_str<T: Read>(text: &str) -> Result<T, Error> {
    let mut r = Reader::new(text);
    let value = T::read(&mut r)?;
    r.end()?;
    Ok(value)
}

/// Writes a value as text.
pub fn to_raw<T: Write + ?Sized>(value: &T) -> Raw {
    let mut w = Writer::new();
    value.write(&mut w);
    w.into_raw()
}

/// The text of the value of an object's first member of that name; `None` also when `object` is no
/// object or is malformed before that member's end.
pub fn find<'a>(object: &'a str, key: &str) -> Option<&'a str> {
    Reader::new(object).look_up(key).ok().flatten()
}

/// Whether one of the names may be a member's name somewhere in a text. It takes less than to read the text, and is wrong
/// only when it says so: a name at the beginning of another string, or written with escapes, may be one. The names hold
/// no quotes, backslashes and control characters.
pub fn may_name(json: &str, names: &[&str]) -> bool {
    let bytes = json.as_bytes();
    let mut at = scan::run_end(bytes, 0);
    while let Some(special) = bytes.get(at) {
        let rest = bytes.get(at + 1..).unwrap_or_default();
        // Most are told apart by their first byte, without a call.
        let begins = |name: &&str| match name.as_bytes() {
            [first, ..] => rest.first() == Some(first) && rest.starts_with(name.as_bytes()),
            [] => true,
        };
        match (special, rest.first()) {
            (b'"', _) if names.iter().any(begins) => return true,
            (b'\\', Some(b'u' | b'/')) => return true,
            (b'\\', _) => at += 1,
            _ => {}
        }
        at = scan::run_end(bytes, at + 1);
    }
    false
}

impl Read for bool {
    fn read(r: &mut Reader<'_>) -> Result<Self, Error> {
        r.boolean()
    }
}

impl Write for bool {
    fn write(&self, w: &mut Writer) {
        w.boolean(*self);
    }
}

impl Read for i64 {
    fn read(r: &mut Reader<'_>) -> Result<Self, Error> {
        r.integer()
    }
}

impl Write for i64 {
    fn write(&self, w: &mut Writer) {
        w.integer(*self);
    }
}

impl Read for String {
    fn read(r: &mut Reader<'_>) -> Result<Self, Error> {
        r.string().map(std::borrow::Cow::into_owned)
    }
}

impl Read for Arc<str> {
    fn read(r: &mut Reader<'_>) -> Result<Self, Error> {
        r.string().map(Self::from)
    }
}

impl Write for str {
    fn write(&self, w: &mut Writer) {
        w.string(self);
    }
}

impl Write for String {
    fn write(&self, w: &mut Writer) {
        w.string(self);
    }
}

impl Write for Arc<str> {
    fn write(&self, w: &mut Writer) {
        w.string(self);
    }
}

impl<T: Read> Read for Option<T> {
    const NULL: bool = true;

    fn read(r: &mut Reader<'_>) -> Result<Self, Error> {
        if r.peek()? == Kind::Null { r.null().map(|()| None) } else { T::read(r).map(Some) }
    }
}

impl<T: Write> Write for Option<T> {
    fn write(&self, w: &mut Writer) {
        match self {
            Some(value) => value.write(w),
            None => w.null(),
        }
    }
}

impl<T: Read> Read for Vec<T> {
    fn read(r: &mut Reader<'_>) -> Result<Self, Error> {
        let mut items = Self::new();
        r.array(&mut |r| {
            items.push(T::read(r)?);
            Ok(())
        })?;
        Ok(items)
    }
}

impl<T: Write> Write for [T] {
    fn write(&self, w: &mut Writer) {
        w.begin_array();
        for item in self {
            item.write(w);
        }
        w.end_array();
    }
}

impl<T: Write> Write for Vec<T> {
    fn write(&self, w: &mut Writer) {
        self.as_slice().write(w);
    }
}

impl<T: Read> Read for Box<T> {
    const NULL: bool = T::NULL;

    fn read(r: &mut Reader<'_>) -> Result<Self, Error> {
        T::read(r).map(Self::new)
    }
}

impl<T: Write + ?Sized> Write for Box<T> {
    fn write(&self, w: &mut Writer) {
        (**self).write(w);
    }
}

impl<T: Write + ?Sized> Write for &T {
    fn write(&self, w: &mut Writer) {
        (**self).write(w);
    }
}
