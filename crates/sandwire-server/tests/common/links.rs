//! A client and a server over every link that they can have within one process.
#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    missing_debug_implementations,
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used
)]

use futures_util::{FutureExt, future::join};
use sandwire_client::{Client, Options};
use sandwire_io::testing::SimEnv;
use sandwire_io::{BoxFuture, Bytes, Env, HttpClient, HttpLink, HttpRequest, HttpResponse, HttpService, memory, serve};
use sandwire_proto::http::RequestHead;
use sandwire_proto::{Limits, TransportError};
use sandwire_server::Server;
use sandwire_server::http::HttpEntry;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    Memory,
    Pipe,
    Http,
}

pub const LINKS: [Link; 3] = [Link::Memory, Link::Pipe, Link::Http];

/// HTTP without a network: the entry itself. Keeps the heads of what it was sent.
#[derive(Clone)]
pub struct Direct {
    pub entry: HttpEntry,
    pub heads: Arc<Mutex<Vec<RequestHead>>>,
}

impl HttpClient for Direct {
    fn send(&self, request: HttpRequest) -> BoxFuture<'static, Result<HttpResponse, TransportError>> {
        let mut head = request.head;
        self.heads.lock().unwrap().push(head.clone());
        head.headers.push("host", "localhost");
        let answer = self.entry.handle(head, Box::new(Bytes::new(request.body.unwrap_or_default())));
        Box::pin(answer.map(|(head, body)| Ok(HttpResponse { head, body })))
    }
}

type Driver = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A client, what drives its connection, and the heads of what it sent over HTTP.
pub fn connect(link: Link, server: &Server, env: &SimEnv, options: Options) -> (Client, Driver, Direct) {
    let shared: Arc<dyn Env> = Arc::new(env.clone());
    let direct = Direct { entry: server.http(shared.clone()), heads: Arc::default() };
    let (client, driver): (_, Driver) = match link {
        Link::Memory => {
            let (client, driver) = Client::in_memory_with(server, options, shared);
            (client, Box::pin(driver))
        }
        Link::Pipe => {
            let (near, far) = memory::pair();
            let served = serve(Arc::new(server.clone()), shared.clone(), Box::new(far));
            let (client, driver) = Client::connect(near, shared, options);
            (client, Box::pin(join(driver, served).map(|_| ())))
        }
        Link::Http => {
            let link = HttpLink::new(Arc::new(direct.clone()), "http://localhost/mcp", Limits::default());
            let (client, driver) = Client::connect(link, shared, options);
            (client, Box::pin(driver))
        }
    };
    (client, driver, direct)
}

/// Whether somebody was woken.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `scenario` to its end beside `drivers`, letting time pass whenever everything waits for it.
pub fn run<T>(env: &SimEnv, mut drivers: Vec<Driver>, scenario: impl Future<Output = T>) -> T {
    let mut scenario = pin!(scenario);
    let woken = Arc::<Woken>::default();
    let waker = Waker::from(woken.clone());
    let cx = &mut Context::from_waker(&waker);
    loop {
        woken.0.store(false, Ordering::Relaxed);
        if let Poll::Ready(value) = scenario.as_mut().poll(cx) {
            return value;
        }
        drivers.retain_mut(|driver| driver.as_mut().poll(cx).is_pending());
        if !woken.0.load(Ordering::Relaxed) {
            let at = env.next_timer().expect("nothing waits for time, and the scenario does not end");
            env.advance(at.0.saturating_sub(env.now().0).max(1));
        }
    }
}
