//! The same conversation with a server that is a child process, behind a Unix socket, and behind HTTP: on tokio, on
//! smol, and on `block_on`, with the connection in the executor or on a thread of its own.
#![cfg(unix)]
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use executors::{converse, processor_time, server};
use futures::future::join;
use sandwire::{Connect, block_on, connect};

const PEER: &str = env!("CARGO_BIN_EXE_peer");

/// A server that listens, until it is dropped.
struct Listening {
    process: Child,
    /// What it says about where.
    at: String,
}

impl Listening {
    fn start(args: &[&str]) -> Self {
        let mut process = Command::new(PEER).args(args).stderr(Stdio::piped()).spawn().unwrap();
        // It may say before that the environment has variables that it does not know.
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines().map(Result::unwrap);
        let at = lines.find_map(|line| Some(line.strip_prefix("sandwire: serving ")?.to_owned())).unwrap();
        Self { process, at }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

fn socket(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("sandwire-{name}-{}.sock", std::process::id()))
}

/// Runs `converse_over` with a connection to each kind of server.
fn each(name: &str, converse_over: impl Fn(Connect)) {
    converse_over(connect(sandwire::Command::new(PEER).arg("stdio")));

    let socket = socket(name);
    let unix = Listening::start(&["unix", socket.to_str().unwrap()]);
    assert_eq!(unix.at, format!("unix:{}", socket.display()));
    converse_over(connect(&socket));
    converse_over(connect(unix.at.as_str()));
    drop(unix);
    // The process was killed. Its socket is replaced by the next.
    assert!(socket.exists());
    drop(Listening::start(&["unix", socket.to_str().unwrap()]));
    std::fs::remove_file(socket).unwrap();

    let http = Listening::start(&["http", "127.0.0.1:0"]);
    converse_over(connect(http.at.as_str()));
    drop(http);

    converse_over(connect(&server()));
}

#[test]
fn on_block_on_in_one_task() {
    each("one", |connect| {
        let (client, driver) = connect.split().unwrap();
        block_on(join(converse(client), driver));
    });
}

#[test]
fn on_block_on_with_a_thread() {
    each("thread", |connect| block_on(async { converse(connect.await.unwrap()).await }));
}

/// An executor that knows nothing of the sockets: a thread of async-io's sees to them.
#[test]
fn on_an_executor_of_futures() {
    each("futures", |connect| {
        let (client, driver) = connect.split().unwrap();
        let driver = thread::spawn(|| futures::executor::block_on(driver));
        futures::executor::block_on(converse(client));
        driver.join().unwrap();
    });
}

#[test]
fn on_smol() {
    each("smol", |connect| {
        smol::block_on(async {
            let (client, driver) = connect.split().unwrap();
            let driver = smol::spawn(driver);
            smol::spawn(converse(client)).await;
            driver.await;
        });
    });
}

#[test]
fn on_tokio() {
    let many = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let one = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for (name, runtime) in [("many", many), ("single", one)] {
        each(name, |connect| {
            runtime.block_on(async {
                let (client, driver) = connect.split().unwrap();
                let driver = tokio::spawn(driver);
                tokio::spawn(converse(client)).await.unwrap();
                driver.await.unwrap();
            });
        });
        each(name, |connect| {
            runtime.block_on(async { tokio::spawn(converse(connect.await.unwrap())).await.unwrap() });
        });
    }
}

#[test]
fn idle_servers_use_no_processor_time() {
    let path = socket("idle");
    let servers = [Listening::start(&["http", "127.0.0.1:0"]), Listening::start(&["unix", path.to_str().unwrap()])];
    let clients = block_on(async {
        let (http, unix) = (connect(&servers[0].at).await.unwrap(), connect(&servers[1].at).await.unwrap());
        http.list_tools().await.unwrap();
        unix.list_tools().await.unwrap();
        [http, unix]
    });
    let spent = || servers.iter().map(|server| processor_time(server.process.id())).sum::<Option<u64>>();
    let Some(before) = spent() else { return };
    let own = processor_time(std::process::id()).unwrap();
    thread::sleep(Duration::from_secs(1));
    assert!(spent().unwrap() - before <= 3);
    println!("the clients used {}", processor_time(std::process::id()).unwrap() - own);
    drop(clients);
    drop(servers);
    std::fs::remove_file(path).unwrap();
}

/// The server in the executor, too.
#[test]
fn a_server_on_tokio_and_on_smol() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let path = socket("served");
    let serving = |path: PathBuf| async move { sandwire::serve(path, &server()).await.unwrap() };
    let ready = |path: &PathBuf| while sandwire::connect(path).split().is_err() {};
    let served = runtime.spawn(serving(path.clone()));
    ready(&path);
    block_on(async { converse(connect(&path).await.unwrap()).await });
    served.abort();
    assert!(runtime.block_on(served).unwrap_err().is_cancelled());
    assert!(!path.exists());

    let served = smol::spawn(serving(path.clone()));
    ready(&path);
    block_on(async { converse(connect(&path).await.unwrap()).await });
    block_on(served.cancel());
    assert!(!path.exists());
}

#[test]
fn a_server_on_the_network_that_lets_nobody_in_says_so() {
    let warned = |address: &str| {
        let mut process = Command::new(PEER).args(["http", address]).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stderr.take().unwrap()).lines().map(Result::unwrap);
        let warned = lines.take_while(|line| !line.contains("serving")).any(|line| line.contains("Transport::Network"));
        process.kill().unwrap();
        process.wait().unwrap();
        warned
    };
    assert!(warned("0.0.0.0:0"));
    assert!(!warned("127.0.0.1:0"));
}
