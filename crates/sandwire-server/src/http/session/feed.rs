//! What answers a POST, and the ids under which it can be had again.

use std::{
    collections::VecDeque,
    mem,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, ready},
};

use sandwire_io::{BoxFuture, EventStore, Received, StoreError};
use sandwire_types::{Message, wire::encode};

use super::table::Using;
use crate::http::stream::event;

/// Keeps the events of a stream before they are sent.
pub(super) struct Record {
    events: Option<Arc<dyn EventStore>>,
    session: Arc<str>,
    stream: u64,
    keeping: Option<Keeping>,
}

struct Keeping {
    message: Option<Message>,
    text: String,
    id: BoxFuture<'static, Result<String, StoreError>>,
}

impl Record {
    pub(super) fn new(using: &Using, stream: u64) -> Self {
        let events = using.table.settings.events.clone();
        Self { events, session: Arc::clone(&using.live.id), stream, keeping: None }
    }

    pub(super) fn is_kept(&self) -> bool {
        self.events.is_some()
    }

    /// Has the stream begin with an empty event, from which it can be resumed before anything was said.
    pub(super) fn prime(&mut self) {
        if let Some(events) = &self.events {
            let id = events.append(&self.session, self.stream, "");
            self.keeping = Some(Keeping { message: None, text: String::new(), id });
        }
    }

    /// The next message as an event. One that cannot be kept is sent without an id.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        next: &mut dyn FnMut(&mut Context<'_>) -> Poll<Option<Message>>,
    ) -> Poll<Option<Vec<u8>>> {
        if self.keeping.is_none() {
            let Some(message) = ready!(next(cx)) else { return Poll::Ready(None) };
            let text = encode(&message);
            let Some(events) = &self.events else { return Poll::Ready(Some(event(None, &text))) };
            let id = events.append(&self.session, self.stream, &text);
            self.keeping = Some(Keeping { message: Some(message), text, id });
        }
        let Some(keeping) = &mut self.keeping else { return Poll::Ready(None) };
        let id = ready!(keeping.id.as_mut().poll(cx)).ok();
        let text = mem::take(&mut keeping.text);
        self.keeping = None;
        if id.is_none() && text.is_empty() {
            return self.poll(cx, next);
        }
        Poll::Ready(Some(event(id.as_deref(), &text)))
    }

    /// Whether nothing is being kept right now.
    pub(super) fn is_done(&self) -> bool {
        self.keeping.is_none()
    }

    /// The message that is being kept right now.
    pub(super) fn take_message(&mut self) -> Option<Message> {
        self.keeping.take().and_then(|keeping| keeping.message)
    }
}

/// What answers one POST. As a future it is what is left to do when nobody reads any more.
pub(super) struct Feed {
    pub(super) said: VecDeque<Message>,
    pub(super) received: Received,
    pub(super) record: Record,
    /// Dropped last: the stream is over when the session hears of it.
    pub(super) using: Using,
}

impl Feed {
    pub(super) fn new(received: Received, using: Using) -> Self {
        let record = Record::new(&using, received.id().0);
        Self { said: VecDeque::new(), received, record, using }
    }

    pub(super) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Vec<u8>>> {
        let Self { said, received, record, using } = self;
        let event = ready!(record.poll(cx, &mut |cx| match said.pop_front() {
            Some(message) => Poll::Ready(Some(message)),
            None => received.poll(cx),
        }));
        if event.is_some() && record.is_kept() {
            using.live.wake_followers();
        }
        Poll::Ready(event)
    }

    /// Goes on without a reader. What is said is kept for one who comes back, or dropped.
    pub(super) fn leave(mut self) {
        if !self.record.is_kept() {
            self.received.deafen(mem::take(&mut self.said));
        }
        if self.said.is_empty() && self.record.is_done() && self.received.is_done() {
            return;
        }
        self.using.rest();
        let table = Arc::clone(&self.using.table);
        let left = Left::new(&table.left);
        if left.others < table.settings.max_left {
            table.spawn(async move {
                let _left = left;
                self.await;
            });
        }
    }
}

/// A request that is gone on with, counted until it is dropped.
struct Left {
    count: Arc<AtomicUsize>,
    others: usize,
}

impl Left {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        Self { count: Arc::clone(count), others: count.fetch_add(1, Ordering::Relaxed) }
    }
}

impl Drop for Left {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Future for Feed {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        while ready!(self.poll_event(cx)).is_some() {}
        if self.received.is_done() { Poll::Ready(()) } else { Poll::Pending }
    }
}
