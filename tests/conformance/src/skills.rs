//! A skill.

use sandwire::server::SkillHandler;

const INSTRUCTIONS: &str = "---
name: pdf-processing
description: Extract, fill, and assemble PDF documents
---

Read references/FORMS.md before you fill in a form.
";

pub(crate) fn all() -> Vec<SkillHandler> {
    vec![SkillHandler::new("pdf-processing", INSTRUCTIONS).text("references/FORMS.md", "How to fill in forms.\n")]
}
