//! Regular expressions, which the host brings.

use std::fmt;

/// An engine for regular expressions: a page's own `RegExp`, or the feature `regress`.
///
/// Schemas are written with ECMAScript's expressions in mind, those of its flag `u`. An engine that tries one way after
/// another, as `RegExp` does, may take very long for a pattern that was made for it: the limits of a [`Compiler`](crate::Compiler)
/// count the text that an engine is given, and not what it does with it.
pub trait Patterns {
    /// An expression ready for use, or `None` if it is malformed.
    fn pattern(&self, source: &str) -> Option<Box<dyn Pattern>>;
}

/// One regular expression.
pub trait Pattern: Send + Sync {
    /// Whether it is found anywhere in `text`.
    fn is_match(&self, text: &str) -> bool;
}

impl fmt::Debug for dyn Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pattern")
    }
}

/// The engine of a crate that knows no platform.
#[cfg(feature = "regress")]
#[derive(Clone, Copy, Debug, Default)]
pub struct Regress;

#[cfg(feature = "regress")]
impl Patterns for Regress {
    fn pattern(&self, source: &str) -> Option<Box<dyn Pattern>> {
        let compiled = regress::Regex::with_flags(source, "u").ok()?;
        Some(Box::new(Compiled(compiled)))
    }
}

#[cfg(feature = "regress")]
#[derive(Debug)]
struct Compiled(regress::Regex);

#[cfg(feature = "regress")]
impl Pattern for Compiled {
    fn is_match(&self, text: &str) -> bool {
        self.0.find(text).is_some()
    }
}

/// No engine.
#[cfg(not(feature = "regress"))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoPatterns;

#[cfg(not(feature = "regress"))]
impl Patterns for NoPatterns {
    fn pattern(&self, _: &str) -> Option<Box<dyn Pattern>> {
        None
    }
}
