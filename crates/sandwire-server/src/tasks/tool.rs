//! Which calls of a tool become tasks, and when.

use super::live::Live;
use super::request::unkept;
use super::{EXTENSION, Shared, lock, record, run};
use crate::context::Context;
use crate::tool::{ToolHandler, ToolRun};
use sandwire_io::Answer;
use sandwire_json::Raw;
use sandwire_proto::server::undeclared;
use sandwire_types::{Era, ErrorObject, Reply, ResultKind};
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

/// Whether a tool needs clients that take tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums)]
pub enum TaskMode {
    /// Calls of clients that do not take tasks, those of the legacy era among them, are answered when the tool is done.
    Optional,
    /// They are refused.
    Required,
}

/// How calls of a tool become tasks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToolTask {
    mode: TaskMode,
    asks_first: bool,
}

impl ToolHandler {
    /// Makes tasks of its calls, where the server has [`Tasks`](crate::Tasks) and the client takes them. What the tool
    /// asks is then asked by the task. Progress and log messages of a task go nowhere.
    pub fn task(mut self, mode: TaskMode) -> Self {
        self.task = Some(ToolTask { mode, asks_first: false });
        self
    }

    /// The same, but a call becomes a task only where the tool awaits [`Context::become_task`]. What it asks before is
    /// asked in the call, while the client waits, and the tool runs again from its beginning as a task.
    pub fn task_on_demand(mut self, mode: TaskMode) -> Self {
        self.task = Some(ToolTask { mode, asks_first: true });
        self
    }
}

impl Context {
    /// Has the call go on as a task, if it is one of a tool with [`ToolHandler::task_on_demand`] by a client that takes
    /// tasks: the tool is then run again from its beginning, with the answers that it has, and this returns there. In
    /// other calls it returns at once.
    ///
    /// ```
    /// use sandwire_server::{Agreed, Context, Form, TaskMode, ToolError, ToolHandler};
    ///
    /// async fn bake(ctx: &Context) -> Result<&'static str, ToolError> {
    ///     ctx.elicit("sure", Form::<Agreed>::new("Heat the oven?")).await?;
    ///     ctx.become_task().await;
    ///     Ok("bread, after hours")
    /// }
    ///
    /// let tool = ToolHandler::new("bake", "Bakes.", bake).task_on_demand(TaskMode::Optional);
    /// # drop(tool);
    /// ```
    pub async fn become_task(&self) {
        if let Some(demand) = self.demand() {
            demand.store(true, Ordering::Relaxed);
            std::future::pending().await
        }
    }
}

impl ToolTask {
    /// Answers a call of the tool.
    pub(crate) fn run(self, run: &ToolRun, arguments: &str, context: Context) -> Answer {
        let peer = context.peer();
        let takes_tasks = peer.era() == Era::Modern && peer.extension(EXTENSION).is_some();
        let Some(tasks) = context.server().tasks().filter(|_| takes_tasks).cloned() else {
            return match self.mode {
                TaskMode::Optional => run.run(arguments, context),
                TaskMode::Required => Answer::Ready(Err(undeclared(EXTENSION))),
            };
        };
        let begin = Begin { tasks, run: run.clone(), arguments: Raw::from_valid(arguments), context };
        if !self.asks_first {
            return Answer::Pending(Box::pin(begin.created()));
        }
        let demand = Arc::new(AtomicBool::new(false));
        match run.run(arguments, begin.context.clone().on_demand(demand.clone())) {
            Answer::Ready(result) => Answer::Ready(result),
            Answer::Pending(mut answer) => Answer::Pending(Box::pin(async move {
                let answered = poll_fn(|cx| match answer.as_mut().poll(cx) {
                    Poll::Pending if demand.load(Ordering::Relaxed) => Poll::Ready(None),
                    polled => polled.map(Some),
                });
                match answered.await {
                    Some(result) => result,
                    None => {
                        drop(answer);
                        begin.created().await
                    }
                }
            })),
        }
    }
}

/// A call that is about to become a task.
pub(super) struct Begin {
    pub(super) tasks: Arc<Shared>,
    pub(super) run: ToolRun,
    pub(super) arguments: Raw,
    pub(super) context: Context,
}

impl Begin {
    /// Keeps the task, hands it to the driver, and tells the client of it, in this order.
    async fn created(self) -> Result<Reply, ErrorObject> {
        let tasks = self.tasks.clone();
        let learned = self.context.outlet().learned()?;
        let owner = self.context.peer().principal.as_ref().map(|principal| principal.id.clone());
        let pending = Pending { live: tasks.begin(owner)?, tasks: tasks.clone(), has_begun: false };
        run::keep(&tasks, &pending.live).await.map_err(|error| unkept(&error))?;
        let mut reply = Reply::new(record::summary(&pending.live, &lock(&pending.live.state), &tasks.options));
        reply.kind = ResultKind::Other("task".into());
        let live = pending.begun();
        if !tasks.start(Box::pin(run::run(self, live.clone(), learned))) {
            tasks.forget(&live.id);
            return Err(ErrorObject::internal("nothing runs the tasks of this server; keep its `TasksDriver` running"));
        }
        Ok(reply)
    }
}

/// A task that is forgotten again unless it begins.
struct Pending {
    live: Arc<Live>,
    tasks: Arc<Shared>,
    has_begun: bool,
}

impl Pending {
    fn begun(mut self) -> Arc<Live> {
        self.has_begun = true;
        self.live.clone()
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if !self.has_begun {
            self.tasks.forget(&self.live.id);
        }
    }
}
