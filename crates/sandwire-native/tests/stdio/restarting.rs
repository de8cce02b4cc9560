//! Servers that exit and are started anew.

use crate::scene::{Scene, close, next_error, next_line, spawn};
use sandwire_io::{
    TextLink, TextPort,
    client::{Config, NoHooks, connect},
};
use sandwire_native::{
    NativeEnv, block_on,
    stdio::{Backoff, Command, Exited, Restart},
};
use sandwire_proto::{Limits, TransportErrorKind};
use std::{error::Error, time::Duration};

const PROBE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#;
const OTHER: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#;

/// Exits over what is not `initialize`, and then lives.
const LEGACY_ONLY: &str = "read line; case $line in *initialize*) echo '{\"id\":1}'; exec cat;; esac; \
     echo 'expected initialize' >&2; exit 1";

fn quickly(times: u32) -> Restart {
    let milliseconds = Duration::from_millis;
    let backoff = Backoff { first: milliseconds(1), longest: milliseconds(4), stable_after: Duration::from_secs(60) };
    Restart::Times { times, backoff }
}

#[test]
fn a_server_that_exits_over_the_probe_is_started_once_more() {
    let scene = Scene::new();
    let mut port = scene.start(LEGACY_ONLY);
    port.send(PROBE.into());
    let error = next_error(&mut port);
    assert_eq!(error.kind(), TransportErrorKind::Restarted);
    let exited: &Exited = error.source().unwrap().downcast_ref().unwrap();
    assert_eq!((exited.status.unwrap().code(), &*exited.stderr), (Some(1), &["expected initialize".to_owned()][..]));
    port.send(OTHER.into());
    assert_eq!(next_line(&mut port), "{\"id\":1}");
    close(&mut port);

    let mut port = scene.start(LEGACY_ONLY);
    for kind in [TransportErrorKind::Restarted, TransportErrorKind::Closed] {
        port.send(PROBE.into());
        assert_eq!(next_error(&mut port).kind(), kind);
    }
}

#[test]
fn a_server_may_refuse_the_probe_before_it_exits() {
    let mut port = Scene::new().start("read line; echo '{\"id\":1,\"error\":{}}'; read line; exit 1");
    port.send(PROBE.into());
    next_line(&mut port);
    port.send(OTHER.into());
    assert_eq!(next_error(&mut port).kind(), TransportErrorKind::Restarted);
}

#[test]
fn a_server_that_was_not_probed_or_answered_is_not_started_again() {
    let mut port = Scene::new().start(LEGACY_ONLY.replace("initialize*", "nothing*").as_str());
    port.send(OTHER.into());
    assert_eq!(next_error(&mut port).kind(), TransportErrorKind::Closed);
    let mut port = Scene::new().start("read line; echo '{\"id\":1,\"result\":{}}'; exit 1");
    port.send(PROBE.into());
    next_line(&mut port);
    assert_eq!(next_error(&mut port).kind(), TransportErrorKind::Closed);
}

#[test]
fn a_policy_starts_a_server_so_many_times() {
    let scene = Scene::new();
    let mut port = spawn(scene.sh("echo \"{$$}\"; exit 1").restart(quickly(3)));
    let mut seen = Vec::new();
    for kind in [TransportErrorKind::Restarted; 3].into_iter().chain([TransportErrorKind::Closed]) {
        seen.push(next_line(&mut port));
        assert_eq!(next_error(&mut port).kind(), kind);
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 4);
}

#[test]
fn a_server_that_cannot_be_started_again_is_tried_as_often() {
    let program = std::env::temp_dir().join(format!("sandwire-{}", std::process::id()));
    std::os::unix::fs::symlink("/bin/sh", &program).unwrap();
    let command = Command::new(&program).args(["-c", "rm \"$0\""]).arg(&program).restart(quickly(3));
    let error = next_error(&mut spawn(command));
    assert_eq!(error.kind(), TransportErrorKind::Closed);
    assert!(error.message().starts_with("there is no program"), "{error}");
}

#[test]
fn what_is_sent_after_a_restart_reaches_the_new_server_and_nothing_from_before() {
    let scene = Scene::new();
    let mut port = spawn(scene.sh("read line; echo \"$line\"; exit 1").restart(quickly(3)));
    for text in ["{\"a\":1}", "{\"b\":2}"] {
        port.send(text.into());
        port.send("{\"lost\":1}".into());
        assert_eq!(next_line(&mut port), text);
        assert_eq!(next_error(&mut port).kind(), TransportErrorKind::Restarted);
    }
}

#[test]
fn a_port_that_is_closed_while_it_waits_starts_nothing() {
    let scene = Scene::new();
    let patient =
        Restart::Times { times: 9, backoff: Backoff { first: Duration::from_secs(1000), ..Backoff::default() } };
    let mut port = spawn(scene.sh("exit 1").restart(patient));
    let waits = async_io::Timer::after(Duration::from_millis(300));
    let never = std::future::poll_fn(|cx| port.poll(cx));
    block_on(futures::future::select(std::pin::pin!(never), waits));
    close(&mut port);
    assert_eq!(scene.left(), [""; 0]);
}

#[test]
fn a_client_opens_a_legacy_server_that_exits_over_the_probe() {
    let scene = Scene::new();
    let script = "read line; case $line in *initialize*) ;; *) exit 1;; esac; \
         id=$(echo \"$line\" | sed 's/.*\"id\":\\([0-9]*\\).*/\\1/'); \
         echo '{\"jsonrpc\":\"2.0\",\"id\":'$id',\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\
         \"serverInfo\":{\"name\":\"old\",\"version\":\"1\"}}}'; exec cat >/dev/null";
    let link = Box::new(TextLink::new(scene.start(script), Limits::default()));
    let (client, driver) = connect(Config::new("t", "1"), NativeEnv::shared(), link, Box::new(NoHooks));
    let (peer, ()) = block_on(async {
        futures::join!(
            async {
                let peer = client.ready().await;
                client.close();
                peer
            },
            driver
        )
    });
    assert_eq!(peer.unwrap().version.as_str(), "2025-06-18");
    assert_eq!(scene.left(), [""; 0]);
}
