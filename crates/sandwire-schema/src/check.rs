//! What a compiled schema is made of.

use std::cmp::Ordering;

use crate::decimal::Decimal;
use crate::format::Format;
use crate::pattern::Pattern;
use crate::tree::At;

/// The place of a schema among all that were compiled.
pub(crate) type Id = u32;

/// One schema.
#[derive(Debug, Default)]
pub(crate) struct Sub {
    pub(crate) checks: Vec<Check>,
    /// Which resource it belongs to.
    pub(crate) resource: u32,
    /// Whether a check looks at what the others left.
    pub(crate) looks_back: bool,
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    Characters,
    Items,
    Members,
}

/// One thing that a schema asks for. A value that stands in the schema is meant by its place there.
#[derive(Debug)]
pub(crate) enum Check {
    Never,
    /// A bit for each type of [`Types`](crate::words::TYPES).
    Type(u8),
    Const(At),
    Enum(At),
    MultipleOf(Decimal, At),
    Bound {
        bound: Decimal,
        at: At,
        /// How the number may not be ordered to the bound.
        refused: [Ordering; 2],
        keyword: &'static str,
        words: &'static str,
    },
    Count {
        what: Counted,
        bound: u64,
        most: bool,
        keyword: &'static str,
    },
    Pattern(Box<dyn Pattern>, At),
    Format(Format),
    Unique,
    Required(At),
    /// Under the keyword.
    DependentRequired(At, &'static str),
    DependentSchemas(Vec<(At, Id)>),
    Members(Members),
    Names(Id),
    Items {
        first: Vec<Id>,
        rest: Option<Id>,
        /// The keyword of the rest.
        keyword: &'static str,
    },
    Contains {
        item: Id,
        least: u64,
        most: u64,
        /// Whether the items found count as evaluated.
        marks: bool,
    },
    All(Vec<Id>),
    Any(Vec<Id>),
    One(Vec<Id>),
    Not(Id),
    If {
        condition: Id,
        then: Option<Id>,
        otherwise: Option<Id>,
    },
    Ref(Id),
    DynamicRef {
        fallback: Id,
        /// What it means within a resource.
        meanings: Vec<(u32, Id)>,
    },
    /// What no other check looked at, by the keyword.
    Rest(Id, &'static str),
}

/// What an object's members have to be.
#[derive(Debug, Default)]
pub(crate) struct Members {
    /// Ordered by their names, which are those of the values.
    pub(crate) named: Vec<(At, Id)>,
    pub(crate) patterns: Vec<(Box<dyn Pattern>, Id)>,
    pub(crate) rest: Option<Id>,
}
