//! Arguments and results of tools, and answers to forms, held against JSON Schemas.

use crate::result::failure;
use crate::tool::ToolRun;
use sandwire_io::Answer;
use sandwire_json::{Raw, find};
use sandwire_schema::{Compiler, Errors, Schema, SchemaError};
use sandwire_types::{ErrorObject, Reply, ResultKind};
use std::sync::Arc;

/// The schemas of a tool that say more than its types prove.
#[derive(Debug, Default)]
pub(crate) struct Unproven {
    pub(crate) arguments: Option<Raw>,
    pub(crate) result: Option<Raw>,
}

impl Unproven {
    /// Puts what has to be checked around what runs a tool.
    pub(crate) fn around(&self, run: ToolRun) -> Result<ToolRun, SchemaError> {
        let compiled = |schema: &Option<Raw>| {
            schema.as_ref().map(|schema| Schema::compile(schema.as_str()).map(Arc::new)).transpose()
        };
        let (arguments, result) = (compiled(&self.arguments)?, compiled(&self.result)?);
        if arguments.is_none() && result.is_none() {
            return Ok(run);
        }
        Ok(ToolRun::new(run.takes_context(), move |given: &str, context| {
            if let Some(Err(errors)) = arguments.as_ref().map(|schema| schema.validate(given)) {
                return Answer::Ready(Ok(Reply::new(failure(&said("invalid arguments: ", &errors)))));
            }
            let answer = run.run(given, context);
            match (&result, answer) {
                (None, answer) => answer,
                (Some(schema), Answer::Ready(reply)) => Answer::Ready(reply.and_then(|reply| kept(schema, reply))),
                (Some(schema), Answer::Pending(reply)) => {
                    let schema = schema.clone();
                    Answer::Pending(Box::pin(async move { reply.await.and_then(|reply| kept(&schema, reply)) }))
                }
            }
        }))
    }
}

/// A result, if its structured content is what the tool's output schema says. One that tells of a failure may have any.
fn kept(schema: &Schema, reply: Reply) -> Result<Reply, ErrorObject> {
    let result = reply.value.as_str();
    if reply.kind != ResultKind::Complete || find(result, "isError") == Some("true") {
        return Ok(reply);
    }
    let Some(content) = find(result, "structuredContent") else {
        return Err(ErrorObject::internal("the tool has an output schema and gave no structured content"));
    };
    match schema.validate(content) {
        Ok(()) => Ok(reply),
        Err(errors) => {
            let message = said("the tool gave structured content that is not what its output schema says: ", &errors);
            Err(ErrorObject::internal(message))
        }
    }
}

/// Whether the fields of a form are what it asked for.
pub(crate) fn check_form(requested: &Raw, content: &str) -> Result<(), ErrorObject> {
    let Ok(schema) = Compiler::new().formats(true).compile(requested.as_str()) else {
        return Err(ErrorObject::internal("the form of a question has a schema that cannot be used"));
    };
    schema
        .validate(content)
        .map_err(|errors| ErrorObject::invalid_params(said("the answer to a question cannot be used: ", &errors)))
}

fn said(beginning: &str, errors: &Errors) -> String {
    [beginning, &errors.to_text()].concat()
}
