//! Tools.

use crate::ask::describe;
use crate::context::Context;
use crate::descriptor::described;
use crate::error::{Problem, RegistrationError};
use crate::function::{Arguments, Function};
use crate::kind;
use crate::result::{IntoToolResult, failure};
use crate::run::Run;
use crate::schema::{self, Direction};
use crate::table::{Handler, Row};
#[cfg(feature = "schema")]
use crate::validate::Unproven;
use sandwire_io::Answer;
use sandwire_json::{Error, Raw, to_raw};
use sandwire_proto::http::{
    Headers,
    param_headers::{mentions_header, mirrored},
};
use sandwire_types::Reply;
use sandwire_types::model::{Tool, ToolAnnotations};
use std::sync::Arc;

/// A tool: what clients are told about it, and the function that runs it.
///
/// ```
/// use sandwire_server::{Schema, Server, ToolHandler};
///
/// #[derive(serde::Deserialize, Schema)]
/// struct Args {
///     /// The text to count.
///     text: String,
/// }
///
/// let words = ToolHandler::new("words", "Counts words.", |Args { text }: Args| text.split_whitespace().count())
///     .title("Word count")
///     .read_only();
/// let server = Server::builder("texts", "1.0").with(words).build()?;
/// # Ok::<(), sandwire_server::RegistrationError>(())
/// ```
#[derive(Debug)]
#[must_use = "a tool is served when it is given to a builder or a server"]
pub struct ToolHandler {
    pub(crate) tool: Tool,
    pub(crate) run: ToolRun,
    /// Absent where the schema is known to annotate nothing, so that most servers do not contain it.
    mirrored: Option<Mirrored>,
    #[cfg(feature = "tasks")]
    pub(crate) task: Option<crate::tasks::ToolTask>,
    #[cfg(feature = "schema")]
    unproven: Unproven,
}

/// Whether header fields repeat the arguments that an input schema says they must.
type Mirrored = fn(input_schema: &str, arguments: &str, headers: &Headers) -> bool;

/// Runs a tool on the text of its arguments.
pub(crate) type ToolRun = Run<str>;

described!(ToolHandler.tool);

impl ToolHandler {
    /// A tool that runs `function`. The description is for the model.
    ///
    /// The function's argument type gives the input schema, its return type the output schema. What it may look like
    /// says [`Function`]; what it may return, [`IntoToolResult`].
    pub fn new<F, M>(name: &str, description: &str, function: F) -> Self
    where
        F: Function<kind::Tool, M, Output: IntoToolResult>,
    {
        let function = Arc::new(function);
        let run = move |arguments: &str, context: Context| match F::Arguments::decode(arguments) {
            Ok(arguments) => F::call(&function, arguments, context, ()),
            Err(error) => refused(&error),
        };
        let input = schema::rendered(F::Arguments::TEXT, F::Arguments::NODE, Direction::Input);
        let mut tool = Self::made(name, description, input, F::Output::output_schema(), Run::new(F::CONTEXT, run));
        if const { may_annotate(<F::Arguments as Arguments>::TEXT) } {
            tool.mirrored = Some(mirrored);
        }
        #[cfg(feature = "schema")]
        {
            tool.unproven.arguments = schema::unproven(F::Arguments::NODE);
        }
        tool
    }

    fn made(name: &str, description: &str, input: Raw, output: Option<Raw>, run: ToolRun) -> Self {
        let mut tool = Tool::new(name.to_owned(), input);
        if !description.is_empty() {
            tool.description = Some(description.to_owned());
        }
        tool.output_schema = output;
        Self {
            tool,
            run,
            mirrored: None,
            #[cfg(feature = "tasks")]
            task: None,
            #[cfg(feature = "schema")]
            unproven: Unproven::default(),
        }
    }

    /// Says that it changes nothing.
    pub fn read_only(self) -> Self {
        self.annotated(|annotations| annotations.read_only_hint = Some(true))
    }

    /// Says whether it may delete or overwrite something. Clients assume it may, unless told.
    pub fn destructive(self, destructive: bool) -> Self {
        self.annotated(|annotations| annotations.destructive_hint = Some(destructive))
    }

    /// Says that calling it again with the same arguments changes nothing more.
    pub fn idempotent(self) -> Self {
        self.annotated(|annotations| annotations.idempotent_hint = Some(true))
    }

    /// Says whether it reaches things outside the server. Clients assume it does, unless told.
    pub fn open_world(self, open: bool) -> Self {
        self.annotated(|annotations| annotations.open_world_hint = Some(open))
    }

    /// Describes the arguments by this schema instead of by their type, for functions that take any JSON. With the
    /// feature `schema`, arguments that it does not allow never reach the function: the model is told what is wrong.
    pub fn input_schema(self, schema: Raw) -> Self {
        self.describe(|tool| tool.input_schema = schema)
    }

    /// Describes the structured content by this schema instead of by its type. With the feature `schema`, a result that
    /// it does not allow is not sent, and the client is told of an internal error.
    pub fn output_schema(self, schema: Raw) -> Self {
        self.describe(|tool| tool.output_schema = Some(schema))
    }

    /// What clients are told about it, to change what the other methods do not reach.
    pub fn describe(mut self, change: impl FnOnce(&mut Tool)) -> Self {
        self.mirrored = Some(mirrored);
        #[cfg(feature = "schema")]
        let (input, output) = (self.tool.input_schema.clone(), self.tool.output_schema.clone());
        change(&mut self.tool);
        #[cfg(feature = "schema")]
        {
            if self.tool.input_schema != input {
                self.unproven.arguments = Some(self.tool.input_schema.clone());
            }
            if self.tool.output_schema != output {
                self.unproven.result = self.tool.output_schema.clone();
            }
        }
        self
    }

    fn annotated(mut self, change: impl FnOnce(&mut ToolAnnotations)) -> Self {
        change(self.tool.annotations.get_or_insert_with(ToolAnnotations::new));
        self
    }

    pub(crate) fn into_row(self) -> Result<Row, RegistrationError> {
        if let Some(error) = self.problem() {
            return Err(error);
        }
        #[cfg(feature = "schema")]
        let run = self
            .unproven
            .around(self.run)
            .map_err(|error| RegistrationError::new(&self.tool.name, Problem::Schema(error.to_text())))?;
        #[cfg(not(feature = "schema"))]
        let run = self.run;
        Ok(Row {
            key: self.tool.name.as_str().into(),
            descriptor: to_raw(&self.tool),
            handler: Box::new(Registered {
                run,
                mirrored: self.mirrored.map(|check| (self.tool.input_schema, check)),
                #[cfg(feature = "tasks")]
                task: self.task,
            }),
        })
    }

    fn problem(&self) -> Option<RegistrationError> {
        let problem = if self.tool.name.is_empty() {
            Problem::NoName
        } else if self.tool.input_schema.get("type").is_none_or(|kind| kind.as_str() != "\"object\"") {
            Problem::ArgumentsNotObject
        } else {
            return None;
        };
        Some(RegistrationError::new(&self.tool.name, problem))
    }
}

/// Whether a schema that is known early, or one that is not, can have annotations.
const fn may_annotate(input_schema: Option<&'static str>) -> bool {
    match input_schema {
        Some(schema) => mentions_header(schema),
        None => true,
    }
}

struct Registered {
    run: ToolRun,
    mirrored: Option<(Raw, Mirrored)>,
    #[cfg(feature = "tasks")]
    task: Option<crate::tasks::ToolTask>,
}

impl Handler for Registered {
    fn run(&self, arguments: Option<&str>, context: Context) -> Option<Answer> {
        let arguments = arguments.unwrap_or("{}");
        #[cfg(feature = "tasks")]
        if let Some(task) = self.task {
            return Some(task.run(&self.run, arguments, context));
        }
        Some(self.run.run(arguments, context))
    }

    fn takes_context(&self) -> bool {
        self.run.takes_context()
    }

    fn is_mirrored(&self, arguments: &str, headers: &Headers) -> bool {
        self.mirrored.as_ref().is_none_or(|(schema, check)| check(schema.as_str(), arguments, headers))
    }
}

/// The answer to a call whose arguments are not what the tool takes: the model reads it and can try again.
fn refused(error: &Error) -> Answer {
    let mut message = String::from("invalid arguments: ");
    describe(error, &mut message);
    Answer::Ready(Ok(Reply::new(failure(&message))))
}
