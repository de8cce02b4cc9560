//! The client that waits: inside of executors, and where it cannot.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{
    sync::{Arc, OnceLock, mpsc},
    thread,
    time::Duration,
};

use executors::server;
use sandwire::{
    Server,
    blocking::{self, connect},
    client::{ErrorKind, Options},
    types::ProtocolVersion,
};

const PEER: &str = env!("CARGO_BIN_EXE_peer");

#[derive(serde::Serialize)]
struct Add {
    a: i64,
    b: i64,
}

/// Adds with a child process and in this one.
fn add() {
    for client in [connect(sandwire::Command::new(PEER).arg("stdio")).unwrap(), connect(&server()).unwrap()] {
        assert_eq!(client.list_tools().unwrap().len(), 4);
        for n in 0..10 {
            let call = client.calls().call_tool(["add", "slow"][n as usize % 2], &Add { a: n, b: 1 });
            assert_eq!(client.wait(call.structured::<i64>()).unwrap(), n + 1);
        }
        let result = client.call_tool("add", &Add { a: 1, b: 1 }).unwrap();
        assert_eq!(result.is_error, None);
        let error = client.wait(client.calls().call_tool("never", &()).timeout(Duration::from_millis(20))).unwrap_err();
        assert!(error.is_timeout());
    }
}

#[test]
fn without_an_executor() {
    add();
}

#[test]
fn inside_of_executors() {
    sandwire::block_on(async { add() });
    futures::executor::block_on(async { add() });
    smol::block_on(async { smol::spawn(async { add() }).await });
    let many = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    many.block_on(async { tokio::spawn(async { add() }).await.unwrap() });
    let one = tokio::runtime::Builder::new_current_thread().build().unwrap();
    one.block_on(async { tokio::spawn(async { add() }).await.unwrap() });
    one.block_on(async { add() });
}

/// Runs it on a thread, and fails if it hangs.
fn ends<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, wait) = mpsc::channel();
    thread::spawn(move || done.send(run()));
    wait.recv_timeout(Duration::from_secs(30)).expect("it hangs")
}

#[test]
fn a_hook_cannot_wait_for_the_connection_that_runs_it() {
    let itself = Arc::new(OnceLock::<blocking::Client>::new());
    let (told, hear) = mpsc::channel();
    let hook = Arc::clone(&itself);
    let options = Options::new("test", "1").on_notification(move |_| {
        let client = hook.wait();
        told.send(client.call_tool("add", &Add { a: 1, b: 1 }).map(drop)).unwrap();
    });
    let server = server();
    let client = sandwire::connect(&server).options(options.version(ProtocolVersion::V2025_11_25)).blocking().unwrap();
    itself.set(client.clone()).unwrap();
    server.tools().remove("slow");
    let error = ends(move || hear.recv().unwrap()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert!(error.to_string().contains("would wait for itself"), "{error}");
    assert!(client.call_tool("add", &Add { a: 1, b: 1 }).is_ok());
}

#[test]
fn a_hook_that_panics_ends_the_connection_and_calls_with_it() {
    let options = Options::new("test", "1").version(ProtocolVersion::V2025_11_25);
    let server = server();
    let client =
        sandwire::connect(&server).options(options.on_notification(|_| panic!("dropped it"))).blocking().unwrap();
    let waiting = client.clone();
    let (begun, hear) = mpsc::channel();
    let call = thread::spawn(move || {
        let calls = waiting.calls();
        let call = calls.call_tool("never", &());
        begun.send(()).unwrap();
        waiting.wait(call).unwrap_err()
    });
    hear.recv().unwrap();
    server.tools().remove("slow");
    // It may have begun before or after the end.
    let error = ends(move || call.join().unwrap());
    assert!(matches!(error.kind(), ErrorKind::Closed | ErrorKind::Usage), "{error}");
    let error = ends(move || client.call_tool("add", &Add { a: 1, b: 1 })).unwrap_err();
    assert!(error.to_string().contains("closed"), "{error}");
}

/// A handler in this process that calls its own server, with the client that is calling it.
#[test]
fn a_handler_that_calls_back_does_not_hang() {
    let itself = Arc::new(OnceLock::<blocking::Client>::new());
    let (at_once, later) = (Arc::clone(&itself), Arc::clone(&itself));
    let call = |client: &OnceLock<blocking::Client>| match client.wait().call_tool("leaf", &()) {
        Ok(_) => "called".to_owned(),
        Err(error) => error.to_string(),
    };
    let server = Server::builder("nested", "1.0")
        .tool("leaf", "Nothing.", || "leaf")
        .tool("at_once", "Runs in the caller's thread.", move || call(&at_once))
        .tool("later", "Goes on in the connection's thread.", move || {
            let later = Arc::clone(&later);
            async move {
                executors::pause().await;
                call(&later)
            }
        })
        .build()
        .unwrap();
    let client = connect(&server).unwrap();
    itself.set(client.clone()).unwrap();
    let ask = |tool: &'static str| {
        let client = client.clone();
        format!("{:?}", ends(move || client.call_tool(tool, &())).unwrap().content)
    };
    assert!(ask("at_once").contains("called"));
    assert!(ask("later").contains("would wait for itself"));
}

#[test]
fn dropping_the_last_clone_ends_the_child() {
    let client = connect(sandwire::Command::new(PEER).arg("stdio")).unwrap();
    let clone = client.clone();
    drop(client);
    assert!(clone.call_tool("add", &Add { a: 1, b: 1 }).is_ok());
    ends(move || drop(clone));
}
