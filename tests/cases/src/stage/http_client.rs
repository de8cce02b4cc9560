//! A client of ours over HTTP that the test answers.

use super::{DISCOVERY, Judge, LEGACY, MODERN, Outcome, Said, pool, result, start, welcome};
use futures::{executor::LocalPool, task::LocalSpawnExt};
use sandwire_client::{Client, Mode, Options};
use sandwire_io::{
    HttpLink,
    testing::{ScriptedExchange, ScriptedHttp, SimEnv},
};
use sandwire_proto::http::Verb;
use std::{future::IntoFuture, ops::Deref, sync::Arc};
use wire_check::Side;

const SESSION: &str = "s-1";

pub struct HttpCaller {
    pub pool: LocalPool,
    pub env: SimEnv,
    pub client: Client,
    pub judge: Judge,
    pub http: ScriptedHttp,
}

/// A request of the client, and the way to answer it.
#[derive(Clone, Debug)]
pub struct Asked {
    pub exchange: ScriptedExchange,
    /// The message in its body.
    pub said: Option<Said>,
}

impl Deref for Asked {
    type Target = ScriptedExchange;

    fn deref(&self) -> &ScriptedExchange {
        &self.exchange
    }
}

impl Asked {
    pub fn verb(&self) -> Verb {
        self.request().head.method.clone()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.request().head.headers.get(name)
    }

    pub fn said(&self) -> &Said {
        self.said.as_ref().unwrap()
    }

    /// What its message asks for; the verb where there is no message.
    pub fn method(&self) -> &str {
        match (&self.said, self.verb()) {
            (Some(said), _) => said.method(),
            (None, Verb::Get) => "GET",
            (None, Verb::Delete) => "DELETE",
            (None, _) => "",
        }
    }

    pub fn id(&self) -> &str {
        self.said().id()
    }

    /// Answers with JSON that is this result.
    pub fn reply(&self, with: &str) {
        self.json(200, &result(self.id(), with));
    }

    /// Takes a notification, or a response.
    pub fn accept(&self) {
        self.head(202, &[]);
        self.end();
    }

    /// Begins an event stream.
    pub fn stream(&self) {
        self.head(200, &[("content-type", "text/event-stream")]);
    }

    /// Sends an event.
    pub fn event(&self, id: &str, message: &str) {
        let id = if id.is_empty() { String::new() } else { format!("id: {id}\n") };
        self.chunk(format!("{id}data: {message}\n\n"));
    }
}

impl HttpCaller {
    /// A client that begins to connect.
    pub fn new(options: Options) -> Self {
        let http = ScriptedHttp::new();
        let link = HttpLink::new(Arc::new(http.clone()), "https://example.com/mcp", options.get_limits().clone());
        let env = SimEnv::new(3);
        let (client, driver) = Client::connect(link, Arc::new(env.clone()), options);
        let pool = pool();
        pool.spawner().spawn_local(driver).unwrap();
        Self { pool, env, client, judge: Judge::of(Side::Client), http }
    }

    pub fn open(version: &str) -> Self {
        Self::open_with(version, Options::new("c", "1"))
    }

    /// A client that is connected; a legacy one has a session, and its stream of its own is refused.
    pub fn open_with(version: &str, options: Options) -> Self {
        if version == MODERN {
            let mut caller = Self::new(options);
            let probe = caller.next();
            assert_eq!(probe.method(), "server/discover");
            probe.reply(DISCOVERY);
            caller.run();
            return caller;
        }
        let (caller, stream) = Self::open_session(version, options);
        if let Some(stream) = stream {
            stream.head(405, &[]);
            stream.end();
        }
        caller
    }

    /// A legacy client with a session and the request for its stream, which no version before 2025-03-26 has.
    pub fn open_session(version: &str, options: Options) -> (Self, Option<Asked>) {
        assert!(LEGACY.contains(&version));
        let mut caller = Self::new(options.mode(Mode::Legacy));
        let initialize = caller.next();
        caller.begin_session(&initialize, version, SESSION);
        let stream = caller.try_next();
        assert!(stream.as_ref().is_none_or(|stream| stream.method() == "GET"));
        (caller, stream)
    }

    /// Answers an initialization.
    pub fn begin_session(&mut self, initialize: &Asked, version: &str, session: &str) {
        assert_eq!(initialize.method(), "initialize");
        initialize.head(200, &[("content-type", "application/json"), ("mcp-session-id", session)]);
        let welcome = result(initialize.id(), &welcome(version));
        self.judge.theirs(&welcome);
        initialize.chunk(welcome);
        initialize.end();
        let initialized = self.next();
        assert_eq!(initialized.method(), "notifications/initialized");
        initialized.accept();
        self.run();
    }

    pub fn run(&mut self) {
        self.pool.run_until_stalled();
    }

    pub fn advance(&mut self, milliseconds: u64) {
        self.env.advance(milliseconds);
        self.run();
    }

    pub fn start<F: IntoFuture + 'static>(&mut self, work: F) -> Outcome<F::Output>
    where
        F::Output: 'static,
        F::IntoFuture: 'static,
    {
        let outcome = start(&self.pool.spawner(), work);
        self.run();
        outcome
    }

    /// The next request, if there is one.
    pub fn try_next(&mut self) -> Option<Asked> {
        self.run();
        let exchange = self.http.next()?;
        let said = exchange.request().body.clone().map(|body| {
            let modern = exchange.request().head.headers.get("mcp-protocol-version") == Some(MODERN);
            if modern {
                return Judge::of(Side::Client).ours(body);
            }
            if sandwire_json::find(&body, "method") == Some("\"initialize\"") {
                self.judge.restart();
            }
            self.judge.ours(body)
        });
        Some(Asked { exchange, said })
    }

    #[track_caller]
    pub fn next(&mut self) -> Asked {
        self.try_next().expect("nothing was asked")
    }

    /// All requests that there are.
    pub fn all(&mut self) -> Vec<Asked> {
        std::iter::from_fn(|| self.try_next()).collect()
    }
}
