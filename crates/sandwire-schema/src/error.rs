use std::fmt;

use crate::tree::{At, Tree};

/// Why a schema cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError(Box<Violation>);

impl SchemaError {
    pub(crate) fn new(tree: &Tree, at: At, keyword: &'static str, message: &[&str]) -> Self {
        let mut path = String::new();
        tree.pointer(at, &mut path);
        Self::at(path, keyword, message)
    }

    pub(crate) fn at(path: String, keyword: &'static str, message: &[&str]) -> Self {
        Self(Box::new(Violation { path, keyword, message: message.concat() }))
    }

    /// Where in the schema, as a JSON pointer.
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// The keyword that is at fault; empty if it is none.
    pub fn keyword(&self) -> &'static str {
        self.0.keyword
    }

    /// A sentence that says what to do.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// All of it, on one line.
    pub fn to_text(&self) -> String {
        self.0.to_text()
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text())
    }
}

impl std::error::Error for SchemaError {}

/// One thing about a value that its schema does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub(crate) path: String,
    pub(crate) keyword: &'static str,
    pub(crate) message: String,
}

impl Violation {
    /// Where in the value, as a JSON pointer; empty for all of it.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The keyword that does not hold; empty where the value is no JSON or a limit ended the check.
    pub fn keyword(&self) -> &'static str {
        self.keyword
    }

    /// A sentence that says what to do.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// All of it, on one line.
    pub fn to_text(&self) -> String {
        let mut line = String::with_capacity(self.path.len() + 2 + self.message.len());
        if !self.path.is_empty() {
            line.push_str(&self.path);
            line.push_str(": ");
        }
        line.push_str(&self.message);
        line
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text())
    }
}

/// What a value's schema does not allow about it: one thing at least, and no more than the limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Errors {
    pub(crate) violations: Vec<Violation>,
}

impl Errors {
    /// What was found, in the order of the schema.
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// All of it, a line each.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for violation in &self.violations {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&violation.to_text());
        }
        text
    }
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text())
    }
}

impl std::error::Error for Errors {}
