//! Results that a modern server says may be used again, behind the [`Store`] port.
//!
//! An entry is the result behind a mark of its subject. Who learns that a subject changed removes the mark, with which
//! every entry that has it is worth nothing, whoever keeps it and whichever page it is.

use sandwire_io::{
    BoxFuture, Callback, Env, Store,
    client::{Call, CallError, ClientHandle},
};
use sandwire_json::{Raw, find};
use sandwire_types::{Era, ErrorCode, Method, Notification, Reply, ResultKind};
use std::{
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::Context,
    time::Duration,
};

/// Where results are kept that may be used again, and for whom.
#[derive(Clone)]
pub struct CacheOptions {
    store: Arc<dyn Store>,
    partition: String,
    max_ttl_ms: u64,
}

impl CacheOptions {
    /// Keeps results in `store` under `partition`, a text that names the server and the authorization with which it is
    /// asked: whoever gives the same text may be given the same results.
    pub fn new(store: impl Store, partition: impl Into<String>) -> Self {
        Self { store: Arc::new(store), partition: partition.into(), max_ttl_ms: 24 * 60 * 60 * 1000 }
    }

    /// How long a result is kept at most, whatever the server says. A day, if this is not called.
    #[must_use]
    pub fn max_ttl(mut self, time: Duration) -> Self {
        self.max_ttl_ms = time.as_millis().try_into().unwrap_or(u64::MAX);
        self
    }
}

impl fmt::Debug for CacheOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CacheOptions").field("partition", &self.partition).finish_non_exhaustive()
    }
}

/// What results are about. They change together.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    Server,
    Tools,
    Prompts,
    /// The lists of resources and of templates.
    Resources,
    /// What resources hold.
    Contents,
}

const SUBJECTS: usize = 5;

/// Where a result is kept.
pub(crate) struct Place {
    subject: Subject,
    key: String,
    /// Whether the call may be asked for input.
    asks: bool,
    /// Whether it is a page that another one named.
    later_page: bool,
}

pub(crate) struct Cache {
    options: CacheOptions,
    env: Arc<dyn Env>,
    /// By subject.
    changes: [Changes; SUBJECTS],
    /// Marks that are being removed; the driver moves that on.
    removing: Mutex<Vec<BoxFuture<'static, ()>>>,
}

#[derive(Default)]
struct Changes {
    /// How often the subject is known to have changed.
    seen: AtomicU64,
    /// How many of these changes the store does not know yet.
    untold: AtomicU64,
}

/// Tells apart the marks that hosts without randomness make.
static MARKS: AtomicU64 = AtomicU64::new(0);

impl Cache {
    pub(crate) fn new(options: CacheOptions, env: Arc<dyn Env>) -> Self {
        Self { options, env, changes: Default::default(), removing: Mutex::default() }
    }

    /// Where the result of a call is kept, if it may be.
    pub(crate) fn place(&self, call: &Call) -> Option<Place> {
        let request = &call.request;
        let subject = match request.method {
            Method::ServerDiscover => Subject::Server,
            Method::ToolsList => Subject::Tools,
            Method::PromptsList => Subject::Prompts,
            Method::ResourcesList | Method::ResourcesTemplatesList => Subject::Resources,
            Method::ResourcesRead => Subject::Contents,
            _ => return None,
        };
        let params = request.params.as_ref().map_or("", |params| params.as_str());
        let retried = find(params, "inputResponses").is_some() || find(params, "requestState").is_some();
        if retried || request.meta.is_some() {
            return None;
        }
        let key = self.key(&[request.method.as_str(), ":", params]);
        let later_page = find(params, "cursor").is_some();
        Some(Place { subject, key, asks: subject == Subject::Contents, later_page })
    }

    fn key(&self, parts: &[&str]) -> String {
        let partition = &self.options.partition;
        // The length keeps apart what partitions and keys have in common.
        let mut key = ["mcp-cache:", &partition.len().to_string(), ":", partition, ":"].concat();
        key.extend(parts.iter().copied());
        key
    }

    fn mark_key(&self, subject: Subject) -> String {
        self.key(&["mark:", &(subject as usize).to_string()])
    }

    fn changes(&self, subject: Subject) -> Option<&Changes> {
        self.changes.get(subject as usize)
    }

    /// How often the subject changed; nothing if the store does not know of all of it.
    fn seen(&self, subject: Subject) -> Option<u64> {
        let changes = self.changes(subject)?;
        let settled = changes.untold.load(Ordering::Acquire) == 0;
        settled.then(|| changes.seen.load(Ordering::Acquire))
    }

    /// Makes a call, unless its result is there.
    pub(crate) async fn call(
        self: Arc<Self>,
        client: ClientHandle,
        mut call: Call,
        place: Place,
    ) -> Result<Reply, CallError> {
        if let Some(value) = self.find(&place).await {
            return Ok(Reply::new(value));
        }
        let seen = self.seen(place.subject);
        let manual = call.request.manual_rounds;
        call.request.manual_rounds |= place.asks;
        let again = place.asks.then(|| Call {
            request: call.request.clone(),
            on_progress: call.on_progress.clone(),
            on_event: None,
        });
        let reply = client.call(call).await;
        match (&reply, again) {
            // What comes of further rounds is for this caller alone: it is not kept.
            (Ok(Reply { kind: ResultKind::InputRequired, .. }), Some(mut again)) if !manual => {
                again.request.manual_rounds = false;
                return client.call(again).await;
            }
            (Ok(reply), _) => {
                let modern = client.info().is_some_and(|server| server.era() == Era::Modern);
                if let Some(seen) = seen.filter(|_| modern) {
                    self.keep(&place, seen, reply).await;
                }
            }
            (Err(CallError::Peer(error)), _) if error.code == ErrorCode::INVALID_PARAMS && place.later_page => {
                // The pages that led here are no more.
                self.changed(place.subject);
            }
            _ => {}
        }
        reply
    }

    async fn find(&self, place: &Place) -> Option<Raw> {
        let seen = self.seen(place.subject)?;
        let mark = self.get(&self.mark_key(place.subject)).await?;
        let entry = self.get(&place.key).await?;
        let value = entry.strip_prefix(&*mark)?.strip_prefix('\n')?;
        (self.seen(place.subject) == Some(seen)).then(|| Raw::parse(value).ok())?
    }

    async fn keep(&self, place: &Place, seen: u64, reply: &Reply) {
        let ttl = ttl_ms(&reply.value).min(self.options.max_ttl_ms);
        let current = || self.seen(place.subject) == Some(seen);
        if ttl == 0 || reply.kind != ResultKind::Complete || !current() {
            return;
        }
        let store = &self.options.store;
        let mark_key = self.mark_key(place.subject);
        let mark = match self.get(&mark_key).await {
            Some(mark) => mark,
            None => {
                let mark = self.new_mark();
                if store.put(&mark_key, &mark, self.options.max_ttl_ms).await.is_err() {
                    return;
                }
                mark
            }
        };
        let entry = [&mark, "\n", reply.value.as_str()].concat();
        // A store that is full or away keeps nothing, and nothing is lost.
        let kept = current() && store.put(&place.key, &entry, ttl).await.is_ok();
        if kept && !current() {
            let _ = store.remove(&place.key).await;
        }
    }

    async fn get(&self, key: &str) -> Option<String> {
        self.options.store.get(key).await.ok().flatten()
    }

    fn new_mark(&self) -> String {
        let mut random = [0; 8];
        self.env.fill_random(&mut random);
        let count = MARKS.fetch_add(1, Ordering::Relaxed);
        [&*u64::from_le_bytes(random).to_string(), "-", &count.to_string()].concat()
    }

    /// Learns from a notification what changed.
    pub(crate) fn hear(self: &Arc<Self>, told: &Notification) {
        match told.method {
            Method::ToolsListChanged => self.changed(Subject::Tools),
            Method::PromptsListChanged => self.changed(Subject::Prompts),
            Method::ResourcesListChanged => {
                self.changed(Subject::Resources);
                self.changed(Subject::Contents);
            }
            // It may name a part of what is kept.
            Method::ResourcesUpdated => self.changed(Subject::Contents),
            _ => {}
        }
    }

    /// Hears what a subscription tells, before whoever made it.
    pub(crate) fn overhear(self: &Arc<Self>, listener: Option<Callback<Notification>>) -> Callback<Notification> {
        let cache = Arc::clone(self);
        Arc::new(move |told: Notification| {
            cache.hear(&told);
            if let Some(listener) = &listener {
                listener(told);
            }
        })
    }

    /// Forgets everything.
    pub(crate) fn clear(self: &Arc<Self>) {
        for subject in [Subject::Server, Subject::Tools, Subject::Prompts, Subject::Resources, Subject::Contents] {
            self.changed(subject);
        }
    }

    fn changed(self: &Arc<Self>, subject: Subject) {
        let Some(changes) = self.changes(subject) else { return };
        changes.untold.fetch_add(1, Ordering::AcqRel);
        changes.seen.fetch_add(1, Ordering::AcqRel);
        let removed = self.options.store.remove(&self.mark_key(subject));
        let cache = Arc::clone(self);
        let settle = async move {
            // Where it cannot be removed, the subject is not looked up any more.
            if removed.await.is_ok()
                && let Some(changes) = cache.changes(subject)
            {
                changes.untold.fetch_sub(1, Ordering::AcqRel);
            }
        };
        self.removing.lock().unwrap_or_else(PoisonError::into_inner).push(Box::pin(settle));
    }

    /// Moves on what is being removed.
    pub(crate) fn poll(&self, cx: &mut Context<'_>) {
        let mut removing = std::mem::take(&mut *self.removing.lock().unwrap_or_else(PoisonError::into_inner));
        removing.retain_mut(|settle| settle.as_mut().poll(cx).is_pending());
        self.removing.lock().unwrap_or_else(PoisonError::into_inner).append(&mut removing);
    }
}

/// How long a result may be used again. What is no whole number of milliseconds stands for none.
fn ttl_ms(result: &Raw) -> u64 {
    find(result.as_str(), "ttlMs").and_then(|ttl| ttl.parse().ok()).unwrap_or_default()
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.options.fmt(f)
    }
}
