//! A client in memory, for both eras, and a clock that stands still.
#![allow(dead_code, missing_docs, unreachable_pub, missing_debug_implementations, clippy::unwrap_used, clippy::panic)]

use futures_executor::block_on;
use futures_util::{FutureExt, future::join};
use sandwire_io::client::{Answer, Call, CallError, ClientHandle, Config, Hooks, Mode, connect};
use sandwire_io::{Env, Timer, in_memory, memory, serve};
use sandwire_proto::{Time, client};
use sandwire_server::Server;
use sandwire_server::types::{ErrorObject, LoggingLevel, Method, Notification, ProtocolVersion, Raw};
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

pub const MODERN: ProtocolVersion = ProtocolVersion::V2026_07_28;
pub const LEGACY: ProtocolVersion = ProtocolVersion::V2025_11_25;
pub const ERAS: [ProtocolVersion; 2] = [MODERN, LEGACY];

struct Still;

impl Env for Still {
    fn now(&self) -> Time {
        Time(0)
    }
    fn timer(&self) -> Box<dyn Timer> {
        Box::new(Still)
    }
    fn fill_random(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
    fn unix_time(&self) -> Option<u64> {
        Some(1_000)
    }
}

impl Timer for Still {
    fn poll(&mut self, _: Time, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }
}

pub type Asked = fn(&Method, &Raw) -> Result<Raw, ErrorObject>;

/// What reached the client outside of answers.
#[derive(Clone, Default)]
pub struct Heard(Arc<Mutex<Vec<String>>>);

impl Heard {
    pub fn note(&self, method: &str, params: &str) {
        self.0.lock().unwrap().push(format!("{method} {params}"));
    }
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

struct Listening {
    heard: Heard,
    asked: Asked,
}

impl Hooks for Listening {
    fn notification(&mut self, notification: Notification) {
        let params = notification.params.as_ref().map_or("", Raw::as_str);
        self.heard.note(notification.method.as_str(), params);
    }
    fn ask(&mut self, method: Method, params: Raw, answer: Answer) {
        answer.send((self.asked)(&method, &params));
    }
}

pub struct Client {
    pub handle: ClientHandle,
    pub heard: Heard,
}

impl Client {
    pub async fn request(&self, method: Method, params: &str) -> Result<String, ErrorObject> {
        self.request_with(method, params, None).await
    }

    pub async fn request_with(
        &self,
        method: Method,
        params: &str,
        level: Option<LoggingLevel>,
    ) -> Result<String, ErrorObject> {
        let mut request = client::Call::new(method, Some(Raw::parse(params).unwrap()));
        request.log_level = level;
        let heard = self.heard.clone();
        let call =
            Call::from(request).with_progress(Arc::new(move |params: Raw| heard.note("progress", params.as_str())));
        match self.handle.call(call).await {
            Ok(reply) => Ok(plain(&reply.value)),
            Err(CallError::Peer(error)) => Err(error),
            Err(other) => panic!("{other:?}"),
        }
    }

    /// What was heard since the last time, once the driver has run.
    pub async fn heard(&self) -> Vec<String> {
        let mut turns = 0;
        std::future::poll_fn(|cx| {
            turns += 1;
            cx.waker().wake_by_ref();
            if turns < 3 { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
        self.heard.take()
    }

    pub async fn call(&self, name: &str, arguments: &str) -> String {
        let params = format!(r#"{{"name":"{name}","arguments":{arguments}}}"#);
        self.request(Method::ToolsCall, &params).await.unwrap()
    }
}

/// A result without what the modern era adds to every one.
pub fn plain(value: &Raw) -> String {
    let mut writer = sandwire_json::Writer::new();
    writer.begin_object();
    value
        .reader()
        .object(&mut |key, reader| {
            let text = reader.raw()?;
            if !matches!(key, "_meta" | "resultType" | "ttlMs" | "cacheScope") {
                writer.key(key);
                writer.raw(text);
            }
            Ok(())
        })
        .unwrap();
    writer.end_object();
    writer.finish()
}

/// Connects a client of this version, runs the scenario to its end, and gives what it gave.
pub fn run<T>(server: &Server, version: ProtocolVersion, scenario: impl AsyncFnOnce(&Client) -> T) -> T {
    run_asked(server, version, |_, _| Err(ErrorObject::internal("nobody is asked here")), scenario)
}

/// The same with a client that can be asked everything.
pub fn run_asked<T>(
    server: &Server,
    version: ProtocolVersion,
    asked: Asked,
    scenario: impl AsyncFnOnce(&Client) -> T,
) -> T {
    run_over(false, server, version, asked, scenario)
}

/// The same, in one driver for both ends or with a link between them.
pub fn run_over<T>(
    link: bool,
    server: &Server,
    version: ProtocolVersion,
    asked: Asked,
    scenario: impl AsyncFnOnce(&Client) -> T,
) -> T {
    let heard = Heard::default();
    let mut config = Config::new("tester", "1.0");
    config.mode = Mode::Pinned(version);
    config.capabilities = Raw::from_valid(r#"{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}"#);
    let hooks = Listening { heard: heard.clone(), asked };
    let (server, env, hooks) = (Arc::new(server.clone()), Arc::new(Still), Box::new(hooks));
    let (handle, mut driver) = if link {
        let (near, far) = memory::pair();
        let served = serve(server, env.clone(), Box::new(far));
        let (handle, driver) = connect(config, env, Box::new(near), hooks);
        (handle, Box::pin(join(driver, served).map(|_| ())) as Pin<Box<dyn Future<Output = ()>>>)
    } else {
        let (handle, driver) = in_memory(server, config, env, hooks);
        (handle, Box::pin(driver) as Pin<Box<dyn Future<Output = ()>>>)
    };
    let client = Client { handle, heard };
    block_on(async {
        let mut driven = false;
        let mut scenario = pin!(scenario(&client));
        std::future::poll_fn(|cx| {
            loop {
                if let Poll::Ready(value) = scenario.as_mut().poll(cx) {
                    return Poll::Ready(value);
                }
                if driven || driver.as_mut().poll(cx).is_pending() {
                    return Poll::Pending;
                }
                driven = true;
            }
        })
        .await
    })
}

/// Answers one request in each era, and asserts that both answer the same.
pub fn ask(server: &Server, method: Method, params: &str) -> Result<String, ErrorObject> {
    let [modern, legacy] =
        ERAS.map(|version| run(server, version, async |client| client.request(method.clone(), params).await));
    assert_eq!(modern, legacy);
    modern
}

pub fn call(server: &Server, name: &str, arguments: &str) -> String {
    ask(server, Method::ToolsCall, &format!(r#"{{"name":"{name}","arguments":{arguments}}}"#)).unwrap()
}

/// Answers one request of a modern client.
pub fn modern(server: &Server, method: Method, params: &str) -> String {
    run(server, MODERN, async |client| client.request(method, params).await.unwrap())
}

/// Calls a tool of a modern client.
pub fn call_modern(server: &Server, name: &str, arguments: &str) -> String {
    run(server, MODERN, async |client| client.call(name, arguments).await)
}
