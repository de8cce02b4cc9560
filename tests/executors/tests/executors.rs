//! The same conversation on a bare `block_on`, on smol and on tokio, with one driver, with two, and across threads.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use executors::{converse, server};
use futures::{
    executor::block_on,
    future::{BoxFuture, FutureExt, join, join_all},
};
use sandwire_client::{Client, Options};
use sandwire_io::{Env, memory, serve, testing::SimEnv};
use std::sync::Arc;

type Task = BoxFuture<'static, ()>;

/// The conversation and the drivers it needs, in every form.
fn forms() -> Vec<(&'static str, Task, Vec<Task>)> {
    let options = || Options::new("executors", "1.0");
    let env: Arc<dyn Env> = Arc::new(SimEnv::new(1));

    let (client, driver) = Client::in_memory_with(&server(), options(), env.clone());
    let one = ("one driver", converse(client).boxed(), vec![driver.boxed()]);

    let (near, far) = memory::pair();
    let (client, driver) = Client::connect(near, env.clone(), options());
    let serving = serve(Arc::new(server()), env, Box::new(far));
    let two = ("two drivers", converse(client).boxed(), vec![driver.boxed(), serving.boxed()]);
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
