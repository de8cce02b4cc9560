//! The extension `io.modelcontextprotocol/tasks`: calls that go on after they were answered.
//!
//! A tool says that its calls may become tasks ([`ToolHandler::task`](crate::ToolHandler::task)), and a server is given
//! [`Tasks`]. A client that takes tasks is then answered at once with the task's name, asks how it stands, answers what
//! it asks, and gets its result. Others wait for the result, as always, or are told what to declare.
//!
//! A task runs in the [`TasksDriver`], and how it stands is kept in a [`Store`], before the client hears of it. What runs
//! is not: a process that dies takes its running tasks with it. While a task runs, it leaves word of that in the store
//! every 20 seconds. A process that finds a task of another one there without word for a minute tells that it failed,
//! and that the call is to be made again; the result of a task that ended is there for everybody. Answers and
//! cancellations have to reach the process that runs the task, which the HTTP header `Mcp-Name` names: it repeats the
//! task's name.
//!
//! Reading order: this file, `tool` (which calls become tasks), `run` (how one runs), `live` (what is known of it),
//! `request` (what clients ask), `record` (its texts).

mod live;
mod record;
mod request;
mod run;
mod tool;

use crate::builder::{Builder, Bundle};
use crate::extension::extending;
use crate::server::Served;
use futures_util::stream::{FuturesUnordered, StreamExt};
use futures_util::task::AtomicWaker;
use live::Live;
use sandwire_io::{BoxFuture, Env, MemoryStore, Store};
use sandwire_json::Raw;
use sandwire_types::{ErrorObject, Method};
use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use sandwire_types::capability::TASKS_EXTENSION as EXTENSION;
pub use tool::TaskMode;
pub(crate) use tool::ToolTask;

/// How tasks are kept.
#[derive(Clone)]
#[allow(clippy::exhaustive_structs)]
pub struct TaskOptions {
    /// How long a task is kept, in milliseconds, from its beginning on. One that still runs then is cancelled.
    pub ttl_ms: u64,
    /// How often clients shall ask how a task stands, in milliseconds.
    pub poll_interval_ms: u64,
    /// How many tasks may run. Beyond, calls are answered with an error.
    pub max: usize,
    /// How many bytes may be kept of one task, its result included. One with more fails.
    pub max_bytes: usize,
    /// Where tasks are kept; in this process, and 10,000 of them, unless said.
    pub store: Option<Arc<dyn Store>>,
}

impl Default for TaskOptions {
    /// An hour, a second, 1,000 tasks that run, and a megabyte for each.
    fn default() -> Self {
        Self { ttl_ms: 60 * 60 * 1000, poll_interval_ms: 1000, max: 1000, max_bytes: 1024 * 1024, store: None }
    }
}

impl fmt::Debug for TaskOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskOptions").field("ttl_ms", &self.ttl_ms).field("max", &self.max).finish_non_exhaustive()
    }
}

/// The tasks of a server, to be given to its builder.
///
/// ```
/// # use std::sync::Arc;
/// # use sandwire_io::Env;
/// use sandwire_server::{Server, TaskMode, TaskOptions, Tasks, ToolHandler};
///
/// # fn example(env: Arc<dyn Env>) -> Result<(), sandwire_server::RegistrationError> {
/// let (tasks, driver) = Tasks::new(env, TaskOptions::default());
/// let server = Server::builder("mill", "1.0")
///     .with(tasks)
///     .with(ToolHandler::new("grind", "Grinds for long.", async || "ground").task(TaskMode::Optional))
///     .build()?;
/// // Run `driver` beside the server's connections.
/// # drop((server, driver));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "tasks are there when a builder is given them"]
pub struct Tasks(pub(crate) Arc<Shared>);

/// What the tasks of a server share.
pub(crate) struct Shared {
    options: TaskOptions,
    env: Arc<dyn Env>,
    store: Arc<dyn Store>,
    live: Mutex<BTreeMap<Arc<str>, Arc<Live>>>,
    queue: Arc<Queue>,
}

/// Tasks on their way to the driver.
#[derive(Default)]
struct Queue {
    /// Nothing once the driver is gone.
    tasks: Mutex<Option<Vec<BoxFuture<'static, ()>>>>,
    driver: AtomicWaker,
}

/// Runs tasks. It ends when the server is gone and every task has ended; dropping it drops those that run.
#[must_use = "tasks only move while this is polled"]
pub struct TasksDriver {
    queue: Arc<Queue>,
    running: FuturesUnordered<BoxFuture<'static, ()>>,
}

impl Tasks {
    /// Tasks that take the time and their names from `env`, and what runs them.
    pub fn new(env: Arc<dyn Env>, options: TaskOptions) -> (Self, TasksDriver) {
        let store = options.store.clone().unwrap_or_else(|| Arc::new(MemoryStore::new(env.clone(), 10_000)));
        let queue = Arc::new(Queue { tasks: Mutex::new(Some(Vec::new())), driver: AtomicWaker::new() });
        let shared = Shared { options, env, store, live: Mutex::default(), queue: queue.clone() };
        (Self(Arc::new(shared)), TasksDriver { queue, running: FuturesUnordered::new() })
    }

    /// How many tasks run.
    #[must_use]
    pub fn running(&self) -> usize {
        lock(&self.0.live).len()
    }
}

impl fmt::Debug for Tasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tasks").field("options", &self.0.options).finish_non_exhaustive()
    }
}

const METHODS: [Served; 3] = [
    Served { method: Method::TasksGet, result: None, answer: request::get },
    Served { method: Method::TasksUpdate, result: None, answer: request::update },
    Served { method: Method::TasksCancel, result: None, answer: request::cancel },
];

impl Bundle for Tasks {
    fn add_to(self, mut builder: Builder) -> Builder {
        builder.tasks = Some(self);
        builder.serves(METHODS);
        let rules = &mut extending(&mut builder).rules;
        for Served { method, .. } in METHODS {
            rules.method(EXTENSION, method, true);
        }
        rules.result(EXTENSION, "task");
        rules.filter(EXTENSION, "taskIds");
        builder.extension(EXTENSION, Raw::object())
    }
}

impl Shared {
    /// Seconds since 1970, or since the host began where it does not know.
    fn seconds(&self) -> u64 {
        self.env.unix_time().unwrap_or_else(|| self.env.now().0 / 1000)
    }

    /// A task that is about to begin, under a name nobody can guess.
    fn begin(&self, owner: Option<Box<str>>) -> Result<Arc<Live>, ErrorObject> {
        let mut random = [0; 16];
        self.env.fill_random(&mut random);
        let id: String = random.iter().flat_map(|byte| [byte >> 4, byte & 15]).filter_map(hex).collect();
        let mut live = lock(&self.live);
        if live.len() >= self.options.max {
            return Err(ErrorObject::internal("too many tasks run; wait for some to end, or cancel them"));
        }
        let task = Arc::new(Live::new(id.into(), owner, self.seconds()));
        live.insert(task.id.clone(), task.clone());
        Ok(task)
    }

    fn forget(&self, id: &str) {
        lock(&self.live).remove(id);
    }

    fn find(&self, id: &str) -> Option<Arc<Live>> {
        lock(&self.live).get(id).cloned()
    }

    /// Hands a task to the driver; whether there is one.
    fn start(&self, task: BoxFuture<'static, ()>) -> bool {
        let started = lock(&self.queue.tasks).as_mut().map(|tasks| tasks.push(task)).is_some();
        self.queue.driver.wake();
        started
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.queue.driver.wake();
    }
}

impl Future for TasksDriver {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.queue.driver.register(cx.waker());
        loop {
            let new = lock(&self.queue.tasks).as_mut().map(std::mem::take).unwrap_or_default();
            self.running.extend(new);
            match self.running.poll_next_unpin(cx) {
                Poll::Ready(Some(())) => {}
                // The server holds the queue, too, for as long as it can start tasks.
                Poll::Ready(None) if Arc::strong_count(&self.queue) == 1 => return Poll::Ready(()),
                Poll::Ready(None) | Poll::Pending => return Poll::Pending,
            }
        }
    }
}

impl Drop for TasksDriver {
    fn drop(&mut self) {
        // What is dropped here may hold the server, whose drop takes the lock.
        let waiting = lock(&self.queue.tasks).take();
        drop(waiting);
    }
}

impl fmt::Debug for TasksDriver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TasksDriver").field("running", &self.running.len()).finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn hex(digit: u8) -> Option<char> {
    char::from_digit(u32::from(digit), 16)
}
