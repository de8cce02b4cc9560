//! Client and server in one process, without any text between them.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering},
    },
    task::{Context, Poll, Waker},
};

use sandwire_proto::{
    ExchangeId, Input, Time, Via, Wire, client,
    http::RequestHead,
    server::{self, CallKey, Output},
};
use sandwire_types::Message;

use crate::{
    Endpoint, Env, Link, LinkEvent, Timer,
    client::{self as near, ClientHandle, Config, Core, Driver, Hooks, Pump, Step, Todo},
    host::{Answered, Host, Sealing, Started, Takes, lock},
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
    config.wire = Wire::Memory;
    let machine = server::Machine::new(endpoint.config()).in_process();
    let host = Host::new(endpoint, Arc::clone(&env), machine, Sealing::Own(OnceLock::new()));
    host.hear_changes();
    let shared =
        Arc::new(Shared { host, turn: Turn(AtomicU8::new(IDLE)), armed: AtomicU64::new(0), inbox: Mutex::default() });
    let pump: Box<dyn Pump> = Box::new(Arc::clone(&shared));
    let core = Arc::new(Core::new(client::Machine::new(config), Arc::clone(&env)).pumped(pump));
    shared.carry(&core, Some(LinkEvent::Tick));
    let tasks = Tasks::new(shared.host.driver());
    let both = Both { core: Arc::clone(&core), shared, tasks, timer: env.timer(), hooks };
    (ClientHandle::new(core), Driver::new(Box::pin(both)))
}

/// What the callers and the driver of one connection share.
struct Shared {
    host: Arc<Host>,
    turn: Turn,
    /// When the driver's timer is going to wake it, in milliseconds; [`AWAKE`] while it runs or needs none, and 0 before
    /// it ever ran.
    armed: AtomicU64,
    inbox: Mutex<Inbox>,
}

const AWAKE: u64 = u64::MAX;

/// What waits for the driver.
#[derive(Default)]
struct Inbox {
    handlers: Vec<Handler>,
    dropped: Vec<CallKey>,
    /// What the hooks are going to be told.
    told: VecDeque<client::Output>,
    closed: bool,
}

impl Pump for Arc<Shared> {
    fn pump(&self, core: &Core) {
        let deadline = self.carry(core, None);
        if deadline.is_some_and(|at| at.0 < self.armed.load(Ordering::Acquire)) {
            core.wake_driver();
        }
    }
}

impl Shared {
    /// Carries messages both ways until there are none, and polls the handlers they start. Says when the client's
    /// machine wants to be told of the time, unless somebody else is carrying and will see to that.
    fn carry(&self, core: &Core, mut input: Option<LinkEvent>) -> Option<Time> {
        let now = core.now();
        let mut answered = None;
        loop {
            let mut call = None;
            let deadline = self.carry_messages(core, now, &mut input, answered.take(), &mut call);
            let Some(call) = call else { return deadline };
            answered = self.call(core, call);
        }
    }

    /// The part that only one task does at a time, so that messages keep their order. A call is left for afterwards;
    /// what stands behind a second one is taken up then, or by whoever has the turn before.
    fn carry_messages(
        &self,
        core: &Core,
        now: Time,
        input: &mut Option<LinkEvent>,
        mut answered: Option<Answered>,
        call: &mut Option<Output>,
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
        // After an answer of a handler it is the server that has something new to say.
        let mut client_has_more = answered.is_none();
        let mut server_has_more = true;
        let mut sent = None;
        loop {
            if std::mem::take(&mut client_has_more) || input.is_some() {
                let step = core.step(now, input.take(), None);
                owned.deadline = step.deadline;
                client_has_more = step.more;
                match step.todo {
                    Todo::Output(client::Output::Send { message, .. }) => {
                        sent = Some(Input::Message { via: Via::Pipe, message });
                    }
                    Todo::Output(client::Output::Close) => {
                        sent = Some(Input::Closed(None));
                        *input = Some(LinkEvent::Closed(None));
                        lock(&self.inbox).closed = true;
                        core.wake_driver();
                    }
                    Todo::Output(told) => {
                        lock(&self.inbox).told.push_back(told);
                        core.wake_driver();
                    }
                    todo => todo.tell(),
                }
            }
            if input.is_none() && (server_has_more || sent.is_some() || answered.is_some()) {
                let takes = if call.is_none() { Takes::One } else { Takes::Nothing };
                let (output, more) = self.host.step(sent.take(), answered.take(), takes);
                server_has_more = more;
                if let Some(output) = output {
                    self.serve(output, input, call);
                }
            }
            if client_has_more || server_has_more || input.is_some() || sent.is_some() {
                continue;
            }
            if owned.release() {
                return owned.deadline;
            }
            client_has_more = true;
            server_has_more = true;
        }
    }

    /// Does one thing for the server: it reaches the client, or is a call that is to be begun without the turn.
    fn serve(&self, output: Output, input: &mut Option<LinkEvent>, call: &mut Option<Output>) {
        match output {
            Output::Send { via, message } => *input = Some(LinkEvent::Message { via, message }),
            Output::Close => *input = Some(LinkEvent::Closed(None)),
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
            output => *call = Some(output),
        }
    }

    fn take_told(&self) -> Option<client::Output> {
        lock(&self.inbox).told.pop_front()
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
        core.register(cx.waker());
        shared.host.driver().register(cx.waker());
        shared.armed.store(AWAKE, Ordering::Release);
        loop {
            let closed = Self::take_in(shared, tasks);
            let polled = tasks.poll(&shared.host);
            let deadline = shared.carry(core, None);
            Self::tell(shared, core, &mut **hooks);
            hooks.poll(cx);
            if closed {
                hooks.closed(None);
                return Poll::Ready(());
            }
            if polled || lock(&shared.inbox).has_work() {
                continue;
            }
            shared.armed.store(deadline.map_or(AWAKE, |at| at.0), Ordering::Release);
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
    /// Tells the hooks what happened since the last time.
    fn tell(shared: &Shared, core: &Arc<Core>, hooks: &mut dyn Hooks) {
        while let Some(output) = shared.take_told() {
            near::tell(core, hooks, output);
        }
    }

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
        self.closed || !self.handlers.is_empty() || !self.dropped.is_empty() || !self.told.is_empty()
    }
}

impl Drop for Both {
    fn drop(&mut self) {
        let closed = std::mem::replace(&mut lock(&self.shared.inbox).closed, true);
        if !closed {
            self.shared.host.step(Some(Input::Closed(None)), None, Takes::All);
            let mut input = Some(LinkEvent::Closed(None));
            loop {
                let Step { todo, more, .. } = self.core.step(self.core.now(), input.take(), None);
                match todo {
                    Todo::Output(told) => lock(&self.shared.inbox).told.push_back(told),
                    todo => todo.tell(),
                }
                if !more {
                    break;
                }
            }
            Self::tell(&self.shared, &self.core, &mut *self.hooks);
            self.hooks.closed(None);
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
    let end = |incoming: &Arc<Channel>, outgoing: &Arc<Channel>| MemoryLink {
        incoming: Arc::clone(incoming),
        outgoing: Arc::clone(outgoing),
        arrived: VecDeque::new(),
        waker: None,
    };
    (end(&back, &there), end(&there, &back))
}

/// One end of a [`pair`].
pub struct MemoryLink {
    incoming: Arc<Channel>,
    outgoing: Arc<Channel>,
    /// Taken out of the incoming queue, all at once, and not told yet.
    arrived: VecDeque<Message>,
    /// The waker of the latest poll, which the incoming queue has too.
    waker: Option<Waker>,
}

#[derive(Default)]
struct Channel {
    /// Whether its reader has to look into the queue. Changed under the queue's lock only.
    news: AtomicBool,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    messages: VecDeque<Message>,
    closed: bool,
    reader: Option<Waker>,
}

impl Channel {
    /// Changes the queue and tells its reader, unless the reader was told before and has not looked yet.
    fn put(&self, change: impl FnOnce(&mut Queue)) {
        let mut queue = lock(&self.queue);
        change(&mut queue);
        let reader = if self.news.load(Ordering::Relaxed) { None } else { queue.reader.clone() };
        self.news.store(true, Ordering::Release);
        drop(queue);
        reader.into_iter().for_each(Waker::wake);
    }
}

impl Link for MemoryLink {
    fn send(&mut self, _via: Via, message: Message, _head: Option<Box<RequestHead>>) {
        self.outgoing.put(|queue| {
            if !queue.closed {
                queue.messages.push_back(message);
            }
        });
    }

    fn abandon(&mut self, _exchange: ExchangeId) {}

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<LinkEvent> {
        let known = self.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker()));
        if self.arrived.is_empty() && (!known || self.incoming.news.load(Ordering::Acquire)) {
            let mut before = None;
            let mut queue = lock(&self.incoming.queue);
            if !known {
                before = queue.reader.replace(cx.waker().clone());
                self.waker = Some(cx.waker().clone());
            }
            std::mem::swap(&mut queue.messages, &mut self.arrived);
            let closed = queue.closed;
            self.incoming.news.store(closed, Ordering::Release);
            drop(queue);
            drop(before);
            if closed && self.arrived.is_empty() {
                return Poll::Ready(LinkEvent::Closed(None));
            }
        }
        match self.arrived.pop_front() {
            Some(message) => Poll::Ready(LinkEvent::Message { via: Via::Pipe, message }),
            None => Poll::Pending,
        }
    }

    fn close(&mut self) {
        for channel in [&self.outgoing, &self.incoming] {
            channel.put(|queue| queue.closed = true);
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
