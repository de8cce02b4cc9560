//! A client of ours over a pair of text ports, whose other end the test holds.

use super::{DISCOVERY, Judge, LEGACY, MODERN, Outcome, Said, error, pool, result, start, welcome};
use futures::{
    executor::{LocalPool, block_on},
    future::poll_immediate,
    task::LocalSpawnExt,
};
use sandwire_client::{Client, Mode, Options};
use sandwire_io::{
    TextLink, TextPort,
    testing::{QueuePort, SimEnv, text_ports},
};
use std::{
    future::{IntoFuture, poll_fn},
    sync::Arc,
};
use wire_check::Side;

pub struct Caller {
    pub pool: LocalPool,
    pub env: SimEnv,
    pub client: Client,
    pub judge: Judge,
    port: QueuePort,
}

impl Caller {
    /// A client that begins to connect.
    pub fn new(options: Options) -> Self {
        let (near, port) = text_ports();
        let link = TextLink::new(near, options.get_limits().clone());
        let env = SimEnv::new(3);
        let (client, driver) = Client::connect(link, Arc::new(env.clone()), options);
        let pool = pool();
        pool.spawner().spawn_local(driver).unwrap();
        Self { pool, env, client, judge: Judge::of(Side::Client), port }
    }

    /// A client that is connected to a server of this version.
    pub fn open(version: &str) -> Self {
        Self::open_with(version, Options::new("c", "1"))
    }

    pub fn open_with(version: &str, options: Options) -> Self {
        if version == MODERN {
            let mut caller = Self::new(options);
            let probe = caller.hear();
            assert_eq!(probe.method(), "server/discover");
            caller.answer(&probe, DISCOVERY);
            return caller;
        }
        assert!(LEGACY.contains(&version));
        let mut caller = Self::new(options.mode(Mode::Legacy));
        let initialize = caller.hear();
        assert_eq!(initialize.method(), "initialize");
        caller.answer(&initialize, &welcome(version));
        assert_eq!(caller.hear().method(), "notifications/initialized");
        caller
    }

    pub fn run(&mut self) {
        self.pool.run_until_stalled();
    }

    pub fn advance(&mut self, milliseconds: u64) {
        self.env.advance(milliseconds);
        self.run();
    }

    /// Makes a call beside the test.
    pub fn start<F: IntoFuture + 'static>(&mut self, work: F) -> Outcome<F::Output>
    where
        F::Output: 'static,
        F::IntoFuture: 'static,
    {
        let outcome = start(&self.pool.spawner(), work);
        self.run();
        outcome
    }

    /// What the client said since.
    pub fn heard(&mut self) -> Vec<Said> {
        self.run();
        let port = &mut self.port;
        let texts = std::iter::from_fn(|| block_on(poll_immediate(poll_fn(|cx| port.poll(cx)))).flatten());
        texts.map(|text| self.judge.ours(text.unwrap())).collect()
    }

    /// The one thing that the client said since.
    #[track_caller]
    pub fn hear(&mut self) -> Said {
        let mut heard = self.heard();
        assert_eq!(heard.len(), 1, "{heard:?}");
        heard.remove(0)
    }

    pub fn say(&mut self, text: &str) {
        self.judge.theirs(text);
        self.say_unnoted(text);
    }

    /// Says what is no answer, though it looks like one.
    pub fn say_unnoted(&mut self, text: &str) {
        self.port.send(text.to_owned());
        self.run();
    }

    pub fn answer(&mut self, request: &Said, with: &str) {
        self.say(&result(request.id(), with));
    }

    pub fn refuse(&mut self, request: &Said, code: i64, message: &str) {
        self.say(&error(request.id(), code, message));
    }

    /// Makes a call, answers it, and gives what came of it.
    pub fn call<F: IntoFuture + 'static>(&mut self, work: F, with: &str) -> F::Output
    where
        F::Output: 'static,
        F::IntoFuture: 'static,
    {
        let outcome = self.start(work);
        let asked = self.hear();
        self.answer(&asked, with);
        outcome.get()
    }

    /// Fails unless the connection still works.
    pub fn assert_lives(&mut self) {
        let reply = self.call(self.client.list_prompts(), &complete(r#""prompts":[{"name":"alive"}]"#));
        assert_eq!(reply.unwrap().prompts[0].name, "alive");
    }

    pub fn disconnect(&mut self) {
        self.port.close();
        self.run();
    }
}

/// A result that is right in every version: `members`, and what the modern era adds.
pub fn complete(members: &str) -> String {
    format!(r#"{{{members},"resultType":"complete","ttlMs":0,"cacheScope":"private"}}"#)
}
