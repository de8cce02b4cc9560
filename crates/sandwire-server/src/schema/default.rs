//! Whether the default of a field is a value of its type, found out when the type is compiled.

use super::Node;
use super::render::same;

/// What `#[schema(default = ..)]` gives.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_enums)]
pub enum Given {
    String(&'static str),
    Integer { negative: bool },
    Fraction,
    Boolean,
    List(&'static [Given]),
}

/// The description of a field that has a default.
#[doc(hidden)]
#[track_caller]
pub const fn with_default(node: &'static Node, given: Given) -> &'static Node {
    assert!(fits(node, given), "a default must be a value of its field's type");
    node
}

const fn fits(node: &Node, given: Given) -> bool {
    match (node, given) {
        (Node::Documented { node, .. } | Node::Recursive { node, .. } | Node::Nullable(node), _) => fits(node, given),
        (Node::Scalar { kind, rules }, given) => is_of(given, kind) && !is_too_small(given, rules),
        (Node::Strings(values), Given::String(value)) => {
            let mut rest = *values;
            while let [first, others @ ..] = rest {
                if same(first, value) {
                    return true;
                }
                rest = others;
            }
            false
        }
        (Node::Const(known), Given::String(value)) => same(known, value),
        (Node::Array { items, .. }, Given::List(values)) => {
            let mut rest = values;
            while let [first, others @ ..] = rest {
                if !fits(items, *first) {
                    return false;
                }
                rest = others;
            }
            true
        }
        (Node::OneOf(nodes) | Node::AnyOf(nodes), _) => {
            let mut rest = *nodes;
            while let [first, others @ ..] = rest {
                if fits(first, given) {
                    return true;
                }
                rest = others;
            }
            false
        }
        (Node::Any | Node::Ref(_), _) => true,
        #[cfg(feature = "schemars")]
        (Node::Dynamic(_), _) => true,
        _ => false,
    }
}

const fn is_of(given: Given, kind: &str) -> bool {
    match given {
        Given::String(_) => same(kind, "string"),
        Given::Integer { .. } => same(kind, "integer") || same(kind, "number"),
        Given::Fraction => same(kind, "number"),
        Given::Boolean => same(kind, "boolean"),
        Given::List(_) => false,
    }
}

const fn is_too_small(given: Given, rules: &str) -> bool {
    matches!(given, Given::Integer { negative: true })
        && contains(rules, "\"minimum\":")
        && !contains(rules, "\"minimum\":-")
}

const fn contains(text: &str, part: &str) -> bool {
    let mut text = text.as_bytes();
    loop {
        let mut rest = (text, part.as_bytes());
        while let ([a, left @ ..], [b, right @ ..]) = rest {
            if *a != *b {
                break;
            }
            rest = (left, right);
        }
        if rest.1.is_empty() {
            return true;
        }
        let [_, left @ ..] = text else { return false };
        text = left;
    }
}
