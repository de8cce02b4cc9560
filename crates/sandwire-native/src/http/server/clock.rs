//! When a connection has waited long enough.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use async_io::Timer;

use super::Limits;

#[expect(clippy::disallowed_methods, reason = "deadlines of sockets are this process's own")]
pub(super) fn now() -> Instant {
    Instant::now()
}

/// The moment so far from now.
pub(super) fn after(duration: Duration) -> Instant {
    later(now(), duration)
}

/// The moment so long after another, or as far as moments go.
pub(super) fn later(than: Instant, by: Duration) -> Instant {
    than.checked_add(by).or_else(|| than.checked_add(FAR)).unwrap_or(than)
}

/// Longer than a process lives.
const FAR: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// One timer for the deadlines of a connection. Moving a deadline back, as every request does, costs nothing: the timer
/// is looked at when it fires, and set again if that was too early.
#[derive(Debug)]
pub(super) struct Watchdog {
    timer: Timer,
    fires: Option<Instant>,
}

impl Watchdog {
    pub(super) fn new() -> Self {
        Self { timer: Timer::never(), fires: None }
    }

    /// Ready once the deadline is over.
    pub(super) fn poll(&mut self, deadline: Instant, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            if self.fires.is_none_or(|fires| fires > deadline) {
                self.timer.set_at(deadline);
                self.fires = Some(deadline);
            }
            std::task::ready!(Pin::new(&mut self.timer).poll(cx));
            self.fires = None;
            if now() >= deadline {
                return Poll::Ready(());
            }
        }
    }
}

/// How slowly bytes may come or go: so many of them within some time, again and again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    began: Instant,
    bytes: usize,
}

impl Pace {
    pub(super) fn new() -> Self {
        Self { began: now(), bytes: 0 }
    }

    /// The same after a pause, which does not count.
    pub(super) fn resumed(self, paused: Instant) -> Self {
        Self { began: later(self.began, now().saturating_duration_since(paused)), ..self }
    }

    /// Until when the next bytes have to come or go, now that so many did.
    pub(super) fn deadline(&mut self, bytes: usize, limits: &Limits) -> Instant {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes >= limits.stall_bytes {
            *self = Self::new();
        }
        later(self.began, limits.stall_time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;

    #[test]
    fn a_deadline_that_is_put_off_is_kept() {
        let (began, mut watchdog) = (now(), Watchdog::new());
        let (early, late) = (began + Duration::from_millis(10), began + Duration::from_millis(60));
        assert!(async_io::block_on(poll_fn(|cx| Poll::Ready(watchdog.poll(early, cx).is_pending()))));
        async_io::block_on(poll_fn(|cx| watchdog.poll(late, cx)));
        assert!(now() >= late);
    }

    #[test]
    fn there_is_no_moment_too_late() {
        assert!(after(Duration::MAX) > after(Duration::from_secs(1)));
    }

    #[test]
    fn bytes_earn_time_but_never_more_than_once() {
        let limits = Limits { stall_time: Duration::from_millis(50), stall_bytes: 100, ..Limits::default() };
        let mut pace = Pace::new();
        let first = pace.deadline(99, &limits);
        assert_eq!(pace.deadline(0, &limits), first);
        let second = pace.deadline(1_000_000, &limits);
        assert!(second >= first && second <= now() + limits.stall_time);
        assert_eq!(pace.deadline(0, &limits), second);
    }
}
