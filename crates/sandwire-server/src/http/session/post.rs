//! The response to a POST: JSON if all that is said are answers, an event stream otherwise.

use std::task::{Context, Poll};

use sandwire_io::Body;
use sandwire_proto::{
    TransportError,
    http::sse::{Event, encode},
};
use sandwire_types::{Message, ProtocolVersion};

use super::{Response, feed::Feed, table::Using};
use crate::http::{answer::whole, stream::KeepAlive};

/// Gives what answers a POST. A client that goes away, and drops it, cancels nothing.
pub(super) struct Post {
    feed: Option<Feed>,
    version: ProtocolVersion,
    keep_alive: KeepAlive,
}

impl Post {
    pub(super) fn new(feed: Feed, version: ProtocolVersion, keep_alive: KeepAlive) -> Self {
        Self { feed: Some(feed), version, keep_alive }
    }

    pub(super) fn using(&self) -> Option<&Using> {
        self.feed.as_ref().map(|feed| &feed.using)
    }

    /// Whether the session ended, and its calls with it, before anything was said.
    pub(super) fn is_cut_off(&self) -> bool {
        self.feed.as_ref().is_some_and(|feed| feed.said.is_empty() && !feed.using.is_live())
    }

    /// Whether the client can come back to the stream before it heard anything.
    fn is_primed(&self) -> bool {
        self.version.primes_event_streams() && self.feed.as_ref().is_some_and(|feed| feed.record.is_kept())
    }

    /// Waits for the answers: ready with all of them, or with nothing once there is something else to send first, be it
    /// the event that makes the stream resumable.
    pub(super) fn poll_answers(&mut self, cx: &mut Context<'_>) -> Poll<Option<Response>> {
        let primed = self.is_primed();
        let Some(feed) = &mut self.feed else { return Poll::Ready(None) };
        loop {
            match feed.received.poll(cx) {
                Poll::Ready(Some(message)) => {
                    let is_answer = matches!(message, Message::Response(_));
                    feed.said.push_back(message);
                    if !is_answer {
                        return Poll::Ready(None);
                    }
                }
                Poll::Ready(None) if feed.said.is_empty() => return Poll::Ready(None),
                Poll::Ready(None) => {
                    let response = whole(self.version, &feed.said);
                    feed.said.clear();
                    return Poll::Ready(Some(response));
                }
                Poll::Pending if primed => return Poll::Ready(None),
                Poll::Pending => return self.keep_alive.poll_due(cx).map(|()| None),
            }
        }
    }

    /// The rest as an event stream.
    pub(super) fn stream(mut self) -> Box<dyn Body> {
        if self.is_primed()
            && let Some(feed) = &mut self.feed
        {
            feed.record.prime();
        }
        Box::new(self)
    }

    fn leave(&mut self) {
        if let Some(feed) = self.feed.take() {
            feed.leave();
        }
    }
}

impl Body for Post {
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, TransportError>>> {
        let primed = self.is_primed();
        let Some(feed) = &mut self.feed else { return Poll::Ready(None) };
        match feed.poll_event(cx) {
            Poll::Ready(Some(event)) => {
                self.keep_alive.put_off();
                Poll::Ready(Some(Ok(event)))
            }
            Poll::Ready(None) => {
                self.leave();
                Poll::Ready(None)
            }
            Poll::Pending if feed.record.is_kept() && feed.received.take_release() => {
                let retry_ms = feed.using.table.settings.retry_ms;
                self.leave();
                let retry = Event { retry_ms: Some(retry_ms), ..Event::default() };
                Poll::Ready(primed.then(|| Ok(encode(&retry).into_bytes())))
            }
            Poll::Pending => self.keep_alive.poll(cx).map(|comment| Some(Ok(comment))),
        }
    }
}

impl Drop for Post {
    fn drop(&mut self) {
        self.leave();
    }
}
