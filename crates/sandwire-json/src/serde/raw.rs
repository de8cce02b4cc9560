//! [`Raw`] and [`Number`] as serde sees them: text that passes through serde_json's formats and this one untouched.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::RAW_VALUE;
use crate::{Number, Raw};

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = serializer.serialize_struct(RAW_VALUE, 1)?;
        text.serialize_field(RAW_VALUE, self.as_str())?;
        text.end()
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(RAW_VALUE, RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Raw, A::Error> {
        let name: Option<String> = map.next_key()?;
        if name.as_deref() != Some(RAW_VALUE) {
            return Err(serde::de::Error::custom("this format does not keep JSON text"));
        }
        let text: String = map.next_value()?;
        Raw::parse(&text).map_err(serde::de::Error::custom)
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        crate::to_raw(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Raw::deserialize(deserializer)?;
        Self::parse(text.as_str()).map_err(serde::de::Error::custom)
    }
}
