//! Tasks: the extension `io.modelcontextprotocol/tasks`.

use crate::{Client, Error, ErrorKind, Options, Request, request};
use futures_channel::oneshot;
use sandwire_io::Env;
use sandwire_json::Raw;
use sandwire_types::{
    ErrorObject, Method, Reply, ResultKind,
    capability::TASKS_EXTENSION,
    model::{
        CallToolResult, EmptyResult, InputResponses, Map, Task, TaskRequestParams, TaskStatus, UpdateTaskRequestParams,
    },
};
use serde::Serialize;
use std::{
    fmt,
    future::poll_fn,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Waker},
};

/// What the call of a tool gives to a client that takes tasks.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Called {
    /// The result.
    Result(CallToolResult),
    /// The tool works on it: see [`Client::finish_task`] and [`Client::get_task`]. A task outlives the connection.
    Task(Box<Task>),
}

impl Options {
    /// Takes tasks: servers may make one of a call to [`call_tool_or_begin_task`](Client::call_tool_or_begin_task).
    #[must_use]
    pub fn tasks(mut self) -> Self {
        self.extensions.retain(|(id, _)| id != TASKS_EXTENSION);
        self.extensions.push((TASKS_EXTENSION.to_owned(), Raw::object()));
        self.result_type("task")
    }
}

impl Client {
    /// Calls a tool that may make a task of the call, for a client with [`Options::tasks`]; see
    /// [`call_tool`](Self::call_tool).
    ///
    /// ```
    /// use sandwire_client::{Called, Client, Error};
    /// # async fn example(client: Client) -> Result<(), Error> {
    /// let result = match client.call_tool_or_begin_task("bake", &()).await? {
    ///     Called::Result(result) => result,
    ///     Called::Task(task) => client.finish_task(*task).await?,
    ///     _ => return Ok(()),
    /// };
    /// # drop(result);
    /// # Ok(())
    /// # }
    /// ```
    pub fn call_tool_or_begin_task<A: Serialize + ?Sized>(&self, name: &str, arguments: &A) -> Request<Called> {
        self.call_tool(name, arguments).decoded_by(|reply: Reply| match &reply.kind {
            ResultKind::Other(kind) if **kind == *"task" => {
                request::read(&reply.value).map(|task| Called::Task(Box::new(task)))
            }
            _ => request::decode(reply).map(Called::Result),
        })
    }

    /// How a task stands, and what it asks or what came of it.
    pub fn get_task(&self, id: &str) -> Request<Task> {
        self.call(Method::TasksGet, &TaskRequestParams::new(id))
    }

    /// Answers what a task asks, some of it or all, by the keys of its questions.
    pub fn update_task(&self, id: &str, answers: InputResponses) -> Request<EmptyResult> {
        self.call(Method::TasksUpdate, &UpdateTaskRequestParams::new(id, answers))
    }

    /// Asks for a task to be given up. It may end otherwise all the same.
    pub fn cancel_task(&self, id: &str) -> Request<EmptyResult> {
        self.call(Method::TasksCancel, &TaskRequestParams::new(id))
    }

    /// Waits for a task to end. What it asks, this client's handlers answer; the server says how often to look.
    ///
    /// Dropping the future leaves the task alone. Time is the host's: a client made by
    /// [`in_memory`](Self::in_memory) has none, and would never look again.
    ///
    /// # Errors
    /// The task failed, was cancelled, or cannot be asked about. It is cancelled if a handler refuses to answer.
    pub async fn finish_task(&self, mut task: Task) -> Result<CallToolResult, Error> {
        let mut answered: Vec<String> = Vec::new();
        loop {
            match task.status {
                TaskStatus::Completed => return completed(&task),
                TaskStatus::Failed => return Err(failed(task)),
                TaskStatus::Cancelled => {
                    return Err(Error::new(ErrorKind::Cancelled, "the task was cancelled; make the call again"));
                }
                _ => self.answer_task(&task, &mut answered).await?,
            }
            self.sleep(interval(&task)).await;
            task = self.get_task(&task.task_id).await?;
        }
    }

    /// Has the handlers answer what a task asks and was not answered before.
    async fn answer_task(&self, task: &Task, answered: &mut Vec<String>) -> Result<(), Error> {
        let mut answers = Vec::new();
        for (key, question) in task.input_requests.iter().flat_map(|questions| &questions.0) {
            if answered.contains(key) {
                continue;
            }
            let params = question.params.clone().unwrap_or_else(Raw::object);
            match self.ask_handlers(Method::from(question.method.as_str()), params).await {
                Ok(answer) => answers.push((key.clone(), answer)),
                Err(error) => {
                    // Why it ends is told here, whatever the server makes of it.
                    let _ = self.cancel_task(&task.task_id).await;
                    return Err(Error::of_object(ErrorKind::Refused, error));
                }
            }
        }
        if !answers.is_empty() {
            answered.extend(answers.iter().map(|(key, _)| key.clone()));
            self.update_task(&task.task_id, Map(answers)).await?;
        }
        Ok(())
    }

    async fn ask_handlers(&self, method: Method, params: Raw) -> Result<Raw, ErrorObject> {
        self.handle().admit(&method, &params)?;
        let (answer, answered) = oneshot::channel();
        self.tasks.desk.ask(Asked { method, params, answer });
        answered.await.unwrap_or_else(|_| Err(ErrorObject::internal("the connection is closed; connect again")))
    }

    async fn sleep(&self, milliseconds: u64) {
        let env = &self.tasks.env;
        let (at, mut timer) = (env.now().after(milliseconds), env.timer());
        poll_fn(|cx| timer.poll(at, cx)).await;
    }
}

fn completed(task: &Task) -> Result<CallToolResult, Error> {
    match &task.result {
        Some(result) => request::read(result),
        None => {
            Err(Error::new(ErrorKind::Protocol, "the task is completed and has no result; report it to its server"))
        }
    }
}

fn failed(task: Task) -> Error {
    match task.error {
        Some(error) => Error::of_object(ErrorKind::Server, error),
        None => Error::new(ErrorKind::Server, "the task failed, and the server does not say why"),
    }
}

/// How long to wait before the next look, whatever a server says.
fn interval(task: &Task) -> u64 {
    let said = task.poll_interval_ms.as_ref().and_then(sandwire_json::Number::as_u64);
    said.unwrap_or(1000).clamp(50, 60_000)
}

/// What it takes to go on with tasks.
#[derive(Clone)]
pub(crate) struct Support {
    pub(crate) desk: Arc<Desk>,
    pub(crate) env: Arc<dyn Env>,
}

impl fmt::Debug for Support {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Support")
    }
}

/// Where questions of tasks wait for the handlers, which the driver has.
#[derive(Default)]
pub(crate) struct Desk(Mutex<(Vec<Asked>, Option<Waker>)>);

/// A question of a task.
pub(crate) struct Asked {
    pub(crate) method: Method,
    pub(crate) params: Raw,
    pub(crate) answer: oneshot::Sender<Result<Raw, ErrorObject>>,
}

impl Desk {
    fn ask(&self, asked: Asked) {
        let mut desk = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        desk.0.push(asked);
        let driver = desk.1.take();
        drop(desk);
        if let Some(driver) = driver {
            driver.wake();
        }
    }

    /// What was asked since the last time.
    pub(crate) fn take(&self, cx: &Context<'_>) -> Vec<Asked> {
        let mut desk = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        desk.1 = Some(cx.waker().clone());
        std::mem::take(&mut desk.0)
    }
}
