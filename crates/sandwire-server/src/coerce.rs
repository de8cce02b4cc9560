//! Texts as the arguments of a function: prompts and address templates know nothing else.

use crate::schema::{Field, Node};
use sandwire_json::{Kind, Reader, Writer};

/// The arguments as JSON: where the function wants a number or a boolean and the text is one, it becomes one.
pub(crate) fn object<'a>(fields: &[Field], given: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut writer = Writer::new();
    writer.begin_object();
    for (name, text) in given {
        writer.key(name);
        let wanted = fields.iter().find(|field| field.name == name).map(|field| field.node.non_null());
        match wanted {
            Some(Node::Scalar { kind, .. }) if *kind != "string" && is(kind, text) => writer.raw(text),
            _ => writer.string(text),
        }
    }
    writer.end_object();
    writer.finish()
}

/// Whether a value of the type can be given as a text.
pub(crate) fn is_textual(node: &Node) -> bool {
    match node.non_null() {
        Node::Scalar { .. } | Node::Strings(_) | Node::Const(_) | Node::Any => true,
        Node::OneOf(nodes) | Node::AnyOf(nodes) => nodes.iter().all(|node| is_textual(node)),
        _ => false,
    }
}

fn is(kind: &str, text: &str) -> bool {
    let mut reader = Reader::new(text);
    let wanted = if kind == "boolean" { Kind::Bool } else { Kind::Number };
    reader.peek().is_ok_and(|found| found == wanted)
        && reader.skip().is_ok()
        && reader.end().is_ok()
        && !text.starts_with(char::is_whitespace)
}
