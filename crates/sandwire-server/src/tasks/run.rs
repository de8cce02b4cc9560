//! How a task runs: as a call of a client of its own, in memory.

use super::live::{Live, Outcome, Questions};
use super::tool::Begin;
use super::{Shared, lock, record};
use crate::context::Context;
use crate::tool::ToolRun;
use sandwire_io::client::{Call as ClientCall, CallError, CallFuture, Config, Driver, Mode, Timeout};
use sandwire_io::{Answer, Call, Endpoint, StoreError, Timer, in_memory};
use sandwire_json::{Raw, Writer};
use sandwire_proto::server::{Learned, Published};
use sandwire_proto::{Time, client, server};
use sandwire_types::{ErrorObject, Method, Reply};
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as Waking, Poll};

/// How often a running task leaves word that it does.
const BEAT_MS: u64 = 20_000;

/// What happened to a task.
enum Event {
    /// It asks, or was answered.
    Changed,
    /// It is time to leave word.
    Beat,
    /// The tool is done, or the client does not want it any more.
    Ended(Outcome),
}

/// Runs a task to its end, and keeps how it stands.
pub(super) async fn run(begin: Begin, live: Arc<Live>, learned: Learned) {
    let (tasks, server) = (begin.tasks.clone(), begin.context.server().clone());
    let expires = tasks.env.now().after(tasks.options.ttl_ms);
    let mut running = Running::new(begin, &live, learned);
    let mut beat = next_beat(&tasks, expires);
    loop {
        match poll_fn(|cx| running.poll(&live, beat, cx)).await {
            Event::Ended(outcome) => {
                running.end(&tasks, &live, outcome);
                break;
            }
            Event::Beat if tasks.env.now() >= expires => {
                running.end(&tasks, &live, Outcome::Cancelled("the task ran for longer than it is kept"));
                return tasks.forget(&live.id);
            }
            Event::Beat => {
                // A store that fails is tried again with the next beat.
                let _ = keep(&tasks, &live).await;
                beat = next_beat(&tasks, expires);
            }
            Event::Changed => {
                let _ = keep(&tasks, &live).await;
                publish(&tasks, &server, &live);
            }
        }
    }
    publish(&tasks, &server, &live);
    while keep(&tasks, &live).await.is_err() && tasks.env.now() < expires {
        beat = next_beat(&tasks, expires);
        poll_fn(|cx| running.timer.poll(beat, cx)).await;
    }
    tasks.forget(&live.id);
    running.wound_up().await;
}

fn next_beat(tasks: &Shared, expires: Time) -> Time {
    tasks.env.now().after(BEAT_MS).min(expires)
}

/// Keeps how a task stands.
pub(super) async fn keep(tasks: &Shared, live: &Live) -> Result<(), StoreError> {
    let now = tasks.seconds();
    let task = record::detailed(live, &lock(&live.state), &tasks.options);
    let spent = now.saturating_sub(live.created).saturating_mul(1000);
    let ttl = tasks.options.ttl_ms.saturating_sub(spent);
    tasks.store.put(&record::key(&live.id), &record::stored(live, &task, now), ttl).await
}

/// Tells those who listen how a task stands, if they may know.
fn publish(tasks: &Shared, server: &crate::Server, live: &Live) {
    server.publish(Published {
        key: "taskIds".into(),
        subject: Some(live.id.clone()),
        method: Method::Tasks,
        params: Some(record::detailed(live, &lock(&live.state), &tasks.options)),
        principal: live.owner.clone(),
    });
}

/// A call under way in memory.
struct Running {
    call: Option<CallFuture>,
    driver: Option<Driver>,
    timer: Box<dyn Timer>,
    max_bytes: usize,
}

impl Running {
    fn new(begin: Begin, live: &Arc<Live>, learned: Learned) -> Self {
        let Begin { tasks, run, arguments, context } = begin;
        let peer = context.peer();
        let mut config = Config::new("", "");
        config.info = peer.info.clone().unwrap_or_else(Raw::object);
        config.capabilities = peer.capabilities.clone();
        config.mode = Mode::Pinned(peer.version);
        config.limits = context.server().config().limits.clone();
        let mut call = client::Call::new(Method::ToolsCall, Some(params(&learned)));
        call.timeout = Timeout::Never;
        let (env, timer, max_bytes) = (tasks.env.clone(), tasks.env.timer(), tasks.options.max_bytes);
        let hooks = Box::new(Questions { live: live.clone(), tasks });
        let tool = Tool { run, arguments, context, records: learned.records };
        let (handle, driver) = in_memory(Arc::new(tool), config, env, hooks);
        Self { call: Some(handle.into_call(ClientCall::from(call))), driver: Some(driver), timer, max_bytes }
    }

    fn poll(&mut self, live: &Live, beat: Time, cx: &mut Waking<'_>) -> Poll<Event> {
        live.runner.register(cx.waker());
        if lock(&live.state).is_cancelled {
            return Poll::Ready(Event::Ended(Outcome::Cancelled("the client cancelled the task")));
        }
        // What a panic leaves half done is the task's own.
        match catch_unwind(AssertUnwindSafe(|| self.poll_call(cx))) {
            Ok(Poll::Pending) => {}
            Ok(Poll::Ready(result)) => return Poll::Ready(Event::Ended(outcome(result, self.max_bytes))),
            Err(_) => {
                self.driver = None;
                let error = ErrorObject::internal("the tool panicked; the server's log may say more");
                return Poll::Ready(Event::Ended(Outcome::Failed(error)));
            }
        }
        if live.has_changed() {
            return Poll::Ready(Event::Changed);
        }
        self.timer.poll(beat, cx).map(|()| Event::Beat)
    }

    fn poll_call(&mut self, cx: &mut Waking<'_>) -> Poll<Result<Reply, CallError>> {
        self.poll_driver(cx);
        match &mut self.call {
            Some(call) => Pin::new(call).poll(cx),
            None => Poll::Pending,
        }
    }

    fn poll_driver(&mut self, cx: &mut Waking<'_>) {
        if self.driver.as_mut().is_some_and(|driver| Pin::new(driver).poll(cx).is_ready()) {
            self.driver = None;
        }
    }

    fn end(&mut self, tasks: &Shared, live: &Live, outcome: Outcome) {
        let unanswered = lock(&live.state).end(outcome, tasks.seconds());
        // Both may come back to the task's state.
        drop(unanswered);
        self.call = None;
    }

    /// Waits for a handler that cleans up after its cancellation.
    async fn wound_up(mut self) {
        poll_fn(|cx| {
            self.poll_driver(cx);
            if self.driver.is_some() { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
    }
}

fn outcome(result: Result<Reply, CallError>, max_bytes: usize) -> Outcome {
    match result {
        Ok(reply) if reply.value.as_str().len() > max_bytes => {
            Outcome::Failed(ErrorObject::internal("the result is over the size that is kept of a task; ask for less"))
        }
        Ok(reply) => Outcome::Completed(reply.value),
        Err(CallError::Peer(error)) => Outcome::Failed(error),
        Err(error) => Outcome::Failed(ErrorObject::internal(error.to_string())),
    }
}

/// What the call of a task has learned before it became one.
fn params(learned: &Learned) -> Raw {
    let mut writer = Writer::new();
    writer.begin_object();
    writer.key("name");
    writer.string("task");
    if !learned.answers.is_empty() {
        writer.key("inputResponses");
        writer.begin_object();
        for (name, answer) in &learned.answers {
            writer.key(name);
            writer.raw(answer.as_str());
        }
        writer.end_object();
    }
    writer.end_object();
    writer.into_raw()
}

/// A server of one call.
struct Tool {
    run: ToolRun,
    arguments: Raw,
    /// That of the call which became the task.
    context: Context,
    records: Vec<(Arc<str>, Raw)>,
}

impl Endpoint for Tool {
    fn config(&self) -> Arc<server::Config> {
        self.context.server().config().clone()
    }

    fn call(&self, call: Call) -> Answer {
        for (name, value) in &self.records {
            if let Err(error) = call.outlet.record(name, value.clone()) {
                return Answer::Ready(Err(error.into()));
            }
        }
        self.run.run(self.arguments.as_str(), self.context.clone().through(call.outlet))
    }
}
