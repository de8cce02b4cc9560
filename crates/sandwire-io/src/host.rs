//! One connection's server: the machine, the endpoint, and what waits for either, behind one lock that is never held
//! while foreign code runs.

#[cfg(feature = "sessions")]
pub(crate) mod woken;

use std::{
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Poll, Waker},
};

use futures_util::task::AtomicWaker;
use sandwire_json::Raw;
use sandwire_proto::{
    Input, PeerInfo, Time,
    server::{AskError, AskKey, AskStep, CallKey, Clock, HmacSealer, Learned, Machine, Output, Sealer},
};
use sandwire_types::{ErrorObject, Method, Reply, Request};

use crate::{Answer, Call, Endpoint, Env, Outlet, tasks::Handler};

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) struct Host {
    endpoint: Arc<dyn Endpoint>,
    env: Arc<dyn Env>,
    driver: Arc<AtomicWaker>,
    /// Who does what is to do where no driver does.
    #[cfg(feature = "sessions")]
    woken: Option<std::sync::Weak<dyn woken::Woken>>,
    sealer: Sealing,
    /// Whether something was said that [`step`](Self::step) has not been asked for.
    said: AtomicBool,
    state: Mutex<State>,
}

/// Which key protects the state of suspended calls.
pub(crate) enum Sealing {
    /// The server's, so that any of its connections can go on where another stopped.
    Shared,
    /// One of this connection only: its client lives in this process and its host's randomness may be none.
    Own(OnceLock<Arc<dyn Sealer>>),
}

struct State {
    machine: Machine,
    /// Calls whose handlers want to know when the client gives up on them.
    watching: Vec<CallKey>,
    waiters: Vec<(Wait, Waker)>,
    answers: Vec<(AskKey, Result<Raw, AskError>)>,
}

/// What a handler answered.
pub(crate) struct Answered {
    pub(crate) key: CallKey,
    pub(crate) result: Result<Reply, ErrorObject>,
}

/// How much of what is for the endpoint somebody can take before coming back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    Nothing,
    One,
    All,
}

/// What became of a request that was given to the endpoint.
pub(crate) enum Started {
    Answered(Answered),
    Waits(Handler),
}

#[derive(PartialEq, Eq)]
enum Wait {
    Cancel(CallKey),
    Answer(AskKey),
}

impl Host {
    pub(crate) fn new(endpoint: Arc<dyn Endpoint>, env: Arc<dyn Env>, machine: Machine, sealer: Sealing) -> Arc<Self> {
        Arc::new(Self::with(endpoint, env, machine, sealer))
    }

    fn with(endpoint: Arc<dyn Endpoint>, env: Arc<dyn Env>, machine: Machine, sealer: Sealing) -> Self {
        Self {
            endpoint,
            env,
            driver: Arc::default(),
            #[cfg(feature = "sessions")]
            woken: None,
            sealer,
            said: AtomicBool::new(false),
            state: Mutex::new(State { machine, watching: Vec::new(), waiters: Vec::new(), answers: Vec::new() }),
        }
    }

    pub(crate) fn endpoint(&self) -> &Arc<dyn Endpoint> {
        &self.endpoint
    }

    pub(crate) fn env(&self) -> &Arc<dyn Env> {
        &self.env
    }

    pub(crate) fn driver(&self) -> &Arc<AtomicWaker> {
        &self.driver
    }

    /// Has the endpoint's announcements reach this connection.
    pub(crate) fn hear_changes(self: &Arc<Self>) {
        if let Some(changes) = self.endpoint.changes() {
            changes.add(self);
        }
    }

    /// Takes what arrived and what a handler answered, and gives the next thing to do, and whether there is more.
    /// Of what is [for the endpoint](is_for_endpoint), `takes` says how much may still be given.
    pub(crate) fn step(
        &self,
        input: Option<Input>,
        answered: Option<Answered>,
        takes: Takes,
    ) -> (Option<Output>, bool) {
        let mut state = lock(&self.state);
        if let Some(input) = input {
            state.machine.handle(Time(0), input);
        }
        if let Some(Answered { key, result }) = answered {
            state.forget(key);
            state.machine.reply(key, result);
        }
        let output = if state.has_output(takes != Takes::Nothing) { state.machine.poll() } else { None };
        let left = match takes {
            Takes::Nothing => false,
            Takes::One => !output.as_ref().is_some_and(is_for_endpoint),
            Takes::All => true,
        };
        let more = state.has_output(left);
        (output, more)
    }

    /// What follows from the client giving up on a call: whether its handler runs on, and who waits to hear of it.
    pub(crate) fn cancelled(&self, key: CallKey) -> (bool, Vec<Waker>) {
        let mut state = lock(&self.state);
        (state.watching.contains(&key), state.take_waiters(&Wait::Cancel(key)))
    }

    /// Keeps the client's answer to a question for the handler that waits for it.
    pub(crate) fn answered(&self, ask: AskKey, result: Result<Raw, AskError>) -> Option<Waker> {
        let mut state = lock(&self.state);
        let waker = state.take_waiters(&Wait::Answer(ask)).pop()?;
        state.answers.push((ask, result));
        Some(waker)
    }

    /// Asks the endpoint.
    pub(crate) fn start(self: &Arc<Self>, key: CallKey, request: Request, peer: Arc<PeerInfo>) -> Started {
        let outlet = Outlet::new(Arc::clone(self), key);
        match self.endpoint.call(Call { request, peer, outlet }) {
            Answer::Ready(result) => Started::Answered(Answered { key, result }),
            Answer::Pending(future) => Started::Waits(Handler { key, future }),
        }
    }

    pub(crate) fn reply(&self, key: CallKey, result: Result<Reply, ErrorObject>) {
        let mut state = lock(&self.state);
        state.forget(key);
        state.machine.reply(key, result);
        self.said.store(true, Ordering::Release);
    }

    /// After a handler was polled and is not done: whether it should be dropped, because the call ends with questions
    /// or because the client gave up on it and the handler does not watch for that.
    pub(crate) fn is_over(&self, key: CallKey) -> bool {
        let state = lock(&self.state);
        state.machine.is_suspended(key) || !state.machine.is_running(key) && !state.watching.contains(&key)
    }

    /// Ends the call of a handler that was dropped.
    pub(crate) fn end(&self, key: CallKey) {
        let mut state = lock(&self.state);
        state.forget(key);
        if state.machine.is_suspended(key) {
            state.machine.suspend(key);
        } else {
            state.machine.end(key);
        }
        self.said.store(true, Ordering::Release);
    }

    pub(crate) fn is_idle(&self) -> bool {
        lock(&self.state).machine.in_flight() == 0
    }

    pub(crate) fn say(&self, say: impl FnOnce(&mut Machine)) {
        say(&mut lock(&self.state).machine);
        self.wake();
    }

    /// Whether there may be something to do that nobody was told of yet.
    pub(crate) fn has_said(&self) -> bool {
        let said = self.said.load(Ordering::Acquire);
        if said {
            // Whatever is said from now on sets it again.
            self.said.store(false, Ordering::Release);
        }
        said
    }

    fn wake(&self) {
        self.said.store(true, Ordering::Release);
        #[cfg(feature = "sessions")]
        if let Some(woken) = self.woken.as_ref().and_then(std::sync::Weak::upgrade) {
            return woken.woken();
        }
        self.driver.wake();
    }

    /// Notes that a handler wants to know when it is cancelled; whether it is.
    pub(crate) fn watch(&self, key: CallKey) -> bool {
        let mut state = lock(&self.state);
        let running = state.machine.is_running(key);
        if running && !state.watching.contains(&key) {
            state.watching.push(key);
        }
        !running
    }

    pub(crate) fn poll_cancelled(&self, key: CallKey, waker: &Waker) -> Poll<()> {
        let mut state = lock(&self.state);
        if !state.machine.is_running(key) {
            return Poll::Ready(());
        }
        state.wait(Wait::Cancel(key), waker);
        Poll::Pending
    }

    pub(crate) fn ask(
        &self,
        key: CallKey,
        name: &str,
        method: &Method,
        params: &Raw,
        waker: &Waker,
    ) -> Result<AskStep, AskError> {
        let step = self.with_clock(|state, clock| {
            let step = state.machine.ask(key, name, method, params, clock)?;
            if let AskStep::Sent(ask) = step {
                state.wait(Wait::Answer(ask), waker);
            }
            Ok(step)
        });
        self.wake();
        step
    }

    pub(crate) fn poll_answer(&self, ask: AskKey, waker: &Waker) -> Poll<Result<Raw, AskError>> {
        let mut state = lock(&self.state);
        if let Some(at) = state.answers.iter().position(|(have, _)| *have == ask) {
            return Poll::Ready(state.answers.swap_remove(at).1);
        }
        state.wait(Wait::Answer(ask), waker);
        Poll::Pending
    }

    pub(crate) fn unask(&self, ask: AskKey) {
        let mut state = lock(&self.state);
        state.answers.retain(|(have, _)| *have != ask);
        state.waiters.retain(|(wait, _)| *wait != Wait::Answer(ask));
        state.machine.unask(ask);
        drop(state);
        self.wake();
    }

    pub(crate) fn recorded(&self, key: CallKey, name: &str) -> Result<Option<Raw>, AskError> {
        self.with_clock(|state, clock| state.machine.recorded(key, name, clock))
    }

    pub(crate) fn learned(&self, key: CallKey) -> Result<Learned, AskError> {
        self.with_clock(|state, clock| state.machine.learned(key, clock))
    }

    pub(crate) fn record(&self, key: CallKey, name: &str, value: Raw) -> Result<(), AskError> {
        self.with_clock(|state, clock| state.machine.record(key, name, value, clock))
    }

    fn with_clock<T>(&self, run: impl FnOnce(&mut State, Clock<'_>) -> T) -> T {
        let unix_time = self.env.unix_time();
        let mut state = lock(&self.state);
        let config = Arc::clone(state.machine.config());
        let make = || -> Arc<dyn Sealer> {
            let mut key = [0; 32];
            self.env.fill_random(&mut key);
            Arc::new(HmacSealer::new(key))
        };
        let sealer = match &self.sealer {
            Sealing::Shared => config.sealer(make),
            Sealing::Own(own) => own.get_or_init(make),
        };
        run(&mut state, Clock { sealer, unix_time })
    }
}

/// Whether this calls the endpoint, of which nothing is known: it may take long, and may call in its turn.
pub(crate) fn is_for_endpoint(output: &Output) -> bool {
    !matches!(output, Output::Send { .. } | Output::Close | Output::Answer { .. } | Output::Cancel { .. })
}

impl State {
    fn has_output(&self, all: bool) -> bool {
        self.machine.peek().is_some_and(|output| all || !is_for_endpoint(output))
    }

    fn wait(&mut self, wait: Wait, waker: &Waker) {
        // Who waits for an answer is one, and counts where it was polled last.
        let is_one = matches!(wait, Wait::Answer(_));
        match self.waiters.iter_mut().find(|(have, with)| *have == wait && (is_one || with.will_wake(waker))) {
            Some((_, with)) => with.clone_from(waker),
            None => self.waiters.push((wait, waker.clone())),
        }
    }

    fn take_waiters(&mut self, wanted: &Wait) -> Vec<Waker> {
        let mut taken = Vec::new();
        let mut at = 0;
        while let Some((wait, _)) = self.waiters.get(at) {
            if wait == wanted {
                taken.push(self.waiters.swap_remove(at).1);
            } else {
                at += 1;
            }
        }
        taken
    }

    fn forget(&mut self, key: CallKey) {
        if !self.watching.is_empty() {
            self.watching.retain(|have| *have != key);
            self.waiters.retain(|(wait, _)| *wait != Wait::Cancel(key));
        }
    }
}
