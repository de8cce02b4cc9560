//! However a process ends that can still do something about it, its servers end with it.
//!
//! This program is both the test and, started by it with a role, the process that ends.
#![allow(
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods
)]

#[cfg(all(target_os = "linux", feature = "stdio"))]
#[path = "stdio/scene.rs"]
#[allow(dead_code)]
mod scene;

#[cfg(all(target_os = "linux", feature = "stdio"))]
fn main() {
    match std::env::args().nth(1).as_deref().and_then(|role| parent::ROLES.iter().find(|(name, _)| role == *name)) {
        Some((_, play)) => play(),
        None => parent::test_all(),
    }
}

#[cfg(not(all(target_os = "linux", feature = "stdio")))]
fn main() {}

#[cfg(all(target_os = "linux", feature = "stdio"))]
mod parent {
    use crate::scene::{MARK, Scene};
    use sandwire_native::stdio::{Command, Process};
    use sandwire_proto::Limits;
    use std::{process::Stdio, sync::Mutex, time::Duration};

    type Play = fn();

    /// How a process may end, by name.
    pub const ROLES: &[(&str, Play)] = &[
        ("returns", || std::mem::forget(servers())),
        ("returns-having-dropped", || drop(servers())),
        ("exits", || {
            let _servers = servers();
            std::process::exit(0);
        }),
        ("exits-with-a-static", || {
            static SERVERS: Mutex<Vec<Process>> = Mutex::new(Vec::new());
            SERVERS.lock().unwrap().extend(servers());
            std::process::exit(0);
        }),
        ("panics", || {
            let _servers = servers();
            panic!("scripted");
        }),
        ("returns-from-under-a-driver", || {
            let servers = servers();
            std::thread::spawn(|| {
                sandwire_native::block_on(futures::future::join_all(servers.into_iter().map(|mut server| async move {
                    use sandwire_io::TextPort;
                    while std::future::poll_fn(|cx| server.poll(cx)).await.is_some() {}
                })))
            });
            std::thread::sleep(Duration::from_millis(20));
        }),
        ("aborts", || {
            let _server = Command::new("cat").inherit(MARK).spawn(&Limits::default());
            std::process::abort();
        }),
        ("exits-with-all-the-time-there-is", || {
            let command = Command::new("cat").inherit(MARK).shutdown_waits(Duration::MAX, Duration::MAX);
            let _server = command.spawn(&Limits::default()).unwrap();
            std::process::exit(0);
        }),
        ("exits-in-a-thread", || {
            let _servers = servers();
            let _ = std::thread::spawn(|| std::process::exit(0)).join();
        }),
    ];

    fn servers() -> Vec<Process> {
        let wait = Duration::from_millis(200);
        let scripts =
            ["exec cat", "trap '' TERM; sleep 1000", "setsid sleep 1000 & sleep 1000 & exec cat", "exec yes >&2"];
        let start = |script: &&str| {
            let command = Command::new("/bin/sh").args(["-c", script]).inherit(MARK).shutdown_waits(wait, wait);
            command.spawn(&Limits::default()).unwrap()
        };
        scripts.iter().map(start).collect()
    }

    pub fn test_all() {
        for (role, _) in ROLES {
            let scene = Scene::new();
            let mut parent = std::process::Command::new(std::env::current_exe().unwrap());
            let status = parent.arg(role).env(MARK, scene.mark()).stderr(Stdio::null()).status().unwrap();
            if *role == "aborts" {
                // Nothing of it runs any more. A server that reads to the end ends all the same.
                scene.wait_for(0);
            } else {
                assert_eq!(scene.left(), [""; 0], "{role}: all of it is over before the process is");
            }
            assert_eq!(status.success(), !matches!(*role, "aborts" | "panics"), "{role}: {status}");
        }
    }
}
