//! Skills: the extension `io.modelcontextprotocol/skills`.

use sandwire_io::{Answer, Call};
use sandwire_json::{Number, Raw, Writer, to_raw};
use sandwire_skills::{
    EXTENSION, Manifest, SKILL_FILE, Skill, SkillResource, SkillResources, digest, encode_path, front_matter,
};
use sandwire_types::{
    ErrorObject, Method, Reply,
    model::{Described, GetSkillResult, ListSkillsResult, ReadResourceDirectoryResult, Resource},
};
use std::sync::Arc;

use crate::builder::{Builder, Bundle};
use crate::error::{Problem, RegistrationError};
use crate::resource::{ResourceHandler, naming};
use crate::server::{Served, Server, page, refused, text, text_of};
use crate::table::{Handler, Row};

/// A skill to serve: instructions for the model, and the files they speak of.
///
/// Each file becomes a resource below `skill://`, read as any other. What clients are told of the skill, its entry, is made
/// of the files: the front matter of its `SKILL.md`, and the size and digest of each.
///
/// ```
/// use sandwire_server::{Server, SkillHandler};
///
/// let refunds = SkillHandler::new(
///     "billing/refunds",
///     "---\nname: refunds\ndescription: How to refund a customer\n---\nFill in templates/email.md.\n",
/// )
/// .text("templates/email.md", "Dear customer,");
/// let server = Server::builder("shop", "1.0").with(refunds).build()?;
/// # Ok::<(), sandwire_server::RegistrationError>(())
/// ```
#[derive(Debug)]
#[must_use = "a skill is served when it is given to a builder"]
pub struct SkillHandler {
    directory: String,
    main: String,
    files: Vec<(String, Content)>,
    is_dynamic: bool,
}

#[derive(Clone, Debug)]
enum Content {
    Text(Arc<str>),
    Bytes(Arc<[u8]>),
}

impl Content {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
}

impl SkillHandler {
    /// The skill whose `SKILL.md` is `text`. It begins with front matter, which has a `name` and a `description`.
    ///
    /// `path` is where the skill is, its last segment its name: `refunds` or `billing/refunds`, below `skill://`. It may
    /// begin with another scheme: `github://owner/repository/skills/refunds`.
    pub fn new(path: &str, text: impl Into<Arc<str>>) -> Self {
        let directory = if path.contains("://") { path.to_owned() } else { ["skill://", path].concat() };
        let main = [&directory, "/", SKILL_FILE].concat();
        Self { directory, files: vec![(main.clone(), Content::Text(text.into()))], main, is_dynamic: false }
    }

    /// A file of text, by its path within the skill.
    pub fn text(self, path: &str, text: impl Into<Arc<str>>) -> Self {
        self.file(path, Content::Text(text.into()))
    }

    /// A file of bytes, by its path within the skill.
    pub fn bytes(self, path: &str, bytes: impl Into<Arc<[u8]>>) -> Self {
        self.file(path, Content::Bytes(bytes.into()))
    }

    /// Says that the skill has files that are made as they are read: they are resources or templates below the skill's
    /// address, registered beside it. Clients cannot tell such a skill from one that was changed; some will not load it.
    pub fn dynamic(mut self) -> Self {
        self.is_dynamic = true;
        self
    }

    fn file(mut self, path: &str, content: Content) -> Self {
        self.files.push(([&self.directory, "/", &encode_path(path)].concat(), content));
        self
    }

    /// The entry.
    fn skill(&self) -> Result<Skill, RegistrationError> {
        let failed = |problem: String| RegistrationError::new(&self.main, Problem::Skill(problem));
        let main = self.files.first().map_or(&[][..], |(_, content)| content.bytes());
        let front = front_matter(&String::from_utf8_lossy(main)).map_err(|error| failed(error.to_string()))?;
        let mut skill = Skill::new(self.main.clone(), front);
        skill.resources = Some(if self.is_dynamic {
            SkillResources::Dynamic
        } else {
            SkillResources::Listed(self.files.iter().map(|(uri, content)| listed(uri, content.bytes())).collect())
        });
        let manifest = Manifest::new(skill).map_err(|error| failed(error.to_string()))?;
        Ok(manifest.skill().clone())
    }
}

fn listed(uri: &str, bytes: &[u8]) -> SkillResource {
    SkillResource::new(uri, digest(bytes), size(bytes))
}

fn size(bytes: &[u8]) -> Number {
    i64::try_from(bytes.len()).unwrap_or(i64::MAX).into()
}

/// A file as a resource; of the `SKILL.md` it says what the front matter does.
fn resource(skill: &Skill, uri: String, content: Content) -> ResourceHandler {
    let is_main = uri == skill.uri;
    let member = |name| text(skill.frontmatter.as_str(), name).filter(|_| is_main);
    let description = member("description").unwrap_or_default();
    let name = member("name").map_or_else(|| file_name(&uri).to_owned(), |name| name.into_owned());
    let (length, mime_type) = (content.bytes().len() as u64, mime_type(&uri, &content));
    let handler = match content {
        Content::Text(text) => ResourceHandler::new(&uri, &description, move || text.to_string()),
        Content::Bytes(bytes) => ResourceHandler::new(&uri, &description, move || bytes.to_vec()),
    };
    handler.name(name).mime_type(mime_type).size(length)
}

fn file_name(uri: &str) -> &str {
    uri.rsplit('/').next().unwrap_or(uri)
}

fn mime_type(uri: &str, content: &Content) -> &'static str {
    let extension = file_name(uri).rsplit_once('.').map_or("", |(_, extension)| extension);
    match (content, extension) {
        (Content::Text(_), "md") => "text/markdown",
        (Content::Text(_), "json") => "application/json",
        (Content::Text(_), "html") => "text/html",
        (Content::Text(_), "svg") => "image/svg+xml",
        (Content::Text(_), _) => "text/plain",
        (Content::Bytes(_), "png") => "image/png",
        (Content::Bytes(_), "jpg" | "jpeg") => "image/jpeg",
        (Content::Bytes(_), "pdf") => "application/pdf",
        (Content::Bytes(_), _) => "application/octet-stream",
    }
}

impl Bundle for SkillHandler {
    fn add_to(self, mut builder: Builder) -> Builder {
        let skill = match self.skill() {
            Ok(skill) => skill,
            Err(error) => {
                builder.failed(error);
                return builder;
            }
        };
        if builder.skills.is_empty() {
            builder.serves(SKILLS);
            builder = builder.extension(EXTENSION, Raw::from_valid(r#"{"directoryRead":true}"#));
        }
        builder.skills.push(Row { key: self.main.into(), descriptor: to_raw(&skill), handler: Box::new(Listed) });
        self.files.into_iter().fold(builder, |builder, (uri, content)| builder.with(resource(&skill, uri, content)))
    }
}

/// What a row of skills does: nothing but to be listed.
struct Listed;

impl Handler for Listed {
    fn takes_context(&self) -> bool {
        false
    }
}

const SKILLS: [Served; 3] = [
    Served::new(Method::SkillsList, ListSkillsResult::TYPE, |server, call| page(&server.tables().skills, &call)),
    Served::new(Method::SkillsGet, GetSkillResult::TYPE, get),
    Served::new(Method::ResourcesDirectoryRead, ReadResourceDirectoryResult::TYPE, directory),
];

fn get(server: &Server, call: Call) -> Answer {
    let Some(uri) = text(text_of(&call.request.params), "uri") else {
        return refused("the skill's address is missing");
    };
    match server.tables().skills.load().find(&uri) {
        Some(row) => {
            let mut writer = Writer::with_capacity(row.descriptor.as_str().len() + 16);
            writer.begin_object();
            writer.key("skill");
            writer.raw(row.descriptor.as_str());
            writer.end_object();
            Answer::Ready(Ok(Reply::new(writer.into_raw())))
        }
        None => nothing_at(&uri, "there is no skill at "),
    }
}

/// What a skill's directory holds: the resources right below it, and the directories that others are in.
fn directory(server: &Server, call: Call) -> Answer {
    let params = text_of(&call.request.params);
    let Some(uri) = text(params, "uri") else { return refused("the directory's address is missing") };
    if text(params, "cursor").is_some() {
        return refused("the cursor is not one of this list");
    }
    let tables = server.tables();
    let is_of_a_skill = tables.skills.load().keys().iter().any(|main| {
        let skill = main.strip_suffix(SKILL_FILE).and_then(|skill| skill.strip_suffix('/'));
        skill.and_then(|skill| uri.strip_prefix(skill)).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    let resources = tables.resources.load();
    let below = |row: &Arc<Row>| {
        let path = row.key.strip_prefix(&*uri)?.strip_prefix('/')?.to_owned();
        Some((path, row.descriptor.clone()))
    };
    let below: Vec<_> = resources.enabled().filter_map(below).filter(|_| is_of_a_skill).collect();
    if below.is_empty() {
        return nothing_at(&uri, "there is no directory at ");
    }
    let mut directories: Vec<&str> = Vec::new();
    let mut writer = Writer::new();
    writer.begin_object();
    writer.key("resources");
    writer.begin_array();
    for (path, descriptor) in &below {
        match path.split_once('/') {
            None => writer.raw(descriptor.as_str()),
            Some((name, _)) if !directories.contains(&name) => {
                directories.push(name);
                let mut directory = Resource::new([&*uri, "/", name].concat(), name);
                directory.mime_type = Some("inode/directory".into());
                writer.raw(to_raw(&directory).as_str());
            }
            Some(_) => {}
        }
    }
    writer.end_array();
    writer.end_object();
    Answer::Ready(Ok(Reply::new(writer.into_raw())))
}

fn nothing_at(uri: &str, message: &str) -> Answer {
    Answer::Ready(Err(ErrorObject::invalid_params([message, uri].concat()).with_data(naming(uri))))
}
