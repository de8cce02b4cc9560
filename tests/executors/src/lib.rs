//! What the tests share, which run a client and a server on different executors.
#![allow(clippy::unwrap_used)]

use std::{
    pin::Pin,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::Poll,
};

use futures::future::{FutureExt, join_all};
use sandwire::{Client, Context, Schema, Server};
use serde::{Deserialize, Serialize};

/// Lets others go first, once.
pub async fn pause() {
    let mut paused = false;
    std::future::poll_fn(move |cx| {
        if std::mem::replace(&mut paused, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// A command without the settings that are meant for the tests themselves, of which a server would warn.
#[must_use]
pub fn unsettled(program: &str) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("SANDWIRE_") {
            command.env_remove(name);
        }
    }
    command
}

/// How much processor time a process has used, in hundredths of a second, where the system says so in a file.
#[must_use]
pub fn processor_time(process: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let fields: Vec<_> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    Some(fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?)
}

#[derive(Deserialize, Serialize, Schema)]
struct Add {
    a: i64,
    b: i64,
}

fn add(a: i64, b: i64) -> Add {
    Add { a, b }
}

/// A server with a tool for everything that a connection can be made to do.
#[must_use]
pub fn server() -> Server {
    let gave_up = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&gave_up);
    Server::builder("bench", "1.0")
        .tool("add", "Adds.", |add: Add| add.a + add.b)
        .tool("slow", "Adds after a while.", async |add: Add, context: &Context| {
            for step in 1..=3 {
                context.progress(f64::from(step), 3.0, None);
                pause().await;
            }
            add.a + add.b
        })
        .tool("never", "Waits for the caller to give up.", move |context: Context| {
            let seen = Arc::clone(&seen);
            async move {
                context.cancelled().await;
                seen.store(true, Ordering::SeqCst);
            }
        })
        .tool("gave_up", "Whether somebody gave up.", move || gave_up.load(Ordering::SeqCst))
        .build()
        .unwrap()
}

/// Lists, calls a hundred times at once, hears of progress, gives up, closes.
///
/// # Panics
/// If anything is not as it should be.
pub async fn converse(client: Client) {
    let tools = client.list_tools().await.unwrap().tools;
    assert_eq!(tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["add", "slow", "never", "gave_up"]);

    let sums = join_all((0..100).map(|n| {
        let client = client.clone();
        async move {
            let tool = if n % 2 == 0 { "add" } else { "slow" };
            let sum: i64 = client.call_tool(tool, &add(n, 1)).structured().await.unwrap();
            assert_eq!(sum, n + 1);
        }
    }));
    sums.await;

    let steps = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&steps);
    let slow = client.call_tool("slow", &add(20, 22)).on_progress(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
    });
    assert_eq!(slow.structured::<i64>().await.unwrap(), 42);
    assert_eq!(steps.load(Ordering::SeqCst), 3);

    let mut given_up: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin({
        let client = client.clone();
        async move { drop(client.call_tool("never", &()).await) }
    });
    assert!(given_up.as_mut().now_or_never().is_none());
    // What is sent after it is answered after it has begun.
    let _: i64 = client.call_tool("add", &add(1, 1)).structured().await.unwrap();
    drop(given_up);
    while !client.call_tool("gave_up", &()).structured::<bool>().await.unwrap() {
        pause().await;
    }
    client.close();
}
