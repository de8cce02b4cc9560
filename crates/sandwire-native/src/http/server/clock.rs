//! When a connection has waited long enough, and what day it is.

use std::{
    future::Future,
    pin::Pin,
    sync::{Mutex, PoisonError},
    task::{Context, Poll},
    time::{Duration, Instant, SystemTime},
};

use async_io::Timer;

use super::Limits;

#[expect(clippy::disallowed_methods, reason = "deadlines of sockets are this process's own")]
pub(super) fn now() -> Instant {
    Instant::now()
}

/// One timer for the deadlines of a connection. Moving a deadline back, as every request does, costs nothing: the timer
/// is looked at when it fires, and set again if that was too early.
#[derive(Debug)]
pub(super) struct Watchdog {
    timer: Timer,
    fires: Option<Instant>,
    deadline: Option<Instant>,
}

impl Watchdog {
    pub(super) fn new() -> Self {
        Self { timer: Timer::never(), fires: None, deadline: None }
    }

    pub(super) fn set(&mut self, after: Duration) {
        self.deadline = now().checked_add(after);
    }

    pub(super) fn clear(&mut self) {
        self.deadline = None;
    }

    /// Ready once the deadline is over.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(deadline) = self.deadline else { return Poll::Pending };
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

    /// How long the next bytes may take, now that so many came or went.
    pub(super) fn patience(&mut self, bytes: usize, limits: &Limits) -> Duration {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes >= limits.stall_bytes {
            *self = Self::new();
        }
        limits.stall_time.saturating_sub(now().saturating_duration_since(self.began))
    }
}

/// The field `Date`, written once a second.
#[derive(Debug, Default)]
pub(super) struct Calendar(Mutex<(u64, String)>);

impl Calendar {
    #[expect(clippy::disallowed_methods, reason = "the date of a response is the process's own")]
    pub(super) fn write(&self, to: &mut Vec<u8>) {
        let today = SystemTime::now();
        let second = today.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if cached.0 != second {
            *cached = (second, httpdate::fmt_http_date(today));
        }
        to.extend_from_slice(cached.1.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_that_is_put_off_is_kept() {
        let (began, mut watchdog) = (now(), Watchdog::new());
        watchdog.set(Duration::from_millis(10));
        let poll_once = |watchdog: &mut Watchdog| {
            async_io::block_on(std::future::poll_fn(|cx| Poll::Ready(watchdog.poll(cx).is_ready())))
        };
        assert!(!poll_once(&mut watchdog));
        watchdog.set(Duration::from_millis(60));
        async_io::block_on(std::future::poll_fn(|cx| watchdog.poll(cx)));
        assert!(began.elapsed() >= Duration::from_millis(60));
        watchdog.clear();
        assert!(!poll_once(&mut watchdog));
    }

    #[test]
    fn bytes_earn_time_but_never_more_than_once() {
        let limits = Limits { stall_time: Duration::from_millis(50), stall_bytes: 100, ..Limits::default() };
        let mut pace = Pace::new();
        std::thread::sleep(Duration::from_millis(60));
        assert_eq!(pace.patience(99, &limits), Duration::ZERO);
        assert!(pace.patience(1_000_000, &limits) <= limits.stall_time);
        std::thread::sleep(Duration::from_millis(60));
        assert_eq!(pace.patience(0, &limits), Duration::ZERO);
    }

    #[test]
    fn the_date_has_the_form_of_http() {
        let mut text = Vec::new();
        Calendar::default().write(&mut text);
        assert_eq!(text.len(), "Mon, 30 Nov 2026 21:18:12 GMT".len());
    }
}
