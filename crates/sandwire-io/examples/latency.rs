//! How long one `tools/call` takes, with typed arguments and a typed result, over each in-process wiring.
//!
//! `cargo run --release -p sandwire-io --example latency`
#![allow(clippy::unwrap_used, clippy::panic, clippy::disallowed_methods)]

use std::{
    collections::VecDeque,
    io,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
    time::{Duration, Instant},
};

use futures::{AsyncRead, AsyncWrite, future::join, task::AtomicWaker};
use sandwire_io::{
    Answer, Call, Endpoint, Env, TextLink, Timer,
    client::{ClientHandle, Config, Driver, Mode, NoHooks, connect},
    in_memory,
    lines::Lines,
    memory, serve,
};
use sandwire_json::{Raw, Reader, Writer};
use sandwire_proto::{Limits, Time, client, server};
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
    fn answer(params: &Raw) -> Result<Reply, ErrorObject> {
        let add = Add::read(sandwire_json::find(params.as_str(), "arguments").unwrap_or("{}"))?;
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
        let params = call.request.params.clone().unwrap_or_else(Raw::object);
        if self.waits {
            Answer::Pending(Box::pin(async move {
                Yield(false).await;
                Self::answer(&params)
            }))
        } else {
            Answer::Ready(Self::answer(&params))
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

fn params(a: i64, b: i64) -> Raw {
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
    w.into_raw()
}

fn sum_of(result: &Raw) -> i64 {
    let mut text = String::new();
    result
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
    text.parse().unwrap()
}

async fn call(client: &ClientHandle, a: i64, b: i64) {
    let reply = client.call(client::Call::new(Method::ToolsCall, Some(params(a, b)))).await.unwrap();
    assert_eq!(sum_of(&reply.value), a + b);
}

/// What a call costs without any connection: the floor under every row.
fn codec(slices: usize) {
    let mut best = Duration::MAX;
    for _ in 0..slices {
        let began = Instant::now();
        for n in 0..SLICE {
            let reply = Adder::answer(&params(n, 1)).unwrap();
            assert_eq!(sum_of(&reply.value), n + 1);
        }
        best = best.min(began.elapsed());
    }
    println!("{:<28} {:>6} ns a call", "codec only", best.as_nanos() / SLICE as u128);
}

/// One direction of a byte pipe.
#[derive(Default)]
struct Bytes {
    bytes: Mutex<(VecDeque<u8>, bool)>,
    reader: AtomicWaker,
}

struct Outlet(Arc<Bytes>);
struct Inlet(Arc<Bytes>);

impl AsyncRead for Outlet {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        self.0.reader.register(cx.waker());
        let mut held = self.0.bytes.lock().unwrap();
        if held.0.is_empty() && !held.1 {
            return Poll::Pending;
        }
        Poll::Ready(io::Read::read(&mut held.0, buffer))
    }
}

impl AsyncWrite for Inlet {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>> {
        self.0.bytes.lock().unwrap().0.extend(buffer);
        self.0.reader.wake();
        Poll::Ready(Ok(buffer.len()))
    }
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl Drop for Inlet {
    fn drop(&mut self) {
        self.0.bytes.lock().unwrap().1 = true;
        self.0.reader.wake();
    }
}

type Pipe = TextLink<Lines<Outlet, Inlet>>;

fn byte_pipe() -> (Pipe, Pipe) {
    let (there, back) = (Arc::<Bytes>::default(), Arc::<Bytes>::default());
    let near = Lines::new(Outlet(back.clone()), Inlet(there.clone()), 1 << 20);
    let far = Lines::new(Outlet(there), Inlet(back), 1 << 20);
    (TextLink::new(near, Limits::default()), TextLink::new(far, Limits::default()))
}

/// Short enough to fit between two interruptions: the best slice is what a quiet machine would show.
const SLICE: i64 = 640;

fn measure(name: &str, slices: usize, mut wire: impl FnMut() -> (ClientHandle, Pin<Box<dyn Future<Output = ()>>>)) {
    let (client, driver) = wire();
    let work = async move {
        client.ready().await.unwrap();
        let mut best = [Duration::MAX; 2];
        for _ in 0..slices {
            let began = Instant::now();
            for n in 0..SLICE {
                call(&client, n, 1).await;
            }
            best[0] = best[0].min(began.elapsed());
            let began = Instant::now();
            for n in 0..SLICE / 64 {
                futures::future::join_all((0..64).map(|m| call(&client, n, m))).await;
            }
            best[1] = best[1].min(began.elapsed());
        }
        client.close();
        best.map(|best| best.as_nanos() / SLICE as u128)
    };
    let ([one, many], _) = futures::executor::block_on(join(work, driver));
    println!("{name:<28} {one:>6} ns a call, {many:>6} ns with 64 at once");
}

fn main() {
    let env: Arc<dyn Env> = Arc::new(Clock(Instant::now()));
    let only = std::env::args().nth(1).unwrap_or_default();
    let slices = std::env::args().nth(2).and_then(|slices| slices.parse().ok()).unwrap_or(200);
    let wanted = |name: &str| name.ends_with(&only) || name.starts_with(&only);
    if wanted("codec only") {
        codec(slices);
    }
    for (era, version) in [("modern", ProtocolVersion::V2026_07_28), ("legacy", ProtocolVersion::V2025_11_25)] {
        let both = |(client, driver): (ClientHandle, Driver)| -> (_, Pin<Box<dyn Future<Output = ()>>>) {
            (client, Box::pin(driver))
        };
        let name = format!("{era}, one driver");
        if wanted(&name) {
            measure(&name, slices, || both(in_memory(adder(false), config(version), env.clone(), Box::new(NoHooks))));
        }
        let name = format!("{era}, one driver, waits");
        if wanted(&name) {
            measure(&name, slices, || both(in_memory(adder(true), config(version), env.clone(), Box::new(NoHooks))));
        }
        let name = format!("{era}, two drivers");
        if wanted(&name) {
            measure(&name, slices, || {
                let (near, far) = memory::pair();
                let (client, driver) = connect(config(version), env.clone(), Box::new(near), Box::new(NoHooks));
                let server = serve(adder(false), env.clone(), Box::new(far));
                (
                    client,
                    Box::pin(async {
                        join(driver, server).await;
                    }),
                )
            });
        }
        let name = format!("{era}, byte pipe");
        if wanted(&name) {
            measure(&name, slices, || {
                let (near, far) = byte_pipe();
                let (client, driver) = connect(config(version), env.clone(), Box::new(near), Box::new(NoHooks));
                let server = serve(adder(false), env.clone(), Box::new(far));
                (
                    client,
                    Box::pin(async {
                        join(driver, server).await;
                    }),
                )
            });
        }
    }
}
