use crate::{
    hall::{Hall, V, call, request},
    site::post,
};
use futures_channel::oneshot;
use sandwire_io::{
    BoxFuture, Bytes, Env, HttpService, MemoryEvents, MemoryStore, Store, StoreError, Timer, testing::SimEnv,
};
use sandwire_proto::{
    Time,
    http::{RequestHead, Verb},
};
use sandwire_server::{
    Server,
    http::{Guard, HttpEntry, Sessions},
};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Waker},
};

const IDLE: u64 = 60_000;

fn hall() -> Hall {
    Hall::new(Sessions { idle_ms: IDLE, ..Sessions::default() })
}

fn status(hall: &Hall, id: &str) -> u16 {
    hall.post(id, &request(1, "ping", "")).response().whole().head.status
}

#[test]
fn a_thousand_sessions_that_end_leave_nothing() {
    let mut hall = hall();
    for _ in 0..1000 {
        let id = hall.open(V);
        assert_eq!(hall.delete(&id), 204);
    }
    assert_eq!(hall.entry.sessions(), 0);
    for _ in 0..1000 {
        hall.open(V);
    }
    assert!(hall.run().is_pending());
    assert_eq!(hall.entry.sessions(), 1000);
    hall.env.advance(IDLE + IDLE / 32);
    assert!(hall.run().is_pending());
    assert_eq!(hall.entry.sessions(), 0);
    assert_eq!(hall.env.next_timer(), None, "nothing is left to wait for");
}

#[test]
fn a_session_is_idle_from_its_last_request_on() {
    let mut hall = hall();
    let (used, unused) = (hall.open(V), hall.open(V));
    hall.env.advance(IDLE / 2);
    assert_eq!(status(&hall, &used), 200);
    hall.env.advance(IDLE / 2);
    assert_eq!(status(&hall, &unused), 404, "on time, although no driver ran");
    assert_eq!(status(&hall, &used), 200);
    assert!(hall.run().is_pending());
    assert_eq!(hall.entry.sessions(), 1);
}

#[test]
fn a_session_that_is_in_use_is_not_idle() {
    let mut hall = hall();
    let (reading, calling, gone) = (hall.open(V), hall.open(V), hall.open(V));
    let stream = hall.get(&reading);
    let mut slow = hall.post(&calling, &call(1, "door", "a"));
    let mut left = hall.post(&gone, &call(1, "door", "b"));
    assert!(slow.poll().is_none() && left.poll().is_none());
    drop(left);
    assert!(hall.run().is_pending());
    hall.env.advance(2 * IDLE);
    assert!(hall.run().is_pending());
    assert_eq!(hall.entry.sessions(), 2, "a call whose client went away keeps none");
    assert_eq!((hall.open_doors("a"), hall.open_doors("b")), (1, 0));
    assert!(slow.poll().is_some());
    drop((stream, slow));
    hall.env.advance(2 * IDLE);
    assert!(hall.run().is_pending());
    assert_eq!(hall.entry.sessions(), 0);
}

#[test]
fn there_are_as_many_sessions_as_allowed() {
    let hall = Hall::new(Sessions { idle_ms: IDLE, max: 2, ..Sessions::default() });
    let (one, _) = (hall.open(V), hall.open(V));
    let got = hall.initialize(V);
    assert_eq!((got.head.status, got.code(), got.header("mcp-session-id")), (503, -32603, ""));
    assert!(got.body.contains(r#""id":0"#), "{}", got.body);
    assert_eq!(status(&hall, &one), 200);
    hall.env.advance(IDLE);
    assert_ne!(hall.open(V), one);
    assert_eq!(hall.entry.sessions(), 1, "those that are idle make room");
}

#[test]
fn a_client_does_not_say_more_of_itself_than_is_kept() {
    let hall = hall();
    let name = "n".repeat(70_000);
    let params =
        format!(r#""protocolVersion":"{V}","capabilities":{{}},"clientInfo":{{"name":"{name}","version":"1"}}"#);
    let got = hall.send(post(&[]), &request(0, "initialize", &params));
    assert_eq!((got.head.status, got.code(), hall.entry.sessions()), (413, -32600, 0));
}

#[test]
fn another_instance_takes_a_session_up() {
    let env = SimEnv::new(3);
    let store = MemoryStore::new(Arc::new(env.clone()), 100);
    let with = |seed| {
        let kept: Arc<dyn Store> = Arc::new(store.clone());
        let env = SimEnv::new(seed);
        Hall::beside(env, |_| Sessions { idle_ms: IDLE, store: Some(kept), ..Sessions::default() })
    };
    let first = with(5);
    let id = first.open(V);
    for (n, (method, params)) in
        [("resources/subscribe", r#""uri":"a:b""#), ("logging/setLevel", r#""level":"error""#)].into_iter().enumerate()
    {
        assert_eq!(first.post(&id, &request(n as i64, method, params)).response().whole().head.status, 200);
    }
    drop(first);
    assert_eq!(store.len(), 1);

    let second = with(7);
    let mut stream = second.get(&id);
    second.server.resources().updated("a:b");
    second.server.resources().updated("c:d");
    let told = stream.part();
    assert!(told.contains("a:b") && !told.contains("c:d"), "{told}");
    let mut quiet = second.post(&id, &call(1, "shout", "a"));
    assert!(quiet.poll().is_none(), "warnings are under the level");
    let asked = second.post(&id, &call(2, "ask", "")).response().part();
    assert!(asked.contains("elicitation/create"), "the client's capabilities are known: {asked}");
    assert_eq!(second.delete(&id), 204);
    assert!(store.is_empty());
    assert_eq!(status(&with(9), &id), 404);
}

#[test]
fn what_is_kept_expires_with_the_session_and_not_before() {
    let env = SimEnv::new(3);
    let store = MemoryStore::new(Arc::new(env.clone()), 100);
    let kept: Arc<dyn Store> = Arc::new(store.clone());
    let hall = Hall::beside(env.clone(), |_| Sessions { idle_ms: IDLE, store: Some(kept), ..Sessions::default() });
    let id = hall.open(V);
    for _ in 0..10 {
        env.advance(IDLE / 3);
        assert_eq!(status(&hall, &id), 200);
    }
    env.advance(IDLE);
    assert_eq!(status(&hall, &id), 404);
}

struct Broken;

impl Store for Broken {
    fn get(&self, _: &str) -> BoxFuture<'static, Result<Option<String>, StoreError>> {
        Box::pin(async { Err(StoreError::new("broken")) })
    }
    fn put(&self, _: &str, _: &str, _: u64) -> BoxFuture<'static, Result<(), StoreError>> {
        Box::pin(async { Err(StoreError::new("broken")) })
    }
    fn remove(&self, _: &str) -> BoxFuture<'static, Result<(), StoreError>> {
        Box::pin(async { Err(StoreError::new("broken")) })
    }
}

#[test]
fn a_session_that_cannot_be_kept_is_not_begun() {
    let hall = Hall::new(Sessions { store: Some(Arc::new(Broken)), ..Sessions::default() });
    assert_eq!(hall.initialize(V).head.status, 503);
    assert_eq!(hall.entry.sessions(), 0);
    assert_eq!(status(&hall, "00000000000000000000000000000000"), 404);
}

/// A store in which everything takes until the door is opened, and is done then.
#[derive(Clone)]
struct Late(MemoryStore, Arc<Mutex<Option<oneshot::Receiver<()>>>>);

impl Store for Late {
    fn get(&self, key: &str) -> BoxFuture<'static, Result<Option<String>, StoreError>> {
        self.0.get(key)
    }
    fn put(&self, key: &str, value: &str, ttl_ms: u64) -> BoxFuture<'static, Result<(), StoreError>> {
        let (store, door) = (self.0.clone(), self.1.lock().unwrap().take());
        let (key, value) = (key.to_owned(), value.to_owned());
        Box::pin(async move {
            if let Some(door) = door {
                door.await.unwrap();
            }
            store.put(&key, &value, ttl_ms).await
        })
    }
    fn remove(&self, key: &str) -> BoxFuture<'static, Result<(), StoreError>> {
        self.0.remove(key)
    }
}

#[test]
fn a_session_that_ends_while_it_is_written_stays_ended() {
    let (env, door) = (SimEnv::new(3), Arc::default());
    let store = Late(MemoryStore::new(Arc::new(env.clone()), 100), Arc::clone(&door));
    let kept: Arc<dyn Store> = Arc::new(store.clone());
    let hall = Hall::beside(env, |_| Sessions { store: Some(kept), ..Sessions::default() });
    let id = hall.open(V);
    let (open, closed) = oneshot::channel();
    *door.lock().unwrap() = Some(closed);
    let mut writing = hall.post(&id, &request(1, "logging/setLevel", r#""level":"error""#));
    assert!(writing.poll().is_none());
    assert_eq!(hall.delete(&id), 204);
    open.send(()).unwrap();
    writing.response();
    assert!(store.0.is_empty());
    assert_eq!(status(&hall, &id), 404);
}

#[test]
fn events_go_with_their_session() {
    let events = MemoryEvents::default();
    let settings = Sessions { idle_ms: IDLE, events: Some(Arc::new(events.clone())), ..Sessions::default() };
    let mut hall = Hall::new(settings);
    let (one, two) = (hall.open(V), hall.open(V));
    for id in [&one, &two] {
        let mut slow = hall.post(id, &call(1, "shout", "a")).response();
        slow.part();
    }
    assert_eq!(events.sessions(), 2);
    hall.delete(&one);
    assert!(hall.run().is_pending());
    assert_eq!(events.sessions(), 1);
    hall.env.advance(2 * IDLE);
    assert!(hall.run().is_pending());
    assert_eq!((events.sessions(), hall.entry.sessions()), (0, 0));
}

#[test]
fn pages_may_use_sessions() {
    let hall = hall();
    let mut head = RequestHead::new(Verb::Options);
    for (name, value) in [
        ("host", "localhost"),
        ("origin", "http://localhost:5173"),
        ("access-control-request-method", "DELETE"),
        ("access-control-request-headers", "mcp-session-id, last-event-id, mcp-protocol-version"),
    ] {
        head.headers.push(name, value);
    }
    let got = hall.send(head, "");
    assert_eq!(got.header("access-control-allow-methods"), "POST, GET, DELETE, OPTIONS");
    for name in ["Mcp-Session-Id", "Last-Event-ID", "MCP-Protocol-Version"] {
        assert!(got.header("access-control-allow-headers").contains(name), "{name}");
    }
    let mut head = post(&[("origin", "http://localhost:5173")]);
    head.headers.push("host", "localhost");
    let params = format!(r#""protocolVersion":"{V}","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}"#);
    let got = hall.send(head, &request(0, "initialize", &params));
    assert!(got.header("access-control-expose-headers").contains("Mcp-Session-Id"));
    let mut head = hall.head(Verb::Get, got.header("mcp-session-id"), V);
    head.headers.push("origin", "http://evil.example");
    assert_eq!(hall.send(head, "").head.status, 403);
}

/// A clock that counts how often it is looked at.
struct Watched(SimEnv, AtomicUsize);

impl Env for Watched {
    fn now(&self) -> Time {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.now()
    }
    fn timer(&self) -> Box<dyn Timer> {
        self.0.timer()
    }
    fn fill_random(&self, bytes: &mut [u8]) {
        self.0.fill_random(bytes);
    }
    fn unix_time(&self) -> Option<u64> {
        self.0.unix_time()
    }
}

#[test]
fn the_driver_looks_for_idle_sessions_when_there_may_be_one_and_not_whenever_it_is_woken() {
    let env = Arc::new(Watched(SimEnv::new(5), AtomicUsize::new(0)));
    let sessions = Sessions { idle_ms: IDLE, ..Sessions::default() };
    let server = Arc::new(Server::builder("s", "1").build().unwrap());
    let (entry, driver) = HttpEntry::with_sessions(server, Arc::<Watched>::clone(&env), Guard::default(), sessions);
    let (mut driver, mut cx) = (Box::pin(driver), Context::from_waker(Waker::noop()));
    let params = format!(r#""protocolVersion":"{V}","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}"#);
    let mut begun = entry.handle(post(&[]), Box::new(Bytes::new(request(0, "initialize", &params))));
    assert!(begun.as_mut().poll(&mut cx).is_ready() && entry.sessions() == 1);
    drop(begun);
    assert!(driver.as_mut().poll(&mut cx).is_pending());
    let looked = env.1.load(Ordering::Relaxed);
    for _ in 0..100 {
        assert!(driver.as_mut().poll(&mut cx).is_pending());
    }
    assert_eq!(env.1.load(Ordering::Relaxed), looked);
    env.0.advance(2 * IDLE);
    assert!(driver.as_mut().poll(&mut cx).is_pending());
    assert_eq!(entry.sessions(), 0);
}

#[test]
fn the_driver_ends_with_the_entry() {
    let mut hall = hall();
    hall.open(V);
    assert!(hall.run().is_pending());
    hall.entry = Hall::new(Sessions::default()).entry;
    assert!(hall.run().is_ready());
}
