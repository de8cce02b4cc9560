//! Connections that are given up at random moments, in every way there is, with servers that do not want to end. Whatever
//! was started has to be gone afterwards.
//!
//! The seed is printed; `SANDWIRE_SEED` repeats a run.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Stdio;
use std::sync::LazyLock;
use std::thread;
use std::time::Duration;

use async_io::Timer;
use fastrand::Rng;
use futures::FutureExt;
use futures::future::{Either, select};
use native_tests::connection::options;
use native_tests::left::{Mark, unreaped};
use native_tests::{tools, within};
use sandwire::{Command, block_on};
use sandwire_client::{Client, Driver};
use serde_json::json;

const SERVER: &str = env!("CARGO_BIN_EXE_native-server");
const ABORTED: &str = env!("CARGO_BIN_EXE_aborted");

/// How many connections of each way are given up; there are ten ways.
const POINTS: usize = 20;
/// How many of them at once.
const AT_ONCE: usize = 6;
/// How long a server has to exit, twice.
const WAIT: Duration = Duration::from_millis(150);
/// How long it may take until all is gone, on a machine that has much else to do.
const GONE: Duration = Duration::from_secs(10);

/// Servers in the shell: `$0` is our server, which speaks. Those that exec have nobody to wait for it.
const STUBBORN: &[&str] = &[
    // Goes on after its input ended, and when it is terminated.
    r#"trap "" TERM INT HUP; "$0" stdio; while :; do sleep 1; done"#,
    // Leaves children in its group.
    r#"sleep 300 & (sleep 300 &) ; exec "$0" stdio"#,
    // Leaves children in sessions of their own, one of which is not to be terminated.
    r#"setsid sleep 300 & setsid sh -c 'trap "" TERM; sleep 300; sleep 300' & exec "$0" stdio"#,
    // Says nothing and cannot be terminated.
    r#"trap "" TERM; exec sleep 300"#,
    // Is gone at once, and leaves something.
    r#"setsid sleep 300 & exit 3"#,
    // Talks without end where nobody listens.
    r#"trap "" TERM; while :; do echo noise >&2; done & exec "$0" stdio"#,
    // Starts something new when it is terminated.
    r#"trap 'setsid sleep 300 & sleep 300 &' TERM; "$0" stdio; while :; do sleep 0.05; done"#,
    // Has no output any more, and lives.
    r#"exec >&- ; while :; do sleep 0.1; done"#,
];

static SEED: LazyLock<u64> = LazyLock::new(|| {
    let seed = std::env::var("SANDWIRE_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| fastrand::u64(..));
    println!("SANDWIRE_SEED={seed}");
    seed
});

/// A server, and when its connection is given up.
#[derive(Debug)]
struct Point {
    program: Vec<String>,
    moment: Duration,
}

impl Point {
    fn new(way: &str, number: usize) -> Self {
        let way = way.bytes().fold(0, |hash: u64, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
        let mut rng = Rng::with_seed(*SEED ^ way.wrapping_mul(1000).wrapping_add(number as u64));
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let program = match number {
            // The slow ones are few.
            0 => vec![tools::python().display().to_string(), "-m".to_owned(), "mcp_server_time".to_owned()],
            1 => {
                let script = tools::npm().join("@modelcontextprotocol/server-memory/dist/index.js");
                vec!["node".to_owned(), script.display().to_string()]
            }
            2..=5 => words(&[SERVER, "stdio"]),
            _ => words(&["sh", "-c", STUBBORN[number % STUBBORN.len()], SERVER]),
        };
        // From a sixteenth of a millisecond to half a second, early moments as likely as late ones.
        let moment = Duration::from_secs_f64(0.000_061 * (rng.f64() * 13.0).exp2());
        Self { program, moment }
    }

    fn command(&self, mark: &Mark) -> Command {
        let (program, arguments) = self.program.split_first().unwrap();
        mark.on(Command::new(program).args(arguments)).shutdown_waits(WAIT, WAIT)
    }

    fn connect(&self, mark: &Mark) -> (Client, Driver) {
        sandwire::connect(self.command(mark)).options(options()).split().unwrap()
    }
}

/// Gives connections up in one way, at many points.
fn abort(way: &'static str, give_up: fn(&Point, &Mark)) {
    within(Duration::from_secs(80), move || {
        let seed = *SEED;
        let (queue, points) = std::sync::mpsc::channel();
        (0..POINTS).for_each(|number| queue.send(Point::new(way, number)).unwrap());
        drop(queue);
        let points = std::sync::Mutex::new(points);
        thread::scope(|scope| {
            for _ in 0..AT_ONCE {
                scope.spawn(|| {
                    loop {
                        let Ok(point) = points.lock().unwrap().recv() else { break };
                        let mark = Mark::new();
                        let gone = catch_unwind(AssertUnwindSafe(|| {
                            give_up(&point, &mark);
                            mark.assert_gone(GONE);
                        }));
                        if let Err(panic) = gone {
                            println!("SANDWIRE_SEED={seed}, {way}: {point:?}");
                            std::panic::resume_unwind(panic);
                        }
                    }
                });
            }
        });
        let reaped = (0..500).any(|_| {
            thread::sleep(Duration::from_millis(10));
            unreaped() == 0
        });
        assert!(reaped, "{} children were not reaped", unreaped());
    });
}

/// Calls until the connection ends.
async fn keep_calling(client: Client) {
    while client.call_tool("add", &json!({ "a": 1, "b": 2 })).await.is_ok() {}
    std::future::pending().await
}

#[test]
fn a_call_is_dropped_and_the_client_closed() {
    abort("call", |point, mark| {
        let (client, driver) = point.connect(mark);
        let driving = thread::spawn(|| block_on(driver));
        block_on(select(Box::pin(keep_calling(client.clone())), Timer::after(point.moment)));
        client.close();
        driving.join().unwrap();
    });
}

#[test]
fn the_client_is_dropped() {
    abort("client", |point, mark| {
        let (client, driver) = point.connect(mark);
        let driving = thread::spawn(|| block_on(driver));
        block_on(select(Box::pin(keep_calling(client)), Timer::after(point.moment)));
        driving.join().unwrap();
    });
}

#[test]
fn the_driver_is_dropped() {
    abort("driver", |point, mark| {
        let (client, driver) = point.connect(mark);
        let calling = Box::pin(keep_calling(client));
        let driving = Box::pin(driver.then(|()| std::future::pending::<()>()));
        let both = select(select(calling, driving), Timer::after(point.moment));
        assert!(matches!(block_on(both), Either::Right(_)));
    });
}

#[test]
fn the_driver_is_never_polled() {
    abort("unpolled", |point, mark| {
        let (client, driver) = point.connect(mark);
        thread::sleep(point.moment);
        drop((driver, client));
    });
}

#[test]
fn a_smol_executor_is_dropped() {
    abort("smol", |point, mark| {
        let executor = smol::Executor::new();
        let (client, driver) = point.connect(mark);
        executor.spawn(driver).detach();
        executor.spawn(keep_calling(client)).detach();
        block_on(executor.run(Timer::after(point.moment)));
        drop(executor);
    });
}

#[test]
fn a_tokio_runtime_is_dropped() {
    abort("tokio", |point, mark| {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let (client, driver) = point.connect(mark);
        runtime.spawn(driver);
        runtime.spawn(keep_calling(client));
        thread::sleep(point.moment);
        drop(runtime);
    });
}

#[test]
fn what_drives_panics() {
    abort("panic", |point, mark| {
        let (client, driver) = point.connect(mark);
        let moment = point.moment;
        let driving = thread::Builder::new().name("panics".to_owned()).spawn(move || {
            let panicking = Timer::after(moment).then(|_| async { std::panic::resume_unwind(Box::new("as asked")) });
            let both = select(driver.then(|()| std::future::pending::<()>()), Box::pin(panicking));
            let _: Either<_, ((), _)> = block_on(both);
        });
        block_on(select(Box::pin(keep_calling(client)), Timer::after(moment)));
        assert!(driving.unwrap().join().is_err());
    });
}

/// The whole program ends, which holds itself up until its servers are gone.
fn whole_program(way: &str, point: &Point, mark: &Mark) {
    let mut program = std::process::Command::new(ABORTED);
    let (moment, wait) = (point.moment.as_micros().to_string(), WAIT.as_millis().to_string());
    program.args([way, &moment, mark.name(), &wait]).args(&point.program);
    let status = program.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    let expected = match way {
        "exit" => 3,
        "panic" => 101,
        _ => 0,
    };
    assert_eq!(status.code(), Some(expected), "{point:?}");
    mark.assert_gone(Duration::ZERO);
}

#[test]
fn the_program_exits() {
    abort("exit", |point, mark| whole_program("exit", point, mark));
}

#[test]
fn main_returns() {
    abort("return", |point, mark| whole_program("return", point, mark));
}

#[test]
fn main_panics() {
    abort("main", |point, mark| whole_program("panic", point, mark));
}
