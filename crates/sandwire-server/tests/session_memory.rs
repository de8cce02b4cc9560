//! What a session costs while nobody uses it.
#![allow(missing_docs, clippy::unwrap_used)]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Waker},
};

use futures_executor::block_on;
use sandwire_io::{Bytes, HttpService, testing::SimEnv};
use sandwire_proto::http::{RequestHead, Verb};
use sandwire_server::{
    Server,
    http::{Guard, HttpEntry, Sessions},
};

struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);

// SAFETY: the system's allocator does it all; the counter beside it changes nothing of what it gives.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const SESSIONS: usize = 1000;

fn post(entry: &HttpEntry, session: Option<&str>, body: &str) -> String {
    let mut head = RequestHead::new(Verb::Post);
    head.headers.push("content-type", "application/json");
    if let Some(session) = session {
        head.headers.push("mcp-session-id", session);
    }
    let (head, _) = block_on(entry.handle(head, Box::new(Bytes::new(body))));
    assert!(head.is_success(), "{}", head.status);
    head.headers.get("mcp-session-id").unwrap_or_default().to_owned()
}

#[test]
fn an_idle_session_is_small_and_leaves_nothing() {
    let server = Server::builder("memory", "1").tool("add", "", || "sum").build().unwrap();
    let env = SimEnv::new(1);
    let (entry, driver) =
        HttpEntry::with_sessions(Arc::new(server), Arc::new(env.clone()), Guard::default(), Sessions::default());
    let mut driver = pin!(driver);
    let mut cx = Context::from_waker(Waker::noop());
    let params = r#"{"protocolVersion":"2025-11-25","capabilities":{"sampling":{},"elicitation":{},"roots":{"listChanged":true}},"clientInfo":{"name":"a-client-with-a-name","title":"A client","version":"1.20.3"}}"#;
    let initialize = format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{params}}}"#);
    let open = || {
        let id = post(&entry, None, &initialize);
        post(&entry, Some(&id), r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        post(&entry, Some(&id), r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
        let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add","arguments":{}}}"#;
        post(&entry, Some(&id), call);
    };
    open();
    let before = HELD.load(Ordering::Relaxed);
    (0..SESSIONS).for_each(|_| open());
    let each = (HELD.load(Ordering::Relaxed) - before) / SESSIONS;
    assert!(each < 4000, "{each} bytes");
    println!("{each} bytes for each idle session");
    assert_eq!(entry.sessions(), SESSIONS + 1);

    let idle_ms = Sessions::default().idle_ms;
    env.advance(2 * idle_ms);
    assert!(driver.as_mut().poll(&mut cx).is_pending());
    assert_eq!(entry.sessions(), 0);
    open();
    let left = HELD.load(Ordering::Relaxed).saturating_sub(before) / SESSIONS;
    assert!(left < 16, "{left} bytes are left of each");
}
