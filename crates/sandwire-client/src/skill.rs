//! Skills: the extension `io.modelcontextprotocol/skills`.

use base64::{Engine, engine::general_purpose::STANDARD};
use sandwire_skills::{Manifest, Skill};
use sandwire_types::{
    Method,
    model::{
        GetSkillResult, ListSkillsResult, ReadResourceDirectoryRequestParams, ReadResourceDirectoryResult,
        ResourceContents, ResourceRequestParams,
    },
};

use crate::{Client, Error, ErrorKind, Request, page};

impl Client {
    /// One page of the skills that the server lists. It may have others: see [`get_skill`](Self::get_skill).
    pub fn list_skills(&self) -> Request<ListSkillsResult> {
        self.list()
    }

    /// Every skill that the server lists, from all pages.
    ///
    /// # Errors
    /// If a page cannot be had, or the pages do not end.
    pub async fn list_all_skills(&self) -> Result<Vec<Skill>, Error> {
        page::walk::<ListSkillsResult>(self).await
    }

    /// The skill whose `SKILL.md` is at an address, listed or not; again, when what it was has changed.
    pub fn get_skill(&self, uri: &str) -> Request<GetSkillResult> {
        self.call(Method::SkillsGet, &ResourceRequestParams::new(uri))
    }

    /// What a directory of resources holds now, a page of it. What a skill may use stands in its entry, not here.
    pub fn read_directory(&self, params: &ReadResourceDirectoryRequestParams) -> Request<ReadResourceDirectoryResult> {
        self.call(Method::ResourcesDirectoryRead, params)
    }

    /// Takes up a skill. Nothing is read yet; whatever is read of it has to agree with the entry.
    ///
    /// The entry is the server's word about itself: show it to a person before its instructions reach a model, together
    /// with which server it is from, and mark what is read as coming from there.
    ///
    /// # Errors
    /// The entry breaks a rule of skills, so that it must not be loaded.
    pub fn open_skill(&self, skill: Skill) -> Result<OpenSkill, Error> {
        let manifest = Manifest::new(skill).map_err(unverified)?;
        Ok(OpenSkill { client: self.clone(), manifest })
    }
}

/// A skill that is acted on. Its entry is held, and what differs from it is an error of the kind
/// [`Unverified`](ErrorKind::Unverified): then get the skill again and have it approved anew.
///
/// ```
/// # async fn example(client: sandwire_client::Client) -> Result<(), sandwire_client::Error> {
/// let entry = client.get_skill("skill://refunds/SKILL.md").await?.skill;
/// let skill = client.open_skill(entry)?;
/// let instructions = skill.instructions().await?;
/// let template = skill.read("templates/email.md").await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct OpenSkill {
    client: Client,
    manifest: Manifest,
}

impl OpenSkill {
    /// The entry that is held.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Its `SKILL.md`, front matter and all.
    ///
    /// # Errors
    /// It cannot be read, or is not what the entry says.
    pub async fn instructions(&self) -> Result<String, Error> {
        match self.read(&self.manifest.skill().uri).await? {
            ResourceContents::Text(contents) => Ok(contents.text),
            _ => Err(Error::new(
                ErrorKind::Decode,
                "the skill's instructions are no text; ask the server's author for a text",
            )),
        }
    }

    /// One of its files, by its path within the skill or by its address.
    ///
    /// # Errors
    /// It is not one of the skill's, cannot be read, or is not what the entry says.
    pub async fn read(&self, path: &str) -> Result<ResourceContents, Error> {
        let uri = self.manifest.resolve(path).map_err(unverified)?;
        self.manifest.admits(&uri).map_err(unverified)?;
        let result = self.client.read_resource(&uri).await?;
        let contents = result.contents.into_iter().find(|contents| address(contents) == Some(&uri));
        let Some(contents) = contents else {
            return Err(Error::new(ErrorKind::Unverified, "the server gave another file than the one asked for"));
        };
        let verified = match &contents {
            ResourceContents::Text(contents) => self.manifest.verify(&uri, contents.text.as_bytes()),
            ResourceContents::Blob(contents) => match STANDARD.decode(&contents.blob) {
                Ok(bytes) => self.manifest.verify(&uri, &bytes),
                Err(_) => return Err(Error::new(ErrorKind::Unverified, "the file's bytes are not in base64")),
            },
            _ => return Err(Error::new(ErrorKind::Unverified, "the file is neither text nor bytes")),
        };
        verified.map_err(unverified)?;
        Ok(contents)
    }
}

fn address(contents: &ResourceContents) -> Option<&str> {
    match contents {
        ResourceContents::Text(contents) => Some(&contents.uri),
        ResourceContents::Blob(contents) => Some(&contents.uri),
        _ => None,
    }
}

fn unverified(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(ErrorKind::Unverified, error.to_string()).caused_by(error)
}
