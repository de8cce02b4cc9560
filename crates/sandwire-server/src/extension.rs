//! Extensions: what a server offers beyond the specification, by agreement with the client.
//!
//! One is an id with settings, which both sides declare: [`Builder::extension`]. What belongs to it is registered with
//! it, and is only for clients that declared it too: methods ([`MethodHandler`]), keys of `subscriptions/listen`
//! ([`Builder::listen_key`], [`Server::publish`]), types of results ([`Builder::result_type`]).

use crate::ask::describe;
use crate::builder::{Builder, Bundle};
use crate::context::Context;
use crate::error::{Problem, RegistrationError, ToolError};
use crate::function::{Answered, Arguments, Function, Returned};
use crate::kind;
use crate::run::Run;
use crate::schema::Schema;
use crate::server::{Hear, Rest, Server};
use sandwire_io::{Answer, Call, MaybeSend, MaybeSync};
use sandwire_json::{Raw, Reader, Writer};
use sandwire_proto::PeerInfo;
use sandwire_proto::server::{Change, Config, Extensions, Published};
use sandwire_types::{ErrorCode, ErrorObject, Method, Notification, Reply, extension};
use serde::Serialize;
use std::fmt;
use std::sync::Arc;

/// What a method of an extension may return: an object.
///
/// | returned | becomes |
/// |---|---|
/// | a struct with `Serialize` and `Schema`, [`Raw`] | its JSON |
/// | `()` | an empty object |
/// | [`Reply`] | itself, with its type |
/// | `Result<T, E>`, where `E` can be displayed or is a [`ToolError`] | `T`, or the error -32603; an [`ErrorObject`] is that error |
#[diagnostic::on_unimplemented(
    message = "a method cannot return `{Self}`",
    label = "this is returned",
    note = "fine are: a struct with `serde::Serialize` and `Schema`, `()`, `Raw`, `Reply`, and a `Result` of these"
)]
pub trait IntoMethodResult {
    /// The result.
    ///
    /// # Errors
    /// The JSON-RPC error to answer with instead.
    fn into_method_result(self) -> Result<Reply, ErrorObject>;
}

impl<T: IntoMethodResult> Returned<kind::Method> for T {
    fn answer(self, (): &()) -> Answered {
        self.into_method_result()
    }
}

impl<T: Serialize + Schema> IntoMethodResult for T {
    fn into_method_result(self) -> Result<Reply, ErrorObject> {
        match sandwire_json::serde::to_raw(&self) {
            Ok(value) => Ok(Reply::new(value)),
            Err(error) => {
                let message = ["the result cannot be written as JSON: ", error.message()].concat();
                Err(ErrorObject::new(ErrorCode::INTERNAL_ERROR, message))
            }
        }
    }
}

impl IntoMethodResult for () {
    fn into_method_result(self) -> Result<Reply, ErrorObject> {
        Ok(Reply::new(Raw::object()))
    }
}

impl IntoMethodResult for Reply {
    fn into_method_result(self) -> Result<Reply, ErrorObject> {
        Ok(self)
    }
}

impl<T: IntoMethodResult, E: Into<ToolError>> IntoMethodResult for Result<T, E> {
    fn into_method_result(self) -> Result<Reply, ErrorObject> {
        self.map_err(|error| error.into().into_object())?.into_method_result()
    }
}

/// A method outside the specification, and the function that answers it.
///
/// ```
/// use sandwire_server::{MethodHandler, Schema, Server, types::Raw};
///
/// #[derive(serde::Deserialize, Schema)]
/// struct Note {
///     #[serde(rename = "noteId")]
///     note_id: String,
/// }
///
/// #[derive(serde::Serialize, Schema)]
/// struct Length {
///     length: usize,
/// }
///
/// let measure = MethodHandler::new("notes/measure", |note: Note| Length { length: note.note_id.len() })
///     .of("com.example/notes")
///     .name_member("noteId");
/// let server = Server::builder("notes", "1.0").extension("com.example/notes", Raw::object()).with(measure).build()?;
/// # Ok::<(), sandwire_server::RegistrationError>(())
/// ```
#[derive(Debug)]
#[must_use = "a method is served when it is given to a builder"]
pub struct MethodHandler {
    method: Method,
    run: Run<str>,
    extension: Option<String>,
    name_member: Option<String>,
}

impl MethodHandler {
    /// A request of this name that `function` answers, for everybody.
    ///
    /// The function's argument type is what the parameters are decoded to; what it may return, says
    /// [`IntoMethodResult`].
    pub fn new<F, M>(name: &str, function: F) -> Self
    where
        F: Function<kind::Method, M, Output: IntoMethodResult>,
    {
        let function = Arc::new(function);
        let run = move |params: &str, context: Context| match F::Arguments::decode(params) {
            Ok(arguments) => F::call(&function, arguments, context, ()),
            Err(error) => {
                let mut message = String::from("invalid parameters: ");
                describe(&error, &mut message);
                Answer::Ready(Err(ErrorObject::invalid_params(message)))
            }
        };
        Self { method: Method::from(name), run: Run::new(F::CONTEXT, run), extension: None, name_member: None }
    }

    /// Says that it belongs to an extension: clients that did not declare it are answered with error -32021.
    pub fn of(mut self, extension: &str) -> Self {
        self.extension = Some(extension.to_owned());
        self
    }

    /// Has the HTTP header `Mcp-Name` repeat this member of the parameters, a string, for whoever routes requests.
    pub fn name_member(mut self, member: &str) -> Self {
        self.name_member = Some(member.to_owned());
        self
    }
}

impl Bundle for MethodHandler {
    fn add_to(self, mut builder: Builder) -> Builder {
        let Self { method, run, extension, name_member } = self;
        if method.as_str().is_empty() || !matches!(method, Method::Other(_)) {
            let problem = Problem::Extension("a method of an extension has a name of its own, as notes/measure");
            builder.failed(RegistrationError::new(method.as_str(), problem));
            return builder;
        }
        let extending = extending(&mut builder);
        if extending.methods.iter().any(|(known, _)| *known == method) {
            builder.failed(RegistrationError::new(method.as_str(), Problem::Duplicate));
            return builder;
        }
        if let Some(extension) = extension {
            extending.rules.method(&extension, method.clone(), false);
            extending.used.push(extension);
        }
        if let Some(member) = name_member {
            extending.rules.name_member(method.clone(), &member);
        }
        extending.methods.push((method, run));
        builder
    }
}

impl Builder {
    /// Declares an extension with its settings, an object. The id is a prefix and a name, as `com.example/notes`.
    pub fn extension(mut self, id: &str, settings: Raw) -> Self {
        let problem = match extension::problem(id) {
            None if !settings.is_object() => Some("the settings of an extension are an object"),
            problem => problem,
        };
        if let Some(problem) = problem {
            self.failed(RegistrationError::new(id, Problem::Extension(problem)));
            return self;
        }
        let mut writer = Writer::new();
        writer.begin_object();
        if let Some(before) = self.declared_member("extensions") {
            // The text is valid: it stands in a `Raw`.
            let _ = Reader::new(before.as_str()).object(&mut |known, value| {
                let value = value.raw()?;
                if known != id {
                    writer.key(known);
                    writer.raw(value);
                }
                Ok(())
            });
        }
        writer.key(id);
        writer.raw(settings.as_str());
        writer.end_object();
        self.declare_member("extensions", writer.into_raw())
    }

    /// Answers requests of this name, for everybody; see [`MethodHandler::new`].
    pub fn method<F, M>(self, name: &str, function: F) -> Self
    where
        F: Function<kind::Method, M, Output: IntoMethodResult>,
    {
        self.with(MethodHandler::new(name, function))
    }

    /// Lets clients that declared an extension ask for more by this key of `subscriptions/listen`: with `true` for
    /// everything, or a list of what they want to hear about. [`Server::publish`] tells them.
    pub fn listen_key(mut self, extension: &str, key: &str) -> Self {
        let extending = extending(&mut self);
        extending.rules.filter(extension, key);
        extending.used.push(extension.to_owned());
        self
    }

    /// Lets calls of clients that declared an extension end with results of this type, as [`Reply::kind`] says it.
    pub fn result_type(mut self, extension: &str, kind: &str) -> Self {
        let extending = extending(&mut self);
        extending.rules.result(extension, kind);
        extending.used.push(extension.to_owned());
        self
    }

    /// Hears of clients' notifications that the connection has no use for itself, those of extensions included.
    pub fn on_notification<F>(mut self, heard: F) -> Self
    where
        F: Fn(&Notification, &PeerInfo) + MaybeSend + MaybeSync + 'static,
    {
        extending(&mut self).hear = Some(Box::new(heard));
        self
    }
}

impl Server {
    /// Tells something of an extension to those who asked for it by a key of `subscriptions/listen`.
    pub fn publish(&self, published: Published) {
        self.announce(&Change::Custom(published));
    }
}

/// What extensions have registered. Behind a pointer to the function that takes it, so that a server without any does
/// not contain it.
pub(crate) struct Extending {
    pub(crate) rules: Extensions,
    methods: Vec<(Method, Run<str>)>,
    hear: Option<Box<dyn Hear>>,
    /// The extensions that something was registered with.
    pub(crate) used: Vec<String>,
    pub(crate) finish: fn(Self, &mut Config) -> Result<Rest, RegistrationError>,
}

impl fmt::Debug for Extending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Extending").field("rules", &self.rules).finish_non_exhaustive()
    }
}

pub(crate) fn extending(builder: &mut Builder) -> &mut Extending {
    builder.extending.get_or_insert_with(|| {
        Box::new(Extending {
            rules: Extensions::default(),
            methods: Vec::new(),
            hear: None,
            used: Vec::new(),
            finish: Extending::finished,
        })
    })
}

impl Extending {
    fn finished(self, config: &mut Config) -> Result<Rest, RegistrationError> {
        let declared = config.capabilities().get("extensions").unwrap_or_else(Raw::object);
        if let Some(id) = self.used.iter().find(|id| declared.get(id).is_none()) {
            let problem = Problem::Extension("nothing declares this extension; declare it in the builder");
            return Err(RegistrationError::new(id, problem));
        }
        config.custom_methods = true;
        config.extend(self.rules);
        Ok(Rest {
            run: Some(Box::new(Methods(self.methods))),
            hear: self.hear,
            #[cfg(feature = "tasks")]
            tasks: None,
        })
    }
}

struct Methods(Vec<(Method, Run<str>)>);

impl crate::server::RawRun for Methods {
    fn run(&self, server: &Server, call: Call) -> Answer {
        match self.0.iter().find(|(method, _)| *method == call.request.method) {
            Some((_, run)) => {
                let (params, context) = server.taken(call);
                run.run(params.as_ref().map_or("{}", Raw::as_str), context)
            }
            None => Answer::Ready(Err(ErrorObject::method_not_found(&call.request.method))),
        }
    }
}
