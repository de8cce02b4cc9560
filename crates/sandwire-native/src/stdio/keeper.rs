//! Who ends children when nobody else does: one thread, which needs no executor and outlives every connection.

use super::{
    exit,
    family::{Ended, Family},
};
use async_io::Timer;
use futures_channel::{
    mpsc::{self, UnboundedReceiver, UnboundedSender},
    oneshot,
};
use futures_util::{
    FutureExt, StreamExt,
    future::{Either, select},
};
use sandwire_io::BoxFuture;
use std::{
    io,
    pin::pin,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    task::{Context, Waker},
    thread,
    time::Duration,
};

static KEEPER: Keeper =
    Keeper { state: Mutex::new(State { families: Vec::new(), thread: None, exiting: false }), left: Condvar::new() };

/// How long what a child wrote last is read after its end, in case that others have its output open.
const LAST_WORDS: Duration = Duration::from_millis(100);

struct Keeper {
    state: Mutex<State>,
    /// A family is gone.
    left: Condvar,
}

struct State {
    families: Vec<Arc<Family>>,
    thread: Option<Thread>,
    exiting: bool,
}

struct Thread {
    jobs: UnboundedSender<BoxFuture<'static, ()>>,
    /// A forked process has a copy of all of this, but not the thread.
    process: u32,
}

/// Starts a child and keeps it from then on.
pub(super) fn keep<T>(start: impl FnOnce() -> io::Result<(Family, T)>) -> io::Result<(Arc<Family>, T)> {
    let mut state = KEEPER.lock();
    if state.exiting {
        return Err(io::Error::other("this process is exiting"));
    }
    state.begin()?;
    let (family, rest) = start()?;
    let family = Arc::new(family);
    state.families.push(Arc::clone(&family));
    Ok((family, rest))
}

/// Ends a family, and meanwhile runs `reading` so that no full pipe keeps it from ending.
pub(super) fn end(family: Arc<Family>, reading: BoxFuture<'static, ()>) -> oneshot::Receiver<Ended> {
    let (done, ended) = oneshot::channel();
    if family.begin_ending() {
        KEEPER.lock().run(Box::pin(async move {
            let ending = pin!(family.end());
            let end = match select(ending, reading).await {
                Either::Left((end, reading)) => {
                    select(reading, Timer::after(LAST_WORDS)).await;
                    end
                }
                Either::Right(((), end)) => end.await,
            };
            KEEPER.lock().families.retain(|kept| !Arc::ptr_eq(kept, &family));
            KEEPER.left.notify_all();
            let _ = done.send(end);
        }));
    }
    ended
}

/// Ends all families before this process does.
pub(super) extern "C" fn end_all() {
    let mut state = KEEPER.lock();
    if state.thread.as_ref().is_none_or(|thread| thread.process != std::process::id()) {
        return;
    }
    state.exiting = true;
    let families = state.families.clone();
    drop(state);
    let longest = families.iter().map(|family| family.longest_end()).max().unwrap_or_default();
    for family in families {
        drop(end(family, Box::pin(std::future::pending())));
    }
    let wait = KEEPER.left.wait_timeout_while(KEEPER.lock(), longest, |state| !state.families.is_empty());
    let (state, _) = wait.unwrap_or_else(PoisonError::into_inner);
    state.families.iter().for_each(|family| family.kill());
}

impl Keeper {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn begin(&mut self) -> io::Result<()> {
        if self.thread.as_ref().is_none_or(|thread| thread.process != std::process::id()) {
            self.families.clear();
            let (jobs, queue) = mpsc::unbounded();
            thread::Builder::new().name("sandwire-keeper".into()).spawn(|| work(queue))?;
            exit::before(end_all)?;
            // One that was polled keeps async-process from starting a thread of its own, which would slow down those of
            // async-io.
            let mut reaper = Box::pin(async_process::driver());
            let _ = reaper.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            let _ = jobs.unbounded_send(Box::pin(reaper.map(drop)));
            self.thread = Some(Thread { jobs, process: std::process::id() });
        }
        Ok(())
    }

    fn run(&self, job: BoxFuture<'static, ()>) {
        if let Some(thread) = &self.thread {
            let _ = thread.jobs.unbounded_send(job);
        }
    }
}

/// Not an `async_io::block_on`: as long as one waits, the thread of async-io takes longer to notice what comes.
fn work(jobs: UnboundedReceiver<BoxFuture<'static, ()>>) {
    futures_executor::block_on(jobs.for_each_concurrent(None, |job| job));
}
