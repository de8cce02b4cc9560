//! The same conversation on a bare `block_on`, on smol and on tokio, with one driver, with two, and across threads.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use executors::pause;
use futures::{
    executor::block_on,
    future::{BoxFuture, FutureExt, join, join_all},
};
use sandwire_client::{Client, Options};
use sandwire_io::{Env, memory, serve, testing::SimEnv};
use sandwire_server::{Context, Schema, Server};
use serde::Deserialize;
use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

#[derive(Deserialize, Schema)]
struct Add {
    a: i64,
    b: i64,
}

struct Bench {
    server: Server,
    gave_up: Arc<AtomicBool>,
}

fn bench() -> Bench {
    let gave_up = Arc::new(AtomicBool::new(false));
    let seen = gave_up.clone();
    let server = Server::builder("bench", "1.0")
        .tool("add", "Adds.", |add: Add| add.a + add.b)
        .tool("slow", "Adds after a while.", async |add: Add, context: &Context| {
            for step in 1..=3 {
                context.progress(f64::from(step), 3.0, None);
                pause().await;
            }
            add.a + add.b
        })
        .tool("never", "Waits for the caller to give up.", move |context: Context| {
            let seen = seen.clone();
            async move {
                context.cancelled().await;
                seen.store(true, Ordering::SeqCst);
            }
        })
        .build()
        .unwrap();
    Bench { server, gave_up }
}

async fn converse(client: Client, gave_up: Arc<AtomicBool>) {
    let tools = client.list_tools().await.unwrap().tools;
    assert_eq!(tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["add", "slow", "never"]);

    let sums = join_all((0..100).map(|n| {
        let client = client.clone();
        async move {
            let tool = if n % 2 == 0 { "add" } else { "slow" };
            let sum: i64 = client.call_tool(tool, &args(n, 1)).structured().await.unwrap();
            assert_eq!(sum, n + 1);
        }
    }));
    sums.await;

    let steps = Arc::new(AtomicUsize::new(0));
    let counted = steps.clone();
    let slow = client.call_tool("slow", &args(20, 22)).on_progress(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
    });
    assert_eq!(slow.structured::<i64>().await.unwrap(), 42);
    assert_eq!(steps.load(Ordering::SeqCst), 3);

    let mut given_up: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin({
        let client = client.clone();
        async move { drop(client.call_tool("never", &()).await) }
    });
    assert!(given_up.as_mut().now_or_never().is_none());
    drop(given_up);
    while !gave_up.load(Ordering::SeqCst) {
        pause().await;
    }
    client.close();
}

#[derive(serde::Serialize)]
struct Args {
    a: i64,
    b: i64,
}

fn args(a: i64, b: i64) -> Args {
    Args { a, b }
}

type Task = BoxFuture<'static, ()>;

/// The conversation and the drivers it needs, in every form.
fn forms() -> Vec<(&'static str, Task, Vec<Task>)> {
    let options = || Options::new("executors", "1.0");
    let env: Arc<dyn Env> = Arc::new(SimEnv::new(1));

    let one = bench();
    let (client, driver) = Client::in_memory_with(&one.server, options(), env.clone());
    let one = ("one driver", converse(client, one.gave_up).boxed(), vec![driver.boxed()]);

    let two = bench();
    let (near, far) = memory::pair();
    let (client, driver) = Client::connect(near, env.clone(), options());
    let server = serve(Arc::new(two.server), env, Box::new(far));
    let two = ("two drivers", converse(client, two.gave_up).boxed(), vec![driver.boxed(), server.boxed()]);
    vec![one, two]
}

#[test]
fn on_block_on_everything_in_one_task() {
    for (form, conversation, drivers) in forms() {
        block_on(join(conversation, join_all(drivers)));
        println!("{form}: done");
    }
}

#[test]
fn on_block_on_every_part_on_a_thread_of_its_own() {
    // Often, because what may go wrong between threads goes wrong rarely.
    for (form, conversation, drivers) in (0..30).flat_map(|_| forms()) {
        let threads: Vec<_> = drivers.into_iter().map(|driver| std::thread::spawn(move || block_on(driver))).collect();
        block_on(conversation);
        for thread in threads {
            thread.join().unwrap();
        }
        println!("{form}: done");
    }
}

#[test]
fn on_smol() {
    for (form, conversation, drivers) in forms() {
        smol::block_on(async {
            let drivers: Vec<_> = drivers.into_iter().map(smol::spawn).collect();
            smol::spawn(conversation).await;
            join_all(drivers).await;
        });
        println!("{form}: done");
    }
}

#[test]
fn on_tokio() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    for (form, conversation, drivers) in forms() {
        runtime.block_on(async {
            let drivers: Vec<_> = drivers.into_iter().map(tokio::spawn).collect();
            tokio::spawn(conversation).await.unwrap();
            join_all(drivers).await.into_iter().for_each(Result::unwrap);
        });
        println!("{form}: done");
    }
}
