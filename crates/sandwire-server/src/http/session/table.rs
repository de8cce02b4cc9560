//! The sessions there are, and since when nobody used them.

use std::{
    collections::BTreeMap,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicUsize},
    task::Waker,
};

use futures_channel::mpsc::{UnboundedSender, unbounded};
use futures_util::task::AtomicWaker;
use sandwire_io::{BoxFuture, Env, Session};
use sandwire_proto::{Time, server::Saved};
use sandwire_types::ErrorCode;

use super::{Known, Refusal, Sessions, SessionsDriver};

pub(in crate::http) struct Table {
    pub(super) settings: Sessions,
    env: Arc<dyn Env>,
    live: Mutex<BTreeMap<Arc<str>, Arc<Live>>>,
    jobs: UnboundedSender<BoxFuture<'static, ()>>,
    /// How many requests are gone on with whose clients went away.
    pub(super) left: Arc<AtomicUsize>,
    /// Wakes the driver when there is a first session to expire.
    pub(super) driver: Arc<AtomicWaker>,
}

/// A session of this process.
pub(super) struct Live {
    pub(super) id: Arc<str>,
    pub(super) session: Session,
    /// The party that began it, to nobody but which it is there.
    owner: Option<Box<str>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// How many requests and streams use it.
    users: u32,
    /// When the last of them ended.
    used: Time,
    /// When it was last written to the store.
    kept: Time,
    /// Who reads what belongs to no request, and how many did before.
    listener: Option<u64>,
    listeners: u64,
    /// How often something was kept of a stream, or a stream ended.
    events: u64,
    followers: Vec<Waker>,
}

impl Table {
    pub(super) fn new(env: &Arc<dyn Env>, settings: Sessions) -> (Arc<Self>, SessionsDriver) {
        let (jobs, incoming) = unbounded();
        let driver = Arc::default();
        let table = Arc::new(Self {
            settings,
            env: Arc::clone(env),
            live: Mutex::default(),
            jobs,
            left: Arc::default(),
            driver,
        });
        let driver = SessionsDriver::new(&table, env, incoming);
        (table, driver)
    }

    pub(in crate::http) fn len(&self) -> usize {
        lock(&self.live).len()
    }

    /// Has the driver run something.
    pub(super) fn spawn(&self, job: impl Future<Output = ()> + sandwire_io::MaybeSend + 'static) {
        let _ = self.jobs.unbounded_send(Box::pin(job));
    }

    /// The session of this id, if it is one of this party.
    pub(super) fn find(self: &Arc<Self>, id: &str, from: &Known) -> Option<Using> {
        let mut table = lock(&self.live);
        let live = Arc::clone(table.get(id).filter(|live| live.owner.as_deref() == owner(from))?);
        if live.expiry(self.settings.idle_ms).is_some_and(|at| at <= self.env.now()) {
            table.remove(id);
            drop(table);
            self.expired(&live);
            return None;
        }
        Some(self.using(&live))
    }

    /// Whether another session may begin.
    pub(super) fn has_room(&self) -> Result<(), Refusal> {
        if self.len() < self.settings.max {
            return Ok(());
        }
        self.expire();
        if self.len() < self.settings.max { Ok(()) } else { Err(full()) }
    }

    /// Takes a session in. If there is one of that id already, that one stays.
    pub(super) fn insert(self: &Arc<Self>, id: Arc<str>, session: Session, from: &Known) -> Result<Using, Refusal> {
        self.has_room()?;
        let mut table = lock(&self.live);
        if table.len() >= self.settings.max {
            return Err(full());
        }
        let owner = owner(from).map(Box::from);
        let new = || Arc::new(Live { id: Arc::clone(&id), session, owner, state: Mutex::default() });
        let live = Arc::clone(table.entry(Arc::clone(&id)).or_insert_with(new));
        let using = self.using(&live);
        let is_first = table.len() == 1;
        drop(table);
        if is_first {
            self.driver.wake();
        }
        Ok(using)
    }

    fn using(self: &Arc<Self>, live: &Arc<Live>) -> Using {
        lock(&live.state).users += 1;
        Using { live: Arc::clone(live), table: Arc::clone(self), counts: true }
    }

    /// Ends the sessions that are idle for too long, and says when the next one may be.
    pub(super) fn expire(&self) -> Option<Time> {
        let now = self.env.now();
        let mut next = None;
        let mut ended = Vec::new();
        lock(&self.live).retain(|_, live| {
            let at = live.expiry(self.settings.idle_ms);
            if at.is_some_and(|at| at <= now) {
                ended.push(Arc::clone(live));
                return false;
            }
            let at = at.unwrap_or_else(|| now.after(self.settings.idle_ms));
            next = Some(next.map_or(at, |next: Time| next.min(at)));
            true
        });
        ended.iter().for_each(|live| self.expired(live));
        // Rather a little late than very often.
        next.map(|next| next.max(now.after(self.settings.idle_ms / 64 + 1)))
    }

    /// What ends with a session that is no longer in the table. What others may go on with stays in the store until it
    /// expires there.
    fn expired(&self, live: &Live) {
        live.close();
        if let (Some(events), None) = (&self.settings.events, &self.settings.store) {
            let forget = events.forget(&live.id);
            self.spawn(async move { drop(forget.await) });
        }
    }

    /// Ends a session of which nothing is kept elsewhere.
    pub(super) fn remove(&self, using: &Using) {
        lock(&self.live).remove(&using.live.id);
        using.live.close();
    }

    /// Ends a session for good.
    pub(super) async fn end(&self, using: &Using) {
        self.remove(using);
        let live = &using.live;
        if let Some(store) = &self.settings.store {
            let _ = store.remove(&key(&live.id)).await;
        }
        if let Some(events) = &self.settings.events {
            let _ = events.forget(&live.id).await;
        }
    }

    /// Writes a session to the store if it `changed`, or if what is there would expire too early. Whether that worked.
    pub(super) async fn keep(&self, using: &Using, changed: bool) -> bool {
        let Some(store) = &self.settings.store else { return true };
        let (now, idle_ms) = (self.env.now(), self.settings.idle_ms);
        {
            let mut state = lock(&using.live.state);
            if !changed && now.since(state.kept) < idle_ms / 4 {
                return true;
            }
            state.kept = now;
        }
        let Some(saved) = using.live.session.saved() else { return true };
        let key = key(&using.live.id);
        let is_kept = store.put(&key, &saved.write(), idle_ms).await.is_ok();
        if !using.is_live() {
            // It was ended meanwhile, and must not be found again.
            let _ = store.remove(&key).await;
        }
        is_kept
    }

    /// What is kept of a session that is not in the table.
    pub(super) async fn read(&self, id: &str) -> Option<Saved> {
        let store = self.settings.store.as_ref()?;
        let is_ours = id.len() <= 64 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_ours {
            return None;
        }
        Saved::read(&store.get(&key(id)).await.ok()??)
    }
}

/// The id of whoever sends a request.
pub(super) fn owner(from: &Known) -> Option<&str> {
    from.as_ref().map(|principal| &*principal.id)
}

fn key(id: &str) -> String {
    ["session/", id].concat()
}

fn full() -> Refusal {
    let message = "there are as many sessions as the server keeps; end some, or try again later";
    Refusal::new(503, ErrorCode::INTERNAL_ERROR, message)
}

impl Live {
    /// When it ends if nobody uses it; never while somebody does.
    fn expiry(&self, idle_ms: u64) -> Option<Time> {
        let state = lock(&self.state);
        (state.users == 0).then(|| state.used.after(idle_ms))
    }

    fn close(&self) {
        self.session.close();
        self.wake_followers();
    }

    /// Makes its caller the reader of what belongs to no request, in place of another if it `may_replace` one.
    pub(super) fn begin_listening(&self, may_replace: bool) -> Option<u64> {
        let mut state = lock(&self.state);
        if state.listener.is_some() && !may_replace {
            return None;
        }
        state.listeners += 1;
        state.listener = Some(state.listeners);
        state.listener
    }

    pub(super) fn is_listening(&self, listener: u64) -> bool {
        lock(&self.state).listener == Some(listener)
    }

    pub(super) fn end_listening(&self, listener: u64) {
        let mut state = lock(&self.state);
        state.listener = state.listener.filter(|current| *current != listener);
    }

    /// How often something was kept; wakes the follower when it is once more.
    pub(super) fn follow(&self, waker: &Waker) -> u64 {
        let mut state = lock(&self.state);
        if !state.followers.iter().any(|known| known.will_wake(waker)) {
            state.followers.push(waker.clone());
        }
        state.events
    }

    pub(super) fn wake_followers(&self) {
        let mut state = lock(&self.state);
        state.events += 1;
        let followers = mem::take(&mut state.followers);
        drop(state);
        followers.into_iter().for_each(Waker::wake);
    }
}

/// Keeps a session from being idle.
pub(super) struct Using {
    pub(super) live: Arc<Live>,
    pub(super) table: Arc<Table>,
    counts: bool,
}

impl Using {
    /// Whether the session goes on.
    pub(super) fn is_live(&self) -> bool {
        lock(&self.table.live).get(&self.live.id).is_some_and(|live| Arc::ptr_eq(live, &self.live))
    }

    /// Goes on with the session, and keeps it no more from being idle.
    pub(super) fn rest(&mut self) {
        if mem::take(&mut self.counts) {
            let mut state = lock(&self.live.state);
            state.users -= 1;
            state.used = self.table.env.now();
        }
    }
}

impl Drop for Using {
    fn drop(&mut self) {
        self.rest();
        self.live.wake_followers();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
