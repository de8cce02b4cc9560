//! A server with sessions, whose tools wait at doors that a test opens.

use std::{
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

use futures_channel::oneshot;
use sandwire_io::{Body, Bytes, HttpService, testing::SimEnv};
use sandwire_json::find;
use sandwire_proto::http::{RequestHead, ResponseHead, Verb};
use sandwire_server::{
    Capability, Form, Schema, Server, ToolError,
    http::{Guard, HttpEntry, Sessions, SessionsDriver},
    types::LoggingLevel,
};
use serde::Deserialize;

use crate::site::{Got, post};

pub(crate) struct Hall {
    pub(crate) env: SimEnv,
    pub(crate) server: Server,
    pub(crate) entry: HttpEntry,
    driver: Option<Pin<Box<SessionsDriver>>>,
    doors: Doors,
}

#[derive(Clone, Default)]
pub(crate) struct Doors(Arc<Mutex<Vec<Waits>>>);

type Waits = (String, oneshot::Sender<()>);

impl Doors {
    async fn pass(&self, name: &str) {
        let (open, opened) = oneshot::channel();
        self.0.lock().unwrap().push((name.into(), open));
        let _ = opened.await;
    }
}

#[derive(Deserialize, Schema)]
struct Door {
    name: String,
}

#[derive(Deserialize, Schema)]
struct Who {
    name: String,
}

pub(crate) const V: &str = "2025-11-25";

impl Hall {
    pub(crate) fn new(sessions: Sessions) -> Self {
        Self::beside(SimEnv::new(5), |_| sessions)
    }

    /// A server on a clock that there is.
    pub(crate) fn beside(env: SimEnv, sessions: impl FnOnce(Arc<SimEnv>) -> Sessions) -> Self {
        Self::guarded(env, Guard::default(), sessions)
    }

    pub(crate) fn guarded(env: SimEnv, guard: Guard, sessions: impl FnOnce(Arc<SimEnv>) -> Sessions) -> Self {
        let doors = Doors::default();
        let (wait, shout, away) = (doors.clone(), doors.clone(), doors.clone());
        let server = Server::builder("hall", "1")
            .tool("door", "", move |Door { name }: Door| {
                let doors = wait.clone();
                async move {
                    doors.pass(&name).await;
                    name
                }
            })
            .tool("shout", "", move |Door { name }: Door, ctx: sandwire_server::Context| {
                let doors = shout.clone();
                async move {
                    for word in ["one", "two"] {
                        ctx.log(LoggingLevel::Warning, [word, &name].concat());
                        doors.pass(&name).await;
                    }
                    name
                }
            })
            .tool("away", "", move |Door { name }: Door, ctx: sandwire_server::Context| {
                let doors = away.clone();
                async move {
                    ctx.close_stream();
                    doors.pass(&name).await;
                    name
                }
            })
            .tool("ask", "", async |ctx: sandwire_server::Context| {
                let who = ctx.elicit("who", Form::<Who>::new("Who are you?")).await?;
                Ok::<_, ToolError>(who.accepted().map(|who| who.name).unwrap_or_default())
            })
            .tool("whoami", "", |ctx: &sandwire_server::Context| {
                ctx.principal().map_or("nobody".to_owned(), |who| [&who.id, who.claims.as_str()].concat())
            })
            .declare(Capability::Resources)
            .declare(Capability::Prompts)
            .build()
            .unwrap();
        let shared = Arc::new(env.clone());
        let sessions = sessions(Arc::clone(&shared));
        let (entry, driver) = HttpEntry::with_sessions(Arc::new(server.clone()), shared, guard, sessions);
        Self { env, server, entry, driver: Some(Box::pin(driver)), doors }
    }

    /// Lets the driver do what there is to do.
    pub(crate) fn run(&mut self) -> Poll<()> {
        self.driver.as_mut().unwrap().as_mut().poll(&mut Context::from_waker(Waker::noop()))
    }

    pub(crate) fn drop_driver(&mut self) {
        self.driver = None;
    }

    /// Lets whoever waits at these doors pass; how many did.
    pub(crate) fn open_doors(&self, name: &str) -> usize {
        let mut doors = self.doors.0.lock().unwrap();
        let (open, closed) = doors.drain(..).partition(|(door, _)| door == name);
        *doors = closed;
        let open: Vec<Waits> = open;
        open.into_iter().filter_map(|(_, door)| door.send(()).ok()).count()
    }

    pub(crate) fn begin(&self, head: RequestHead, body: &str) -> Waiting {
        Waiting(Some(self.entry.handle(head, Box::new(Bytes::new(body)))))
    }

    pub(crate) fn send(&self, head: RequestHead, body: &str) -> Got {
        self.begin(head, body).response().whole()
    }

    /// Opens a session in this version; its id.
    pub(crate) fn open(&self, version: &str) -> String {
        let got = self.initialize(version);
        assert_eq!(got.head.status, 200, "{}", got.body);
        let id = got.header("mcp-session-id").to_owned();
        let head = self.head(Verb::Post, &id, version);
        assert_eq!(self.send(head, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).head.status, 202);
        id
    }

    pub(crate) fn initialize(&self, version: &str) -> Got {
        let params = format!(
            r#""protocolVersion":"{version}","capabilities":{{"elicitation":{{}}}},"clientInfo":{{"name":"c","version":"1"}}"#
        );
        self.send(post(&[]), &request(0, "initialize", &params))
    }

    pub(crate) fn head(&self, verb: Verb, id: &str, version: &str) -> RequestHead {
        let mut head = post(&[("Mcp-Session-Id", id), ("MCP-Protocol-Version", version)]);
        head.method = verb;
        head
    }

    pub(crate) fn post(&self, id: &str, body: &str) -> Waiting {
        self.begin(self.head(Verb::Post, id, V), body)
    }

    pub(crate) fn get(&self, id: &str) -> Stream {
        let stream = self.begin(self.head(Verb::Get, id, V), "").response();
        assert_eq!(stream.head.status, 200);
        stream
    }

    pub(crate) fn resume(&self, id: &str, last: &str) -> Stream {
        let mut head = self.head(Verb::Get, id, V);
        head.headers.push("Last-Event-ID", last);
        self.begin(head, "").response()
    }

    pub(crate) fn delete(&self, id: &str) -> u16 {
        self.send(self.head(Verb::Delete, id, V), "").head.status
    }
}

pub(crate) fn request(id: i64, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}}}}}"#)
}

pub(crate) fn call(id: i64, tool: &str, door: &str) -> String {
    request(id, "tools/call", &format!(r#""name":"{tool}","arguments":{{"name":"{door}"}}"#))
}

type Response = (ResponseHead, Box<dyn Body>);

/// A request whose response has not begun.
pub(crate) struct Waiting(Option<sandwire_io::BoxFuture<'static, Response>>);

impl Waiting {
    /// The response, if it has begun.
    pub(crate) fn poll(&mut self) -> Option<Stream> {
        let response = self.0.as_mut().unwrap().as_mut().poll(&mut Context::from_waker(Waker::noop()));
        let Poll::Ready((head, body)) = response else { return None };
        self.0 = None;
        Some(Stream { head, body })
    }

    pub(crate) fn response(mut self) -> Stream {
        self.poll().expect("the response has not begun")
    }
}

/// A response whose body has not ended.
pub(crate) struct Stream {
    pub(crate) head: ResponseHead,
    body: Box<dyn Body>,
}

impl Stream {
    /// What there is now, and whether it is all.
    pub(crate) fn now(&mut self) -> (String, bool) {
        let mut text = String::new();
        loop {
            match self.body.poll_chunk(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(Some(chunk)) => text.push_str(&String::from_utf8(chunk.unwrap()).unwrap()),
                Poll::Ready(None) => return (text, true),
                Poll::Pending => return (text, false),
            }
        }
    }

    /// What there is now of a stream that goes on.
    pub(crate) fn part(&mut self) -> String {
        let (text, ended) = self.now();
        assert!(!ended, "the stream has ended: {text}");
        text
    }

    pub(crate) fn whole(mut self) -> Got {
        let (body, ended) = self.now();
        assert!(ended, "the body goes on: {body}");
        Got { head: self.head, body }
    }
}

/// The ids of the events of a stream.
pub(crate) fn ids(stream: &str) -> Vec<&str> {
    stream.lines().filter_map(|line| line.strip_prefix("id: ")).collect()
}

pub(crate) fn result(got: &Got) -> &str {
    find(&got.body, "result").unwrap_or_else(|| panic!("no result: {}", got.body))
}
