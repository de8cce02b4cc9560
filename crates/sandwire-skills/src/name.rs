//! How skills may be called.

/// The longest name, in characters.
const MAX_NAME: usize = 64;

/// Whether a skill may have this name: at most 64 lower-case letters of the Latin alphabet, digits and hyphens, with no
/// hyphen at either end or beside another.
///
/// ```
/// assert!(sandwire_skills::is_name("git-workflow"));
/// assert!(!sandwire_skills::is_name("Git--Workflow"));
/// ```
#[must_use]
pub fn is_name(name: &str) -> bool {
    let part =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    name.len() <= MAX_NAME && name.split('-').all(part)
}
