//! Mixed traffic against a native server in a process of its own, for as many minutes as the argument says. Its memory
//! must not grow: `cargo xtask soak`.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::{
    io::{BufRead, BufReader},
    process::{Command, ExitCode, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use async_io::Timer;
use chaos::{ERAS, Label};
use fastrand::Rng;
use futures::future::{Either, FutureExt, join_all, select};
use sandwire::{Client, Context, Server, http};
use sandwire_client::Options;
use sandwire_server::{
    Form, Schema, ToolError,
    http::{Guard, HttpEntry, Sessions},
};
use serde::Deserialize;

const CLIENTS: usize = 8;

#[derive(Deserialize, Schema)]
struct Who {
    name: String,
}

/// The server's tools, with some that end otherwise than with a result.
fn tools() -> Server {
    chaos::builder()
        .tool("fail", "Fails.", || Err::<String, _>(ToolError::new("as it should")))
        .tool("wait", "Waits for its caller to give up.", async |context: &Context| context.cancelled().await)
        .tool("ask", "Asks who calls.", async |context: &Context| {
            let who = context.elicit("who", Form::<Who>::new("Who are you?")).await?;
            Ok::<_, ToolError>(who.accepted().map(|who| who.name).unwrap_or_default())
        })
        .build()
        .unwrap()
}

fn serve() {
    let listener = http::Server::local(0).unwrap();
    println!("{}", listener.local_addr().unwrap());
    let sessions = Sessions { idle_ms: 20_000, ..Sessions::default() };
    let env = sandwire::NativeEnv::shared();
    let (entry, driver) = HttpEntry::with_sessions(Arc::new(tools()), env, Guard::default(), sessions);
    sandwire::block_on(async { drop(select(Box::pin(listener.serve(entry)), driver).await) });
}

/// One client's visit, from its connection to its end.
async fn visit(url: &str, random: &mut Rng, calls: &AtomicU64) {
    let answer = async |_| Err(sandwire::types::ErrorObject::internal("nobody is there"));
    let options = Options::new("soak", "1").mode(ERAS[random.usize(0..2)].clone());
    let options = options.timeout(Duration::from_secs(20)).on_elicitation(answer);
    let (client, driver) = sandwire::connect(url).options(options).split().unwrap();
    let rude = random.u32(0..4) == 0;
    let traffic = async {
        for call in 0..random.u32(1..12) {
            converse(&client, call, random).await;
            calls.fetch_add(1, Ordering::Relaxed);
        }
        if !rude {
            client.close();
        }
    };
    // Who is rude is gone without a word, whatever is under way.
    match select(Box::pin(driver), Box::pin(traffic)).await {
        Either::Right(((), driver)) if !rude => drop(select(driver, Timer::after(Duration::from_secs(2))).await),
        _ => {}
    }
}

async fn converse(client: &Client, call: u32, random: &mut Rng) {
    match random.u32(0..8) {
        0 => drop(client.list_tools().await),
        1 => assert!(client.call_tool("fail", &()).await.is_ok_and(|result| result.is_error == Some(true))),
        2 => {
            let given_up = client.call_tool("wait", &()).into_future();
            drop(select(Box::pin(given_up), Timer::after(Duration::from_millis(random.u64(0..20)))).await);
        }
        3 => drop(client.call_tool("ask", &()).await),
        4 => assert!(client.call_tool("nobody", &()).await.is_err()),
        5 => {
            let filter = sandwire::types::model::SubscriptionFilter::default();
            drop(select(Box::pin(client.listen(filter).into_future()), Timer::after(Duration::from_millis(5))).await);
        }
        _ => {
            let label = Label { client: 1, call, pauses: random.u32(0..5) };
            let echoed = client.call_tool("echo", &label).on_progress(drop).structured::<Label>().await;
            assert_eq!(echoed.unwrap(), label);
        }
    }
}

/// The memory that a process has of its own, in kilobytes.
fn memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// The median.
fn middle(samples: &[u64]) -> u64 {
    let mut samples = samples.to_vec();
    samples.sort_unstable();
    samples.get(samples.len() / 2).copied().unwrap_or(0)
}

fn main() -> ExitCode {
    let argument = std::env::args().nth(1).unwrap_or_else(|| "30".to_owned());
    if argument == "--server" {
        serve();
        return ExitCode::SUCCESS;
    }
    let Ok(minutes) = argument.parse::<f64>() else {
        eprintln!("usage: soak [minutes]");
        return ExitCode::from(2);
    };
    let seed = fastrand::u64(..);
    let mut server = Command::new(std::env::current_exe().unwrap());
    let mut server = server.arg("--server").stdout(Stdio::piped()).spawn().unwrap();
    let mut address = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut address).unwrap();
    let url = format!("http://{}/mcp", address.trim());
    println!("{CLIENTS} clients for {minutes} minutes, seed {seed}");

    let (calls, visits, over) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
    let mut samples = Vec::new();
    let end = Instant::now() + Duration::from_secs_f64(minutes * 60.0);
    let clients = join_all((0..CLIENTS).map(|number| {
        let (url, calls, visits, over) = (&url, &calls, &visits, &over);
        async move {
            let mut random = Rng::with_seed(seed ^ number as u64);
            while !over.load(Ordering::Relaxed) {
                visit(url, &mut random, calls).await;
                visits.fetch_add(1, Ordering::Relaxed);
            }
        }
    }));
    let sampling = async {
        while Instant::now() < end {
            Timer::after(Duration::from_secs(1)).await;
            samples.push(memory(server.id()));
            if samples.len() % 60 == 0 {
                let (visits, calls) = (visits.load(Ordering::Relaxed), calls.load(Ordering::Relaxed));
                println!(
                    "{} min: {} kB, {visits} visits, {calls} calls",
                    samples.len() / 60,
                    samples[samples.len() - 1]
                );
            }
        }
        over.store(true, Ordering::Relaxed);
    };
    sandwire::block_on(futures::future::join(clients, sampling).map(drop));
    let lives = server.try_wait().is_ok_and(|ended| ended.is_none());
    drop(server.kill());
    drop(server.wait());

    let quarter = samples.len() / 4;
    let [early, late] = [&samples[quarter..2 * quarter], &samples[3 * quarter..]].map(middle);
    let flat = lives && late <= early + early / 20 + 1024;
    println!("{early} kB in the second quarter, {late} kB in the last: {}", if flat { "flat" } else { "NOT FLAT" });
    println!("{} passed, {} failed", usize::from(flat), usize::from(!flat));
    ExitCode::from(u8::from(!flat))
}
