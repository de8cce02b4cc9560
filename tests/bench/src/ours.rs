//! Ours: one driver for both ends, two drivers joined, and two drivers with text on a byte pipe.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::executor::block_on;
use futures::future::{Either, join, join_all, select};
use sandwire_client::{Client, Options};
use sandwire_io::lines::Lines;
use sandwire_io::{Env, Link, TextLink, memory, serve};
use sandwire_proto::Limits;
use sandwire_server::{Schema, Server, tool};
use sandwire_types::ProtocolVersion;
use sandwire_types::model::{CallToolResult, ContentBlock};
use serde::Serialize;

use crate::clock::Clock;
use crate::measure::{Subject, expected_text};
use crate::pipe::duplex;

const PIPE_BYTES: usize = 64 * 1024;

#[derive(Serialize)]
struct Arguments {
    a: i64,
    b: i64,
}

#[derive(Serialize, Schema)]
struct Sum {
    sum: i64,
}

/// Adds two integers.
#[tool]
fn add(a: i64, b: i64) -> Sum {
    Sum { sum: a + b }
}

/// How client and server are joined.
#[derive(Clone, Copy)]
pub enum Wiring {
    /// `Client::in_memory`: one driver for both ends.
    InMemory,
    /// The same with a clock and a timeout on every call.
    InMemoryTimed,
    /// A driver for each end in one task, messages handed over as they are.
    Joined,
    /// A driver for each end in one task, JSON text on a byte pipe.
    Pipe,
}

type Drivers = Pin<Box<dyn Future<Output = ()>>>;

/// A connected pair.
pub struct Ours {
    client: Client,
    drivers: Drivers,
    in_flight: u64,
}

impl Ours {
    /// Connects both ends; `in_flight` calls are kept open at once.
    pub fn connect(wiring: Wiring, version: ProtocolVersion, in_flight: u64) -> Self {
        let server = Server::builder("bench", "1.0.0").with(add::tool()).build().expect("the server is built");
        let options = Options::new("bench", "1.0.0").version(version);
        let env: Arc<dyn Env> = Arc::new(Clock::start());
        let (client, mut drivers) = match wiring {
            Wiring::InMemory if version == ProtocolVersion::V2026_07_28 => {
                let (client, driver) = Client::in_memory(&server);
                (client, Box::pin(driver) as Drivers)
            }
            Wiring::InMemory | Wiring::InMemoryTimed => {
                let (client, driver) = Client::in_memory_with(&server, options, env);
                (client, Box::pin(driver) as Drivers)
            }
            Wiring::Joined => {
                let (mine, theirs) = memory::pair();
                two(&server, options, env, mine, theirs)
            }
            Wiring::Pipe => {
                let [mine, theirs] = duplex(PIPE_BYTES)
                    .map(|(reader, writer)| TextLink::new(Lines::new(reader, writer, PIPE_BYTES), Limits::default()));
                two(&server, options, env, mine, theirs)
            }
        };
        let peer = beside(client.ready(), &mut drivers).expect("the connection opens");
        assert_eq!(peer.version, version);
        Self { client, drivers, in_flight }
    }
}

/// A driver for each end, in one task.
fn two(server: &Server, options: Options, env: Arc<dyn Env>, mine: impl Link, theirs: impl Link) -> (Client, Drivers) {
    let (client, driver) = Client::connect(mine, env.clone(), options);
    let served = serve(Arc::new(server.clone()), env, Box::new(theirs));
    (client, Box::pin(async { _ = join(driver, served).await }))
}

impl Subject for Ours {
    fn run(&mut self, calls: u64) -> Duration {
        let (client, in_flight) = (&self.client, self.in_flight);
        let all = async move {
            let begin = Instant::now();
            if in_flight == 1 {
                for number in 0..calls {
                    call(client, number).await;
                }
            } else {
                for first in (0..calls).step_by(in_flight as usize) {
                    let open = (first..calls.min(first + in_flight)).map(|n| call(client, n));
                    join_all(open).await;
                }
            }
            begin.elapsed()
        };
        beside(all, &mut self.drivers)
    }
}

/// Runs `work` on this thread with the drivers in the same task.
fn beside<T>(work: impl Future<Output = T>, drivers: &mut Drivers) -> T {
    match block_on(select(pin!(work), drivers)) {
        Either::Left((done, _)) => done,
        Either::Right(_) => panic!("the connection ended"),
    }
}

async fn call(client: &Client, number: u64) {
    let (a, b) = (number as i64, 1);
    let result = client.call_tool("add", &Arguments { a, b }).await.expect("the call succeeds");
    assert_eq!(text(&result), Some(expected_text(a + b).as_str()));
}

fn text(result: &CallToolResult) -> Option<&str> {
    match result.content.first()? {
        ContentBlock::Text(content) => Some(&content.text),
        _ => None,
    }
}
