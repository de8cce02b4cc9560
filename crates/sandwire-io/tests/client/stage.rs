use futures::{
    executor::{LocalPool, LocalSpawner},
    task::LocalSpawnExt,
};
use sandwire_io::{
    HttpLink, Link,
    client::{Answer, AskKey, Call, ClientHandle, Config, Hooks, Warning, connect},
    testing::{ScriptedExchange, ScriptedHttp, SimEnv},
};
use sandwire_json::Raw;
use sandwire_proto::{Limits, TransportError, client};
use sandwire_types::{Method, Notification};
use std::sync::{Arc, Mutex};

pub const DISCOVERY: &str = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}"#;
pub const HANDSHAKE: &str =
    r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}"#;

/// A client, the world it lives in, and what its hooks were told.
pub struct Stage {
    pub pool: LocalPool,
    pub env: SimEnv,
    pub client: ClientHandle,
    pub told: Arc<Mutex<Vec<String>>>,
    pub asked: Arc<Mutex<Vec<Answer>>>,
}

#[derive(Default)]
pub struct Recorder {
    told: Arc<Mutex<Vec<String>>>,
    asked: Arc<Mutex<Vec<Answer>>>,
}

impl Hooks for Recorder {
    fn opened(&mut self, server: &Arc<sandwire_proto::PeerInfo>) {
        self.told.lock().unwrap().push(format!("opened {}", server.version));
    }
    fn failed(&mut self, error: &client::OpenError) {
        self.told.lock().unwrap().push(format!("failed {error}"));
    }
    fn warning(&mut self, warning: &Warning) {
        self.told.lock().unwrap().push(format!("warning: {warning}"));
    }
    fn notification(&mut self, notification: Notification) {
        self.told.lock().unwrap().push(notification.method.as_str().into());
    }
    fn ask(&mut self, method: Method, _params: Raw, answer: Answer) {
        self.told.lock().unwrap().push(format!("ask {method}"));
        self.asked.lock().unwrap().push(answer);
    }
    fn withdrawn(&mut self, _key: AskKey) {
        self.told.lock().unwrap().push("withdrawn".into());
    }
    fn closed(&mut self, _error: Option<&TransportError>) {
        self.told.lock().unwrap().push("closed".into());
    }
}

impl Stage {
    pub fn new(config: Config, link: Box<dyn Link>) -> Self {
        let pool = LocalPool::new();
        let env = SimEnv::new(1);
        let hooks = Recorder::default();
        let (told, asked) = (Arc::clone(&hooks.told), Arc::clone(&hooks.asked));
        let (client, driver) = connect(config, Arc::new(env.clone()), link, Box::new(hooks));
        pool.spawner().spawn_local(driver).unwrap();
        Self { pool, env, client, told, asked }
    }

    pub fn http(config: Config) -> (Self, ScriptedHttp) {
        let http = ScriptedHttp::new();
        let link = HttpLink::new(Arc::new(http.clone()), "https://example.com/mcp", Limits::default());
        (Self::new(config, Box::new(link)), http)
    }

    pub fn modern_http() -> (Self, ScriptedHttp) {
        let (mut stage, http) = Self::http(Config::new("test", "1"));
        stage.run();
        let probe = http.next().unwrap();
        reply(&probe, DISCOVERY);
        stage.run();
        assert_eq!(stage.told(), ["opened 2026-07-28"]);
        (stage, http)
    }

    pub fn run(&mut self) {
        self.pool.run_until_stalled();
    }

    pub fn advance(&mut self, milliseconds: u64) {
        self.env.advance(milliseconds);
        self.run();
    }

    pub fn spawner(&self) -> LocalSpawner {
        self.pool.spawner()
    }

    pub fn told(&self) -> Vec<String> {
        std::mem::take(&mut *self.told.lock().unwrap())
    }

    /// Makes a call in a task of its own; what came of it is told in the returned list.
    pub fn call(&self, call: Call) -> Arc<Mutex<Option<String>>> {
        let result = Arc::new(Mutex::new(None));
        let (future, told) = (self.client.call(call), Arc::clone(&result));
        self.spawner()
            .spawn_local(async move {
                let text = match future.await {
                    Ok(reply) => reply.value.as_str().to_owned(),
                    Err(error) => format!("error: {error}"),
                };
                *told.lock().unwrap() = Some(text);
            })
            .unwrap();
        result
    }
}

pub fn call(method: &str, params: &str) -> Call {
    let params = (!params.is_empty()).then(|| Raw::parse(params).unwrap());
    client::Call::new(Method::from(method), params).into()
}

pub fn tool_call() -> Call {
    call("tools/call", r#"{"name":"echo"}"#)
}

pub fn id_of(body: &str) -> String {
    sandwire_json::find(body, "id").unwrap().into()
}

/// Answers a request with JSON.
pub fn reply(exchange: &ScriptedExchange, result: &str) {
    exchange.json(200, &response(exchange, result));
}

pub fn response(exchange: &ScriptedExchange, result: &str) -> String {
    let id = id_of(exchange.request().body.as_ref().unwrap());
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}
