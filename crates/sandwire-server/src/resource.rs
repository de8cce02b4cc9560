//! Resources and resource templates.

use crate::coerce;
use crate::completion::{Completed, Completions};
use crate::context::Context;
use crate::descriptor::{completing, described};
use crate::error::{Problem, RegistrationError, ToolError};
use crate::function::{Answered, Arguments, Function, Returned};
use crate::kind::{self, Address};
use crate::result::Json;
use crate::schema::{Node, Schema};
use crate::table::{Handler, Row};
use crate::template::{TemplateError, UriTemplate};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sandwire_io::{Answer, MaybeSend, MaybeSync};
use sandwire_json::{Raw, Writer, to_raw};
use sandwire_types::model::{Annotations, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use sandwire_types::{CacheHint, CacheScope, ErrorCode, ErrorObject, Reply};
use serde::Serialize;
use std::fmt;
use std::sync::Arc;

/// A resource or a template of resources: what clients are told about it, and the function that reads it.
///
/// ```
/// use sandwire_server::{ResourceHandler, Schema, Server};
///
/// #[derive(serde::Deserialize, Schema)]
/// struct Note {
///     id: u32,
/// }
///
/// let note = ResourceHandler::new("notes://{id}", "One note.", |note: Note| {
///     (note.id == 1).then(|| "Buy milk".to_owned())
/// })
/// .mime_type("text/plain");
/// let server = Server::builder("notes", "1.0").with(note).build()?;
/// # Ok::<(), sandwire_server::RegistrationError>(())
/// ```
#[derive(Debug)]
#[must_use = "a resource is served when it is given to a builder or a server"]
pub struct ResourceHandler {
    pub(crate) resource: Resource,
    pub(crate) run: ResourceRun,
    pub(crate) is_template: bool,
    pub(crate) completions: Completions,
    problem: Option<Problem>,
}

/// Reads the resources it has an address for. Not a [`Run`](crate::run::Run), since an address may be that of none.
#[derive(Clone)]
pub(crate) struct ResourceRun {
    handler: Arc<dyn Read>,
    takes_context: bool,
}

trait Read: MaybeSend + MaybeSync {
    fn read(&self, uri: &str, mime_type: Option<&Arc<str>>, context: &Context) -> Option<Answer>;
}

impl<F> Read for F
where
    F: Fn(&str, Option<&Arc<str>>, &Context) -> Option<Answer> + MaybeSend + MaybeSync,
{
    fn read(&self, uri: &str, mime_type: Option<&Arc<str>>, context: &Context) -> Option<Answer> {
        self(uri, mime_type, context)
    }
}

impl ResourceRun {
    /// Reads the resource at `uri`, if its address is one of these.
    pub(crate) fn run(&self, uri: &str, mime_type: Option<&Arc<str>>, context: &Context) -> Option<Answer> {
        self.handler.read(uri, mime_type, context)
    }

    /// Whether the function may send log messages.
    pub(crate) fn takes_context(&self) -> bool {
        self.takes_context
    }
}

impl fmt::Debug for ResourceRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ResourceRun")
    }
}

/// The same answer with a hint, unless it has one.
fn hinted(answered: Answered, hint: CacheHint) -> Answered {
    answered.map(|mut reply| {
        reply.stamp.get_or_insert_default().cache.get_or_insert(hint);
        reply
    })
}

/// The arguments an address holds, as JSON.
fn arguments(template: &Result<UriTemplate, TemplateError>, node: &Node, uri: &str) -> Option<String> {
    let values = template.as_ref().ok()?.matches(uri)?;
    let given = values.iter().map(|(name, value)| (*name, value.as_str()));
    Some(coerce::object(node.fields().unwrap_or_default(), given))
}

described!(ResourceHandler.resource);
completing!(ResourceHandler, "a variable of the template");

impl ResourceHandler {
    /// The resource at `uri`, read by `function`; or, where `uri` has variables in braces, all resources whose address
    /// fits (see [`UriTemplate`]).
    ///
    /// The function's argument type has a field for each variable, of the same name. An address whose values do not
    /// fit their types is that of no resource. What the function may return says [`IntoResource`].
    pub fn new<F, M>(uri: &str, description: &str, function: F) -> Self
    where
        F: Function<kind::Resource, M>,
    {
        let function = Arc::new(function);
        let template = Arc::new(UriTemplate::parse(uri));
        let parsed = template.clone();
        let run = move |uri: &str, mime_type: Option<&Arc<str>>, context: &Context| {
            let arguments = arguments(&parsed, F::Arguments::NODE, uri)?;
            let address = Address { uri: uri.into(), mime_type: mime_type.cloned() };
            Some(F::call(&function, F::Arguments::decode(&arguments).ok()?, context.clone(), address))
        };
        let run = ResourceRun { handler: Arc::new(run), takes_context: F::CONTEXT };
        Self::made(uri, description, &template, F::Arguments::NODE, run)
    }

    /// For how many milliseconds clients may keep what is read, and whether caches may share it.
    pub fn cached(mut self, ttl_ms: u64, scope: CacheScope) -> Self {
        let hint = CacheHint { ttl_ms, scope };
        let read = self.run.handler.clone();
        let run = move |uri: &str, mime_type: Option<&Arc<str>>, context: &Context| {
            let hint = hint.clone();
            Some(match read.read(uri, mime_type, context)? {
                Answer::Ready(answered) => Answer::Ready(hinted(answered, hint)),
                Answer::Pending(answer) => Answer::Pending(Box::pin(async move { hinted(answer.await, hint) })),
            })
        };
        self.run.handler = Arc::new(run);
        self
    }

    fn made(
        uri: &str,
        description: &str,
        template: &Result<UriTemplate, TemplateError>,
        node: &Node,
        run: ResourceRun,
    ) -> Self {
        let mut resource = Resource::new(uri.to_owned(), uri.to_owned());
        if !description.is_empty() {
            resource.description = Some(description.to_owned());
        }
        let (variables, problem) = match template {
            Ok(template) => (template.variables().map(str::to_owned).collect(), differing(template, node)),
            Err(error) => (Vec::new(), Some(Problem::Template(error.message()))),
        };
        let is_template = !variables.is_empty();
        let completions = Completions::of(variables);
        Self { resource, run, is_template, completions, problem }
    }

    /// Its name; the address, unless set.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.resource.name = name.into();
        self
    }

    /// The type of its contents, such as `text/markdown`.
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.resource.mime_type = Some(mime_type.into());
        self
    }

    /// How many bytes it has. Templates have no size.
    pub fn size(mut self, bytes: u64) -> Self {
        self.resource.size = Some(bytes.into());
        self
    }

    /// For whom it is, and how important.
    pub fn annotations(mut self, annotations: Annotations) -> Self {
        self.resource.annotations = Some(annotations);
        self
    }

    /// What clients are told about it, to change what the other methods do not reach.
    pub fn describe(mut self, change: impl FnOnce(&mut Resource)) -> Self {
        change(&mut self.resource);
        self
    }

    fn problem(&self) -> Option<RegistrationError> {
        let problem = self.problem.clone().or_else(|| self.completions.problem())?;
        Some(RegistrationError::new(&self.resource.uri, problem))
    }

    pub(crate) fn into_row(self) -> Result<Row, RegistrationError> {
        if let Some(error) = self.problem() {
            return Err(error);
        }
        Ok(Row {
            key: self.resource.uri.as_str().into(),
            descriptor: self.descriptor(),
            handler: Box::new(Completed {
                handler: Registered { run: self.run, mime_type: self.resource.mime_type.as_deref().map(Into::into) },
                completions: self.completions,
            }),
        })
    }

    /// What the list of resources, or of templates, says about it.
    fn descriptor(&self) -> Raw {
        let resource = &self.resource;
        if !self.is_template {
            return to_raw(resource);
        }
        let mut listed = ResourceTemplate::new(resource.uri.clone(), resource.name.clone());
        listed.title.clone_from(&resource.title);
        listed.description.clone_from(&resource.description);
        listed.mime_type.clone_from(&resource.mime_type);
        listed.annotations.clone_from(&resource.annotations);
        listed.icons.clone_from(&resource.icons);
        listed.meta.clone_from(&resource.meta);
        to_raw(&listed)
    }
}

struct Registered {
    run: ResourceRun,
    mime_type: Option<Arc<str>>,
}

impl Handler for Registered {
    fn read(&self, uri: &str, context: &Context) -> Option<Answer> {
        self.run.run(uri, self.mime_type.as_ref(), context)
    }

    fn takes_context(&self) -> bool {
        self.run.takes_context()
    }
}

/// Whether the template's variables are the function's parameters.
fn differing(template: &UriTemplate, node: &Node) -> Option<Problem> {
    let Some(fields) = node.fields() else { return Some(Problem::ArgumentsNotObject) };
    if let Some(variable) = template.variables().find(|variable| !fields.iter().any(|field| field.name == *variable)) {
        return Some(Problem::UnusedVariable(variable.to_owned()));
    }
    let missing =
        fields.iter().find(|field| field.is_required() && !template.variables().any(|name| name == field.name));
    missing.map(|field| Problem::MissingVariable(field.name.to_owned()))
}

/// The error for an address where nothing is.
pub(crate) fn not_found(uri: &str) -> ErrorObject {
    ErrorObject::new(ErrorCode::RESOURCE_NOT_FOUND, "there is no such resource").with_data(naming(uri))
}

/// The data of an error that is about an address.
pub(crate) fn naming(uri: &str) -> Raw {
    let mut data = Writer::new();
    data.begin_object();
    data.key("uri");
    data.string(uri);
    data.end_object();
    data.into_raw()
}

/// What a resource may return.
///
/// | returned | becomes |
/// |---|---|
/// | `String`, `&'static str` | a text |
/// | `Vec<u8>` | bytes |
/// | [`Json`] | a text of type `application/json` |
/// | [`ResourceContents`], `Vec<ResourceContents>`, [`ReadResourceResult`] | itself |
/// | `Option<T>` | `T`, or the error that there is no such resource |
/// | `Result<T, E>`, where `E` can be displayed or is a [`ToolError`] | `T`, or an error |
#[diagnostic::on_unimplemented(
    message = "a resource cannot return `{Self}`",
    label = "this is returned",
    note = "fine are: `String`, `Vec<u8>`, `Json<T>`, `ResourceContents`, `Vec<ResourceContents>`, `ReadResourceResult`, and `Option` and `Result` of these"
)]
pub trait IntoResource {
    /// The `ReadResourceResult` as text.
    ///
    /// # Errors
    /// The JSON-RPC error to answer with instead.
    fn into_resource(self, address: &Address) -> Result<Raw, ErrorObject>;
}

impl<T: IntoResource> Returned<kind::Resource> for T {
    fn answer(self, address: &Address) -> Answered {
        self.into_resource(address).map(Reply::new)
    }
}

impl IntoResource for String {
    fn into_resource(self, address: &Address) -> Result<Raw, ErrorObject> {
        Ok(contents(address, "text/plain", "text", &self))
    }
}

impl IntoResource for &str {
    fn into_resource(self, address: &Address) -> Result<Raw, ErrorObject> {
        Ok(contents(address, "text/plain", "text", self))
    }
}

impl IntoResource for Vec<u8> {
    fn into_resource(self, address: &Address) -> Result<Raw, ErrorObject> {
        Ok(contents(address, "application/octet-stream", "blob", &STANDARD.encode(self)))
    }
}

impl<T: Serialize + Schema> IntoResource for Json<T> {
    fn into_resource(self, address: &Address) -> Result<Raw, ErrorObject> {
        let text = sandwire_json::serde::to_raw(&self.0).map_err(|error| ErrorObject::internal(error.message()))?;
        Ok(contents(address, "application/json", "text", text.as_str()))
    }
}

impl IntoResource for ResourceContents {
    fn into_resource(self, address: &Address) -> Result<Raw, ErrorObject> {
        vec![self].into_resource(address)
    }
}

impl IntoResource for Vec<ResourceContents> {
    fn into_resource(self, address: &Address) -> Result<Raw, ErrorObject> {
        ReadResourceResult::new(self).into_resource(address)
    }
}

impl IntoResource for ReadResourceResult {
    fn into_resource(self, _: &Address) -> Result<Raw, ErrorObject> {
        Ok(to_raw(&self))
    }
}

impl<T: IntoResource> IntoResource for Option<T> {
    fn into_resource(self, address: &Address) -> Result<Raw, ErrorObject> {
        self.ok_or_else(|| not_found(&address.uri))?.into_resource(address)
    }
}

impl<T: IntoResource, E: Into<ToolError>> IntoResource for Result<T, E> {
    fn into_resource(self, address: &Address) -> Result<Raw, ErrorObject> {
        self.map_err(|error| error.into().into_object())?.into_resource(address)
    }
}

fn contents(address: &Address, mime_type: &str, member: &str, value: &str) -> Raw {
    let mut writer = Writer::with_capacity(value.len() + 120);
    writer.begin_object();
    writer.key("contents");
    writer.begin_array();
    writer.begin_object();
    writer.key("uri");
    writer.string(&address.uri);
    writer.key("mimeType");
    writer.string(address.mime_type.as_deref().unwrap_or(mime_type));
    writer.key(member);
    writer.string(value);
    writer.end_object();
    writer.end_array();
    writer.end_object();
    writer.into_raw()
}
