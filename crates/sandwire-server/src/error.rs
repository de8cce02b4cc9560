//! What goes wrong: in a handler, and when a server is built.

use sandwire_proto::server::AskError;
use sandwire_types::{ErrorCode, ErrorObject};
use std::any::Any;
use std::fmt::{self, Display};

/// Why a handler failed.
///
/// Made by `?` from anything that can be displayed: a string, an error type, a boxed error. The model sees the text of
/// a tool's failure as a result with `isError`; of a resource's or prompt's failure, the client sees it as the message
/// of error -32603. From an [`ErrorObject`] it becomes that very error.
///
/// ```
/// use sandwire_server::ToolError;
///
/// fn parse(text: &str) -> Result<i64, ToolError> {
///     let number: i64 = text.trim().parse()?;
///     if number < 0 {
///         return Err("negative numbers are not welcome".into());
///     }
///     Ok(number)
/// }
/// # assert!(parse("-1").is_err() && parse("x").is_err());
/// ```
#[derive(Debug)]
pub struct ToolError(Why);

#[derive(Debug)]
enum Why {
    Said(String),
    Protocol(ErrorObject),
}

impl ToolError {
    /// The handler could not do what it was asked; `message` says why, for the model.
    pub fn new(message: impl Into<String>) -> Self {
        Self(Why::Said(message.into()))
    }

    pub(crate) fn split(self) -> Result<String, ErrorObject> {
        match self.0 {
            Why::Said(message) => Ok(message),
            Why::Protocol(error) => Err(error),
        }
    }

    pub(crate) fn into_object(self) -> ErrorObject {
        match self.0 {
            Why::Said(message) => ErrorObject::new(ErrorCode::INTERNAL_ERROR, message),
            Why::Protocol(error) => error,
        }
    }
}

impl<E: Display + 'static> From<E> for ToolError {
    fn from(error: E) -> Self {
        let any: &dyn Any = &error;
        if let Some(error) = any.downcast_ref::<ErrorObject>() {
            Self(Why::Protocol(error.clone()))
        } else if let Some(error) = any.downcast_ref::<AskError>() {
            Self(Why::Protocol(error.clone().into()))
        } else if let Some(message) = any.downcast_ref::<&'static str>() {
            Self(Why::Said((*message).to_owned()))
        } else {
            Self(Why::Said(error.to_string()))
        }
    }
}

/// Why a server could not be built, or a handler not be added to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistrationError {
    subject: String,
    problem: Problem,
}

/// What is wrong with a registration.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// Another handler has the same name or address.
    Duplicate,
    /// The name is empty.
    NoName,
    /// The arguments are not an object.
    ArgumentsNotObject,
    /// A prompt's argument is not a string, number or boolean.
    ArgumentNotText(String),
    /// The address template is not one of RFC 6570, levels 1 to 3.
    Template(&'static str),
    /// The template has a variable that the function has no parameter for.
    UnusedVariable(String),
    /// The function has a parameter that the template has no variable for.
    MissingVariable(String),
    /// There is no prompt or resource template of that name to complete arguments of.
    NothingToComplete,
    /// The prompt or resource template has no such argument.
    NoSuchArgument(String),
    /// Something of an extension is not as it must be.
    Extension(&'static str),
    /// The server was built without this capability, so clients would never ask for it.
    Undeclared,
    /// The schema of the arguments or of the result cannot be used.
    Schema(String),
    /// The skill breaks a rule of skills.
    Skill(String),
}

impl RegistrationError {
    pub(crate) fn new(subject: &str, problem: Problem) -> Self {
        Self { subject: subject.to_owned(), problem }
    }

    /// The name or address of what was registered.
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// What is wrong with it.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }
}

impl Display for RegistrationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in ["cannot register `", &self.subject, "`: "] {
            f.write_str(part)?;
        }
        let (before, name, after) = match &self.problem {
            Problem::Duplicate => ("another one has the same name; remove or rename it", "", ""),
            Problem::NoName => ("the name is empty", "", ""),
            Problem::ArgumentsNotObject => ("its arguments are not an object; take a struct with named fields", "", ""),
            Problem::ArgumentNotText(name) => {
                ("a client can only give text for the argument `", &**name, "`; take a string, number or boolean")
            }
            Problem::Template(problem) | Problem::Extension(problem) => (*problem, "", ""),
            Problem::UnusedVariable(name) => ("the function has no parameter for the variable `", &**name, "`"),
            Problem::MissingVariable(name) => ("the template has no variable for the parameter `", &**name, "`"),
            Problem::NothingToComplete => ("there is no prompt or resource template of that name", "", ""),
            Problem::Undeclared => ("the server was built without this capability; declare it in the builder", "", ""),
            Problem::Schema(problem) => ("its schema cannot be used: ", &**problem, ""),
            Problem::Skill(problem) => (&**problem, "", ""),
            Problem::NoSuchArgument(name) => ("it has no argument `", &**name, "` to complete"),
        };
        for part in [before, name, after] {
            f.write_str(part)?;
        }
        Ok(())
    }
}

impl std::error::Error for RegistrationError {}
