//! Client and server in one process, without any text between them.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicU8, Ordering},
    },
    task::{Context, Poll, Waker},
};

use futures_util::task::AtomicWaker;
use sandwire_proto::{
    ExchangeId, Input, Time, Via, Wire,
    client::{self, Output},
    http::RequestHead,
    server,
};
use sandwire_types::Message;

use crate::{
    Endpoint, Env, Link, LinkEvent, Timer,
    client::{ClientHandle, Config, Core, Driver, Hooks, Pump},
    host::{Host, Sealing, Step, lock},
    tasks::{Handler, Tasks},
};

/// Joins a client to a server in the same process, with one driver for both.
///
/// Messages are handed over as they are, and a handler is polled first by the task that calls it, so a call whose
/// handler does not wait is done when its future is first polled. Only handlers that wait go to the driver, which
/// also runs the hooks and the timeouts. No lock is held while handlers or hooks run: they may use this client and
/// any other.
pub fn in_memory(
    endpoint: Arc<dyn Endpoint>,
    mut config: Config,
    env: Arc<dyn Env>,
    hooks: Box<dyn Hooks>,
) -> (ClientHandle, Driver) {
    config.wire = Wire::Pipe;
    let machine = server::Machine::new(endpoint.config());
    let host = Host::new(endpoint, Arc::clone(&env), machine, Sealing::Own(OnceLock::new()));
    host.hear_changes();
    let shared = Arc::new(Shared { host, turn: Turn(AtomicU8::new(IDLE)), inbox: Mutex::default() });
    let pump: Box<dyn Pump> = Box::new(Arc::clone(&shared));
    let core = Arc::new(Core::new(client::Machine::new(config), Arc::clone(&env)).pumped(pump));
    shared.carry(&core, Some(LinkEvent::Tick));
    let both = Both { core: Arc::clone(&core), shared, tasks: Tasks::default(), timer: env.timer(), hooks };
    (ClientHandle::new(core), Driver::new(Box::pin(both)))
}

/// What the callers and the driver of one connection share.
struct Shared {
    host: Arc<Host>,
    turn: Turn,
    inbox: Mutex<Inbox>,
}

/// What waits for the driver.
#[derive(Default)]
struct Inbox {
    handlers: Vec<Handler>,
    dropped: Vec<sandwire_proto::server::CallKey>,
    armed: Option<Time>,
    closed: bool,
}

impl Pump for Arc<Shared> {
    fn pump(&self, core: &Core) {
        self.carry(core, None);
    }
}

impl Shared {
    /// Carries messages both ways until there are none, and polls the handlers they start. Says when the client's
    /// machine wants to be told of the time, unless somebody else is carrying and will see to that.
    fn carry(&self, core: &Core, input: Option<LinkEvent>) -> Option<Time> {
        let mut calls = Vec::new();
        let mut input = input;
        loop {
            let deadline = self.carry_messages(core, input.take(), &mut calls);
            if calls.is_empty() {
                return deadline;
            }
            for step in calls.drain(..) {
                self.call(core, step);
            }
        }
    }

    /// The part that only one task does at a time, so that messages keep their order. Calls are left for afterwards.
    fn carry_messages(&self, core: &Core, mut input: Option<LinkEvent>, calls: &mut Vec<Step>) -> Option<Time> {
        let mut outputs = Vec::new();
        let mut effects = Vec::new();
        let mut steps = Vec::new();
        let mut owned = self.turn.take()?;
        loop {
            self.host.next_all(&mut steps);
            loop {
                let arrived = steps.drain(..).filter_map(|step| self.step(step, calls)).chain(input.take());
                let turn = core.turn(core.now(), arrived, &mut outputs, &mut effects);
                effects.drain(..).for_each(crate::client::Effect::run);
                if turn.hooks {
                    core.wake_driver();
                }
                if outputs.is_empty() {
                    owned.deadline = turn.deadline;
                    break;
                }
                for output in outputs.drain(..) {
                    match output {
                        Output::Send { message, .. } => {
                            self.host.feed_all(Input::Message { via: Via::Pipe, message }, &mut steps);
                        }
                        Output::Close => {
                            self.host.feed_all(Input::Closed(None), &mut steps);
                            lock(&self.inbox).closed = true;
                            input = Some(LinkEvent::Closed(None));
                            core.wake_driver();
                        }
                        _ => {}
                    }
                }
            }
            if owned.release() {
                break;
            }
        }
        let deadline = owned.deadline;
        if let Some(at) = deadline
            && lock(&self.inbox).armed.is_none_or(|armed| at < armed)
            && calls.is_empty()
        {
            core.wake_driver();
        }
        deadline
    }

    /// Does one thing for the server, or gives what the client has to be told.
    fn step(&self, step: Step, calls: &mut Vec<Step>) -> Option<LinkEvent> {
        match step {
            Step::Send(via, message) => return Some(LinkEvent::Message { via, message }),
            Step::Close => return Some(LinkEvent::Closed(None)),
            Step::Wake(waker) => waker.wake(),
            Step::Cancel { key, watched, wakers } => {
                if !watched {
                    lock(&self.inbox).dropped.push(key);
                }
                wakers.into_iter().for_each(Waker::wake);
                self.host.driver().wake();
            }
            step @ (Step::Call { .. } | Step::Notification(..)) => calls.push(step),
            Step::Nothing => {}
        }
        None
    }

    fn call(&self, core: &Core, step: Step) {
        match step {
            Step::Call { key, request, peer } => {
                let waiting =
                    self.host.start(key, request, peer).and_then(|handler| handler.poll(&self.host, Waker::noop()));
                if let Some(handler) = waiting {
                    let mut inbox = lock(&self.inbox);
                    if !inbox.closed {
                        inbox.handlers.push(handler);
                    }
                    drop(inbox);
                    core.wake_driver();
                }
            }
            Step::Notification(notification, peer) => self.host.endpoint().notification(&notification, &peer),
            _ => {}
        }
    }
}

const IDLE: u8 = 0;
const BUSY: u8 = 1;
const AGAIN: u8 = 2;

/// Whose turn it is to carry messages.
struct Turn(AtomicU8);

impl Turn {
    /// Takes the turn, or has whoever has it look again before it ends.
    fn take(&self) -> Option<Owned<'_>> {
        if self.0.compare_exchange(IDLE, BUSY, Ordering::AcqRel, Ordering::Acquire).is_ok()
            || self.0.swap(AGAIN, Ordering::AcqRel) == IDLE
        {
            return Some(Owned { turn: self, held: true, deadline: None });
        }
        None
    }
}

struct Owned<'a> {
    turn: &'a Turn,
    held: bool,
    deadline: Option<Time>,
}

impl Owned<'_> {
    /// Ends the turn, unless there is something new to carry.
    fn release(&mut self) -> bool {
        self.held = self.turn.0.compare_exchange(BUSY, IDLE, Ordering::AcqRel, Ordering::Acquire).is_err();
        if self.held {
            self.turn.0.store(BUSY, Ordering::Release);
        }
        !self.held
    }
}

impl Drop for Owned<'_> {
    fn drop(&mut self) {
        if self.held {
            self.turn.0.store(IDLE, Ordering::Release);
        }
    }
}

/// The driver of both ends.
struct Both {
    core: Arc<Core>,
    shared: Arc<Shared>,
    tasks: Tasks,
    timer: Box<dyn Timer>,
    hooks: Box<dyn Hooks>,
}

impl Future for Both {
    type Output = ();

    fn poll(mut self: std::pin::Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Self { core, shared, tasks, timer, hooks } = &mut *self;
        core.register_driver(cx.waker());
        shared.host.driver().register(cx.waker());
        loop {
            let closed = Self::take_in(shared, tasks);
            let polled = tasks.poll(&shared.host);
            let deadline = shared.carry(core, None);
            core.run_hooks(&mut **hooks);
            hooks.poll(cx);
            if closed {
                return Poll::Ready(());
            }
            if polled || lock(&shared.inbox).has_work() {
                continue;
            }
            lock(&shared.inbox).armed = deadline;
            match deadline {
                Some(at) if timer.poll(at, cx).is_ready() => {
                    shared.carry(core, Some(LinkEvent::Tick));
                }
                _ => return Poll::Pending,
            }
        }
    }
}

impl Both {
    /// Takes over what callers left; whether the connection is closed.
    fn take_in(shared: &Shared, tasks: &mut Tasks) -> bool {
        let mut inbox = lock(&shared.inbox);
        let handlers = std::mem::take(&mut inbox.handlers);
        let dropped = std::mem::take(&mut inbox.dropped);
        let closed = inbox.closed;
        drop(inbox);
        for handler in handlers {
            tasks.push(handler, &shared.host);
        }
        for key in dropped {
            tasks.drop_handler(key, &shared.host);
        }
        closed
    }
}

impl Inbox {
    fn has_work(&self) -> bool {
        self.closed || !self.handlers.is_empty() || !self.dropped.is_empty()
    }
}

impl Drop for Both {
    fn drop(&mut self) {
        let closed = std::mem::replace(&mut lock(&self.shared.inbox).closed, true);
        if !closed {
            self.shared.host.feed_all(Input::Closed(None), &mut Vec::new());
            self.shared.carry(&self.core, Some(LinkEvent::Closed(None)));
            self.core.run_hooks(&mut *self.hooks);
        }
        Self::take_in(&self.shared, &mut self.tasks);
        self.tasks.finish(&self.shared.host);
    }
}

/// Two links, each of which gets what is sent on the other: a connection whose ends have a driver each.
///
/// ```
/// use sandwire_io::memory;
///
/// let (client_end, server_end) = memory::pair();
/// ```
#[must_use]
pub fn pair() -> (MemoryLink, MemoryLink) {
    let (there, back) = (Arc::<Channel>::default(), Arc::<Channel>::default());
    let client_end = MemoryLink { incoming: Arc::clone(&back), outgoing: Arc::clone(&there) };
    (client_end, MemoryLink { incoming: there, outgoing: back })
}

/// One end of a [`pair`].
pub struct MemoryLink {
    incoming: Arc<Channel>,
    outgoing: Arc<Channel>,
}

#[derive(Default)]
struct Channel {
    queue: Mutex<Queue>,
    reader: AtomicWaker,
}

#[derive(Default)]
struct Queue {
    messages: VecDeque<Message>,
    closed: bool,
}

impl Link for MemoryLink {
    fn send(&mut self, _via: Via, message: Message, _head: Option<Box<RequestHead>>) {
        let mut queue = lock(&self.outgoing.queue);
        if queue.closed {
            return;
        }
        queue.messages.push_back(message);
        drop(queue);
        self.outgoing.reader.wake();
    }

    fn abandon(&mut self, _exchange: ExchangeId) {}

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<LinkEvent> {
        for registered in [false, true] {
            let mut queue = lock(&self.incoming.queue);
            if let Some(message) = queue.messages.pop_front() {
                return Poll::Ready(LinkEvent::Message { via: Via::Pipe, message });
            }
            if queue.closed {
                return Poll::Ready(LinkEvent::Closed(None));
            }
            drop(queue);
            if !registered {
                self.incoming.reader.register(cx.waker());
            }
        }
        Poll::Pending
    }

    fn close(&mut self) {
        for channel in [&self.outgoing, &self.incoming] {
            lock(&channel.queue).closed = true;
            channel.reader.wake();
        }
    }
}

impl Drop for MemoryLink {
    fn drop(&mut self) {
        self.close();
    }
}

impl std::fmt::Debug for MemoryLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemoryLink").finish_non_exhaustive()
    }
}
