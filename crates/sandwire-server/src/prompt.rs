//! Prompts.

use crate::ask::describe;
use crate::coerce;
use crate::completion::{Completed, Completions};
use crate::context::Context;
use crate::descriptor::{completing, described};
use crate::error::{Problem, RegistrationError, ToolError};
use crate::function::{Answered, Arguments, Function, Returned};
use crate::kind;
use crate::run::Run;
use crate::schema::Node;
use crate::table::{Handler, Row};
use sandwire_io::Answer;
use sandwire_json::{Error, Raw, Reader, to_raw};
use sandwire_types::model::{ContentBlock, GetPromptResult, Prompt, PromptArgument, PromptMessage, Role};
use sandwire_types::{ErrorObject, Reply};
use std::borrow::Cow;
use std::sync::Arc;

/// A prompt: what clients are told about it, and the function that fills it in.
///
/// ```
/// use sandwire_server::{PromptHandler, Schema, Server};
///
/// #[derive(serde::Deserialize, Schema)]
/// struct Args {
///     /// Which language to explain it in.
///     language: Option<String>,
///     code: String,
/// }
///
/// let explain = PromptHandler::new("explain", "Explains code.", |args: Args| ["Explain this:\n", &args.code].concat())
///     .completing("language", |_: sandwire_server::Completing| vec!["English", "French"]);
/// let server = Server::builder("prompts", "1.0").with(explain).build()?;
/// # Ok::<(), sandwire_server::RegistrationError>(())
/// ```
#[derive(Debug)]
#[must_use = "a prompt is served when it is given to a builder or a server"]
pub struct PromptHandler {
    pub(crate) prompt: Prompt,
    pub(crate) run: PromptRun,
    pub(crate) completions: Completions,
    problem: Option<Problem>,
}

/// Fills in a prompt with texts.
pub(crate) type PromptRun = Run<[(String, String)]>;

fn arguments(node: &Node, given: &[(String, String)]) -> Result<String, ErrorObject> {
    let fields = node.fields().unwrap_or_default();
    let is_given = |name: &str| given.iter().any(|(known, _)| known == name);
    if let Some(field) = fields.iter().find(|field| field.is_required() && !is_given(field.name)) {
        return Err(ErrorObject::invalid_params(["the prompt needs the argument `", field.name, "`"].concat()));
    }
    Ok(coerce::object(fields, given.iter().map(|(name, text)| (name.as_str(), text.as_str()))))
}

fn refused(error: &Error) -> ErrorObject {
    let mut message = String::from("invalid arguments: ");
    describe(error, &mut message);
    ErrorObject::invalid_params(message)
}

described!(PromptHandler.prompt);
completing!(PromptHandler, "an argument");

impl PromptHandler {
    /// A prompt that `function` fills in.
    ///
    /// The function's argument type gives the prompt's arguments: strings, numbers, booleans and choices, all of which
    /// clients send as text. What it may return says [`IntoPrompt`].
    pub fn new<F, M>(name: &str, description: &str, function: F) -> Self
    where
        F: Function<kind::Prompt, M>,
    {
        let function = Arc::new(function);
        let run = move |given: &[(String, String)], context: Context| {
            let decoded = arguments(F::Arguments::NODE, given)
                .and_then(|text| F::Arguments::decode(&text).map_err(|error| refused(&error)));
            match decoded {
                Ok(arguments) => F::call(&function, arguments, context, ()),
                Err(error) => Answer::Ready(Err(error)),
            }
        };
        Self::made(name, description, F::Arguments::NODE, Run::new(F::CONTEXT, run))
    }

    fn made(name: &str, description: &str, node: &Node, run: PromptRun) -> Self {
        let mut prompt = Prompt::new(name.to_owned());
        if !description.is_empty() {
            prompt.description = Some(description.to_owned());
        }
        let fields = node.fields();
        let mut problem = None;
        if name.is_empty() {
            problem = Some(Problem::NoName);
        } else if fields.is_none() {
            problem = Some(Problem::ArgumentsNotObject);
        }
        let mut arguments = Vec::new();
        for field in fields.unwrap_or_default() {
            if !coerce::is_textual(field.node) {
                problem.get_or_insert_with(|| Problem::ArgumentNotText(field.name.to_owned()));
            }
            let mut argument = PromptArgument::new(field.name.to_owned());
            if !field.description().is_empty() {
                argument.description = Some(field.description().to_owned());
            }
            argument.required = Some(field.is_required());
            arguments.push(argument);
        }
        if !arguments.is_empty() {
            prompt.arguments = Some(arguments);
        }
        let completions =
            Completions::of(fields.unwrap_or_default().iter().map(|field| field.name.to_owned()).collect());
        Self { prompt, run, completions, problem }
    }

    /// What clients are told about it, to change what the other methods do not reach.
    pub fn describe(mut self, change: impl FnOnce(&mut Prompt)) -> Self {
        change(&mut self.prompt);
        self
    }

    fn problem(&self) -> Option<RegistrationError> {
        let problem = self.problem.clone().or_else(|| self.completions.problem())?;
        Some(RegistrationError::new(&self.prompt.name, problem))
    }

    pub(crate) fn into_row(self) -> Result<Row, RegistrationError> {
        if let Some(error) = self.problem() {
            return Err(error);
        }
        Ok(Row {
            key: self.prompt.name.as_str().into(),
            descriptor: to_raw(&self.prompt),
            handler: Box::new(Completed { handler: Registered { run: self.run }, completions: self.completions }),
        })
    }
}

struct Registered {
    run: PromptRun,
}

impl Handler for Registered {
    fn run(&self, arguments: Option<&str>, context: Context) -> Option<Answer> {
        Some(match texts(arguments) {
            Some(given) => self.run.run(&given, context),
            None => Answer::Ready(Err(ErrorObject::invalid_params("the prompt's arguments are not texts"))),
        })
    }

    fn takes_context(&self) -> bool {
        self.run.takes_context()
    }
}

/// The `arguments` of a prompt: texts, though numbers and booleans are forgiven.
fn texts(arguments: Option<&str>) -> Option<Vec<(String, String)>> {
    let mut texts = Vec::new();
    let Some(arguments) = arguments.filter(|arguments| *arguments != "null") else {
        return Some(texts);
    };
    let read = Reader::new(arguments).object(&mut |key, reader| {
        let raw = reader.raw()?;
        let text = Reader::new(raw).string().unwrap_or(Cow::Borrowed(raw));
        texts.push((key.to_owned(), text.into_owned()));
        Ok(())
    });
    read.ok().map(|()| texts)
}

/// What a prompt may return.
///
/// | returned | becomes |
/// |---|---|
/// | `String`, `&'static str` | one message of the user |
/// | [`PromptMessage`], `Vec<PromptMessage>` | these messages |
/// | [`GetPromptResult`] | itself |
/// | `Result<T, E>`, where `E` can be displayed or is a [`ToolError`] | `T`, or an error |
#[diagnostic::on_unimplemented(
    message = "a prompt cannot return `{Self}`",
    label = "this is returned",
    note = "fine are: `String`, `PromptMessage`, `Vec<PromptMessage>`, `GetPromptResult`, and a `Result` of these"
)]
pub trait IntoPrompt {
    /// The `GetPromptResult` as text.
    ///
    /// # Errors
    /// The JSON-RPC error to answer with instead.
    fn into_prompt(self) -> Result<Raw, ErrorObject>;
}

impl<T: IntoPrompt> Returned<kind::Prompt> for T {
    fn answer(self, (): &()) -> Answered {
        self.into_prompt().map(Reply::new)
    }
}

impl IntoPrompt for String {
    fn into_prompt(self) -> Result<Raw, ErrorObject> {
        PromptMessage::new(Role::User, ContentBlock::text(self)).into_prompt()
    }
}

impl IntoPrompt for &str {
    fn into_prompt(self) -> Result<Raw, ErrorObject> {
        self.to_owned().into_prompt()
    }
}

impl IntoPrompt for PromptMessage {
    fn into_prompt(self) -> Result<Raw, ErrorObject> {
        vec![self].into_prompt()
    }
}

impl IntoPrompt for Vec<PromptMessage> {
    fn into_prompt(self) -> Result<Raw, ErrorObject> {
        GetPromptResult::new(self).into_prompt()
    }
}

impl IntoPrompt for GetPromptResult {
    fn into_prompt(self) -> Result<Raw, ErrorObject> {
        Ok(to_raw(&self))
    }
}

impl<T: IntoPrompt, E: Into<ToolError>> IntoPrompt for Result<T, E> {
    fn into_prompt(self) -> Result<Raw, ErrorObject> {
        self.map_err(|error| error.into().into_object())?.into_prompt()
    }
}
