//! What violations say.

use sandwire_json::Kind;

use crate::tree::{At, Tree, push_number};

/// The types by their names, and with an article. The last one is a number without a part below one.
pub(crate) const TYPES: [(&str, &str); 7] = [
    ("null", "null"),
    ("boolean", "true or false"),
    ("number", "a number"),
    ("string", "a string"),
    ("array", "an array"),
    ("object", "an object"),
    ("integer", "an integer"),
];

/// The bit of `integer` in a set of types.
pub(crate) const INTEGER: u8 = 1 << 6;

/// The bit of a value's type in a set of types, `integer` aside.
pub(crate) fn bit(kind: Kind) -> u8 {
    match kind {
        Kind::Null => 1,
        Kind::Bool => 1 << 1,
        Kind::Number => 1 << 2,
        Kind::String => 1 << 3,
        Kind::Array => 1 << 4,
        Kind::Object => 1 << 5,
    }
}

/// How much of a value or of a list is repeated.
const SHOWN: usize = 200;

/// What is wrong with a value, before it is spelled out. A value that stands in the schema is meant by its place.
pub(crate) enum Words<'a> {
    Plain(&'static str),
    Types(u8),
    /// Words with a value after them.
    Value(&'static str, At),
    /// One of these values.
    List(&'a [At]),
    /// One of the items of an array.
    Children(At),
    /// The name of a member that is not there.
    Missing(At),
    Count {
        noun: &'static str,
        bound: u64,
        most: bool,
        more: &'static str,
    },
}

impl Words<'_> {
    #[inline(never)]
    pub(crate) fn spelled(&self, schema: &Tree) -> String {
        let mut text = String::new();
        match *self {
            Self::Plain(words) => text.push_str(words),
            Self::Types(types) => {
                let named = TYPES.iter().enumerate().filter(|(place, _)| types & 1 << place != 0);
                for (index, (_, (_, words))) in named.enumerate() {
                    text.push_str(if index == 0 { "must be " } else { " or " });
                    text.push_str(words);
                }
            }
            Self::Value(words, at) => {
                text.push_str(words);
                push_value(&mut text, schema, at);
            }
            Self::List(values) => push_list(&mut text, schema, &mut values.iter().copied()),
            Self::Children(at) => push_list(&mut text, schema, &mut schema.children(at)),
            Self::Missing(name) => {
                text.push_str("lacks the property ");
                push_value(&mut text, schema, name);
                text.push_str(": add it");
            }
            Self::Count { noun, bound, most, more } => {
                text.push_str(if most { "must have at most " } else { "must have at least " });
                push_number(&mut text, bound);
                text.push(' ');
                text.push_str(match (noun, bound) {
                    (noun, 1) => noun,
                    ("character", _) => "characters",
                    ("item", _) => "items",
                    _ => "properties",
                });
                text.push_str(more);
            }
        }
        text
    }
}

fn push_list(text: &mut String, schema: &Tree, values: &mut dyn Iterator<Item = At>) {
    text.push_str("must be one of ");
    for (index, value) in values.enumerate() {
        if index > 0 {
            text.push_str(", ");
        }
        if text.len() > SHOWN {
            text.push('…');
            break;
        }
        push_value(text, schema, value);
    }
}

fn push_value(text: &mut String, schema: &Tree, at: At) {
    let quote = if schema.is(at, Kind::String) { "\"" } else { "" };
    text.push_str(quote);
    for (index, character) in schema.text(at).chars().enumerate() {
        if index >= SHOWN {
            text.push('…');
            break;
        }
        text.push(if character.is_control() { ' ' } else { character });
    }
    text.push_str(quote);
}
