use serde::ser::{self, Serialize};

use super::RAW_VALUE;
use crate::{Error, ErrorKind, Writer, number};

pub(super) struct Serializer<'w> {
    pub(super) w: &'w mut Writer,
}

impl Serializer<'_> {
    fn digits(self, negative: bool, magnitude: u128) -> Result<(), Error> {
        let mut text = String::new();
        if negative {
            text.push('-');
        }
        text.push_str(&magnitude.to_string());
        self.w.raw(&text);
        Ok(())
    }
}

macro_rules! integers {
    ($($method:ident $type:ty)*) => {$(
        fn $method(self, value: $type) -> Result<(), Error> {
            self.w.integer(value.into());
            Ok(())
        }
    )*};
}

impl<'w> ser::Serializer for Serializer<'w> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Items<'w>;
    type SerializeTuple = Items<'w>;
    type SerializeTupleStruct = Items<'w>;
    type SerializeTupleVariant = Items<'w>;
    type SerializeMap = Members<'w>;
    type SerializeStruct = Members<'w>;
    type SerializeStructVariant = Members<'w>;

    integers!(serialize_i8 i8 serialize_i16 i16 serialize_i32 i32 serialize_i64 i64
        serialize_u8 u8 serialize_u16 u16 serialize_u32 u32);

    fn serialize_u64(self, value: u64) -> Result<(), Error> {
        let mut text = String::new();
        number::push_decimal(&mut text, value);
        self.w.raw(&text);
        Ok(())
    }

    fn serialize_i128(self, value: i128) -> Result<(), Error> {
        self.digits(value < 0, value.unsigned_abs())
    }

    fn serialize_u128(self, value: u128) -> Result<(), Error> {
        self.digits(false, value)
    }

    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        self.w.boolean(value);
        Ok(())
    }

    fn serialize_f32(self, value: f32) -> Result<(), Error> {
        // JSON has no infinities; like others, write what a reader can tell from a number.
        if value.is_finite() {
            self.w.raw(&format!("{value:?}"))
        } else {
            self.w.null()
        }
        Ok(())
    }

    fn serialize_f64(self, value: f64) -> Result<(), Error> {
        if value.is_finite() {
            self.w.raw(&format!("{value:?}"))
        } else {
            self.w.null()
        }
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<(), Error> {
        self.w.string(value.encode_utf8(&mut [0; 4]));
        Ok(())
    }

    fn serialize_str(self, value: &str) -> Result<(), Error> {
        self.w.string(value);
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Error> {
        self.w.begin_array();
        for byte in value {
            self.w.integer((*byte).into());
        }
        self.w.end_array();
        Ok(())
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.w.null();
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Error> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.w.begin_object();
        self.w.key(variant);
        value.serialize(Serializer { w: self.w })?;
        self.w.end_object();
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Items<'w>, Error> {
        self.w.begin_array();
        Ok(Items { w: self.w, variant: false })
    }

    fn serialize_tuple(self, _: usize) -> Result<Items<'w>, Error> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Items<'w>, Error> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Items<'w>, Error> {
        self.w.begin_object();
        self.w.key(variant);
        self.w.begin_array();
        Ok(Items { w: self.w, variant: true })
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Members<'w>, Error> {
        self.w.begin_object();
        Ok(Members { w: self.w, closing: Closing::Object })
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Members<'w>, Error> {
        if name == RAW_VALUE {
            return Ok(Members { w: self.w, closing: Closing::Raw });
        }
        self.serialize_map(None)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Members<'w>, Error> {
        self.w.begin_object();
        self.w.key(variant);
        self.w.begin_object();
        Ok(Members { w: self.w, closing: Closing::Variant })
    }
}

pub(super) struct Items<'w> {
    w: &'w mut Writer,
    variant: bool,
}

impl Items<'_> {
    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        value.serialize(Serializer { w: self.w })
    }

    fn close(self) -> Result<(), Error> {
        self.w.end_array();
        if self.variant {
            self.w.end_object();
        }
        Ok(())
    }
}

macro_rules! items {
    ($($trait:ident $method:ident)*) => {$(
        impl ser::$trait for Items<'_> {
            type Ok = ();
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                self.item(value)
            }

            fn end(self) -> Result<(), Error> {
                self.close()
            }
        }
    )*};
}
items!(SerializeSeq serialize_element SerializeTuple serialize_element
    SerializeTupleStruct serialize_field SerializeTupleVariant serialize_field);

/// What ends with the members.
enum Closing {
    Object,
    Variant,
    /// Nothing: the one member is the text of the value, from serde_json's `RawValue`.
    Raw,
}

pub(super) struct Members<'w> {
    w: &'w mut Writer,
    closing: Closing,
}

impl Members<'_> {
    fn member<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Error> {
        if let Closing::Raw = self.closing {
            return value.serialize(Text { w: self.w });
        }
        self.w.key(key);
        value.serialize(Serializer { w: self.w })
    }

    fn close(self) -> Result<(), Error> {
        match self.closing {
            Closing::Raw => {}
            Closing::Object => self.w.end_object(),
            Closing::Variant => {
                self.w.end_object();
                self.w.end_object();
            }
        }
        Ok(())
    }
}

macro_rules! members {
    ($($trait:ident)*) => {$(
        impl ser::$trait for Members<'_> {
            type Ok = ();
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Error> {
                self.member(key, value)
            }

            fn end(self) -> Result<(), Error> {
                self.close()
            }
        }
    )*};
}
members!(SerializeStruct SerializeStructVariant);

impl ser::SerializeMap for Members<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        let mut name = Writer::new();
        key.serialize(Serializer { w: &mut name })?;
        let name = name.finish();
        match crate::Reader::new(&name).string() {
            Ok(text) => self.w.key(&text),
            Err(_) if name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') => self.w.key(&name),
            Err(_) => return Err(Error::new(ErrorKind::Type, 0, "the keys of a map are no strings")),
        }
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        value.serialize(Serializer { w: self.w })
    }

    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

/// Takes a string as JSON text.
struct Text<'w> {
    w: &'w mut Writer,
}

macro_rules! refuse {
    ($($method:ident($($type:ty),*) -> $ok:ty;)*) => {$(
        fn $method(self, $(_: $type),*) -> Result<$ok, Error> {
            Err(not_text())
        }
    )*};
}

fn not_text() -> Error {
    Error::new(ErrorKind::Custom, 0, "expected JSON text")
}

impl ser::Serializer for Text<'_> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = ser::Impossible<(), Error>;
    type SerializeTuple = ser::Impossible<(), Error>;
    type SerializeTupleStruct = ser::Impossible<(), Error>;
    type SerializeTupleVariant = ser::Impossible<(), Error>;
    type SerializeMap = ser::Impossible<(), Error>;
    type SerializeStruct = ser::Impossible<(), Error>;
    type SerializeStructVariant = ser::Impossible<(), Error>;

    fn serialize_str(self, value: &str) -> Result<(), Error> {
        self.w.raw(value);
        Ok(())
    }

    refuse! {
        serialize_bool(bool) -> ();
        serialize_i8(i8) -> ();
        serialize_i16(i16) -> ();
        serialize_i32(i32) -> ();
        serialize_i64(i64) -> ();
        serialize_u8(u8) -> ();
        serialize_u16(u16) -> ();
        serialize_u32(u32) -> ();
        serialize_u64(u64) -> ();
        serialize_f32(f32) -> ();
        serialize_f64(f64) -> ();
        serialize_char(char) -> ();
        serialize_bytes(&[u8]) -> ();
        serialize_none() -> ();
        serialize_unit() -> ();
        serialize_unit_struct(&'static str) -> ();
        serialize_unit_variant(&'static str, u32, &'static str) -> ();
        serialize_seq(Option<usize>) -> Self::SerializeSeq;
        serialize_tuple(usize) -> Self::SerializeTuple;
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant;
        serialize_map(Option<usize>) -> Self::SerializeMap;
        serialize_struct(&'static str, usize) -> Self::SerializeStruct;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Self::SerializeStructVariant;
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), Error> {
        Err(not_text())
    }
}
