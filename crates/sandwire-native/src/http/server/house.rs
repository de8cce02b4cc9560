//! What the connections of a server share.

use std::{
    future::Future,
    pin::{Pin, pin},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Waker, ready},
    time::Instant,
};

use async_io::Timer;
use event_listener::{Event, EventListener};
use sandwire_io::HttpService;

use super::{Limits, clock};

/// A server as its connections see it.
pub(super) struct House {
    pub(super) service: Box<dyn HttpService>,
    pub(super) limits: Limits,
    closing: Arc<Signal>,
    guests: AtomicUsize,
    /// Told when the last guest leaves a house that closes.
    emptied: Event,
}

impl House {
    pub(super) fn new(service: Box<dyn HttpService>, limits: Limits, closing: Arc<Signal>) -> Self {
        let (guests, emptied) = (AtomicUsize::new(0), Event::new());
        Self { service, limits, closing, guests, emptied }
    }

    pub(super) fn enter(self: &Arc<Self>) -> Guest {
        self.guests.fetch_add(1, Ordering::Relaxed);
        Guest { house: Arc::clone(self), listening: None, drained: None }
    }

    pub(super) fn is_full(&self) -> bool {
        self.guests.load(Ordering::Relaxed) >= self.limits.connections
    }

    pub(super) fn is_closing(&self) -> bool {
        self.closing.given().is_some()
    }

    /// Waits until every guest has left; the house has to be closing.
    pub(super) async fn empty(&self) {
        while self.guests.load(Ordering::SeqCst) > 0 {
            let emptied = self.emptied.listen();
            if self.guests.load(Ordering::SeqCst) > 0 {
                emptied.await;
            }
        }
    }
}

/// A connection's place in the house.
pub(super) struct Guest {
    house: Arc<House>,
    listening: Option<(EventListener, Waker)>,
    drained: Option<Timer>,
}

impl Guest {
    /// Ready once the server is shutting down. Costs next to nothing when it is asked again by the same task.
    pub(super) fn poll_closing(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.house.is_closing() {
            return Poll::Ready(());
        }
        if self.listening.as_ref().is_some_and(|(_, waker)| waker.will_wake(cx.waker())) {
            return Poll::Pending;
        }
        let mut listener = self.house.closing.event.listen();
        if self.house.is_closing() || Pin::new(&mut listener).poll(cx).is_ready() {
            return Poll::Ready(());
        }
        self.listening = Some((listener, cx.waker().clone()));
        Poll::Pending
    }

    /// Ready once the server has been shutting down for so long that what is under way has to end.
    pub(super) fn poll_drained(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        ready!(self.poll_closing(cx));
        let (closing, drain_time) = (&self.house.closing, self.house.limits.drain_time);
        let end = closing.given().map_or_else(clock::now, |begun| clock::later(begun, drain_time));
        let timer = self.drained.get_or_insert_with(|| Timer::at(end));
        Pin::new(timer).poll(cx).map(|_| ())
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        if self.house.guests.fetch_sub(1, Ordering::SeqCst) == 1 && self.house.is_closing() {
            self.house.emptied.notify(usize::MAX);
        }
    }
}

/// Something that happens once, and that any number of tasks wait for.
#[derive(Debug, Default)]
pub(super) struct Signal {
    given: OnceLock<Instant>,
    event: Event,
}

impl Signal {
    pub(super) fn give(&self) {
        self.given.get_or_init(clock::now);
        self.event.notify(usize::MAX);
    }

    /// When it was given.
    pub(super) fn given(&self) -> Option<Instant> {
        self.given.get().copied()
    }

    pub(super) async fn heard(&self) {
        while self.given().is_none() {
            let event = self.event.listen();
            if self.given().is_none() {
                event.await;
            }
        }
    }
}

/// What `work` gives, unless `end` comes first.
pub(super) async fn until<T>(end: impl Future<Output = ()>, work: impl Future<Output = T>) -> Option<T> {
    let (mut end, mut work) = (pin!(end), pin!(work));
    std::future::poll_fn(|cx| match work.as_mut().poll(cx) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending => end.as_mut().poll(cx).map(|()| None),
    })
    .await
}
