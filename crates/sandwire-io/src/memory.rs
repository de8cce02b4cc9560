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
    ExchangeId, Input, Time, Via, Wire, client,
    http::RequestHead,
    server::{self, CallKey, Output},
};
use sandwire_types::Message;

use crate::{
    Endpoint, Env, Link, LinkEvent, Timer,
    client::{ClientHandle, Config, Core, Driver, Effect, Hooks, Pump},
    host::{Answered, Host, Sealing, Started, lock},
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
    let shared =
        Arc::new(Shared { host, turn: Turn(AtomicU8::new(IDLE)), buffers: Mutex::default(), inbox: Mutex::default() });
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
    /// Taken only by whoever has the turn, so nobody ever waits for it.
    buffers: Mutex<Buffers>,
    inbox: Mutex<Inbox>,
}

/// What carrying fills and empties, kept for its memory.
#[derive(Default)]
struct Buffers {
    arrived: Vec<LinkEvent>,
    outputs: Vec<client::Output>,
    effects: Vec<Effect>,
    todo: VecDeque<Output>,
}

/// What the endpoint is told once the turn is over, in order. One at a time needs no memory of its own.
#[derive(Default)]
struct Later {
    next: Option<Output>,
    rest: VecDeque<Output>,
}

impl Later {
    fn push(&mut self, output: Output) {
        if self.next.is_none() {
            self.next = Some(output);
        } else {
            self.rest.push_back(output);
        }
    }

    fn pop(&mut self) -> Option<Output> {
        let next = self.next.take()?;
        self.next = self.rest.pop_front();
        Some(next)
    }

    fn is_empty(&self) -> bool {
        self.next.is_none()
    }
}

/// What waits for the driver.
#[derive(Default)]
struct Inbox {
    handlers: Vec<Handler>,
    dropped: Vec<CallKey>,
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
        let now = core.now();
        let mut input = input;
        let mut answered = None;
        let mut calls = Later::default();
        loop {
            let deadline = self.carry_messages(core, now, input.take(), answered.take(), &mut calls);
            let Some(call) = calls.pop() else { return deadline };
            answered = self.call(core, call);
        }
    }

    /// The part that only one task does at a time, so that messages keep their order. Calls are left for afterwards.
    fn carry_messages(
        &self,
        core: &Core,
        now: Time,
        input: Option<LinkEvent>,
        mut answered: Option<Answered>,
        calls: &mut Later,
    ) -> Option<Time> {
        let mut owned = match self.turn.take() {
            Some(owned) => owned,
            None => {
                // Whoever carries looks again, or is done and leaves the turn.
                let Answered { key, result } = answered.take()?;
                self.host.reply(key, result);
                self.turn.take()?
            }
        };
        let mut buffers = lock(&self.buffers);
        let Buffers { arrived, outputs, effects, todo } = &mut *buffers;
        arrived.extend(input);
        let mut settled = answered.is_some();
        if settled {
            self.host.settle(answered, todo);
        }
        loop {
            while let Some(output) = todo.pop_front() {
                self.step(output, arrived, calls);
            }
            let turn = core.turn(now, arrived.drain(..), outputs, effects);
            owned.deadline = turn.deadline;
            effects.drain(..).for_each(Effect::run);
            if turn.hooks {
                core.wake_driver();
            }
            for output in outputs.drain(..) {
                settled = true;
                match output {
                    client::Output::Send { message, .. } => {
                        self.host.feed(Input::Message { via: Via::Pipe, message }, todo);
                    }
                    client::Output::Close => {
                        self.host.feed(Input::Closed(None), todo);
                        lock(&self.inbox).closed = true;
                        arrived.push(LinkEvent::Closed(None));
                        core.wake_driver();
                    }
                    _ => {}
                }
            }
            if !std::mem::replace(&mut settled, true) {
                self.host.settle(None, todo);
            }
            while let Some(call) = todo.pop_front_if(|output| matches!(output, Output::Call { .. })) {
                calls.push(call);
            }
            if !todo.is_empty() || !arrived.is_empty() {
                continue;
            }
            if owned.release() {
                break;
            }
            settled = false;
        }
        drop(buffers);
        let deadline = owned.deadline;
        if calls.is_empty()
            && let Some(at) = deadline
            && lock(&self.inbox).armed.is_none_or(|armed| at < armed)
        {
            core.wake_driver();
        }
        deadline
    }

    /// Does one thing for the server, or leaves it to be done without the turn.
    fn step(&self, output: Output, arrived: &mut Vec<LinkEvent>, calls: &mut Later) {
        match output {
            Output::Send { via, message } => arrived.push(LinkEvent::Message { via, message }),
            Output::Close => arrived.push(LinkEvent::Closed(None)),
            Output::Answer { ask, result } => {
                if let Some(waker) = self.host.answered(ask, result) {
                    waker.wake();
                }
            }
            Output::Cancel { key } => {
                let (watched, wakers) = self.host.cancelled(key);
                if !watched {
                    lock(&self.inbox).dropped.push(key);
                }
                wakers.into_iter().for_each(Waker::wake);
                self.host.driver().wake();
            }
            call => calls.push(call),
        }
    }

    fn call(&self, core: &Core, call: Output) -> Option<Answered> {
        match call {
            Output::Call { key, request, peer } => match self.host.start(key, request, peer) {
                Started::Answered(answered) => return Some(answered),
                Started::Waits(handler) => {
                    if let Some(handler) = handler.poll(&self.host, Waker::noop()) {
                        let back = lock(&self.inbox).take(handler);
                        drop(back);
                        core.wake_driver();
                    }
                }
            },
            Output::Notification { notification, peer } => self.host.endpoint().notification(&notification, &peer),
            _ => {}
        }
        None
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
    /// Leaves a handler for the driver; gives it back if there is none any more.
    fn take(&mut self, handler: Handler) -> Option<Handler> {
        if self.closed {
            return Some(handler);
        }
        self.handlers.push(handler);
        None
    }

    fn has_work(&self) -> bool {
        self.closed || !self.handlers.is_empty() || !self.dropped.is_empty()
    }
}

impl Drop for Both {
    fn drop(&mut self) {
        let closed = std::mem::replace(&mut lock(&self.shared.inbox).closed, true);
        if !closed {
            self.shared.host.feed(Input::Closed(None), &mut VecDeque::new());
            let mut effects = Vec::new();
            self.core.turn(self.core.now(), Some(LinkEvent::Closed(None)), &mut Vec::new(), &mut effects);
            effects.into_iter().for_each(Effect::run);
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
