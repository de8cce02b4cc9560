//! The declarations that nouns are made by: one gives struct, codec, shape table and serde traits.

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

/// An object. Members that must be there come first; a tag is a member with one fixed value.
/// `as object` keeps a member's text and demands an object, `as questions` says what the requests in
/// a map are by their methods; `since` and `until` name the first and
/// the last version that has the member.
macro_rules! noun {
    (
        $(#[$doc:meta])*
        $name:ident $(($tag_key:literal = $tag:literal))? {
            $( $(#[$req_doc:meta])* $req:ident: $req_ty:ty $(as $req_as:ident)? = $req_key:literal
                $(since $req_since:ident)? $(until $req_until:ident)?, )*
        } optional {
            $( $(#[$opt_doc:meta])* $opt:ident: $opt_ty:ty $(as $opt_as:ident)? = $opt_key:literal
                $(since $opt_since:ident)? $(until $opt_until:ident)?, )*
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub struct $name {
            $( $(#[$req_doc])* pub $req: $req_ty, )*
            $( $(#[$opt_doc])* pub $opt: Option<$opt_ty>, )*
            /// The members that are not known here.
            pub extra: crate::model::Extra,
        }

        impl $name {
            /// One with the members that must be there.
            pub fn new($( $req: impl Into<$req_ty> ),*) -> Self {
                Self {
                    $( $req: $req.into(), )*
                    $( $opt: None, )*
                    extra: crate::model::Extra::default(),
                }
            }

            /// The same with some members set.
            #[must_use]
            pub fn with(mut self, set: impl FnOnce(&mut Self)) -> Self {
                set(&mut self);
                self
            }
        }

        crate::model::macros::default_if_empty!($name $($req)*);

        impl sandwire_json::Read for $name {
            fn read(r: &mut sandwire_json::Reader<'_>) -> Result<Self, sandwire_json::Error> {
                $( let mut $req: Option<$req_ty> = None; )*
                $( let mut $opt: Option<$opt_ty> = None; )*
                $( let (mut tagged, tag) = (false, $tag); )?
                let mut extra = crate::model::Extra::default();
                r.object(&mut |key, r| match key {
                    $( $tag_key => crate::model::read_tag(tag, &mut tagged, r), )?
                    $( $req_key => crate::model::read_required(
                        &mut $req, r, crate::model::macros::is_object!($($req_as)?)
                    ), )*
                    $( $opt_key => crate::model::read_optional(
                        &mut $opt, &mut extra, key, r, crate::model::macros::is_object!($($opt_as)?)
                    ), )*
                    _ => extra.read(key, r),
                })?;
                $( crate::model::require_tag($tag_key, tagged, r)?; )?
                Ok(Self {
                    $( $req: $req.ok_or_else(|| sandwire_json::Error::missing($req_key, r))?, )*
                    $( $opt, )*
                    extra,
                })
            }
        }

        impl sandwire_json::Write for $name {
            fn write(&self, w: &mut sandwire_json::Writer) {
                w.begin_object();
                $( w.key($tag_key); w.string($tag); )?
                $( w.key($req_key); self.$req.write(w); )*
                $( if let Some(value) = &self.$opt { w.key($opt_key); value.write(w); } )*
                if !self.extra.is_empty() {
                    self.extra.write(w, &|key| match key {
                        $( $tag_key => true, )?
                        $( $req_key => true, )*
                        $( $opt_key => self.$opt.is_some(), )*
                        _ => false,
                    });
                }
                w.end_object();
            }
        }

        impl crate::model::Described for $name {
            const TYPE: sandwire_json::shape::Type = {
                static SHAPE: sandwire_json::Shape = sandwire_json::Shape {
                    name: stringify!($name),
                    fields: &[
                        $( sandwire_json::shape::Field {
                            key: $tag_key, kind: sandwire_json::shape::Type::String, required: true, since: 0, until: u8::MAX,
                        }, )?
                        $( sandwire_json::shape::Field {
                            key: $req_key,
                            kind: crate::model::macros::field_type!($req_ty $(, $req_as)?),
                            required: true,
                            since: crate::model::macros::first_level!($($req_since)?),
                            until: crate::model::macros::last_level!($($req_until)?),
                        }, )*
                        $( sandwire_json::shape::Field {
                            key: $opt_key,
                            kind: crate::model::macros::field_type!($opt_ty $(, $opt_as)?),
                            required: false,
                            since: crate::model::macros::first_level!($($opt_since)?),
                            until: crate::model::macros::last_level!($($opt_until)?),
                        }, )*
                    ],
                };
                sandwire_json::shape::Type::Object(&SHAPE)
            };
        }

        crate::model::macros::serde_by_text!($name);
    };
}

/// One of several objects, told apart by a tag (`by "type"`) or by which members they have
/// (`by member`). Others are kept as they came.
macro_rules! union {
    ($(#[$doc:meta])* $name:ident by $by:tt {
        $( $(#[$variant_doc:meta])* $variant:ident($noun:ident) = $tag:literal
            $(since $since:ident)? $(until $until:ident)?, )*
    }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum $name {
            $( $(#[$variant_doc])* $variant($noun), )*
            /// One that is not known here.
            Other(sandwire_json::Raw),
        }

        $( impl From<$noun> for $name {
            fn from(value: $noun) -> Self {
                Self::$variant(value)
            }
        } )*

        impl sandwire_json::Read for $name {
            fn read(r: &mut sandwire_json::Reader<'_>) -> Result<Self, sandwire_json::Error> {
                let sandwire_json::shape::Type::Union(union) = <Self as crate::model::Described>::TYPE else {
                    return sandwire_json::Raw::read(r).map(Self::Other);
                };
                match crate::model::union_tag(union, r)? {
                    $( Some($tag) => crate::model::read_known(union, r, Self::$variant, Self::Other), )*
                    _ => sandwire_json::Raw::read(r).map(Self::Other),
                }
            }
        }

        impl sandwire_json::Write for $name {
            fn write(&self, w: &mut sandwire_json::Writer) {
                match self {
                    $( Self::$variant(value) => value.write(w), )*
                    Self::Other(raw) => raw.write(w),
                }
            }
        }

        impl crate::model::Described for $name {
            const TYPE: sandwire_json::shape::Type = {
                static UNION: sandwire_json::shape::Union = sandwire_json::shape::Union {
                    tag: crate::model::macros::tag_key!($by),
                    variants: &[
                        $( sandwire_json::shape::Variant {
                            tag: $tag,
                            shape: crate::model::shape_of::<$noun>(),
                            since: crate::model::macros::first_level!($($since)?),
                            until: crate::model::macros::last_level!($($until)?),
                        }, )*
                    ],
                };
                sandwire_json::shape::Type::Union(&UNION)
            };
        }

        crate::model::macros::serde_by_text!($name);
    };
}

/// Serde's traits over the one codec; the text passes through serde_json, so digits survive there.
macro_rules! serde_by_text {
    ($name:ident) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                sandwire_json::to_raw(self).serialize(serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let raw = sandwire_json::Raw::deserialize(deserializer)?;
                sandwire_json::from_str(raw.as_str()).map_err(serde::de::Error::custom)
            }
        }
    };
}

macro_rules! default_if_empty {
    ($name:ident) => {
        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }
    };
    ($name:ident $($required:ident)+) => {};
}

macro_rules! is_object {
    () => {
        false
    };
    (object) => {
        true
    };
    (questions) => {
        false
    };
}

macro_rules! field_type {
    ($ty:ty) => {
        <$ty as crate::model::Described>::TYPE
    };
    ($ty:ty, object) => {
        sandwire_json::shape::Type::AnyObject
    };
    ($ty:ty, questions) => {
        sandwire_json::shape::Type::Map(&crate::model::INPUT_REQUEST)
    };
}

macro_rules! first_level {
    () => {
        0
    };
    ($version:ident) => {
        crate::ProtocolVersion::$version.level()
    };
}

macro_rules! last_level {
    () => {
        u8::MAX
    };
    ($version:ident) => {
        crate::ProtocolVersion::$version.level()
    };
}

macro_rules! tag_key {
    (member) => {
        ""
    };
    ($tag:literal) => {
        $tag
    };
}

pub(crate) use {
    default_if_empty, field_type, first_level, is_object, last_level, noun, open_enum, serde_by_text, tag_key, union,
};
