//! [Skills](https://github.com/modelcontextprotocol/ext-skills): the extension `io.modelcontextprotocol/skills`.

use sandwire_json::shape::Type;
use sandwire_json::{Error, Number, Raw, Read, Reader, Write, Writer, from_str};

use super::macros::noun;
use super::resource::Resource;
use super::support::Described;

noun! {
    /// A skill: instructions for the model, in a directory of resources.
    Skill {
        /// The address of its `SKILL.md`.
        uri: String = "uri",
        /// The front matter of its `SKILL.md`, an object with `name` and `description`.
        frontmatter: Raw as object = "frontmatter",
    } optional {
        /// Its files. They must be there: a skill without is not to be loaded.
        resources: SkillResources = "resources",
    }
}

/// The files of a skill.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SkillResources {
    /// All of them, its `SKILL.md` included.
    Listed(Vec<SkillResource>),
    /// They are made as they are read, so that nothing can be said about them ahead.
    Dynamic,
    /// Something that is not known here.
    Other(Raw),
}

noun! {
    /// A file of a skill.
    SkillResource {
        /// Its address.
        uri: String = "uri",
        /// The digest of its bytes: `sha256:` and 64 lower-case hexadecimal digits.
        digest: String = "digest",
        /// How many bytes it has.
        size: Number = "size",
    } optional {}
}

noun! {
    /// A page of skills.
    ListSkillsResult {
        /// The skills.
        skills: Vec<Skill> = "skills",
    } optional {
        /// Where the next page begins.
        next_cursor: String = "nextCursor",
        /// Metadata.
        meta: Raw as object = "_meta",
    }
}

noun! {
    /// The answer to `skills/get`.
    GetSkillResult {
        /// The skill.
        skill: Skill = "skill",
    } optional {
        /// Metadata.
        meta: Raw as object = "_meta",
    }
}

noun! {
    /// What `resources/directory/read` is called with.
    ReadResourceDirectoryRequestParams {
        /// The directory, without a slash at its end.
        uri: String = "uri",
    } optional {
        /// Where the page begins.
        cursor: String = "cursor",
    }
}

noun! {
    /// What a directory holds, but not what its directories do.
    ReadResourceDirectoryResult {
        /// Files, and directories, whose type is `inode/directory`.
        resources: Vec<Resource> = "resources",
    } optional {
        /// Where the next page begins.
        next_cursor: String = "nextCursor",
        /// Metadata.
        meta: Raw as object = "_meta",
    }
}

const DYNAMIC: &str = "dynamic";

impl Read for SkillResources {
    fn read(r: &mut Reader<'_>) -> Result<Self, Error> {
        let text = Raw::read(r)?;
        if let Ok(files) = from_str(text.as_str()) {
            return Ok(Self::Listed(files));
        }
        match from_str::<String>(text.as_str()) {
            Ok(text) if text == DYNAMIC => Ok(Self::Dynamic),
            _ => Ok(Self::Other(text)),
        }
    }
}

impl Write for SkillResources {
    fn write(&self, w: &mut Writer) {
        match self {
            Self::Listed(files) => files.write(w),
            Self::Dynamic => w.string(DYNAMIC),
            Self::Other(other) => other.write(w),
        }
    }
}

impl Described for SkillResources {
    const TYPE: Type = Type::Any;
}
