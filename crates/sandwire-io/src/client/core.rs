use super::{CallError, CallKey, OpenError, handle::Call};
use crate::{Callback, Env, LinkEvent, MaybeSend, MaybeSync, OnceCallback};
use sandwire_json::Raw;
use sandwire_proto::{
    PeerInfo, Time,
    client::{Machine, Output},
};
use sandwire_types::{Notification, Reply};
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
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
    pump: Option<Box<dyn Pump>>,
}

struct State {
    machine: Machine,
    slots: Vec<Slot>,
    /// Calls that have ended, or are going to be told so, and whose slots later calls have.
    late: Vec<Slot>,
    opened: Option<Result<Arc<PeerInfo>, Arc<OpenError>>>,
    ready: Vec<Waker>,
    /// Wakes the driver, which leaves it here each time it is polled.
    driver: Option<Waker>,
}

/// What is kept of a call until it has ended and its result was taken.
#[derive(Default)]
pub(crate) struct Slot {
    key: Option<CallKey>,
    end: End,
    on_progress: Option<Callback<Raw>>,
    on_event: Option<Callback<Notification>>,
}

/// A call's result, or who waits for it.
#[derive(Default)]
enum End {
    #[default]
    Nobody,
    Task(Waker),
    Callback(OnceCallback<CallResult>),
    Result(CallResult),
}

/// What is to be done once the lock is released.
pub(crate) enum Todo {
    Nothing,
    /// Something for the link or for the hooks.
    Output(Output),
    Wake(Waker),
    Done(Slot, CallResult),
    Progress(Callback<Raw>, Raw),
    Event(Callback<Notification>, Notification),
}

impl Todo {
    /// Does it, if it is for whoever made a call or waits for the connection.
    pub(crate) fn tell(self) {
        match self {
            Self::Nothing | Self::Output(_) => {}
            Self::Wake(waker) => waker.wake(),
            Self::Done(slot, result) => {
                if let End::Callback(done) = slot.end {
                    done(result);
                }
            }
            Self::Progress(seen, params) => seen(params),
            Self::Event(seen, notification) => seen(notification),
        }
    }
}

/// One step of the machine.
pub(crate) struct Step {
    pub(crate) todo: Todo,
    /// Whether there is more to do.
    pub(crate) more: bool,
    /// When the machine wants to be told of the time.
    pub(crate) deadline: Option<Time>,
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
                driver: None,
            }),
            pump: None,
        }
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

    pub(crate) fn wake_driver(&self) {
        release(self.lock(), true);
    }

    /// Takes an input and gives the next thing to do. What there is to do is to be done in this order. `driver` is
    /// woken when there is more.
    pub(crate) fn step(&self, now: Time, input: Option<LinkEvent>, driver: Option<&Waker>) -> Step {
        let mut state = self.lock();
        let replaced = driver.and_then(|driver| state.register(driver));
        if let Some(input) = input {
            state.machine.handle(now, input);
        }
        let step = Step { todo: state.next(), more: state.has_more(), deadline: state.machine.deadline() };
        drop(state);
        drop(replaced);
        step
    }

    /// Has `driver` woken when there is something to do.
    pub(crate) fn register(&self, driver: &Waker) {
        let replaced = self.lock().register(driver);
        drop(replaced);
    }

    /// Begins a call, which takes `done`. What waits for it is told by [`step`](Self::step). Where messages are moved in
    /// the caller, it is the caller's to [`pump`](Self::pump).
    pub(super) fn begin(&self, call: Call, done: &mut Option<OnceCallback<CallResult>>) -> Result<CallKey, CallError> {
        let now = self.now();
        let Call { request, on_progress, on_event } = call;
        let mut state = self.lock();
        let key = state.machine.request(now, request)?;
        let end = done.take().map_or(End::Nobody, End::Callback);
        state.insert(key, Slot { key: Some(key), end, on_progress, on_event });
        release(state, self.pump.is_none());
        Ok(key)
    }

    /// The call's result, or `waker` is woken when it is there.
    pub(super) fn poll_call(&self, key: CallKey, waker: &Waker) -> Poll<CallResult> {
        let mut state = self.lock();
        let Some(slot) = state.slot(key) else { return Poll::Ready(Err(CallError::Cancelled)) };
        let before = match &slot.end {
            End::Result(_) => state.remove(key).map(|slot| slot.end),
            End::Task(have) if have.will_wake(waker) => return Poll::Pending,
            _ => Some(std::mem::replace(&mut slot.end, End::Task(waker.clone()))),
        };
        drop(state);
        match before {
            Some(End::Result(result)) => Poll::Ready(result),
            _ => Poll::Pending,
        }
    }

    /// Cancels a call nobody waits for any more.
    pub(super) fn forget(&self, key: CallKey) {
        let now = self.now();
        let mut state = self.lock();
        let freed = state.remove(key);
        let running = freed.as_ref().is_some_and(|slot| !matches!(slot.end, End::Result(_)));
        if running {
            state.machine.cancel(now, key, None);
        }
        release(state, running);
        drop(freed);
    }

    /// Gives the machine a command, then has its outputs moved on.
    pub(super) fn command<T>(&self, command: impl FnOnce(&mut Machine, Time) -> T) -> T {
        let now = self.now();
        let mut state = self.lock();
        let done = command(&mut state.machine, now);
        release(state, self.pump.is_none());
        self.pump();
        done
    }

    /// Moves messages on, where that is done in the caller.
    pub(super) fn pump(&self) {
        if let Some(pump) = &self.pump {
            pump.pump(self);
        }
    }

    pub(super) fn peer(&self) -> Option<Arc<PeerInfo>> {
        self.lock().opened.clone()?.ok()
    }

    pub(super) fn poll_opened(&self, waker: &Waker) -> Poll<Result<Arc<PeerInfo>, OpenError>> {
        let mut state = self.lock();
        match &state.opened {
            Some(Ok(peer)) => Poll::Ready(Ok(Arc::clone(peer))),
            Some(Err(error)) => Poll::Ready(Err(OpenError::clone(error))),
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

/// Releases the lock, and then wakes the driver if it has to see to something.
fn release(mut state: MutexGuard<'_, State>, wake: bool) {
    let driver = if wake { state.driver.take() } else { None };
    drop(state);
    if let Some(driver) = driver {
        driver.wake();
    }
}

impl State {
    /// Gives the waker back that is none any more.
    fn register(&mut self, driver: &Waker) -> Option<Waker> {
        match &self.driver {
            Some(known) if known.will_wake(driver) => None,
            _ => self.driver.replace(driver.clone()),
        }
    }

    fn insert(&mut self, key: CallKey, slot: Slot) {
        let index = key.slot();
        if self.slots.len() <= index {
            self.slots.resize_with(index + 1, Slot::default);
        }
        if let Some(place) = self.slots.get_mut(index) {
            let before = std::mem::replace(place, slot);
            if before.key.is_some() {
                self.late.push(before);
            }
        }
    }

    fn slot(&mut self, key: CallKey) -> Option<&mut Slot> {
        let here = self.slots.get_mut(key.slot()).filter(|slot| slot.key == Some(key));
        here.or_else(|| self.late.iter_mut().find(|slot| slot.key == Some(key)))
    }

    fn remove(&mut self, key: CallKey) -> Option<Slot> {
        let slot = self.slot(key).map(std::mem::take);
        self.late.retain(|slot| slot.key.is_some());
        slot
    }

    fn next(&mut self) -> Todo {
        loop {
            if self.opened.is_some()
                && let Some(waker) = self.ready.pop()
            {
                return Todo::Wake(waker);
            }
            match self.machine.poll() {
                None => return Todo::Nothing,
                Some(Output::Done { key, result }) => {
                    let Some(slot) = self.slot(key) else { continue };
                    if let End::Callback(_) = slot.end {
                        return self.remove(key).map_or(Todo::Nothing, |slot| Todo::Done(slot, result));
                    }
                    if let End::Task(waker) = std::mem::replace(&mut slot.end, End::Result(result)) {
                        return Todo::Wake(waker);
                    }
                }
                Some(Output::Progress { key, params }) => {
                    if let Some(seen) = self.slot(key).and_then(|slot| slot.on_progress.clone()) {
                        return Todo::Progress(seen, params);
                    }
                }
                Some(Output::Event { key, notification }) if cfg!(feature = "listen") => {
                    if let Some(seen) = self.slot(key).and_then(|slot| slot.on_event.clone()) {
                        return Todo::Event(seen, notification);
                    }
                }
                Some(output) => {
                    match &output {
                        Output::Opened(peer) => self.opened = Some(Ok(Arc::clone(peer))),
                        Output::Failed(error) => self.opened = Some(Err(Arc::clone(error))),
                        _ => {}
                    }
                    return Todo::Output(output);
                }
            }
        }
    }

    fn has_more(&self) -> bool {
        self.machine.has_output() || self.opened.is_some() && !self.ready.is_empty()
    }
}
