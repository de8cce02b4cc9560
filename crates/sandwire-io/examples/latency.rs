//! How long one `tools/call` takes, with typed arguments and a typed result, over each in-process wiring.
//!
//! `cargo run --release -p sandwire-io --example latency`
#![allow(clippy::unwrap_used, clippy::panic, clippy::disallowed_methods)]

use std::{
    collections::VecDeque,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
    time::{Duration, Instant},
};

use futures::{future::join, task::AtomicWaker};
use sandwire_io::{
    Answer, Call, Endpoint, Env, TextLink, TextPort, Timer,
    client::{ClientHandle, Config, Driver, Mode, NoHooks, connect},
    in_memory, memory, serve,
};
use sandwire_json::{Raw, Reader, Writer};
use sandwire_proto::{Time, TransportError, client, server};
use sandwire_types::{ErrorObject, Method, ProtocolVersion, Reply};

struct Clock(Instant);

impl Env for Clock {
    fn now(&self) -> Time {
        Time(self.0.elapsed().as_millis() as u64)
    }
    fn timer(&self) -> Box<dyn Timer> {
        Box::new(Never)
    }
    fn fill_random(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
    fn unix_time(&self) -> Option<u64> {
        None
    }
}

struct Never;

impl Timer for Never {
    fn poll(&mut self, _at: Time, _cx: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }
}

struct Add {
    a: i64,
    b: i64,
}

impl Add {
    fn read(text: &str) -> Result<Self, ErrorObject> {
        let (mut a, mut b) = (0, 0);
        Reader::new(text)
            .object(&mut |key, r| {
                match key {
                    "a" => a = r.integer()?,
                    "b" => b = r.integer()?,
                    _ => {}
                }
                Ok(())
            })
            .map_err(|error| ErrorObject::invalid_params(error.to_string()))?;
        Ok(Self { a, b })
    }
}

struct Adder {
    config: Arc<server::Config>,
    waits: bool,
}

impl Adder {
    fn answer(call: &Call) -> Result<Reply, ErrorObject> {
        let params = call.request.params.as_ref().map_or("{}", Raw::as_str);
        let add = Add::read(sandwire_json::find(params, "arguments").unwrap_or("{}"))?;
        let mut w = Writer::with_capacity(64);
        w.begin_object();
        w.key("content");
        w.begin_array();
        w.begin_object();
        w.key("type");
        w.string("text");
        w.key("text");
        w.string(&(add.a + add.b).to_string());
        w.end_object();
        w.end_array();
        w.end_object();
        Ok(Reply::new(w.into_raw()))
    }
}

impl Endpoint for Adder {
    fn config(&self) -> Arc<server::Config> {
        self.config.clone()
    }
    fn call(&self, call: Call) -> Answer {
        if self.waits {
            Answer::Pending(Box::pin(async move {
                Yield(false).await;
                Self::answer(&call)
            }))
        } else {
            Answer::Ready(Self::answer(&call))
        }
    }
}

struct Yield(bool);

impl Future for Yield {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

fn adder(waits: bool) -> Arc<dyn Endpoint> {
    let info = Raw::from_valid(r#"{"name":"adder","version":"1"}"#);
    let capabilities = Raw::from_valid(r#"{"tools":{}}"#);
    Arc::new(Adder { config: Arc::new(server::Config::new(info, capabilities)), waits })
}

fn config(version: ProtocolVersion) -> Config {
    let mut config = Config::new("caller", "1");
    config.mode = Mode::Pinned(version);
    config
}

async fn call(client: &ClientHandle, a: i64, b: i64) {
    let mut w = Writer::with_capacity(64);
    w.begin_object();
    w.key("name");
    w.string("add");
    w.key("arguments");
    w.begin_object();
    w.key("a");
    w.integer(a);
    w.key("b");
    w.integer(b);
    w.end_object();
    w.end_object();
    let reply = client.call(client::Call::new(Method::ToolsCall, Some(w.into_raw()))).await.unwrap();
    let mut text = String::new();
    reply
        .value
        .reader()
        .object(&mut |key, r| {
            if key != "content" {
                return Ok(());
            }
            r.array(&mut |r| {
                r.object(&mut |key, r| {
                    if key == "text" {
                        text = r.string()?.into_owned();
                    }
                    Ok(())
                })
            })
        })
        .unwrap();
    assert_eq!(text.parse(), Ok(a + b));
}

/// JSON text both ways.
struct Port {
    incoming: Arc<Channel>,
    outgoing: Arc<Channel>,
}

#[derive(Default)]
struct Channel {
    texts: Mutex<VecDeque<String>>,
    reader: AtomicWaker,
}

impl TextPort for Port {
    fn send(&mut self, text: String) {
        self.outgoing.texts.lock().unwrap().push_back(text);
        self.outgoing.reader.wake();
    }
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<String, TransportError>>> {
        self.incoming.reader.register(cx.waker());
        match self.incoming.texts.lock().unwrap().pop_front() {
            Some(text) => Poll::Ready(Some(Ok(text))),
            None if Arc::strong_count(&self.incoming) == 1 => Poll::Ready(None),
            None => Poll::Pending,
        }
    }
    fn close(&mut self) {}
}

impl Drop for Port {
    fn drop(&mut self) {
        self.outgoing.reader.wake();
    }
}

fn byte_pipe() -> (TextLink<Port>, TextLink<Port>) {
    let (there, back) = (Arc::<Channel>::default(), Arc::<Channel>::default());
    let near = Port { incoming: back.clone(), outgoing: there.clone() };
    (TextLink::new(near, 1 << 20), TextLink::new(Port { incoming: there, outgoing: back }, 1 << 20))
}

const CALLS: i64 = 40_000;
const ROUNDS: usize = 5;

fn measure(name: &str, mut wire: impl FnMut() -> (ClientHandle, Pin<Box<dyn Future<Output = ()>>>)) {
    let mut best = Duration::MAX;
    let mut batched = Duration::MAX;
    for _ in 0..ROUNDS {
        let (client, driver) = wire();
        let work = async move {
            client.ready().await.unwrap();
            let began = Instant::now();
            for n in 0..CALLS {
                call(&client, n, 1).await;
            }
            best = best.min(began.elapsed());
            let began = Instant::now();
            for n in 0..CALLS / 64 {
                futures::future::join_all((0..64).map(|m| call(&client, n, m))).await;
            }
            batched = batched.min(began.elapsed());
            client.close();
            (best, batched)
        };
        ((best, batched), _) = futures::executor::block_on(join(work, driver));
    }
    println!(
        "{name:<28} {:>6} ns a call, {:>6} ns with 64 at once",
        best.as_nanos() / CALLS as u128,
        batched.as_nanos() / (CALLS / 64 * 64) as u128
    );
}

fn main() {
    let env: Arc<dyn Env> = Arc::new(Clock(Instant::now()));
    let only = std::env::args().nth(1);
    let wanted = |name: &str| only.as_ref().is_none_or(|only| name.contains(only.as_str()));
    for (era, version) in [("modern", ProtocolVersion::V2026_07_28), ("legacy", ProtocolVersion::V2025_11_25)] {
        let both = |(client, driver): (ClientHandle, Driver)| -> (_, Pin<Box<dyn Future<Output = ()>>>) {
            (client, Box::pin(driver))
        };
        let name = format!("{era}, one driver");
        if wanted(&name) {
            measure(&name, || both(in_memory(adder(false), config(version), env.clone(), Box::new(NoHooks))));
        }
        let name = format!("{era}, one driver, waits");
        if wanted(&name) {
            measure(&name, || both(in_memory(adder(true), config(version), env.clone(), Box::new(NoHooks))));
        }
        let name = format!("{era}, two drivers");
        if wanted(&name) {
            measure(&name, || {
                let (near, far) = memory::pair();
                let (client, driver) = connect(config(version), env.clone(), Box::new(near), Box::new(NoHooks));
                let server = serve(adder(false), env.clone(), Box::new(far));
                (client, Box::pin(async { drop(join(driver, server).await) }))
            });
        }
        let name = format!("{era}, byte pipe");
        if wanted(&name) {
            measure(&name, || {
                let (near, far) = byte_pipe();
                let (client, driver) = connect(config(version), env.clone(), Box::new(near), Box::new(NoHooks));
                let server = serve(adder(false), env.clone(), Box::new(far));
                (client, Box::pin(async { drop(join(driver, server).await) }))
            });
        }
    }
}
