//! What clients ask of tasks: `tasks/get`, `tasks/update`, `tasks/cancel`.

use super::live::Live;
use super::record::{self, Found};
use super::{Shared, lock};
use crate::server::Server;
use sandwire_io::{Answer, BoxFuture, Call, StoreError};
use sandwire_json::{Kind, Raw, Reader, find};
use sandwire_proto::Principal;
use sandwire_types::{ErrorObject, Reply};
use std::sync::Arc;

pub(super) fn get(server: &Server, call: Call) -> Answer {
    answered(server, call, |asked| Box::pin(asked.get()))
}

pub(super) fn update(server: &Server, call: Call) -> Answer {
    answered(server, call, |asked| Box::pin(asked.update()))
}

pub(super) fn cancel(server: &Server, call: Call) -> Answer {
    answered(server, call, |asked| Box::pin(asked.cancel()))
}

fn answered(server: &Server, call: Call, answer: fn(Asked) -> BoxFuture<'static, Result<Raw, ErrorObject>>) -> Answer {
    let Some(tasks) = server.tasks().cloned() else {
        return Answer::Ready(Err(ErrorObject::method_not_found(&call.request.method)));
    };
    let asked = answer(Asked { tasks, principal: call.peer.principal.clone(), params: call.request.params });
    Answer::Pending(Box::pin(async move { asked.await.map(Reply::new) }))
}

/// What is asked of a task, and by whom.
struct Asked {
    tasks: Arc<Shared>,
    principal: Option<Arc<Principal>>,
    params: Option<Raw>,
}

enum Task {
    Live(Arc<Live>),
    Stored(Found),
}

impl Asked {
    async fn get(self) -> Result<Raw, ErrorObject> {
        Ok(match self.find().await? {
            Task::Live(live) => record::detailed(&live, &lock(&live.state), &self.tasks.options),
            Task::Stored(found) if found.is_over || found.is_alive => found.task,
            Task::Stored(found) => record::lost(&found.task, self.tasks.seconds()),
        })
    }

    async fn update(self) -> Result<Raw, ErrorObject> {
        let responses = self.responses()?;
        match self.find().await? {
            Task::Live(live) => live.answer(responses, self.tasks.seconds()),
            Task::Stored(found) => elsewhere(&found)?,
        }
        Ok(Raw::object())
    }

    async fn cancel(self) -> Result<Raw, ErrorObject> {
        match self.find().await? {
            Task::Live(live) => live.cancel(),
            Task::Stored(found) => elsewhere(&found)?,
        }
        Ok(Raw::object())
    }

    /// The task, if there is one and it is the client's. Of others it hears nothing, not even that they are there.
    async fn find(&self) -> Result<Task, ErrorObject> {
        let id = find(self.text(), "taskId").and_then(|id| Reader::new(id).string().ok());
        let id = id.filter(|id| record::is_id(id)).ok_or_else(unknown)?;
        if let Some(live) = self.tasks.find(&id) {
            return if live.is_owned_by(self.principal.as_deref()) { Ok(Task::Live(live)) } else { Err(unknown()) };
        }
        let text = self.tasks.store.get(&record::key(&id)).await.map_err(|error| unkept(&error))?;
        let found = text.and_then(|text| record::read(&text, self.tasks.seconds())).ok_or_else(unknown)?;
        let owner = self.principal.as_ref().map(|principal| &*principal.id);
        if found.owner.as_deref() == owner { Ok(Task::Stored(found)) } else { Err(unknown()) }
    }

    /// The answers to what a task asks: objects by the keys of its questions.
    fn responses(&self) -> Result<Vec<(String, Raw)>, ErrorObject> {
        let mut responses = Vec::new();
        let mut reader = Reader::new(find(self.text(), "inputResponses").unwrap_or_default());
        let read = reader.object(&mut |key, value| {
            let is_object = value.peek()? == Kind::Object;
            let text = value.raw()?;
            if is_object {
                responses.push((key.to_owned(), Raw::from_valid(text)));
            }
            Ok(())
        });
        match read {
            Ok(()) => Ok(responses),
            Err(_) => {
                Err(ErrorObject::invalid_params("inputResponses is an object of answers by the keys of the questions"))
            }
        }
    }

    fn text(&self) -> &str {
        self.params.as_ref().map_or("{}", Raw::as_str)
    }
}

fn unknown() -> ErrorObject {
    ErrorObject::invalid_params("there is no task of this name; it may be too old, or somebody else's")
}

pub(super) fn unkept(error: &StoreError) -> ErrorObject {
    ErrorObject::internal(["the store of tasks failed: ", &error.to_string()].concat())
}

/// A task that another process runs can neither be answered nor cancelled here. One that is over, or whose process is
/// gone, wants neither.
fn elsewhere(found: &Found) -> Result<(), ErrorObject> {
    if found.is_over || !found.is_alive {
        return Ok(());
    }
    Err(ErrorObject::internal(
        "another process runs the task; have requests routed by Mcp-Name, or wait for the task to end",
    ))
}
