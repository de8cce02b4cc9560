//! Which types prove all that their schemas say, once a value was read as one of them.

use super::Node;

/// Keywords that allow less than a type does.
const ASSERTIONS: &[&str] = &[
    "\"pattern\"",
    "\"minimum\"",
    "\"maximum\"",
    "\"exclusiveMinimum\"",
    "\"exclusiveMaximum\"",
    "\"multipleOf\"",
    "\"minLength\"",
    "\"maxLength\"",
    "\"minItems\"",
    "\"maxItems\"",
    "\"uniqueItems\"",
    "\"minProperties\"",
    "\"maxProperties\"",
    "\"enum\"",
    "\"const\"",
    "\"not\"",
    "Of\":",
];

/// The rules of the standard library's numbers and characters, which reading them proves.
const OF_STD: &[(&str, &str)] = &[
    ("integer", "\"minimum\":0"),
    ("integer", "\"minimum\":1"),
    ("integer", "\"not\":{\"const\":0}"),
    ("string", "\"minLength\":1,\"maxLength\":1"),
];

impl Node {
    /// Whether a value that could be read as the type is what the schema says.
    pub(crate) const fn is_proven(&self) -> bool {
        match self {
            Node::Any | Node::Strings(_) | Node::Const(_) | Node::Ref(_) => true,
            Node::Scalar { kind, rules } => is_of_std(kind, rules) || !asserts(rules),
            Node::Array { unique: true, .. } => false,
            Node::Array { items: node, .. }
            | Node::Nullable(node)
            | Node::Map(node)
            | Node::Tagged { node, .. }
            | Node::Documented { node, .. }
            | Node::Recursive { node, .. } => node.is_proven(),
            Node::Tuple(nodes) | Node::OneOf(nodes) | Node::AnyOf(nodes) => {
                let mut rest = *nodes;
                while let [first, others @ ..] = rest {
                    if !first.is_proven() {
                        return false;
                    }
                    rest = others;
                }
                true
            }
            Node::Object { fields, .. } => {
                let mut rest = *fields;
                while let [first, others @ ..] = rest {
                    if asserts(first.rules) || !first.node.is_proven() {
                        return false;
                    }
                    rest = others;
                }
                true
            }
            #[cfg(feature = "schemars")]
            Node::Dynamic(_) => false,
        }
    }
}

const fn is_of_std(kind: &str, rules: &str) -> bool {
    let mut rest = OF_STD;
    while let [(known_kind, known_rules), others @ ..] = rest {
        if is(known_kind, kind) && is(known_rules, rules) {
            return true;
        }
        rest = others;
    }
    false
}

const fn asserts(rules: &str) -> bool {
    let mut words = ASSERTIONS;
    while let [word, others @ ..] = words {
        let mut text = rules.as_bytes();
        while let [_, rest @ ..] = text {
            if begins(text, word.as_bytes()) {
                return true;
            }
            text = rest;
        }
        words = others;
    }
    false
}

const fn is(a: &str, b: &str) -> bool {
    a.len() == b.len() && begins(a.as_bytes(), b.as_bytes())
}

const fn begins(mut text: &[u8], mut word: &[u8]) -> bool {
    loop {
        match (text, word) {
            (_, []) => return true,
            ([a, text_rest @ ..], [b, word_rest @ ..]) if *a == *b => (text, word) = (text_rest, word_rest),
            _ => return false,
        }
    }
}
