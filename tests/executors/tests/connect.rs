//! What `connect` says when it cannot, and how its thread ends.
#![cfg(unix)]
#![allow(missing_docs, clippy::unwrap_used)]

use std::time::Duration;

use executors::server;
use sandwire::{
    Command, block_on,
    client::{ErrorKind, Mode, Options},
    connect,
};

#[test]
fn what_is_no_target_is_told_what_is() {
    let error = block_on(async { connect("npx server-everything").await }).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    let said = error.to_string();
    for kind in ["http://", "https://", "unix:", ".sock", "Path", "Command", "&Server"] {
        assert!(said.contains(kind), "{said}");
    }
    let error = connect("unix:/tmp/x").header("authorization", "x").split().unwrap_err();
    assert!(error.to_string().contains("headers are for"), "{error}");
}

#[test]
fn a_server_that_is_not_there_is_an_error() {
    let error = block_on(async { connect("/nowhere/at/all.sock").await }).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Transport);
    assert!(error.to_string().contains("nobody can be reached at /nowhere/at/all.sock"), "{error}");
    let error = block_on(async { connect(Command::new("/nowhere/at/all")).await }).unwrap_err();
    assert!(error.to_string().contains("/nowhere/at/all"), "{error}");
    let error = block_on(async { connect("http://127.0.0.1:9/").await }).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Transport, "{error}");
}

#[test]
fn a_program_that_is_no_server_is_quoted() {
    let shell = |script: &str| Command::new("/bin/sh").args(["-c", script]);
    let error = block_on(async { connect(shell("echo oh no >&2; exit 3")).await }).unwrap_err();
    assert!(error.to_string().contains("(exit status: 3)") && error.to_string().ends_with("\n  oh no"), "{error}");

    let options = Options::new("t", "1").timeout(Duration::from_secs(1)).mode(Mode::Legacy);
    let wait = Duration::from_millis(100);
    let silent = shell("echo Listening on port 80; exec sleep 1000").shutdown_waits(wait, wait);
    let banner = connect(silent).options(options);
    let error = block_on(async { banner.await }).unwrap_err();
    assert!(error.to_string().contains("it printed \"Listening on port 80\""), "{error}");
}

/// The threads of this process that run a connection.
fn connections() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    tasks
        .filter(|task| std::fs::read_to_string(task.path().join("comm")).is_ok_and(|name| name == "sandwire\n"))
        .count()
}

#[test]
fn the_thread_ends_with_the_last_handle() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let client = block_on(async { connect(&server()).await }).unwrap();
    let clone = client.clone();
    drop(client);
    wait_until(|| connections() > 0);
    assert_eq!(block_on(async { clone.list_tools().await }).unwrap().tools.len(), 4);
    drop(clone);
    wait_until(|| connections() == 0);
}

/// A thread has its name, and is gone, a moment later.
fn wait_until(is_so: impl Fn() -> bool) {
    let tries = (0..1000).take_while(|_| !is_so()).map(|_| std::thread::sleep(Duration::from_millis(10))).count();
    assert!(tries < 1000, "it never comes to it");
}
