//! Bodies of the fuzz targets: each takes any bytes, and panics when something that must hold does not.

use crate::{Compiler, Limits, Pattern, Patterns};

/// Finds a pattern as it is written: what an engine makes of one is not ours.
struct Plain;

struct Part(String);

impl Patterns for Plain {
    fn pattern(&self, source: &str) -> Option<Box<dyn Pattern>> {
        Some(Box::new(Part(source.to_owned())))
    }
}

impl Pattern for Part {
    fn is_match(&self, text: &str) -> bool {
        text.contains(&self.0)
    }
}

/// Takes two lines, a schema and a value, and checks one by the other.
///
/// # Panics
/// When a limit does not hold, or the verdict depends on what may not matter.
pub fn schema(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (schema, instance) = text.split_once('\n').unwrap_or((&text, "null"));
    let limits = Limits { steps: 10_000, ..Limits::default() };
    let Ok(compiled) = Compiler::new().patterns(&Plain).limits(limits).formats(true).compile(schema) else {
        return;
    };
    let verdict = compiled.validate(instance);
    assert_eq!(verdict, compiled.validate(instance), "a verdict is always the same");
    if let Err(errors) = &verdict {
        assert!((1..=limits.errors).contains(&errors.violations().len()), "violations are told of, and not too many");
        assert!(errors.violations().iter().all(|violation| !violation.message().is_empty()));
    }
    if let Ok(negated) =
        Compiler::new().patterns(&Plain).limits(limits).formats(true).compile(&["{\"not\":", schema, "}"].concat())
        && schema.contains('{')
        && !schema.contains("Ref\"")
        && !schema.contains("$")
    {
        let opposite = negated.validate(instance);
        let decided = |result: &Result<(), crate::Errors>| {
            result.as_ref().err().is_none_or(|errors| errors.violations().iter().all(|one| !one.keyword().is_empty()))
        };
        if decided(&verdict) && decided(&opposite) {
            assert_ne!(verdict.is_ok(), opposite.is_ok(), "a value fits a schema or what excludes it");
        }
    }
}
