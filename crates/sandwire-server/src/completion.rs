//! Proposals for the arguments of prompts and of resource templates.

use crate::context::Context;
use crate::error::{Problem, ToolError};
use crate::function::{Answered, Arguments, Function, Returned};
use crate::kind;
use crate::run::Run;
use crate::schema::Node;
use crate::table::Handler;
use sandwire_io::Answer;
use sandwire_json::{Error, Raw, Reader, Writer, find};
use sandwire_types::{ErrorObject, Reply};
use std::sync::Arc;

/// How many values one answer may hold.
pub(crate) const MAX_VALUES: usize = 100;

/// An argument that is being typed.
///
/// ```
/// use sandwire_server::{Completing, Server};
///
/// fn cities(typed: Completing) -> Vec<&'static str> {
///     ["Paris", "Prague", "Porto"].into_iter().filter(|city| city.starts_with(&typed.value)).collect()
/// }
///
/// let server = Server::builder("travel", "1.0")
///     .resource("weather://{city}", "The weather.", |place: Place| place.city)
///     .completion("weather://{city}", "city", cities)
///     .build()?;
/// # #[derive(serde::Deserialize, sandwire_server::Schema)] struct Place { city: String }
/// # Ok::<(), sandwire_server::RegistrationError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Completing {
    /// The argument's name.
    pub argument: String,
    /// What has been typed so far.
    pub value: String,
    /// The other arguments that were already given.
    pub given: Vec<(String, String)>,
}

impl Completing {
    /// The value of another argument, if it was already given.
    pub fn given(&self, name: &str) -> Option<&str> {
        self.given.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl Arguments for Completing {
    const NODE: &'static Node = &Node::Any;
    const TEXT: Option<&'static str> = None;

    fn decode(text: &str) -> Result<Self, Error> {
        let mut read = Completing::default();
        Reader::new(text).object(&mut |key, reader| match key {
            "argument" => reader.object(&mut |key, reader| {
                match key {
                    "name" => read.argument = reader.string()?.into_owned(),
                    "value" => read.value = reader.string()?.into_owned(),
                    _ => reader.skip()?,
                }
                Ok(())
            }),
            "context" => reader.object(&mut |key, reader| {
                if key != "arguments" {
                    return reader.skip();
                }
                reader.object(&mut |key, reader| {
                    read.given.push((key.to_owned(), reader.string()?.into_owned()));
                    Ok(())
                })
            }),
            _ => reader.skip(),
        })?;
        Ok(read)
    }
}

/// What a completion may return: up to any number of values, of which the first hundred are sent.
///
/// `Vec<S>` and `[S; N]` of anything that becomes a `String`, [`Values`], and a `Result` of these.
#[diagnostic::on_unimplemented(
    message = "a completion cannot return `{Self}`",
    label = "this is returned",
    note = "fine are: `Vec<String>`, `Vec<&str>`, arrays of them, `Values`, and a `Result` of these"
)]
pub trait IntoCompletion {
    /// The values.
    ///
    /// # Errors
    /// The JSON-RPC error to answer with instead.
    fn into_completion(self) -> Result<Values, ErrorObject>;
}

/// Some of the values an argument may have, best first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs)]
pub struct Values {
    /// The values; those after the hundredth are not sent.
    pub values: Vec<String>,
    /// How many there are in all, if that is known.
    pub total: Option<usize>,
    /// Whether there are more than these.
    pub has_more: bool,
}

impl<T: IntoCompletion> Returned<kind::Completion> for T {
    fn answer(self, (): &()) -> Answered {
        self.into_completion().map(|values| Reply::new(values.written()))
    }
}

impl IntoCompletion for Values {
    fn into_completion(self) -> Result<Values, ErrorObject> {
        Ok(self)
    }
}

impl<S: Into<String>> IntoCompletion for Vec<S> {
    fn into_completion(self) -> Result<Values, ErrorObject> {
        let values: Vec<String> = self.into_iter().map(Into::into).collect();
        Ok(Values { total: Some(values.len()), has_more: false, values })
    }
}

impl<S: Into<String>, const N: usize> IntoCompletion for [S; N] {
    fn into_completion(self) -> Result<Values, ErrorObject> {
        Vec::from(self).into_completion()
    }
}

impl<T: IntoCompletion, E: Into<ToolError>> IntoCompletion for Result<T, E> {
    fn into_completion(self) -> Result<Values, ErrorObject> {
        self.map_err(|error| error.into().into_object())?.into_completion()
    }
}

impl Values {
    fn written(&self) -> Raw {
        let mut writer = Writer::new();
        writer.begin_object();
        writer.key("completion");
        writer.begin_object();
        writer.key("values");
        writer.begin_array();
        for value in self.values.iter().take(MAX_VALUES) {
            writer.string(value);
        }
        writer.end_array();
        if let Some(total) = self.total.and_then(|total| i64::try_from(total).ok()) {
            writer.key("total");
            writer.integer(total);
        }
        writer.key("hasMore");
        writer.boolean(self.has_more || self.values.len() > MAX_VALUES);
        writer.end_object();
        writer.end_object();
        writer.into_raw()
    }
}

/// A handler, and what completes its arguments.
pub(crate) struct Completed<H> {
    pub(crate) handler: H,
    pub(crate) completions: Completions,
}

impl<H: Handler> Handler for Completed<H> {
    fn run(&self, arguments: Option<&str>, context: Context) -> Option<Answer> {
        self.handler.run(arguments, context)
    }

    fn read(&self, uri: &str, context: &Context) -> Option<Answer> {
        self.handler.read(uri, context)
    }

    fn complete(&self, params: &str, context: Context) -> Option<Answer> {
        Some(self.completions.run(params, context))
    }

    fn completions(&mut self) -> Option<&mut Completions> {
        Some(&mut self.completions)
    }

    fn completes(&self) -> bool {
        !self.completions.is_empty()
    }

    fn takes_context(&self) -> bool {
        self.handler.takes_context() || self.completions.take_context()
    }
}

/// Proposes values on the text of a request's params.
pub(crate) type CompletionRun = Run<str>;

impl CompletionRun {
    pub(crate) fn completing<F, M>(function: F) -> Self
    where
        F: Function<kind::Completion, M, Arguments = Completing>,
    {
        let function = Arc::new(function);
        Self::new(F::CONTEXT, move |params: &str, context: Context| match Completing::decode(params) {
            Ok(typed) => F::call(&function, typed, context, ()),
            Err(_) => Answer::Ready(Err(ErrorObject::invalid_params("the argument to complete cannot be read"))),
        })
    }
}

/// The completions of one prompt or template.
#[derive(Clone, Debug, Default)]
pub(crate) struct Completions {
    arguments: Vec<String>,
    runs: Vec<(String, CompletionRun)>,
}

impl Completions {
    pub(crate) fn of(arguments: Vec<String>) -> Self {
        Self { arguments, runs: Vec::new() }
    }

    pub(crate) fn add(&mut self, argument: &str, run: CompletionRun) {
        self.runs.retain(|(known, _)| known != argument);
        self.runs.push((argument.to_owned(), run));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    pub(crate) fn take_context(&self) -> bool {
        self.runs.iter().any(|(_, run)| run.takes_context())
    }

    pub(crate) fn problem(&self) -> Option<Problem> {
        let unknown = self.runs.iter().find(|(name, _)| !self.arguments.contains(name))?;
        Some(Problem::NoSuchArgument(unknown.0.clone()))
    }

    /// Proposes values. An argument nothing is known about has none.
    pub(crate) fn run(&self, params: &str, context: Context) -> Answer {
        let name = find(params, "argument").and_then(|argument| find(argument, "name"));
        let Some(name) = name.and_then(|name| Reader::new(name).string().ok()) else {
            return Answer::Ready(Err(ErrorObject::invalid_params("the argument to complete is missing")));
        };
        if let Some((_, run)) = self.runs.iter().find(|(known, _)| *known == *name) {
            run.run(params, context)
        } else if self.arguments.iter().any(|argument| *argument == *name) {
            Answer::Ready(Ok(Reply::new(Raw::from_valid(r#"{"completion":{"values":[]}}"#))))
        } else {
            Answer::Ready(Err(ErrorObject::invalid_params(
                ["there is no argument `", &*name, "` to complete"].concat(),
            )))
        }
    }
}
