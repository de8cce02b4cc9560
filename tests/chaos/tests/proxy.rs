//! Over a bad network each call ends in a result or an error within its time, nobody panics, and a response that
//! arrived whole is never lost. Client and server are ours, or one of them is Node's plain HTTP.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use std::{
    io::{BufRead, BufReader},
    net::SocketAddr,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use async_io::Timer;
use chaos::{
    ERAS, Label,
    proxy::{Plan, Proxy},
    server,
};
use fastrand::Rng;
use futures::future::{Either, join_all, select};
use sandwire::{Client, http};
use sandwire_client::{Error, Mode, Options};
use sandwire_server::http::{Guard, HttpEntry, Sessions};

/// How long a call has.
const TIMEOUT: Duration = Duration::from_secs(2);
/// How much longer opening and a busy machine may take before it counts as a hang.
const PATIENCE: Duration = Duration::from_secs(30);

static PANICS: AtomicUsize = AtomicUsize::new(0);

/// Our server at a port, on a thread of its own until this is dropped.
struct Served {
    address: SocketAddr,
    stop: http::Shutdown,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Served {
    fn new() -> Self {
        let listener = http::Server::local(0).unwrap();
        let (address, stop) = (listener.local_addr().unwrap(), listener.shutdown());
        let (entry, sessions) = HttpEntry::with_sessions(
            std::sync::Arc::new(server()),
            sandwire::NativeEnv::shared(),
            Guard::default(),
            Sessions::default(),
        );
        let run = move || sandwire::block_on(async { drop(select(Box::pin(listener.serve(entry)), sessions).await) });
        Self { address, stop, thread: Some(std::thread::spawn(run)) }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.begin();
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking(), "the server panicked");
        }
    }
}

fn count_panics() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            PANICS.fetch_add(1, Ordering::SeqCst);
            before(info);
        }));
    });
}

fn connect(address: SocketAddr, mode: &Mode) -> Client {
    let options = Options::new("chaos", "1").mode(mode.clone()).timeout(TIMEOUT).probe_timeout(TIMEOUT);
    let connecting = sandwire::connect(format!("http://{address}/mcp")).options(options);
    let (client, driver) = connecting.split().unwrap();
    std::thread::spawn(move || sandwire::block_on(driver));
    client
}

/// One call, which must come to an end, and to the right one.
async fn call(client: &Client, label: Label) -> Result<(), Error> {
    let begin = Instant::now();
    let call = Box::pin(client.call_tool("echo", &label).structured::<Label>().into_future());
    let Either::Left((ended, _)) = select(call, Timer::after(TIMEOUT + PATIENCE)).await else {
        panic!("{label:?} did not end within {:?}", begin.elapsed());
    };
    ended.map(|answer| assert_eq!(answer, label, "an answer went to another call"))
}

/// Makes calls through a proxy, eight at the same time; how many had a result.
fn converse(server: SocketAddr, mode: &Mode, seed: u64, plan: impl Fn(u64) -> Plan + Send + 'static) -> usize {
    let proxy = Proxy::new(server, seed, plan);
    let client = connect(proxy.address, mode);
    let label = |number| Label { client: 1, call: number, pauses: number % 3 };
    let calls = (0..8).map(|number| call(&client, label(number)));
    let results = sandwire::block_on(join_all(calls));
    client.close();
    results.iter().filter(|result| result.is_ok()).count()
}

/// The seed of this run, printed, or the one that is asked for.
fn seed() -> u64 {
    let seed = std::env::var("SANDWIRE_CHAOS_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| fastrand::u64(..));
    println!("seed {seed}; SANDWIRE_CHAOS_SEED={seed} runs it again");
    seed
}

fn no_panics() {
    assert_eq!(PANICS.load(Ordering::SeqCst), 0, "somebody panicked");
}

#[test]
fn what_is_only_slow_or_split_is_never_lost() {
    count_panics();
    let seed = seed();
    let served = Served::new();
    for mode in ERAS {
        for plan in [
            Plan { piece: Some(1), ..Plan::default() },
            Plan { piece: Some(7), delay_ms: 1, ..Plan::default() },
            Plan { delay_ms: 20, ..Plan::default() },
        ] {
            assert_eq!(converse(served.address, &mode, seed, move |_| plan), 8, "{mode:?} {plan:?}");
        }
    }
    no_panics();
}

#[test]
fn a_response_may_end_at_every_byte() {
    count_panics();
    let served = Served::new();
    let visited = connect(served.address, &Mode::Auto);
    let known = sandwire::block_on(visited.ready()).unwrap();
    visited.close();
    let mut first = None;
    for end in 0..2500 {
        let proxy = Proxy::new(served.address, 1, move |_| Plan { truncate_after: Some(end), ..Plan::default() });
        // The call is all there is on its connection.
        let client = connect(proxy.address, &Mode::Remembered(known.clone()));
        let result = sandwire::block_on(call(&client, Label { client: 1, call: 1, pauses: 1 }));
        client.close();
        match (result, first) {
            (Ok(()), None) => first = Some(end),
            (Err(error), Some(first)) => panic!("whole after {first} bytes, lost after {end}: {error}"),
            (Ok(()), Some(first)) if end > first + 200 => break,
            _ => {}
        }
    }
    println!("a result from {first:?} bytes on");
    assert!(first.is_some_and(|first| first > 200), "{first:?}");
    no_panics();
}

#[test]
fn whatever_happens_every_call_ends() {
    count_panics();
    let seed = seed();
    let served = Served::new();
    let mut random = Rng::with_seed(seed);
    let mut whole = 0;
    const ROUNDS: usize = 60;
    for round in 0..ROUNDS {
        let seed = random.u64(..);
        let mode = &ERAS[round % 2];
        whole += converse(served.address, mode, seed, move |number| any(seed ^ number));
    }
    println!("{whole} of {} calls had a result", ROUNDS * 8);
    assert!((ROUNDS..ROUNDS * 8).contains(&whole), "the faults are too many or too few");
    no_panics();
}

/// A plan with some faults.
fn any(seed: u64) -> Plan {
    let mut random = Rng::with_seed(seed);
    let mut sometimes = |one_of: u32, most: usize| (random.u32(0..one_of) == 0).then(|| random.usize(0..most));
    Plan {
        drop_after: sometimes(6, 3000),
        truncate_after: sometimes(6, 4000),
        silent_after: sometimes(12, 4000),
        piece: sometimes(3, 40).map(|size| size + 1),
        delay_ms: sometimes(3, 3).unwrap_or(0) as u64,
    }
}

/// A peer in Node, if there is a Node; its first line is what it says when it is there.
fn node(script: &str, argument: &str) -> Option<(Child, BufReader<std::process::ChildStdout>)> {
    let program = std::env::var("SANDWIRE_NODE").unwrap_or_else(|_| "node".to_owned());
    let path = format!("{}/peers/{script}", env!("CARGO_MANIFEST_DIR"));
    let child = Command::new(program).args([&path, argument]).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        eprintln!("skipped: no node");
        return None;
    };
    let output = BufReader::new(child.stdout.take().unwrap());
    Some((child, output))
}

fn line(output: &mut impl BufRead) -> String {
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    line.trim().to_owned()
}

#[test]
fn a_plain_http_server_behind_it_is_understood_or_the_call_fails() {
    count_panics();
    let Some((mut child, mut output)) = node("server.mjs", "") else { return };
    let address: SocketAddr = format!("127.0.0.1:{}", line(&mut output)).parse().unwrap();
    let seed = seed();
    for mode in ERAS {
        let split = Plan { piece: Some(1), ..Plan::default() };
        assert_eq!(converse(address, &mode, seed, move |_| split), 8, "{mode:?}");
        for round in 0..10 {
            converse(address, &mode, seed, move |number| any(seed ^ number ^ round << 32));
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    no_panics();
}

#[test]
fn a_plain_http_client_behind_it_is_answered_or_sees_the_end() {
    count_panics();
    let served = Served::new();
    let seed = seed();
    for (plan, all) in [(Some(Plan { piece: Some(1), ..Plan::default() }), true), (None, false)] {
        let proxy = Proxy::new(served.address, seed, move |number| plan.unwrap_or_else(|| any(seed ^ number)));
        let Some((mut child, mut output)) = node("client.mjs", &format!("http://{}/mcp", proxy.address)) else {
            return;
        };
        let said = line(&mut output);
        let numbers: Vec<usize> = said.split(' ').map(|number| number.parse().unwrap()).collect();
        let [right, failed, wrong] = numbers[..] else { panic!("{said}") };
        assert_eq!((right + failed, wrong), (80, 0), "{said}");
        assert!(!all || failed == 0, "{said}");
        assert!(right > 0, "{said}");
        child.wait().unwrap();
    }
    no_panics();
}
