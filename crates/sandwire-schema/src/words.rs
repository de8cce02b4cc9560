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

/// `must be a string or null`
pub(crate) fn types(types: u8) -> String {
    let mut text = String::from("must be ");
    let mut first = true;
    for (place, (_, words)) in TYPES.iter().enumerate() {
        if types & 1 << place != 0 {
            if !first {
                text.push_str(" or ");
            }
            first = false;
            text.push_str(words);
        }
    }
    text
}

/// Words with a value after them.
pub(crate) fn with_value(words: &str, tree: &Tree, at: At) -> String {
    let mut text = String::from(words);
    push_value(&mut text, tree, at);
    text
}

/// Words with the children of a value after them.
pub(crate) fn with_list(words: &str, tree: &Tree, values: impl Iterator<Item = At>) -> String {
    let mut text = String::from(words);
    for (index, value) in values.enumerate() {
        if index > 0 {
            text.push_str(", ");
        }
        if text.len() > SHOWN {
            text.push('…');
            break;
        }
        push_value(&mut text, tree, value);
    }
    text
}

fn push_value(text: &mut String, tree: &Tree, at: At) {
    if tree.is(at, Kind::String) {
        push_name(text, tree.text(at));
    } else {
        push_some(text, tree.text(at));
    }
}

/// Adds a name or a text in quotation marks.
pub(crate) fn push_name(text: &mut String, name: &str) {
    text.push('"');
    push_some(text, name);
    text.push('"');
}

/// Adds the beginning of a text, on one line.
fn push_some(text: &mut String, value: &str) {
    for (index, character) in value.chars().enumerate() {
        if index >= SHOWN {
            text.push('…');
            break;
        }
        text.push(if character.is_control() { ' ' } else { character });
    }
}

/// `must have at least 3 items`
pub(crate) fn count(what: &str, bound: u64, most: bool) -> String {
    let mut text = String::from(if most { "must have at most " } else { "must have at least " });
    push_number(&mut text, bound);
    text.push(' ');
    text.push_str(what);
    if bound != 1 {
        text.push('s');
    }
    text
}
