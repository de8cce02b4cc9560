use std::borrow::Cow;

use serde::de::{self, DeserializeSeed, IntoDeserializer, Visitor};

use super::RAW_VALUE;
use crate::{Error, ErrorKind, Kind, Reader, number};

pub(super) struct Deserializer<'r, 'a> {
    pub(super) r: &'r mut Reader<'a>,
}

impl Deserializer<'_, '_> {
    /// Puts the place of the value into an error that a visitor made without knowing it.
    fn located<T>(result: Result<T, Error>, offset: usize) -> Result<T, Error> {
        result.map_err(|error| error.at_least(offset))
    }
}

fn visit_text<'de, V: Visitor<'de>>(text: Cow<'_, str>, visitor: V) -> Result<V::Value, Error> {
    match text {
        Cow::Borrowed(text) => visitor.visit_str(text),
        Cow::Owned(text) => visitor.visit_string(text),
    }
}

/// Integers wider than 64 bits signed are tried unsigned.
fn visit_integer<'de, V: Visitor<'de>>(text: &str, offset: usize, visitor: V) -> Result<V::Value, Error> {
    if let Some(value) = number::integer(text) {
        return visitor.visit_i64(value);
    }
    match text.parse::<u64>() {
        Ok(value) => visitor.visit_u64(value),
        Err(_) => Err(not_an_integer(text, offset)),
    }
}

fn not_an_integer(text: &str, offset: usize) -> Error {
    if text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
        Error::new(ErrorKind::Type, offset, "expected an integer, found a number")
    } else {
        number::out_of_range(offset)
    }
}

macro_rules! integers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            let text = match self.r.peek()? {
                Kind::Number => self.r.number()?,
                kind => return Err(mistyped(kind, "an integer", self.r)),
            };
            let offset = self.r.offset();
            Self::located(visit_integer(text, offset, visitor), offset)
        }
    )*};
}

macro_rules! wide_integers {
    ($($method:ident $type:ty => $visit:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            let text = self.r.number()?;
            let offset = self.r.offset();
            match text.parse::<$type>() {
                Ok(value) => Self::located(visitor.$visit(value), offset),
                Err(_) => Err(not_an_integer(text, offset)),
            }
        }
    )*};
}

macro_rules! strings {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            let text = match self.r.peek()? {
                Kind::String => self.r.string()?,
                kind => return Err(mistyped(kind, "a string", self.r)),
            };
            Self::located(visit_text(text, visitor), self.r.offset())
        }
    )*};
}

fn mistyped(found: Kind, expected: &'static str, r: &Reader<'_>) -> Error {
    let found = match found {
        Kind::Null => "null",
        Kind::Bool => "true or false",
        Kind::Number => "a number",
        Kind::String => "a string",
        Kind::Array => "an array",
        Kind::Object => "an object",
    };
    let mut message = String::from("expected ");
    message.push_str(expected);
    message.push_str(", found ");
    message.push_str(found);
    Error::new(ErrorKind::Type, r.offset(), message)
}

impl<'de> de::Deserializer<'de> for Deserializer<'_, '_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.r.peek()? {
            Kind::Null => self.deserialize_unit(visitor),
            Kind::Bool => self.deserialize_bool(visitor),
            Kind::String => self.deserialize_str(visitor),
            Kind::Array => self.deserialize_seq(visitor),
            Kind::Object => self.deserialize_map(visitor),
            Kind::Number => {
                let text = self.r.number()?;
                let offset = self.r.offset();
                if text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
                    return Self::located(visitor.visit_f64(float(text, offset)?), offset);
                }
                let result = if let Ok(value) = text.parse::<u64>() {
                    visitor.visit_u64(value)
                } else if let Some(value) = number::integer(text).filter(|_| text != "-0") {
                    visitor.visit_i64(value)
                } else {
                    visitor.visit_f64(float(text, offset)?)
                };
                Self::located(result, offset)
            }
        }
    }

    integers!(deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64);

    wide_integers!(deserialize_i128 i128 => visit_i128 deserialize_u128 u128 => visit_u128);

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let text = match self.r.peek()? {
            Kind::Number => self.r.number()?,
            kind => return Err(mistyped(kind, "a number", self.r)),
        };
        let offset = self.r.offset();
        Self::located(visitor.visit_f64(float(text, offset)?), offset)
    }

    strings!(deserialize_char deserialize_str deserialize_string deserialize_identifier
        deserialize_bytes deserialize_byte_buf);

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.r.peek()? {
            Kind::Bool => visitor.visit_bool(self.r.boolean()?),
            kind => Err(mistyped(kind, "true or false", self.r)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.r.peek()? == Kind::Null {
            self.r.null()?;
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.r.peek()? {
            Kind::Null => {
                self.r.null()?;
                visitor.visit_unit()
            }
            kind => Err(mistyped(kind, "null", self.r)),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, Error> {
        if name == RAW_VALUE {
            let text = self.r.raw()?;
            return visitor.visit_map(RawValue { text: Some(text) });
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.r.peek()? {
            Kind::Array => self.r.begin_array()?,
            kind => return Err(mistyped(kind, "an array", self.r)),
        }
        let mut items = Items { r: self.r, index: 0, done: false };
        let value = visitor.visit_seq(&mut items);
        let value = Self::located(value, items.r.offset())?;
        if !items.done && items.r.next_item(items.index == 0)? {
            return Err(items.r.error(ErrorKind::Type, "array has too many items"));
        }
        Ok(value)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.r.peek()? {
            Kind::Object => self.r.begin_object()?,
            kind => return Err(mistyped(kind, "an object", self.r)),
        }
        let mut members = Members { r: self.r, first: true, key: Cow::Borrowed(""), done: false };
        let value = visitor.visit_map(&mut members);
        let value = Self::located(value, members.r.offset())?;
        if !members.done && members.r.next_key(&mut members.first)?.is_some() {
            return Err(members.r.error(ErrorKind::Type, "object has too many members"));
        }
        Ok(value)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.r.peek()? {
            Kind::String => {
                let name = self.r.string()?;
                let offset = self.r.offset();
                Self::located(visitor.visit_enum(name.into_deserializer()), offset)
            }
            Kind::Object => {
                self.r.begin_object()?;
                let mut first = true;
                let Some(name) = self.r.next_key(&mut first)? else {
                    return Err(self.r.error(ErrorKind::Value, "expected the name of a variant"));
                };
                let value =
                    visitor.visit_enum(Variant { name: &name, r: self.r }).map_err(|error| error.in_member(&name))?;
                match self.r.next_key(&mut first)? {
                    None => Ok(value),
                    Some(_) => Err(self.r.error(ErrorKind::Type, "object has too many members")),
                }
            }
            kind => Err(mistyped(kind, "a string or an object", self.r)),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.r.skip()?;
        visitor.visit_unit()
    }
}

fn float(text: &str, offset: usize) -> Result<f64, Error> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err(number::out_of_range(offset)),
    }
}

struct Items<'r, 'a> {
    r: &'r mut Reader<'a>,
    index: usize,
    done: bool,
}

impl<'de> de::SeqAccess<'de> for Items<'_, '_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        if self.done || !self.r.next_item(self.index == 0)? {
            self.done = true;
            return Ok(None);
        }
        let index = self.index;
        self.index += 1;
        let value = seed.deserialize(Deserializer { r: self.r });
        value.map(Some).map_err(|error| error.at_least(self.r.offset()).in_item(index))
    }
}

struct Members<'r, 'a> {
    r: &'r mut Reader<'a>,
    first: bool,
    key: Cow<'a, str>,
    done: bool,
}

impl<'de> de::MapAccess<'de> for Members<'_, '_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let key = if self.done { None } else { self.r.next_key(&mut self.first)? };
        let Some(key) = key else {
            self.done = true;
            return Ok(None);
        };
        self.key = key;
        seed.deserialize(Key { text: &self.key }).map(Some).map_err(|error| error.at_least(self.r.offset()))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let value = seed.deserialize(Deserializer { r: self.r });
        value.map_err(|error| error.at_least(self.r.offset()).in_member(&self.key))
    }
}

/// A member's name, which maps may want as a number.
struct Key<'k> {
    text: &'k str,
}

macro_rules! number_keys {
    ($($method:ident $visit:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match self.text.parse() {
                Ok(value) => visitor.$visit(value),
                Err(_) => visitor.visit_str(self.text),
            }
        }
    )*};
}

impl<'de> de::Deserializer<'de> for Key<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_str(self.text)
    }

    number_keys!(deserialize_i8 visit_i8 deserialize_i16 visit_i16 deserialize_i32 visit_i32
        deserialize_i64 visit_i64 deserialize_u8 visit_u8 deserialize_u16 visit_u16
        deserialize_u32 visit_u32 deserialize_u64 visit_u64 deserialize_bool visit_bool);

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_enum(self.text.into_deserializer())
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    serde::forward_to_deserialize_any! {
        i128 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map
        struct identifier ignored_any
    }
}

struct Variant<'r, 'a, 'k> {
    name: &'k str,
    r: &'r mut Reader<'a>,
}

impl<'de> de::EnumAccess<'de> for Variant<'_, '_, '_> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Error> {
        Ok((seed.deserialize(Key { text: self.name })?, self))
    }
}

impl<'de> de::VariantAccess<'de> for Variant<'_, '_, '_> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        self.r.null()
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(Deserializer { r: self.r })
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        de::Deserializer::deserialize_seq(Deserializer { r: self.r }, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, Error> {
        de::Deserializer::deserialize_map(Deserializer { r: self.r }, visitor)
    }
}

/// The text of a value, in the form in which serde_json's `RawValue` asks for it.
struct RawValue<'a> {
    text: Option<&'a str>,
}

impl<'de> de::MapAccess<'de> for RawValue<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        match self.text {
            Some(_) => seed.deserialize(Key { text: RAW_VALUE }).map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        seed.deserialize(Key { text: self.text.take().unwrap_or("null") })
    }
}
