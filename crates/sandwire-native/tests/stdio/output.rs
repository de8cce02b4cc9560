//! What servers write, and how they exit.

use crate::scene::{Scene, close, next, next_error, next_line, spawn};
use sandwire_io::TextPort;
use sandwire_native::stdio::Exited;
use sandwire_proto::{Limits, TransportError, TransportErrorKind};
use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

fn exited(error: &TransportError) -> &Exited {
    assert_eq!(error.kind(), TransportErrorKind::Closed);
    error.source().unwrap().downcast_ref().unwrap()
}

#[test]
fn a_server_that_exits_is_an_error_with_its_status_and_last_words() {
    let scene = Scene::new();
    let mut port = scene.start("echo one >&2; echo two >&2; exit 3");
    let error = next_error(&mut port);
    assert_eq!(
        error.message(),
        "the server exited (exit status: 3); check its command, arguments and environment; \
         the last lines on its standard error are:\n  one\n  two"
    );
    let exited = exited(&error);
    assert_eq!((exited.status.unwrap().code(), exited.forced), (Some(3), false));
    assert_eq!(exited.stderr, ["one", "two"]);
    assert!(next(&mut port).is_none());
}

#[test]
fn a_server_that_is_killed_is_an_error_with_the_signal() {
    let error = next_error(&mut Scene::new().start("kill -9 $$"));
    assert!(error.message().starts_with("the server exited (signal: 9 (SIGKILL))"), "{error}");
}

#[test]
fn what_was_written_before_the_end_comes_before_the_error() {
    let scene = Scene::new();
    let mut port = scene.start("echo '{\"a\":1}'; printf '{\"b\":2}'");
    scene.wait_for(0);
    // The pipe is broken by now, which is no reason to lose what is in the other.
    port.send("{}".into());
    assert_eq!([next_line(&mut port), next_line(&mut port)], ["{\"a\":1}", "{\"b\":2}"]);
    assert_eq!(exited(&next_error(&mut port)).status.unwrap().code(), Some(0));
}

#[test]
fn a_banner_does_no_harm_and_is_not_held_against_the_server() {
    let scene = Scene::new();
    let mut port = scene.start("echo 'Welcome!'; read line; echo \"$line\"");
    port.send("{\"a\":1}".into());
    assert_eq!([next_line(&mut port), next_line(&mut port)], ["Welcome!", "{\"a\":1}"]);
    assert_eq!(exited(&next_error(&mut port)).garbage, None);
}

#[test]
fn a_program_that_is_no_server_is_quoted() {
    let mut port = Scene::new().start("echo usage: prog; echo; echo -- options; echo oh >&2; exit 2");
    while next(&mut port).unwrap().is_ok_and(|line| !line.is_empty()) {}
    let mut port = Scene::new().start("echo usage: prog; echo oh >&2; exit 2");
    next_line(&mut port);
    let error = next_error(&mut port);
    assert_eq!(exited(&error).garbage.as_deref(), Some("usage: prog"));
    assert!(error.message().contains("it printed \"usage: prog\""), "{error}");
    assert!(error.message().ends_with("\n  oh"), "{error}");
}

#[test]
fn a_program_that_prints_garbage_and_stays_is_quoted_when_it_is_given_up() {
    let scene = Scene::new();
    let mut port = scene.start("echo Listening on port 80; echo oh >&2; exec cat");
    let report = port.report();
    assert_eq!(next_line(&mut port), "Listening on port 80");
    port.close();
    let error = next_error(&mut port);
    assert!(error.message().starts_with("no message came from the server; check"), "{error}");
    assert!(error.message().contains("\"Listening on port 80\"") && error.message().ends_with("\n  oh"), "{error}");
    assert_eq!(exited(&error).garbage, report.garbage());
    assert_eq!(report.explain().unwrap().message(), error.message());
    assert!(next(&mut port).is_none());
}

#[test]
fn a_server_that_closes_its_output_and_stays_is_ended() {
    let scene = Scene::new();
    let mut port = scene.start("exec >&-; trap '' TERM; sleep 1000");
    let error = next_error(&mut port);
    assert!(exited(&error).forced, "{error}");
    assert!(error.message().starts_with("the server stopped talking and was ended"), "{error}");
    assert_eq!(scene.left(), [""; 0]);
}

#[test]
fn a_server_that_closes_its_input_and_stays_is_ended() {
    let scene = Scene::new();
    let mut port = scene.start("exec <&-; echo '{}'; exec sleep 1000");
    assert_eq!(next_line(&mut port), "{}");
    port.send("{}".into());
    assert!(exited(&next_error(&mut port)).forced);
}

#[test]
fn a_server_that_exits_is_gone_although_a_descendant_has_its_output() {
    let scene = Scene::new();
    let mut port = scene.start("echo '{}'; sleep 1000 & exit 4");
    assert_eq!(next_line(&mut port), "{}");
    assert_eq!(exited(&next_error(&mut port)).status.unwrap().code(), Some(4));
    assert_eq!(scene.left(), [""; 0]);
}

#[test]
fn a_server_that_never_reads_is_given_up_before_it_fills_memory() {
    let scene = Scene::new();
    let limits = Limits { max_message_bytes: 10_000, ..Limits::default() };
    let mut port = scene.sh("exec sleep 1000").spawn(&limits).unwrap();
    for _ in 0..40 {
        port.send("x".repeat(9_000));
    }
    let error = next_error(&mut port);
    assert!(exited(&error).forced);
    assert!(error.message().starts_with("the server was given up: the peer does not read"), "{error}");
}

#[test]
fn a_server_may_read_late() {
    let scene = Scene::new();
    let mut port = scene.start("sleep 0.1; exec cat");
    let text = format!("{{\"a\":\"{}\"}}", "x".repeat(1_000_000));
    port.send(text.clone());
    assert!(next_line(&mut port) == text);
}

#[test]
fn a_flood_of_errors_blocks_nobody() {
    let scene = Scene::new();
    let bytes = Arc::new(AtomicUsize::new(0));
    let flood = "yes \"$(printf 'x%.0s' $(seq 1000))\" | head -c 100000000 >&2; echo '{}'; exec cat";
    let mut port = spawn(scene.sh(flood).stderr({
        let bytes = Arc::clone(&bytes);
        move |line| {
            bytes.fetch_add(line.len() + 1, Ordering::Relaxed);
        }
    }));
    assert_eq!(next_line(&mut port), "{}");
    let report = port.report();
    close(&mut port);
    // The last line has no end of its own.
    assert!((100_000_000..=100_000_001).contains(&bytes.load(Ordering::Relaxed)));
    assert!(report.stderr().iter().map(String::len).sum::<usize>() <= 8_192);
}

#[test]
fn a_flood_of_garbage_is_read_past() {
    let scene = Scene::new();
    let mut port = scene.start("yes | head -c 200000; echo '{}'; exec cat");
    while next_line(&mut port) != "{}" {}
    close(&mut port);
}
