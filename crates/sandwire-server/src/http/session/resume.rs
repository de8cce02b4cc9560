//! The stream of a client that comes back for the rest of what answers a POST.

use std::{
    collections::VecDeque,
    sync::Arc,
    task::{Context, Poll},
};

use sandwire_io::{Body, BoxFuture, EventStore, Replay, StoreError};
use sandwire_proto::{ExchangeId, TransportError};

use super::table::Using;
use crate::http::stream::{KeepAlive, event};

/// Gives the events that were kept after the one that the client had last, and those that are kept from now on, until
/// the call is over.
pub(super) struct Resumed {
    events: Arc<dyn EventStore>,
    stream: u64,
    /// The id of the newest event that was read.
    last: String,
    chunks: VecDeque<Vec<u8>>,
    reading: Option<BoxFuture<'static, Result<Option<Replay>, StoreError>>>,
    /// How often something had been kept when the store was last read.
    seen: Option<u64>,
    /// Whether the call was under way then.
    open: bool,
    keep_alive: KeepAlive,
    using: Using,
}

/// The events that hold a message.
pub(super) fn replayed(events: &[(String, String)]) -> impl Iterator<Item = Vec<u8>> {
    events.iter().filter(|(_, text)| !text.is_empty()).map(|(id, text)| event(Some(id), text))
}

impl Resumed {
    /// What followed the event `last`. A connection that still seems to read the stream ends: each message goes to one
    /// only.
    pub(super) fn new(
        using: Using,
        events: Arc<dyn EventStore>,
        keep_alive: KeepAlive,
        last: &str,
        replay: Replay,
    ) -> Self {
        using.live.session.release(ExchangeId(replay.stream));
        let (chunks, last) = (VecDeque::new(), last.to_owned());
        let stream = replay.stream;
        let mut resumed =
            Self { events, stream, last, chunks, reading: None, seen: None, open: true, keep_alive, using };
        resumed.take(replay);
        resumed
    }

    fn take(&mut self, replay: Replay) {
        self.chunks.extend(replayed(&replay.events));
        if let Some((id, _)) = replay.events.into_iter().next_back() {
            self.last = id;
        }
    }
}

impl Body for Resumed {
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, TransportError>>> {
        loop {
            if let Some(chunk) = self.chunks.pop_front() {
                self.keep_alive.put_off();
                return Poll::Ready(Some(Ok(chunk)));
            }
            if let Some(reading) = &mut self.reading {
                let Poll::Ready(read) = reading.as_mut().poll(cx) else { break };
                self.reading = None;
                match read {
                    Ok(Some(replay)) => self.take(replay),
                    // The client comes back once more, or hears that it is too late.
                    Ok(None) | Err(_) => return Poll::Ready(None),
                }
                continue;
            }
            if !self.open {
                return Poll::Ready(None);
            }
            let live = &self.using.live;
            let events = live.follow(cx.waker());
            if self.seen == Some(events) {
                break;
            }
            self.seen = Some(events);
            self.open = live.session.is_open(ExchangeId(self.stream));
            self.reading = Some(self.events.replay(&live.id, &self.last));
        }
        self.keep_alive.poll(cx).map(|comment| Some(Ok(comment)))
    }
}
