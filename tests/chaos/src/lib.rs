//! What the tests share: a server that echoes, clients that call it, an allocator that counts, a bad network.
#![allow(clippy::unwrap_used, clippy::panic)]

mod count;
mod direct;
pub mod proxy;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::stream::{self, StreamExt};
use sandwire::server::{Builder, Json};
use sandwire::{Client, Context, Schema, Server};
use sandwire_client::{Mode, Options};
use sandwire_io::{Direction, Observer};
use serde::{Deserialize, Serialize};
use wire_check::{Checker, Side};

pub use count::live_allocations;
pub use direct::Direct;

/// Which of whose calls, and how often its handler lets others go first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, Schema)]
pub struct Label {
    /// The client.
    pub client: u32,
    /// Its call.
    pub call: u32,
    /// How often.
    pub pauses: u32,
}

/// A server that gives back what it was given, and tells it on the way.
#[must_use]
pub fn server() -> Server {
    builder().build().unwrap()
}

/// The beginning of such a server.
pub fn builder() -> Builder {
    Server::builder("echo", "1").tool("echo", "Gives the arguments back.", async |label: Label, context: &Context| {
        for step in 0..label.pauses {
            context.progress(f64::from(step + 1), f64::from(label.pauses), &*name(label));
            pause().await;
        }
        Json(label)
    })
}

fn name(label: Label) -> String {
    format!("{}/{} after {}", label.client, label.call, label.pauses)
}

/// Lets others go first, once.
pub async fn pause() {
    let mut paused = false;
    std::future::poll_fn(move |cx| {
        if std::mem::replace(&mut paused, true) {
            return std::task::Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await;
}

/// The two eras, by how a client is told to open a connection.
pub const ERAS: [Mode; 2] = [Mode::Auto, Mode::Legacy];

/// What every client here says of itself.
#[must_use]
pub fn options(mode: Mode) -> Options {
    Options::new("chaos", "1").mode(mode).timeout(Duration::from_secs(120))
}

/// Makes `calls` calls, some at the same time, and sees that each answer and each progress is that of its call.
pub async fn converse(client: Client, number: u32, calls: u32) {
    let one = |call: u32| {
        let client = client.clone();
        async move {
            let label = Label { client: number, call, pauses: (call * 7 + number) % 4 };
            let heard = Arc::new(Mutex::new(Vec::new()));
            let told = Arc::clone(&heard);
            let request = client.call_tool("echo", &label).on_progress(move |progress| {
                told.lock().unwrap().push((progress.progress.as_f64(), progress.message.unwrap_or_default()));
            });
            let answer: Label = request.structured().await.unwrap();
            assert_eq!(answer, label, "an answer went to another call");
            let expected: Vec<_> = (1..=label.pauses).map(|step| (f64::from(step), name(label))).collect();
            assert_eq!(*heard.lock().unwrap(), expected, "progress was lost or went to another call");
        }
    };
    let done = stream::iter(0..calls).map(one).buffer_unordered(16).count().await;
    assert_eq!(done, calls as usize, "calls were lost");
}

/// How many sockets this process has open, where the system says so in a folder.
#[must_use]
pub fn open_sockets() -> usize {
    let open = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let leads = open.filter_map(|entry| std::fs::read_link(entry.path()).ok());
    leads.filter(|to| to.to_string_lossy().starts_with("socket:")).count()
}

/// Holds everything that a link carries against the official schemas, where they are at hand. Both ends are ours.
#[must_use]
pub fn checked() -> Option<Observer> {
    let checker = Checker::new()?;
    Some(Arc::new(move |direction, text: &str| {
        let side = match direction {
            Direction::Sent => Side::Client,
            Direction::Received => Side::Server,
        };
        if let Err(violation) = checker.watch(side, text) {
            panic!("{violation}");
        }
    }))
}
