//! The declarations that nouns are made by: struct, codec, shape table and serde traits from one text.

/// Strings of which some are known: the others are kept as they came.
macro_rules! open_enum {
    ($(#[$doc:meta])* $name:ident { $( $(#[$variant_doc:meta])* $variant:ident = $text:literal, )* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $( $(#[$variant_doc])* $variant, )*
            /// One that is not known here.
            Other(String),
        }

        impl $name {
            /// The string on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $( Self::$variant => $text, )*
                    Self::Other(text) => text,
                }
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                match text {
                    $( $text => Self::$variant, )*
                    _ => Self::Other(text.into()),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl sandwire_json::Read for $name {
            fn read(r: &mut sandwire_json::Reader<'_>) -> Result<Self, sandwire_json::Error> {
                r.string().map(|text| Self::from(&*text))
            }
        }

        impl sandwire_json::Write for $name {
            fn write(&self, w: &mut sandwire_json::Writer) {
                w.string(self.as_str());
            }
        }

        impl crate::model::Described for $name {
            const TYPE: sandwire_json::shape::Type = sandwire_json::shape::Type::String;
        }

        crate::model::macros::serde_by_text!($name);
    };
}

/// Serde's traits over the one codec; the text passes through serde_json, so digits survive there.
macro_rules! serde_by_text {
    ($name:ident) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                crate::model::serialize(self, serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                crate::model::deserialize(deserializer)
            }
        }
    };
}

pub(crate) use {open_enum, serde_by_text};
