//! What goes on while no request does.

use std::{
    fmt,
    pin::Pin,
    sync::{Arc, Weak},
    task::{Context, Poll},
};

use futures_channel::mpsc::UnboundedReceiver;
use futures_util::{
    StreamExt,
    stream::{FusedStream, FuturesUnordered},
    task::AtomicWaker,
};
use sandwire_io::{BoxFuture, Env, Timer};
use sandwire_proto::Time;

use super::Table;

/// Goes on with calls whose client went away, and ends idle sessions. Run it on any executor, beside the
/// [`HttpEntry`](crate::http::HttpEntry) it came with; it ends when the entry and its last stream are gone.
///
/// Dropping it cancels what it goes on with, and every call that is left from then on.
#[must_use = "calls whose client went away only move while the driver is polled"]
pub struct SessionsDriver {
    table: Weak<Table>,
    woken: Arc<AtomicWaker>,
    incoming: UnboundedReceiver<BoxFuture<'static, ()>>,
    running: FuturesUnordered<BoxFuture<'static, ()>>,
    timer: Box<dyn Timer>,
    /// When to look for sessions that are idle; to look takes longer the more there are.
    due: Option<Time>,
}

impl SessionsDriver {
    pub(super) fn new(
        table: &Arc<Table>,
        env: &Arc<dyn Env>,
        incoming: UnboundedReceiver<BoxFuture<'static, ()>>,
    ) -> Self {
        let woken = Arc::clone(&table.driver);
        Self {
            table: Arc::downgrade(table),
            woken,
            incoming,
            running: FuturesUnordered::new(),
            timer: env.timer(),
            due: None,
        }
    }
}

impl Future for SessionsDriver {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Self { table, woken, incoming, running, timer, due } = &mut *self;
        woken.register(cx.waker());
        while let Some(at) = due.or_else(|| table.upgrade()?.expire()) {
            *due = Some(at);
            if timer.poll(at, cx).is_pending() {
                break;
            }
            *due = None;
        }
        loop {
            let taken = if incoming.is_terminated() { Poll::Ready(None) } else { incoming.poll_next_unpin(cx) };
            if let Poll::Ready(Some(job)) = taken {
                running.push(job);
                continue;
            }
            match running.poll_next_unpin(cx) {
                Poll::Ready(Some(())) => {}
                Poll::Ready(None) if taken.is_ready() => return Poll::Ready(()),
                Poll::Ready(None) | Poll::Pending => return Poll::Pending,
            }
        }
    }
}

impl fmt::Debug for SessionsDriver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionsDriver").finish_non_exhaustive()
    }
}
