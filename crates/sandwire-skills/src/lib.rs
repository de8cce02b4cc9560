//! What clients and servers of [skills](https://github.com/modelcontextprotocol/ext-skills) share, the extension
//! `io.modelcontextprotocol/skills`: the front matter of a `SKILL.md` as JSON, the digests of files, and what must agree.
//!
//! A skill is a directory of resources with a `SKILL.md`. What a server lists of it, its [`Skill`] entry, repeats the front
//! matter and names every file with its size and digest, so that a client can show the skill, have it approved, and later
//! see that what it reads is what was approved.
//!
//! ```
//! use sandwire_skills::{digest, front_matter};
//!
//! let text = "---\nname: refunds\ndescription: How to refund\n---\nAsk first.\n";
//! assert_eq!(front_matter(text)?.as_str(), r#"{"name":"refunds","description":"How to refund"}"#);
//! assert!(digest(text.as_bytes()).starts_with("sha256:"));
//! # Ok::<(), sandwire_skills::FrontMatterError>(())
//! ```
//!
//! In reading order: [`front_matter`], [`Manifest`] (an entry that was checked, and the check of what is read under it).
#![forbid(unsafe_code)]

mod equal;
mod front_matter;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod manifest;
mod name;
mod path;

pub use front_matter::{FrontMatterError, front_matter};
pub use manifest::{MAX_BYTES, MAX_FILES, Manifest, ManifestError, VerifyError, digest};
pub use name::is_name;
pub use path::encode_path;
pub use sandwire_types::model::{Skill, SkillResource, SkillResources};

/// The extension's id.
pub const EXTENSION: &str = "io.modelcontextprotocol/skills";

/// What every skill's main file is called.
pub const SKILL_FILE: &str = "SKILL.md";
