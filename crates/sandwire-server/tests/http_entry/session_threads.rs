//! One session used from several threads at once, its driver on another.

use std::{
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll, Waker},
    thread,
};

use futures_executor::block_on;
use sandwire_io::{Body, Bytes, HttpService, MemoryEvents, testing::SimEnv};
use sandwire_json::find;
use sandwire_server::{
    Form, Schema, Server, ToolError,
    http::{Guard, HttpEntry, Sessions},
};
use serde::Deserialize;

use crate::{hall::request, site::post};

#[derive(Deserialize, Schema)]
struct Turns {
    turns: u32,
}

#[derive(Deserialize, Schema)]
struct Who {
    name: String,
}

async fn pass(turns: u32) {
    let mut left = turns;
    poll_fn(|cx| {
        if left == 0 {
            return Poll::Ready(());
        }
        left -= 1;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

fn server() -> Server {
    Server::builder("threads", "1")
        .tool("turn", "", async |Turns { turns }: Turns, ctx: sandwire_server::Context| {
            ctx.progress(1.0, None, None);
            pass(turns % 5).await;
            turns.to_string()
        })
        .tool("ask", "", async |ctx: sandwire_server::Context| {
            let who = ctx.elicit("who", Form::<Who>::new("Who are you?")).await?;
            Ok::<_, ToolError>(who.accepted().map(|who| who.name).unwrap_or_default())
        })
        .build()
        .unwrap()
}

struct Client<'a> {
    entry: &'a HttpEntry,
    session: &'a str,
}

impl Client<'_> {
    fn begin(&self, body: String) -> Box<dyn Body> {
        let head = post(&[("Mcp-Session-Id", self.session)]);
        block_on(self.entry.handle(head, Box::new(Bytes::new(body)))).1
    }

    /// Reads until there is `part`, or to the end.
    fn read(&self, body: &mut Box<dyn Body>, part: &str) -> String {
        let mut text = String::new();
        while !text.contains(part) {
            match block_on(poll_fn(|cx| body.poll_chunk(cx))) {
                Some(chunk) => text.push_str(&String::from_utf8(chunk.unwrap()).unwrap()),
                None => break,
            }
        }
        text
    }

    fn call(&self, id: i64, turns: i64) -> String {
        let params = format!(r#""name":"turn","arguments":{{"turns":{turns}}},"_meta":{{"progressToken":{id}}}"#);
        request(id, "tools/call", &params)
    }

    fn turn(&self, id: i64) {
        match id % 4 {
            0 => {
                let head = post(&[("Mcp-Session-Id", self.session)]);
                let mut gone = self.entry.handle(head, Box::new(Bytes::new(self.call(id, 3))));
                let _ = gone.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            }
            1 => {
                drop(self.begin(self.call(id, 4)));
                let params = format!(r#""requestId":{id}"#);
                let cancel = format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{{params}}}}}"#);
                self.begin(cancel);
            }
            2 => {
                let mut body = self.begin(request(id, "tools/call", r#""name":"ask","arguments":{}"#));
                let asked = self.read(&mut body, "elicitation/create");
                let question = asked.rfind(r#"{"jsonrpc""#).and_then(|at| find(asked[at..].trim(), "id")).unwrap();
                let name = format!("name {id}");
                let answer = format!(r#"{{"action":"accept","content":{{"name":"{name}"}}}}"#);
                self.begin(format!(r#"{{"jsonrpc":"2.0","id":{question},"result":{answer}}}"#));
                let answered = self.read(&mut body, &name);
                assert!(answered.contains(&name), "{answered}");
            }
            _ => {
                let mut body = self.begin(self.call(id, id));
                let (text, wanted) = (self.read(&mut body, "result"), format!(r#""text":"{id}""#));
                assert!(text.contains(&wanted), "{text}");
            }
        }
    }
}

#[test]
fn a_session_may_be_used_from_many_threads() {
    for kept in [false, true] {
        let events = kept.then(|| Arc::new(MemoryEvents::default()) as _);
        let settings = Sessions { events, ..Sessions::default() };
        let env = Arc::new(SimEnv::new(9));
        let (entry, driver) = HttpEntry::with_sessions(Arc::new(server()), env, Guard::default(), settings);
        thread::scope(|threads| {
            threads.spawn(|| block_on(driver));
            let params = r#""protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}"#;
            let body = Bytes::new(request(0, "initialize", params));
            let (head, _) = block_on(entry.handle(post(&[]), Box::new(body)));
            let session = head.headers.get("mcp-session-id").unwrap();
            Client { entry: &entry, session }.begin(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.into());
            thread::scope(|threads| {
                for thread in 1..=4 {
                    let client = Client { entry: &entry, session };
                    threads.spawn(move || (0..100).for_each(|id| client.turn(thread * 1000 + id)));
                }
            });
            drop(entry);
        });
    }
}
