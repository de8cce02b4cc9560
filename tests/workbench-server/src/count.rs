//! A slow tool, and what became of its calls.

use futures_util::future::{Either, select};
use sandwire_io::Env;
use sandwire_proto::Time;
use sandwire_server::{Context, Schema, tool};
use sandwire_web::WebEnv;
use serde::Serialize;
use std::cell::Cell;
use std::future::poll_fn;
use std::pin::pin;

const PAUSE: u32 = 250;

/// How many counts there were, by their end.
#[derive(Clone, Copy, Default, Serialize, Schema)]
pub(crate) struct Status {
    started: u32,
    finished: u32,
    cancelled: u32,
}

thread_local! {
    static STATUS: Cell<Status> = Cell::default();
}

/// Tells how the counts so far have ended.
#[tool(read_only)]
pub(crate) fn status() -> Status {
    STATUS.get()
}

/// Counts up slowly and reports every step.
#[tool(read_only)]
pub(crate) async fn count(
    /// The last number.
    #[schema(minimum = 1, maximum = 1000)]
    to: u32,
    /// Milliseconds between two numbers, 250 unless it is given.
    #[schema(maximum = 60000)]
    pause: Option<u32>,
    ctx: &Context,
) -> String {
    note(|status| status.started += 1);
    let mut cancelled = pin!(ctx.cancelled());
    for number in 1..=to {
        let wait = pin!(sleep(pause.unwrap_or(PAUSE)));
        if let Either::Right(_) = select(wait, cancelled.as_mut()).await {
            note(|status| status.cancelled += 1);
            return String::new();
        }
        let message = ["counted ", &number.to_string()].concat();
        ctx.progress(f64::from(number), f64::from(to), &*message);
    }
    note(|status| status.finished += 1);
    ["Counted to ", &to.to_string(), "."].concat()
}

fn note(change: impl FnOnce(&mut Status)) {
    let mut status = STATUS.get();
    change(&mut status);
    STATUS.set(status);
}

async fn sleep(milliseconds: u32) {
    let mut timer = WebEnv.timer();
    let Time(now) = WebEnv.now();
    let end = Time(now + u64::from(milliseconds));
    poll_fn(|cx| timer.poll(end, cx)).await;
}
