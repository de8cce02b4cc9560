//! A server of ours over a pair of text ports, whose other end the test holds.

use super::{Judge, MODERN, Said, pool, request};
use futures::{
    executor::{LocalPool, block_on},
    future::poll_immediate,
    task::LocalSpawnExt,
};
use sandwire_io::{
    Endpoint, TextLink, TextPort, serve,
    testing::{QueuePort, SimEnv, text_ports},
};
use sandwire_proto::Limits;
use std::{future::poll_fn, sync::Arc};
use wire_check::Side;

pub struct Answerer {
    pub pool: LocalPool,
    pub judge: Judge,
    pub version: &'static str,
    port: QueuePort,
}

impl Answerer {
    /// A server whom nobody said anything to yet.
    pub fn new(endpoint: impl Endpoint) -> Self {
        let (near, port) = text_ports();
        let link = TextLink::new(near, Limits::default());
        let driver = serve(Arc::new(endpoint), Arc::new(SimEnv::new(4)), Box::new(link));
        let pool = pool();
        pool.spawner().spawn_local(driver).unwrap();
        Self { pool, judge: Judge::of(Side::Server), version: MODERN, port }
    }

    /// A server that a client of this version is ready to ask.
    pub fn open(version: &'static str, endpoint: impl Endpoint) -> Self {
        Self::open_as(version, "{}", endpoint)
    }

    /// A server and a legacy client with these capabilities.
    pub fn open_as(version: &'static str, capabilities: &str, endpoint: impl Endpoint) -> Self {
        let mut server = Self::new(endpoint);
        server.version = version;
        if version != MODERN {
            let welcome = server.initialize("0", version, capabilities);
            assert_eq!(welcome.at("/result/protocolVersion"), version);
            server.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        }
        server
    }

    pub fn initialize(&mut self, id: &str, version: &str, capabilities: &str) -> Said {
        let params = format!(
            r#""protocolVersion":"{version}","capabilities":{capabilities},"clientInfo":{{"name":"c","version":"1"}}"#
        );
        self.say(&request("", id, "initialize", &params));
        self.hear()
    }

    pub fn run(&mut self) {
        self.pool.run_until_stalled();
    }

    pub fn say(&mut self, text: &str) {
        self.judge.theirs(text);
        self.say_unnoted(text);
    }

    /// Says what no answer of the server's may be judged by.
    pub fn say_unnoted(&mut self, text: &str) {
        self.port.send(text.to_owned());
        self.run();
    }

    /// What the server said since.
    pub fn heard(&mut self) -> Vec<Said> {
        self.heard_unjudged().into_iter().map(|said| self.judge.ours(said.0)).collect()
    }

    /// What the server said since, where the judge cannot know to what.
    pub fn heard_unjudged(&mut self) -> Vec<Said> {
        self.run();
        let port = &mut self.port;
        let texts = std::iter::from_fn(|| block_on(poll_immediate(poll_fn(|cx| port.poll(cx)))).flatten());
        texts.map(|text| Said(text.unwrap())).collect()
    }

    /// The one thing that the server said since.
    #[track_caller]
    pub fn hear(&mut self) -> Said {
        let mut heard = self.heard();
        assert_eq!(heard.len(), 1, "{heard:?}");
        heard.remove(0)
    }

    /// Sends a request of the version that was agreed on.
    pub fn ask(&mut self, id: &str, method: &str, params: &str) {
        let text = request(self.version, id, method, params);
        self.say(&text);
    }

    pub fn hang_up(&mut self) {
        self.port.close();
        self.run();
    }

    /// A request and its answer.
    pub fn call(&mut self, id: &str, method: &str, params: &str) -> Said {
        self.ask(id, method, params);
        self.hear()
    }
}
