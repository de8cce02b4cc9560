//! What the nouns' codecs share.

use std::sync::Arc;

use sandwire_json::shape::{Shape, Type, Union};
use sandwire_json::{Error, ErrorKind, Kind, Number, Raw, Read, Reader, Write, Writer};

use crate::jsonrpc::{ErrorObject, RequestId};

/// A type whose JSON is described by a table.
pub trait Described {
    /// What its JSON must be.
    const TYPE: Type;
}

/// The members of an object that are not known here, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extra(Vec<(Arc<str>, Raw)>);

impl Extra {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of the member of that name.
    pub fn get(&self, key: &str) -> Option<&Raw> {
        self.0.iter().find(|(name, _)| **name == *key).map(|(_, value)| value)
    }

    /// Sets a member, and gives its former value.
    pub fn insert(&mut self, key: &str, value: Raw) -> Option<Raw> {
        match self.0.iter_mut().find(|(name, _)| **name == *key) {
            Some((_, slot)) => Some(std::mem::replace(slot, value)),
            None => {
                self.0.push((key.into(), value));
                None
            }
        }
    }

    /// Removes a member, and gives its value.
    pub fn remove(&mut self, key: &str) -> Option<Raw> {
        let index = self.0.iter().position(|(name, _)| **name == *key)?;
        Some(self.0.remove(index).1)
    }

    /// The members.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Raw)> {
        self.0.iter().map(|(name, value)| (&**name, value))
    }

    pub(crate) fn read(&mut self, key: &str, r: &mut Reader<'_>) -> Result<(), Error> {
        let value = Raw::read(r)?;
        self.0.push((key.into(), value));
        Ok(())
    }

    /// Writes the members but those that the noun itself has written.
    pub(crate) fn write(&self, w: &mut Writer, written: &dyn Fn(&str) -> bool) {
        for (key, value) in &self.0 {
            if !written(key) {
                w.key(key);
                value.write(w);
            }
        }
    }
}

/// An object whose members all have values of one type, in their order.
#[derive(Clone, Debug, PartialEq)]
pub struct Map<T>(pub Vec<(String, T)>);

impl<T> Map<T> {
    /// One without members.
    pub fn new() -> Self {
        Self(Vec::new())
    }

    /// The value of the first member of that name.
    pub fn get(&self, key: &str) -> Option<&T> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The members.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T> Default for Map<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Into<String>, T> FromIterator<(K, T)> for Map<T> {
    fn from_iter<I: IntoIterator<Item = (K, T)>>(members: I) -> Self {
        Self(members.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }
}

impl<T: Read> Read for Map<T> {
    fn read(r: &mut Reader<'_>) -> Result<Self, Error> {
        let mut members = Vec::new();
        r.object(&mut |key, r| {
            if members.iter().any(|(name, _)| name == key) {
                return Err(Error::duplicate(r));
            }
            members.push((key.into(), T::read(r)?));
            Ok(())
        })?;
        Ok(Self(members))
    }
}

impl<T: Write> Write for Map<T> {
    fn write(&self, w: &mut Writer) {
        w.begin_object();
        for (key, value) in &self.0 {
            w.key(key);
            value.write(w);
        }
        w.end_object();
    }
}

/// One value, or an array of them; which of the two is kept.
#[derive(Clone, Debug, PartialEq)]
pub enum OneOrMany<T> {
    /// One.
    One(T),
    /// An array.
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    /// The values.
    pub fn as_slice(&self) -> &[T] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Many(values) => values,
        }
    }
}

impl<T> From<T> for OneOrMany<T> {
    fn from(value: T) -> Self {
        Self::One(value)
    }
}

impl<T> From<Vec<T>> for OneOrMany<T> {
    fn from(values: Vec<T>) -> Self {
        Self::Many(values)
    }
}

impl<T: Read> Read for OneOrMany<T> {
    fn read(r: &mut Reader<'_>) -> Result<Self, Error> {
        match r.peek()? {
            Kind::Array => Vec::read(r).map(Self::Many),
            _ => T::read(r).map(Self::One),
        }
    }
}

impl<T: Write> Write for OneOrMany<T> {
    fn write(&self, w: &mut Writer) {
        match self {
            Self::One(value) => value.write(w),
            Self::Many(values) => values.write(w),
        }
    }
}

pub(crate) const fn shape_of<T: Described>() -> &'static Shape {
    match T::TYPE {
        Type::Object(shape) => shape,
        _ => &Shape { name: "", fields: &[] },
    }
}

pub(crate) fn read_tag(tag: &str, tagged: &mut bool, r: &mut Reader<'_>) -> Result<(), Error> {
    if std::mem::replace(tagged, true) {
        return Err(Error::duplicate(r));
    }
    if r.string()? == tag { Ok(()) } else { Err(r.error(ErrorKind::Value, "the tag is another object's")) }
}

pub(crate) fn require_tag(key: &str, tagged: bool, r: &Reader<'_>) -> Result<(), Error> {
    if tagged { Ok(()) } else { Err(Error::missing(key, r)) }
}

pub(crate) fn read_required<T: Read>(slot: &mut Option<T>, r: &mut Reader<'_>, object: bool) -> Result<(), Error> {
    if slot.is_some() {
        return Err(Error::duplicate(r));
    }
    if object && r.peek()? != Kind::Object {
        return Err(r.error(ErrorKind::Type, "expected an object"));
    }
    *slot = Some(T::read(r)?);
    Ok(())
}

/// Reads an optional member. Many peers say `null` where they mean nothing: that is kept beside the
/// unknown members, so that it is written again.
pub(crate) fn read_optional<T: Read>(
    slot: &mut Option<T>,
    extra: &mut Extra,
    key: &str,
    r: &mut Reader<'_>,
    object: bool,
) -> Result<(), Error> {
    if r.peek()? == Kind::Null && (object || !T::NULL) {
        return extra.read(key, r);
    }
    read_required(slot, r, object)
}

/// The tag of the known object that the reader stands before.
pub(crate) fn union_tag(union: &Union, r: &mut Reader<'_>) -> Result<Option<&'static str>, Error> {
    if r.peek()? != Kind::Object {
        return Err(r.error(ErrorKind::Type, "expected an object"));
    }
    Ok(union.variant(r)?.map(|variant| variant.tag))
}

/// Reads a known object of a union. What names its type and is not of its shape is kept as an unknown one: a block that
/// lacks a member takes no other block away.
pub(crate) fn read_known<T: Read, U>(
    union: &Union,
    r: &mut Reader<'_>,
    known: fn(T) -> U,
    other: fn(Raw) -> U,
) -> Result<U, Error> {
    let mut ahead = r.clone();
    match T::read(&mut ahead) {
        Ok(value) => {
            *r = ahead;
            Ok(known(value))
        }
        Err(_) if union.is_tagged() => Raw::read(r).map(other),
        Err(error) => Err(error),
    }
}

macro_rules! described {
    ($($type:ty = $described:expr;)*) => {$(
        impl Described for $type {
            const TYPE: Type = $described;
        }
    )*};
}

described! {
    String = Type::String;
    bool = Type::Bool;
    Number = Type::Number;
    Option<Number> = Type::NumberOrNull;
    Raw = Type::Any;
    RequestId = Type::Id;
    ErrorObject = Type::AnyObject;
}

impl<T: Described> Described for Vec<T> {
    const TYPE: Type = Type::Array(&T::TYPE);
}

impl<T: Described> Described for Map<T> {
    const TYPE: Type = Type::Map(&T::TYPE);
}

impl<T: Described> Described for OneOrMany<T> {
    const TYPE: Type = Type::OneOrMany(&T::TYPE);
}

impl<T: Described> Described for Box<T> {
    const TYPE: Type = T::TYPE;
}
