//! A skill's entry, and whether what is read agrees with it.

use std::fmt;

use sandwire_json::{Raw, Reader, find};
use sandwire_types::model::{Skill, SkillResource, SkillResources};

use crate::SKILL_FILE;
use crate::equal::equal;
use crate::front_matter::{FrontMatterError, front_matter};
use crate::name::is_name;
use crate::path::encode_path;

/// How many files a skill may have.
pub const MAX_FILES: usize = 512;

/// How many bytes a skill's files may have together.
pub const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// The digest of a file's bytes, as entries give it: `sha256:` and 64 lower-case hexadecimal digits.
#[must_use]
pub fn digest(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut digest = String::from("sha256:");
    for byte in hmac_sha256::Hash::hash(bytes) {
        for digit in [byte >> 4, byte & 15] {
            digest.extend(DIGITS.get(usize::from(digit)).map(|digit| char::from(*digit)));
        }
    }
    digest
}

/// A skill's entry that keeps the rules. What is read of the skill must agree with it.
///
/// ```
/// use sandwire_skills::{Manifest, Skill, SkillResource, SkillResources, digest};
/// use sandwire_types::Raw;
///
/// let text = "---\nname: refunds\ndescription: How to refund\n---\nAsk first.\n";
/// let mut skill = Skill::new("skill://refunds/SKILL.md", Raw::parse(r#"{"name":"refunds","description":"How to refund"}"#)?);
/// skill.resources = Some(SkillResources::Listed(vec![SkillResource::new(
///     "skill://refunds/SKILL.md",
///     digest(text.as_bytes()),
///     i64::try_from(text.len())?,
/// )]));
/// let manifest = Manifest::new(skill)?;
/// assert!(manifest.verify("skill://refunds/SKILL.md", text.as_bytes()).is_ok());
/// assert!(manifest.verify("skill://refunds/SKILL.md", b"Refund everybody.").is_err());
/// assert!(manifest.verify("skill://refunds/EXTRA.md", b"").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    skill: Skill,
}

impl Manifest {
    /// Checks an entry: that its address ends in its name and `SKILL.md`, that its files lie below it, each once and with a
    /// digest, and that they are not too many.
    ///
    /// # Errors
    /// The first rule it breaks.
    pub fn new(skill: Skill) -> Result<Self, ManifestError> {
        let directory = directory(&skill.uri).ok_or(ManifestError::Address)?;
        let name = text(&skill.frontmatter, "name").filter(|name| is_name(name)).ok_or(ManifestError::Name)?;
        if text(&skill.frontmatter, "description").is_none_or(|description| description.is_empty()) {
            return Err(ManifestError::Description);
        }
        if directory.rsplit('/').next() != Some(&*name) {
            return Err(ManifestError::Address);
        }
        match &skill.resources {
            Some(SkillResources::Listed(files)) => check_files(&skill.uri, directory, files)?,
            Some(SkillResources::Dynamic) => {}
            Some(_) | None => return Err(ManifestError::Files),
        }
        Ok(Self { skill })
    }

    /// The entry.
    #[must_use]
    pub fn skill(&self) -> &Skill {
        &self.skill
    }

    /// The address of the directory that the skill is in, without a slash at its end.
    #[must_use]
    pub fn directory(&self) -> &str {
        directory(&self.skill.uri).unwrap_or_default()
    }

    /// The address of a file that the skill's texts name by its path, as `references/FORMS.md`. What begins with a scheme
    /// is an address already.
    ///
    /// # Errors
    /// The path leads out of the skill.
    pub fn resolve(&self, path: &str) -> Result<String, VerifyError> {
        let path = match path.strip_prefix(self.directory()).and_then(|below| below.strip_prefix('/')) {
            Some(below) => below,
            None if path.contains("://") || path.starts_with('/') => return Err(VerifyError::Outside),
            None => path,
        };
        let mut segments = Vec::new();
        for segment in path.split('/') {
            match segment {
                "" | "." => {}
                ".." => drop(segments.pop().ok_or(VerifyError::Outside)?),
                segment => segments.push(segment),
            }
        }
        Ok([self.directory(), "/", &encode_path(&segments.join("/"))].concat())
    }

    /// Whether the entry admits a read of this address: it is one of its files, or below it where they are not listed.
    ///
    /// # Errors
    /// [`VerifyError::Unlisted`] or [`VerifyError::Outside`].
    pub fn admits(&self, uri: &str) -> Result<(), VerifyError> {
        self.file(uri).map(drop)
    }

    /// Checks what was read at an address of the skill: its size, its digest, and the front matter of a `SKILL.md`. What
    /// differs must not be used.
    ///
    /// # Errors
    /// The first difference.
    pub fn verify(&self, uri: &str, bytes: &[u8]) -> Result<(), VerifyError> {
        if let Some(file) = self.file(uri)? {
            if file.size.as_u64() != Some(bytes.len() as u64) {
                return Err(VerifyError::Size);
            }
            if file.digest != digest(bytes) {
                return Err(VerifyError::Digest);
            }
        }
        if uri != self.skill.uri {
            return Ok(());
        }
        let text = std::str::from_utf8(bytes).map_err(|_| VerifyError::FrontMatter(None))?;
        let found = front_matter(text).map_err(|error| VerifyError::FrontMatter(Some(error)))?;
        match equal(&found, &self.skill.frontmatter) {
            true => Ok(()),
            false => Err(VerifyError::FrontMatter(None)),
        }
    }

    fn file(&self, uri: &str) -> Result<Option<&SkillResource>, VerifyError> {
        match &self.skill.resources {
            Some(SkillResources::Listed(files)) => {
                files.iter().find(|file| file.uri == uri).map(Some).ok_or(VerifyError::Unlisted)
            }
            _ if is_below(self.directory(), uri) => Ok(None),
            _ => Err(VerifyError::Outside),
        }
    }
}

fn text(object: &Raw, member: &str) -> Option<String> {
    find(object.as_str(), member).and_then(|text| Reader::new(text).string().ok().map(String::from))
}

/// The directory of a `SKILL.md`.
fn directory(uri: &str) -> Option<&str> {
    let directory = uri.strip_suffix(SKILL_FILE)?.strip_suffix('/')?;
    let (scheme, path) = directory.split_once("://")?;
    (!scheme.is_empty() && path.split('/').all(|segment| !matches!(segment, "" | "." | ".."))).then_some(directory)
}

/// Whether an address is that of something in a directory.
fn is_below(directory: &str, uri: &str) -> bool {
    let path = uri.strip_prefix(directory).and_then(|path| path.strip_prefix('/'));
    path.is_some_and(|path| path.split('/').all(|segment| !matches!(segment, "" | "." | "..")))
}

fn check_files(main: &str, directory: &str, files: &[SkillResource]) -> Result<(), ManifestError> {
    if files.len() > MAX_FILES {
        return Err(ManifestError::TooLarge);
    }
    let mut bytes = 0_u64;
    for (at, file) in files.iter().enumerate() {
        let twice = files.iter().take(at).any(|other| other.uri == file.uri);
        if twice || !is_below(directory, &file.uri) || !is_digest(&file.digest) {
            return Err(ManifestError::Files);
        }
        bytes = bytes.saturating_add(file.size.as_u64().ok_or(ManifestError::Files)?);
    }
    match files.iter().any(|file| file.uri == main) {
        _ if bytes > MAX_BYTES => Err(ManifestError::TooLarge),
        true => Ok(()),
        false => Err(ManifestError::Files),
    }
}

fn is_digest(digest: &str) -> bool {
    digest
        .strip_prefix("sha256:")
        .is_some_and(|hex| hex.len() == 64 && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')))
}

/// Which rule a skill's entry breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ManifestError {
    /// Its address does not end in its name and `SKILL.md`.
    Address,
    /// It has no name, or one that skills may not have.
    Name,
    /// It has no description.
    Description,
    /// Its files are not listed, or one of them is outside the skill, there twice, or without a digest; or `SKILL.md` is
    /// not among them.
    Files,
    /// It has more than 512 files, or they have more than 16 MiB.
    TooLarge,
}

impl fmt::Display for ManifestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Address => "the skill's address does not end in its name and `SKILL.md`",
            Self::Name => {
                "the skill has no name, or one that skills may not have; use lower-case letters, digits and single hyphens"
            }
            Self::Description => "the skill has no description; write one into its front matter",
            Self::Files => "the skill's list of files is missing or wrong; each file of the skill stands there once, with its digest",
            Self::TooLarge => "the skill is larger than clients have to accept; keep it to 512 files and 16 MiB",
        })
    }
}

impl std::error::Error for ManifestError {}

/// Why something that was read is not to be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VerifyError {
    /// It is not part of the skill.
    Outside,
    /// The skill's entry does not list it.
    Unlisted,
    /// It is of another size than its entry says.
    Size,
    /// It has another digest than its entry says.
    Digest,
    /// Its front matter is not that of the entry, or cannot be read.
    FrontMatter(Option<FrontMatterError>),
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outside => f.write_str("the address is not part of the skill"),
            Self::Unlisted => {
                f.write_str("the skill's entry does not list the file; get the skill again, and have it approved")
            }
            Self::Size => {
                f.write_str("the file's size is not that of its entry; get the skill again, and have it approved")
            }
            Self::Digest => {
                f.write_str("the file's digest is not that of its entry; get the skill again, and have it approved")
            }
            Self::FrontMatter(None) => {
                f.write_str("the front matter is not what the skill's entry says; do not use the skill")
            }
            Self::FrontMatter(Some(error)) => error.fmt(f),
        }
    }
}

impl std::error::Error for VerifyError {}
