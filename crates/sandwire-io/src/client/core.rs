use super::{Answer, AskKey, CallError, CallKey, ClientHandle, Hooks, OpenError, handle::Call};
use crate::{Callback, Env, LinkEvent, MaybeSend, MaybeSync, OnceCallback};
use futures_util::task::AtomicWaker;
use sandwire_json::Raw;
use sandwire_proto::{
    PeerInfo, Time, TransportError,
    client::{Machine, Output},
};
use sandwire_types::{Method, Notification, Reply};
use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Poll, Waker},
};

pub(crate) type CallResult = Result<Reply, CallError>;

/// Moves messages in the caller, where both ends live in one driver. Called outside all locks after the machine was
/// given something to do.
pub(crate) trait Pump: MaybeSend + MaybeSync {
    fn pump(&self, core: &Core);
}

/// The machine and what waits for it, behind one lock that is never held while foreign code runs.
pub(crate) struct Core {
    env: Arc<dyn Env>,
    state: Mutex<State>,
    driver: AtomicWaker,
    pump: Option<Box<dyn Pump>>,
    /// How many handles there are, those of calls under way among them.
    handles: AtomicUsize,
}

struct State {
    machine: Machine,
    slots: Vec<Slot>,
    /// Results nobody had taken yet when their slots were given to later calls.
    late: Vec<(CallKey, CallResult)>,
    opened: Option<Result<Arc<PeerInfo>, OpenError>>,
    ready: Vec<Waker>,
    events: VecDeque<HookEvent>,
}

#[derive(Default)]
struct Slot {
    key: Option<CallKey>,
    reply: Option<CallResult>,
    waiter: Waiter,
    on_progress: Option<Callback<Raw>>,
    on_event: Option<Callback<Notification>>,
}

#[derive(Default)]
enum Waiter {
    #[default]
    Nobody,
    Task(Waker),
    Callback(OnceCallback<CallResult>),
}

enum HookEvent {
    Opened(Arc<PeerInfo>),
    Failed(OpenError),
    Notification(Notification),
    Ask(AskKey, Method, Raw),
    Withdrawn(AskKey),
    Closed(Option<TransportError>),
}

/// Foreign code to run once the lock is released, in order.
pub(crate) enum Effect {
    Wake(Waker),
    Done(OnceCallback<CallResult>, CallResult),
    Progress(Callback<Raw>, Raw),
    Event(Callback<Notification>, Notification),
}

impl Effect {
    pub(crate) fn run(self) {
        match self {
            Self::Wake(waker) => waker.wake(),
            Self::Done(done, result) => done(result),
            Self::Progress(seen, params) => seen(params),
            Self::Event(seen, notification) => seen(notification),
        }
    }
}

impl Core {
    pub(crate) fn new(machine: Machine, env: Arc<dyn Env>) -> Self {
        Self {
            env,
            state: Mutex::new(State {
                machine,
                slots: Vec::new(),
                late: Vec::new(),
                opened: None,
                ready: Vec::new(),
                events: VecDeque::new(),
            }),
            driver: AtomicWaker::new(),
            pump: None,
            handles: AtomicUsize::new(0),
        }
    }

    /// Counts one more handle.
    pub(super) fn hold(&self) {
        self.handles.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts one handle less; whether it was the last.
    pub(super) fn let_go(&self) -> bool {
        self.handles.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// The same core, moved on by `pump`. Not a parameter of [`new`](Self::new): the optimiser would carry the only
    /// pump there is into programs that have none, and the whole server's side with it.
    pub(crate) fn pumped(mut self, pump: Box<dyn Pump>) -> Self {
        self.pump = Some(pump);
        self
    }

    pub(crate) fn now(&self) -> Time {
        self.env.now()
    }

    /// Has the driver polled again: `waker` is the one of its latest poll.
    pub(crate) fn register_driver(&self, waker: &Waker) {
        self.driver.register(waker);
    }

    pub(crate) fn wake_driver(&self) {
        self.driver.wake();
    }

    /// Takes inputs and gives what the link has to do (`Send`, `Open`, `Abandon`, `Close`) in order. Everything else
    /// the machine wants goes to whoever waits for it: effects to run after this, and events for the hooks.
    /// Returns when to come back, and whether hooks have something to do.
    pub(crate) fn turn(
        &self,
        now: Time,
        inputs: impl IntoIterator<Item = LinkEvent>,
        link: &mut Vec<Output>,
        effects: &mut Vec<Effect>,
    ) -> Turn {
        let mut inputs = inputs.into_iter();
        let mut next = inputs.next();
        loop {
            // The iterator may run foreign code, so it goes on before the lock is taken.
            let after = inputs.next();
            let mut state = self.lock();
            if let Some(input) = next {
                state.take(now, input, link, effects);
            }
            // Before anybody else gets the lock: a result must be in its slot before the slot is used again.
            state.drain(link, effects);
            if after.is_none() {
                return Turn { deadline: state.machine.deadline(), hooks: !state.events.is_empty() };
            }
            next = after;
        }
    }

    /// Tells the hooks what happened since the last time.
    pub(crate) fn run_hooks(self: &Arc<Self>, hooks: &mut dyn Hooks) {
        loop {
            let Some(event) = self.lock().events.pop_front() else {
                return;
            };
            match event {
                HookEvent::Opened(peer) => hooks.opened(&peer),
                HookEvent::Failed(error) => hooks.failed(&error),
                HookEvent::Notification(notification) => hooks.notification(notification),
                HookEvent::Ask(..) | HookEvent::Withdrawn(_) if !cfg!(feature = "asks") => {}
                HookEvent::Ask(key, method, params) => {
                    hooks.ask(method, params, Answer::new(ClientHandle::new(Arc::clone(self)), key));
                }
                HookEvent::Withdrawn(key) => hooks.withdrawn(key),
                HookEvent::Closed(error) => hooks.closed(error.as_ref()),
            }
        }
    }

    /// Begins a call. What waits for it is told by [`turn`](Self::turn).
    pub(super) fn begin(&self, call: Call, done: Option<OnceCallback<CallResult>>) -> Result<CallKey, Rejected> {
        let now = self.now();
        let Call { request, on_progress, on_event } = call;
        let mut state = self.lock();
        let key = match state.machine.request(now, request) {
            Ok(key) => key,
            Err(error) => return Err(Rejected { error, done }),
        };
        let index = key.slot();
        if state.slots.len() <= index {
            state.slots.resize_with(index + 1, Slot::default);
        }
        if let Some(slot) = state.slots.get_mut(index) {
            let late = slot.key.zip(slot.reply.take());
            slot.key = Some(key);
            slot.waiter = done.map_or(Waiter::Nobody, Waiter::Callback);
            slot.on_progress = on_progress;
            slot.on_event = on_event;
            state.late.extend(late);
        }
        Ok(key)
    }

    /// The call's result, or `waker` is woken when it is there.
    pub(super) fn poll_call(&self, key: CallKey, waker: &Waker) -> Poll<CallResult> {
        let replaced;
        let mut state = self.lock();
        let Some(slot) = state.slot(key) else {
            return Poll::Ready(state.take_late(key).unwrap_or(Err(CallError::Cancelled)));
        };
        if let Some(reply) = slot.reply.take() {
            let freed = std::mem::take(slot);
            drop(state);
            drop(freed);
            return Poll::Ready(reply);
        }
        match &slot.waiter {
            Waiter::Task(have) if have.will_wake(waker) => return Poll::Pending,
            _ => replaced = std::mem::replace(&mut slot.waiter, Waiter::Task(waker.clone())),
        }
        drop(state);
        drop(replaced);
        Poll::Pending
    }

    /// Cancels a call nobody waits for any more.
    pub(super) fn forget(&self, key: CallKey) {
        let now = self.now();
        let mut state = self.lock();
        let Some(slot) = state.slot(key) else {
            let late = state.take_late(key);
            drop(state);
            drop(late);
            return;
        };
        let freed = std::mem::take(slot);
        if freed.reply.is_none() {
            state.machine.cancel(now, key, None);
        }
        drop(state);
        drop(freed);
        self.wake_driver();
    }

    /// Gives the machine a command, then has its outputs moved on.
    pub(super) fn command<T>(&self, command: impl FnOnce(&mut Machine, Time) -> T) -> T {
        let now = self.now();
        let done = command(&mut self.lock().machine, now);
        self.kick();
        done
    }

    pub(super) fn kick(&self) {
        match &self.pump {
            Some(pump) => pump.pump(self),
            None => self.wake_driver(),
        }
    }

    pub(super) fn pumps(&self) -> bool {
        self.pump.is_some()
    }

    pub(super) fn opened(&self) -> Option<Result<Arc<PeerInfo>, OpenError>> {
        self.lock().opened.clone()
    }

    pub(super) fn poll_opened(&self, waker: &Waker) -> Poll<Result<Arc<PeerInfo>, OpenError>> {
        let mut state = self.lock();
        match &state.opened {
            Some(opened) => Poll::Ready(opened.clone()),
            None => {
                if !state.ready.iter().any(|have| have.will_wake(waker)) {
                    state.ready.push(waker.clone());
                }
                Poll::Pending
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that could not begin, with what waited for it.
pub(super) struct Rejected {
    pub(super) error: CallError,
    pub(super) done: Option<OnceCallback<CallResult>>,
}

/// What a turn of the machine leaves to do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) deadline: Option<Time>,
    pub(crate) hooks: bool,
}

impl State {
    fn take_late(&mut self, key: CallKey) -> Option<CallResult> {
        let at = self.late.iter().position(|(have, _)| *have == key)?;
        Some(self.late.swap_remove(at).1)
    }

    fn slot(&mut self, key: CallKey) -> Option<&mut Slot> {
        self.slots.get_mut(key.slot()).filter(|slot| slot.key == Some(key))
    }

    fn take(&mut self, now: Time, input: LinkEvent, link: &mut Vec<Output>, effects: &mut Vec<Effect>) {
        let closed = match &input {
            LinkEvent::Closed(error) => Some(error.clone()),
            _ => None,
        };
        self.machine.handle(now, input);
        if let Some(error) = closed {
            self.drain(link, effects);
            self.events.push_back(HookEvent::Closed(error));
        }
    }

    fn drain(&mut self, link: &mut Vec<Output>, effects: &mut Vec<Effect>) {
        while let Some(output) = self.machine.poll() {
            match output {
                Output::Done { key, result } => self.finish(key, result, effects),
                Output::Progress { key, params } => {
                    if let Some(seen) = self.slot(key).and_then(|slot| slot.on_progress.clone()) {
                        effects.push(Effect::Progress(seen, params));
                    }
                }
                Output::Event { key, notification } if cfg!(feature = "listen") => {
                    if let Some(seen) = self.slot(key).and_then(|slot| slot.on_event.clone()) {
                        effects.push(Effect::Event(seen, notification));
                    }
                }
                Output::Notification(notification) => self.events.push_back(HookEvent::Notification(notification)),
                Output::Ask { key, method, params } if cfg!(feature = "asks") => {
                    self.events.push_back(HookEvent::Ask(key, method, params))
                }
                Output::Unask(key) if cfg!(feature = "asks") => self.events.push_back(HookEvent::Withdrawn(key)),
                Output::Opened(peer) => {
                    self.opened = Some(Ok(Arc::clone(&peer)));
                    self.events.push_back(HookEvent::Opened(peer));
                    effects.extend(self.ready.drain(..).map(Effect::Wake));
                }
                Output::Failed(error) => {
                    self.opened = Some(Err(error.clone()));
                    self.events.push_back(HookEvent::Failed(error));
                    effects.extend(self.ready.drain(..).map(Effect::Wake));
                }
                link_output => link.push(link_output),
            }
        }
    }

    fn finish(&mut self, key: CallKey, result: CallResult, effects: &mut Vec<Effect>) {
        let Some(slot) = self.slot(key) else { return };
        match std::mem::take(&mut slot.waiter) {
            Waiter::Callback(done) => {
                *slot = Slot::default();
                effects.push(Effect::Done(done, result));
            }
            waiter => {
                slot.reply = Some(result);
                if let Waiter::Task(waker) = waiter {
                    effects.push(Effect::Wake(waker));
                }
            }
        }
    }
}
