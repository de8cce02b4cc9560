//! JSON Schema 2020-12 from types, described by constants and rendered at compile time.
//!
//! [`Schema`] is derived for structs and enums, and implemented here for the standard library's types. A foreign
//! type is described by hand with one constant:
//!
//! ```
//! use sandwire_server::schema::{Node, Schema};
//!
//! struct Timestamp(String);
//!
//! impl Schema for Timestamp {
//!     const NODE: &'static Node = &Node::Scalar { kind: "string", rules: r#""format":"date-time""# };
//! }
//!
//! assert_eq!(
//!     sandwire_server::schema::input::<Vec<Timestamp>>().as_str(),
//!     r#"{"type":"array","items":{"type":"string","format":"date-time"}}"#,
//! );
//! ```

mod default;
#[cfg(feature = "schema")]
mod proven;
mod render;
#[cfg(feature = "schemars")]
mod schemars;
mod std_types;

use sandwire_json::Raw;

#[doc(hidden)]
pub use default::{Given, with_default};
#[doc(hidden)]
pub use render::{bytes, length, text};
#[cfg(feature = "schemars")]
pub use schemars::Schemars;

/// A type with a JSON Schema.
///
/// `#[derive(Schema)]` writes the constant from the type, its doc comments and its serde attributes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no JSON Schema",
    label = "this type cannot be described to a client",
    note = "derive one with `#[derive(sandwire_server::Schema)]`, or describe the type by hand: `impl Schema for {Self}`",
    note = "a type that implements `schemars::JsonSchema` is wrapped in `Schemars<..>` (feature `schemars`)"
)]
pub trait Schema {
    /// What values of this type look like.
    const NODE: &'static Node;

    #[doc(hidden)]
    const INPUT: Option<&'static str> = None;
    #[doc(hidden)]
    const OUTPUT: Option<&'static str> = None;
    #[doc(hidden)]
    const PLAIN: bool = false;
    #[doc(hidden)]
    fn plain(&self) -> Option<&str> {
        None
    }
}

/// The schema of values that are read as `T`: what may be left out is not required.
pub fn input<T: Schema + ?Sized>() -> Raw {
    rendered(T::INPUT, T::NODE, Direction::Input)
}

/// The schema of values that are written from `T`: what is always written is required.
pub fn output<T: Schema + ?Sized>() -> Raw {
    rendered(T::OUTPUT, T::NODE, Direction::Output)
}

/// Inlined, so that a program whose types are all described at compile time links no renderer.
#[inline(always)]
pub(crate) fn rendered(ready: Option<&'static str>, node: &Node, direction: Direction) -> Raw {
    match ready {
        Some(text) => Raw::from_valid(text),
        None => render::at_run_time(node, direction),
    }
}

/// The schema of what can be read as a type, if reading it does not prove the schema.
#[cfg(feature = "schema")]
pub(crate) fn unproven(node: &Node) -> Option<Raw> {
    (!node.is_proven()).then(|| render::readable(node))
}

/// Whether a schema describes what is read or what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Values on their way in: arguments.
    Input,
    /// Values on their way out: structured results.
    Output,
}

/// What values of a type look like. Texts are plain: they are escaped when the schema is rendered.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Node {
    /// Any JSON value.
    Any,
    /// A string, number, integer, boolean or null.
    Scalar {
        /// The `type` keyword.
        kind: &'static str,
        /// More members of the schema as JSON text, such as `"minimum":0`; may be empty.
        rules: &'static str,
    },
    /// One of these strings.
    Strings(&'static [&'static str]),
    /// Exactly this string.
    Const(&'static str),
    /// The value, or null.
    Nullable(&'static Node),
    /// A list of one kind of item.
    Array {
        /// What each item looks like.
        items: &'static Node,
        /// The exact number of items, where it is fixed.
        length: Option<usize>,
        /// Whether items differ from each other.
        unique: bool,
    },
    /// A list with one description for each place.
    Tuple(&'static [&'static Node]),
    /// An object with arbitrary keys.
    Map(&'static Node),
    /// An object with known keys.
    Object {
        /// The keys, in order.
        fields: &'static [Field],
        /// Whether other keys are refused.
        closed: bool,
    },
    /// Exactly one of these.
    OneOf(&'static [&'static Node]),
    /// At least one of these, tried in order.
    AnyOf(&'static [&'static Node]),
    /// The object `node` with one more key that always holds `value`.
    Tagged {
        /// The key.
        tag: &'static str,
        /// What it holds.
        value: &'static str,
        /// The object it is added to.
        node: &'static Node,
    },
    /// `node` with a description.
    Documented {
        /// The description.
        doc: &'static str,
        /// What is described.
        node: &'static Node,
    },
    /// A type that contains itself; it is rendered under `$defs`.
    Recursive {
        /// The name under `$defs`.
        name: &'static str,
        /// What it looks like, with [`Node::Ref`] where it contains itself.
        node: &'static Node,
    },
    /// A reference to the [`Node::Recursive`] of that name.
    Ref(&'static str),
    /// A schema made when the server is built.
    #[cfg(feature = "schemars")]
    #[doc(hidden)]
    Dynamic(fn(Direction) -> Raw),
}

/// One key of an object.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The key.
    pub name: &'static str,
    /// The description; empty means the type's own.
    pub doc: &'static str,
    /// More members of the schema as JSON text; may be empty.
    pub rules: &'static str,
    /// What the value looks like.
    pub node: &'static Node,
    /// Whether arguments carry it.
    pub input: Presence,
    /// Whether results carry it.
    pub output: Presence,
}

/// Whether a key is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Always; except that an input that may be null may also be left out.
    Required,
    /// It may be left out.
    Optional,
    /// Never.
    Absent,
}

impl Node {
    /// Whether every value it describes is an object.
    pub const fn is_object(&self) -> bool {
        match self {
            Node::Object { .. } | Node::Map(_) | Node::Tagged { .. } => true,
            Node::Documented { node, .. } | Node::Recursive { node, .. } => node.is_object(),
            Node::OneOf(nodes) | Node::AnyOf(nodes) => {
                let mut rest = *nodes;
                while let [first, others @ ..] = rest {
                    if !first.is_object() {
                        return false;
                    }
                    rest = others;
                }
                !nodes.is_empty()
            }
            _ => false,
        }
    }

    /// The known keys, when it describes a struct.
    pub const fn fields(&self) -> Option<&'static [Field]> {
        match self {
            Node::Object { fields, .. } => Some(fields),
            Node::Documented { node, .. } | Node::Recursive { node, .. } => node.fields(),
            _ => None,
        }
    }

    pub(crate) const fn doc(&self) -> &'static str {
        match self {
            Node::Documented { doc, .. } => doc,
            Node::Nullable(node) => node.doc(),
            _ => "",
        }
    }

    pub(crate) const fn undocumented(&self) -> &Node {
        match self {
            Node::Documented { node, .. } => node.undocumented(),
            other => other,
        }
    }

    pub(crate) const fn is_nullable(&self) -> bool {
        matches!(self.undocumented(), Node::Nullable(_))
    }

    pub(crate) const fn non_null(&self) -> &Node {
        match self.undocumented() {
            Node::Nullable(node) => node.non_null(),
            other => other,
        }
    }
}

impl Field {
    /// Whether an argument of this name has to be given.
    pub const fn is_required(&self) -> bool {
        matches!(self.input, Presence::Required) && !self.node.is_nullable()
    }

    /// The description: its own, or else its type's.
    pub const fn description(&self) -> &'static str {
        if self.doc.is_empty() { self.node.doc() } else { self.doc }
    }
}
