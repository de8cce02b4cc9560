//! Structured content held against the output schemas that a server listed, and answers to forms against their forms.

use crate::{Error, ErrorKind, handler::Handler};
use sandwire_io::{BoxFuture, client::Call};
use sandwire_json::{Raw, Reader, find};
use sandwire_schema::{Compiler, Schema};
use sandwire_types::{ErrorObject, Method, ProtocolVersion, Reply, ResultKind};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

/// The output schemas of the tools that were listed, by the tools' names.
#[derive(Debug, Default)]
pub(crate) struct Listed(Mutex<BTreeMap<String, Arc<Output>>>);

/// An output schema, compiled when it is first needed.
#[derive(Debug)]
pub(crate) struct Output {
    text: Raw,
    compiled: OnceLock<Result<Schema, String>>,
}

/// What is to be done with the answer to a call.
#[derive(Debug)]
pub(crate) enum Watch {
    /// It lists tools.
    Learn(Arc<Listed>),
    /// It is the result of this tool.
    Check(String, Arc<Output>),
}

impl Listed {
    pub(crate) fn watch(self: &Arc<Self>, call: &Call) -> Option<Watch> {
        match call.request.method {
            Method::ToolsList => Some(Watch::Learn(self.clone())),
            Method::ToolsCall => {
                let params = call.request.params.as_ref()?;
                let name = Reader::new(find(params.as_str(), "name")?).string().ok()?.into_owned();
                let output = self.lock().get(&name)?.clone();
                Some(Watch::Check(name, output))
            }
            _ => None,
        }
    }

    /// Forgets everything: the tools have changed.
    pub(crate) fn forget(&self) {
        self.lock().clear();
    }

    fn learn(&self, list: &str) {
        let tools = find(list, "tools").unwrap_or("[]");
        // What cannot be read is no tool.
        let _ = Reader::new(tools).array(&mut |r| {
            let tool = r.raw()?;
            let name = find(tool, "name").and_then(|name| Reader::new(name).string().ok());
            if let Some(name) = name.map(std::borrow::Cow::into_owned) {
                match find(tool, "outputSchema") {
                    Some(schema) => {
                        let output = Output { text: Raw::from_valid(schema), compiled: OnceLock::new() };
                        self.lock().insert(name, Arc::new(output))
                    }
                    None => self.lock().remove(&name),
                };
            }
            Ok(())
        });
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Arc<Output>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watch {
    /// Looks at the answer before anybody else.
    pub(crate) fn examine(&self, reply: &Reply) -> Result<(), Error> {
        let result = reply.value.as_str();
        match self {
            Self::Learn(listed) => {
                listed.learn(result);
                Ok(())
            }
            // What tells of a failure may have anything in it.
            Self::Check(..) if reply.kind != ResultKind::Complete || find(result, "isError") == Some("true") => Ok(()),
            Self::Check(name, output) => output.check(result).map_err(|why| {
                let parts =
                    ["the tool `", name, "` ", &why, "; `Options::unchecked_results` takes results as they come"];
                Error::new(ErrorKind::Protocol, parts.concat())
            }),
        }
    }
}

impl Output {
    fn check(&self, result: &str) -> Result<(), String> {
        let compile = || Schema::compile(self.text.as_str()).map_err(|error| error.to_text());
        let schema = match self.compiled.get_or_init(compile) {
            Ok(schema) => schema,
            Err(error) => return Err(["has an output schema that cannot be used: ", error].concat()),
        };
        let Some(content) = find(result, "structuredContent") else {
            return Err("has an output schema and gave no structured content".to_owned());
        };
        schema.validate(content).map_err(|errors| {
            ["gave structured content that is not what its output schema says: ", &errors.to_text()].concat()
        })
    }
}

/// A handler of forms whose answers are checked before they are sent.
pub(crate) struct Checked(pub(crate) Box<dyn Handler>);

impl Handler for Checked {
    fn answer(
        &mut self,
        params: Raw,
        version: Option<ProtocolVersion>,
    ) -> BoxFuture<'static, Result<Raw, ErrorObject>> {
        let form = params.get("requestedSchema");
        let answer = self.0.answer(params, version);
        match form {
            Some(form) => Box::pin(async move { answer.await.and_then(|answer| fitting(&form, answer)) }),
            None => answer,
        }
    }
}

fn fitting(form: &Raw, answer: Raw) -> Result<Raw, ErrorObject> {
    if find(answer.as_str(), "action") != Some("\"accept\"") {
        return Ok(answer);
    }
    let schema = Compiler::new().formats(true).compile(form.as_str()).map_err(|error| {
        ErrorObject::invalid_params(["the form has a schema that cannot be used: ", &error.to_text()].concat())
    })?;
    match schema.validate(find(answer.as_str(), "content").unwrap_or("{}")) {
        Ok(()) => Ok(answer),
        Err(errors) => {
            let message = ["the form was not filled in as it asks to be: ", &errors.to_text()].concat();
            Err(ErrorObject::internal(message))
        }
    }
}
