use crate::check::Sub;
use crate::compile;
use crate::error::{Errors, SchemaError};
use crate::index::Draft;
use crate::pattern::Patterns;
use crate::tree::Tree;
use crate::validate;

/// How far a schema and a value may go; beyond it is an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many schemas may be in a document, 10,000 if not said.
    pub schemas: u32,
    /// How many schemas may be within each other while a value is checked, 256 if not said. It ends references
    /// that go round.
    pub depth: u32,
    /// How many single checks of one value there may be, 2,000,000 if not said.
    pub steps: u64,
    /// How many violations are told of, 8 if not said.
    pub errors: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { schemas: 10_000, depth: 256, steps: 2_000_000, errors: 8 }
    }
}

/// How schemas are compiled.
#[expect(missing_debug_implementations, reason = "an engine is anybody's")]
pub struct Compiler<'a> {
    pub(crate) patterns: &'a dyn Patterns,
    pub(crate) formats: bool,
    pub(crate) limits: Limits,
}

impl Default for Compiler<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a> Compiler<'a> {
    /// One with the engine of the feature `regress`, if that is on.
    pub fn new() -> Self {
        #[cfg(feature = "regress")]
        let patterns = &crate::Regress;
        #[cfg(not(feature = "regress"))]
        let patterns = &crate::pattern::NoPatterns;
        Self { patterns, formats: false, limits: Limits::default() }
    }

    /// Takes another engine for `pattern` and `patternProperties`.
    #[must_use]
    pub fn patterns(self, patterns: &'a dyn Patterns) -> Self {
        Self { patterns, ..self }
    }

    /// Whether `format` is checked: `email`, `uri`, `date` and `date-time`. If not said it only describes, as the
    /// specification has it.
    #[must_use]
    pub fn formats(self, formats: bool) -> Self {
        Self { formats, ..self }
    }

    /// Sets the limits.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Compiles the JSON text of a schema.
    ///
    /// # Errors
    /// When it is malformed, of an unknown version, too large, or refers to what is not in it.
    pub fn compile(&self, schema: &str) -> Result<Schema, SchemaError> {
        compile::compile(self, schema)
    }
}

/// A schema that values can be checked against.
#[derive(Debug)]
pub struct Schema {
    /// The schema's own text, whose values the checks mean.
    pub(crate) tree: Tree,
    pub(crate) subs: Vec<Sub>,
    pub(crate) draft: Draft,
    pub(crate) limits: Limits,
}

impl Schema {
    /// Compiles the JSON text of a schema, as [`Compiler::new`] does.
    ///
    /// # Errors
    /// When it is malformed, of an unknown version, too large, or refers to what is not in it.
    pub fn compile(schema: &str) -> Result<Self, SchemaError> {
        Compiler::new().compile(schema)
    }

    /// The version it is written in.
    pub fn draft(&self) -> Draft {
        self.draft
    }

    /// Checks a JSON text. Of members with the same name each is checked.
    ///
    /// # Errors
    /// With what the schema does not allow, or that a limit was met.
    pub fn validate(&self, instance: &str) -> Result<(), Errors> {
        validate::validate(self, instance)
    }
}
