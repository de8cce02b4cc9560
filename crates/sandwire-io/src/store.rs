//! What outlives a connection: small texts under a key, and the events of a stream that a client may ask for again.

use std::{
    borrow::Cow,
    collections::{BTreeMap, VecDeque},
    error::Error,
    fmt,
    future::ready,
    sync::{Arc, Mutex},
};

use sandwire_proto::Time;

use crate::{BoxFuture, Env, MaybeSend, MaybeSync, host::lock};

/// Keeps texts under keys for a time: a database, a file, a platform's key-value service.
///
/// Everything that is kept here can be lost: whoever reads finds nothing, and begins anew.
pub trait Store: MaybeSend + MaybeSync + 'static {
    /// What is kept under `key` and has not expired.
    fn get(&self, key: &str) -> BoxFuture<'static, Result<Option<String>, StoreError>>;

    /// Keeps `value` under `key` for `ttl_ms` milliseconds, in place of what was there.
    fn put(&self, key: &str, value: &str, ttl_ms: u64) -> BoxFuture<'static, Result<(), StoreError>>;

    /// Forgets what is kept under `key`, if anything is.
    fn remove(&self, key: &str) -> BoxFuture<'static, Result<(), StoreError>>;
}

/// Keeps the events of a session's streams, so that a client whose connection broke can have the rest.
pub trait EventStore: MaybeSend + MaybeSync + 'static {
    /// Keeps an event of a stream, and gives the id by which a client names it. An id is of visible ASCII characters
    /// and unique within its session.
    fn append(&self, session: &str, stream: u64, event: &str) -> BoxFuture<'static, Result<String, StoreError>>;

    /// What followed an event on its stream; nothing if the session has no such event, or has it no more.
    fn replay(&self, session: &str, after: &str) -> BoxFuture<'static, Result<Option<Replay>, StoreError>>;

    /// Forgets a session that ended.
    fn forget(&self, session: &str) -> BoxFuture<'static, Result<(), StoreError>>;
}

/// The end of a stream, from some event on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs)]
pub struct Replay {
    /// The stream.
    pub stream: u64,
    /// The ids and texts of its events, oldest first.
    pub events: Vec<(String, String)>,
}

/// Why a store could not do what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreError(Cow<'static, str>);

impl StoreError {
    /// A failure told by `message` (lower case, no final stop, saying what to do next).
    pub fn new(message: impl Into<Cow<'static, str>>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for StoreError {}

/// A [`Store`] in this process's memory. Clones share what they keep.
#[derive(Clone)]
pub struct MemoryStore {
    env: Arc<dyn Env>,
    max_entries: usize,
    entries: Arc<Mutex<BTreeMap<Box<str>, Entry>>>,
}

/// Until when it is kept, and the text.
type Entry = (Time, Box<str>);

impl MemoryStore {
    /// A store of at most `max_entries` texts. When it is full of what has not expired, it takes no more.
    #[must_use]
    pub fn new(env: Arc<dyn Env>, max_entries: usize) -> Self {
        Self { env, max_entries, entries: Arc::default() }
    }

    /// How many texts there are, those that expired and were not missed yet included.
    #[must_use]
    pub fn len(&self) -> usize {
        lock(&self.entries).len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn put_now(&self, key: &str, value: &str, ttl_ms: u64) -> Result<(), StoreError> {
        let now = self.env.now();
        let mut entries = lock(&self.entries);
        if entries.len() >= self.max_entries && !entries.contains_key(key) {
            entries.retain(|_, (until, _)| *until > now);
            if entries.len() >= self.max_entries {
                return Err(StoreError::new("the store is full; remove something, or make it larger"));
            }
        }
        entries.insert(key.into(), (now.after(ttl_ms), value.into()));
        Ok(())
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl Store for MemoryStore {
    fn get(&self, key: &str) -> BoxFuture<'static, Result<Option<String>, StoreError>> {
        let now = self.env.now();
        let found = lock(&self.entries).get(key).filter(|(until, _)| *until > now).map(|(_, value)| value.to_string());
        Box::pin(ready(Ok(found)))
    }

    fn put(&self, key: &str, value: &str, ttl_ms: u64) -> BoxFuture<'static, Result<(), StoreError>> {
        Box::pin(ready(self.put_now(key, value, ttl_ms)))
    }

    fn remove(&self, key: &str) -> BoxFuture<'static, Result<(), StoreError>> {
        lock(&self.entries).remove(key);
        Box::pin(ready(Ok(())))
    }
}

/// An [`EventStore`] in this process's memory. Clones share what they keep.
///
/// It keeps the newest events of each session, up to a number and a size; an event over the size is not kept.
#[derive(Clone, Debug)]
pub struct MemoryEvents {
    max_events: usize,
    max_bytes: usize,
    max_sessions: usize,
    logs: Arc<Mutex<BTreeMap<Box<str>, Log>>>,
}

#[derive(Debug, Default)]
struct Log {
    /// The number of its newest event.
    newest: u64,
    bytes: usize,
    events: VecDeque<Event>,
}

#[derive(Debug)]
struct Event {
    stream: u64,
    number: u64,
    text: Box<str>,
}

impl Default for MemoryEvents {
    /// 256 events and 1 MiB for each of at most 1,024 sessions.
    fn default() -> Self {
        Self::new(256, 1024 * 1024, 1024)
    }
}

impl MemoryEvents {
    /// A store of at most `max_events` events and `max_bytes` bytes of each session, for at most `max_sessions`
    /// sessions; the events of a session beyond those have ids and are not kept.
    #[must_use]
    pub fn new(max_events: usize, max_bytes: usize, max_sessions: usize) -> Self {
        Self { max_events, max_bytes, max_sessions, logs: Arc::default() }
    }

    /// How many sessions have events here.
    #[must_use]
    pub fn sessions(&self) -> usize {
        lock(&self.logs).len()
    }

    fn append_now(&self, session: &str, stream: u64, text: &str) -> Result<String, StoreError> {
        let mut logs = lock(&self.logs);
        if logs.len() >= self.max_sessions && !logs.contains_key(session) {
            return Err(StoreError::new("events of too many sessions are kept; make the store larger"));
        }
        let log = logs.entry(session.into()).or_default();
        log.newest += 1;
        log.bytes += text.len();
        log.events.push_back(Event { stream, number: log.newest, text: text.into() });
        while log.events.len() > self.max_events || log.bytes > self.max_bytes {
            let Some(oldest) = log.events.pop_front() else { break };
            log.bytes -= oldest.text.len();
        }
        Ok(id_of(stream, log.newest))
    }

    fn replay_now(&self, session: &str, after: &str) -> Option<Replay> {
        let (stream, number) = read_id(after)?;
        let logs = lock(&self.logs);
        let mut events = logs.get(session)?.events.iter().skip_while(|event| event.number < number);
        events.next().filter(|event| event.number == number && event.stream == stream)?;
        let events = events.filter(|event| event.stream == stream);
        let events = events.map(|event| (id_of(stream, event.number), event.text.to_string())).collect();
        Some(Replay { stream, events })
    }
}

fn id_of(stream: u64, number: u64) -> String {
    [&*stream.to_string(), "-", &number.to_string()].concat()
}

fn read_id(id: &str) -> Option<(u64, u64)> {
    let (stream, number) = id.split_once('-')?;
    Some((stream.parse().ok()?, number.parse().ok()?))
}

impl EventStore for MemoryEvents {
    fn append(&self, session: &str, stream: u64, event: &str) -> BoxFuture<'static, Result<String, StoreError>> {
        Box::pin(ready(self.append_now(session, stream, event)))
    }

    fn replay(&self, session: &str, after: &str) -> BoxFuture<'static, Result<Option<Replay>, StoreError>> {
        Box::pin(ready(Ok(self.replay_now(session, after))))
    }

    fn forget(&self, session: &str) -> BoxFuture<'static, Result<(), StoreError>> {
        lock(&self.logs).remove(session);
        Box::pin(ready(Ok(())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::SimEnv;
    use futures::FutureExt;

    fn now<T>(future: BoxFuture<'static, T>) -> T {
        future.now_or_never().unwrap()
    }

    #[test]
    fn texts_expire_and_make_room() {
        let env = SimEnv::new(1);
        let store = MemoryStore::new(Arc::new(env.clone()), 2);
        now(store.put("a", "1", 10)).unwrap();
        now(store.put("b", "2", 20)).unwrap();
        assert!(now(store.put("c", "3", 20)).is_err());
        now(store.put("a", "4", 10)).unwrap();
        assert_eq!(now(store.get("a")).unwrap().as_deref(), Some("4"));
        env.advance(10);
        assert_eq!(now(store.get("a")).unwrap(), None);
        now(store.put("c", "3", 20)).unwrap();
        now(store.remove("b")).unwrap();
        assert_eq!(store.len(), 1);
    }

    #[test]
    fn a_replay_is_of_one_stream_of_one_session() {
        let events = MemoryEvents::default();
        let ids: Vec<_> = [(1, "a"), (2, "b"), (1, "c"), (2, "d")]
            .map(|(stream, text)| now(events.append("s", stream, text)).unwrap())
            .into();
        let replay = now(events.replay("s", &ids[0])).unwrap().unwrap();
        assert_eq!(replay, Replay { stream: 1, events: vec![(ids[2].clone(), "c".into())] });
        assert_eq!(now(events.replay("s", &ids[3])).unwrap().unwrap().events, []);
        for id in ["", "1", "-", "1-", "-1", "1-2", "2-1", "1-5", "1-0", "x-1", "1-99999999999999999999", "☃-1"] {
            assert_eq!(now(events.replay("s", id)).unwrap(), None, "{id}");
        }
        assert_eq!(now(events.replay("t", &ids[0])).unwrap(), None);
        now(events.forget("s")).unwrap();
        assert_eq!((events.sessions(), now(events.replay("s", &ids[0])).unwrap()), (0, None));
    }

    #[test]
    fn what_is_kept_of_a_session_is_bounded() {
        let events = MemoryEvents::new(3, 10, 1);
        let ids: Vec<_> = (0..5).map(|_| now(events.append("s", 1, "four")).unwrap()).collect();
        assert_eq!(now(events.replay("s", &ids[2])).unwrap(), None, "two of four bytes fit");
        assert_eq!(now(events.replay("s", &ids[3])).unwrap().unwrap().events.len(), 1);
        let long = now(events.append("s", 1, "longer than all")).unwrap();
        assert_eq!(now(events.replay("s", &long)).unwrap(), None);
        assert!(now(events.append("t", 1, "")).is_err());
    }
}
