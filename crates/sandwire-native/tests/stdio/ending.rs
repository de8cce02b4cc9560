//! However a connection ends, nothing of the server is left.

use crate::scene::{Scene, close, next_line, spawn, wait};
use futures::{FutureExt, future::poll_fn};
use proptest::prelude::*;
use sandwire_io::{
    TextLink, TextPort,
    client::{Config, NoHooks, connect},
};
use sandwire_native::{NativeEnv, block_on, stdio::Process};
use sandwire_proto::Limits;
use std::time::Duration;

const NOBODY: [&str; 0] = [];

/// Servers that are hard to end, each with how many processes it is.
const UNWILLING: &[(&str, usize)] = &[
    // Ignores that its input ends.
    ("exec sleep 1000", 1),
    ("trap '' TERM; echo {}; while :; do sleep 1000; done", 2),
    // Leave descendants behind in the group, some of which cannot be terminated.
    ("sleep 1000 & cat", 3),
    ("(trap '' TERM; while :; do sleep 1000; done) & exec cat", 3),
    // Leave descendants behind that left the group.
    ("setsid sleep 1000 & exec cat", 2),
    ("setsid sh -c 'trap \"\" TERM; sleep 1000 & sleep 1000' & exec cat", 4),
    ("(setsid sh -c 'sleep 1000 & exit') & wait; exec cat", 2),
    // Write without end.
    ("exec yes", 1),
    ("exec yes >&2", 1),
    ("trap '' TERM; yes & yes >&2", 3),
];

#[test]
fn a_server_that_reads_to_the_end_is_gone_when_the_port_is() {
    let scene = Scene::new();
    let mut port = scene.start("cat");
    port.send("{\"a\":1}".into());
    assert_eq!(next_line(&mut port), "{\"a\":1}");
    close(&mut port);
    assert_eq!(scene.left(), NOBODY);
}

#[test]
fn a_server_that_does_not_end_is_ended_before_the_port() {
    let closings = UNWILLING.iter().map(|(script, count)| {
        let scene = Scene::new();
        let mut port = scene.start(script);
        scene.wait_for(*count);
        port.close();
        async move {
            while poll_fn(|cx| port.poll(cx)).await.is_some() {}
            assert_eq!(scene.left(), NOBODY, "{script}");
        }
    });
    block_on(futures::future::join_all(closings.collect::<Vec<_>>()));
}

#[test]
fn a_server_whose_port_is_dropped_is_ended_all_the_same() {
    let scenes = UNWILLING.iter().map(|(script, count)| {
        let scene = Scene::new();
        let port = scene.start(script);
        scene.wait_for(*count);
        drop(port);
        scene
    });
    scenes.collect::<Vec<_>>().iter().for_each(|scene| scene.wait_for(0));
}

#[test]
fn a_server_that_does_not_read_is_not_waited_for() {
    let scene = Scene::new();
    let mut port = scene.start("exec sleep 1000");
    port.send("x".repeat(1_000_000));
    close(&mut port);
    assert_eq!(scene.left(), NOBODY);
}

#[test]
fn what_left_the_session_may_be_spared() {
    let scene = Scene::new();
    let mut port = spawn(scene.sh("setsid sleep 3 & exec cat").spare_detached());
    scene.wait_for(2);
    close(&mut port);
    assert_eq!(scene.left().len(), 1);
}

#[test]
fn what_the_server_says_at_its_end_reaches_the_hook() {
    let scene = Scene::new();
    let (tell, told) = std::sync::mpsc::channel();
    let mut port = spawn(scene.sh("cat; echo bye >&2").stderr(move |line| tell.send(line.to_owned()).unwrap()));
    close(&mut port);
    assert_eq!(told.recv().unwrap(), "bye");
}

fn client(port: Process) -> (sandwire_io::client::ClientHandle, sandwire_io::client::Driver) {
    let link = Box::new(TextLink::new(port, Limits::default()));
    connect(Config::new("t", "1"), NativeEnv::shared(), link, Box::new(NoHooks))
}

#[test]
fn the_driver_ends_when_the_server_is_gone() {
    let scene = Scene::new();
    let (client, driver) = client(scene.start("trap '' TERM; sleep 1000"));
    client.close();
    block_on(driver);
    assert_eq!(scene.left(), NOBODY);
}

#[test]
fn a_driver_that_is_dropped_with_its_executor_ends_the_server() {
    let scene = Scene::new();
    let (_client, driver) = client(scene.start("sleep 1000"));
    let mut pool = futures::executor::LocalPool::new();
    futures::task::LocalSpawnExt::spawn_local(&pool.spawner(), driver).unwrap();
    pool.run_until_stalled();
    drop(pool);
    scene.wait_for(0);
}

#[test]
fn a_thread_that_panics_ends_its_server() {
    let scene = Scene::new();
    let port = scene.start("sleep 1000");
    let thread = std::thread::spawn(move || {
        let _port = port;
        std::panic::resume_unwind(Box::new("scripted"));
    });
    assert!(thread.join().is_err());
    scene.wait_for(0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]
    #[test]
    fn a_server_that_is_abandoned_at_any_time_is_ended(
        micros in 0_u64..30_000,
        closed_after in proptest::option::of(0_u64..30_000),
        which in 0..UNWILLING.len(),
    ) {
        let scene = Scene::new();
        let (client, mut driver) = client(scene.start(UNWILLING[which].0));
        let mut pause = async |micros| {
            let timer = async_io::Timer::after(Duration::from_micros(micros));
            futures::future::select(&mut driver, timer).await;
        };
        block_on(async {
            pause(micros).await;
            if let Some(micros) = closed_after {
                client.close();
                pause(micros).await;
            }
        });
        drop(driver);
        wait(|| scene.left().is_empty(), || format!("{:?}", scene.left()));
    }
}

#[test]
fn a_port_is_pending_while_nothing_happens() {
    let scene = Scene::new();
    let mut port = scene.start("cat");
    assert!(block_on(async { poll_fn(|cx| port.poll(cx)).now_or_never() }).is_none());
}
