//! The stream of a GET: what belongs to no request.

use std::{
    collections::VecDeque,
    task::{Context, Poll},
};

use sandwire_io::Body;
use sandwire_proto::TransportError;

use super::{feed::Record, resume::replayed, table::Using};
use crate::http::stream::KeepAlive;

/// Its number in event ids. Those of exchanges begin at one.
pub(super) const STREAM: u64 = 0;

pub(super) struct Listen {
    /// What was sent before.
    replayed: VecDeque<Vec<u8>>,
    record: Record,
    listener: u64,
    keep_alive: KeepAlive,
    using: Using,
}

impl Listen {
    /// The stream of a client that has none yet.
    pub(super) fn new(using: Using, keep_alive: KeepAlive) -> Option<Self> {
        let listener = using.live.begin_listening(false)?;
        let mut listen = Self::with(using, keep_alive, listener, Vec::new());
        let primes = listen.using.live.session.peer().is_some_and(|peer| peer.version.primes_event_streams());
        if primes {
            listen.record.prime();
        }
        Some(listen)
    }

    /// The stream of a client that comes back: one that is still there, as it seems, ends.
    pub(super) fn again(using: Using, keep_alive: KeepAlive, events: Vec<(String, String)>) -> Self {
        let listener = using.live.begin_listening(true).unwrap_or_default();
        using.live.session.wake_pipe();
        Self::with(using, keep_alive, listener, events)
    }

    fn with(using: Using, keep_alive: KeepAlive, listener: u64, events: Vec<(String, String)>) -> Self {
        let record = Record::new(&using, STREAM);
        Self { replayed: replayed(&events).collect(), record, listener, keep_alive, using }
    }
}

impl Body for Listen {
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, TransportError>>> {
        let Self { replayed, record, listener, keep_alive, using } = self;
        if !using.live.is_listening(*listener) {
            return Poll::Ready(None);
        }
        if let Some(event) = replayed.pop_front() {
            return Poll::Ready(Some(Ok(event)));
        }
        match record.poll(cx, &mut |cx| using.live.session.poll_pipe(cx)) {
            Poll::Ready(event) => {
                keep_alive.put_off();
                Poll::Ready(event.map(Ok))
            }
            Poll::Pending => keep_alive.poll(cx).map(|comment| Some(Ok(comment))),
        }
    }
}

impl Drop for Listen {
    fn drop(&mut self) {
        if let Some(message) = self.record.take_message() {
            self.using.live.session.unread_pipe(message);
        }
        self.using.live.end_listening(self.listener);
    }
}
