//! The endpoints of 2024-11-05: one stream that a GET opens and that everything comes on, and an address to post to.
//!
//! Both are the address of the entry. A GET without `Mcp-Session-Id` opens the stream, and the address that its first
//! event names is that of the GET with `?sessionId=`.

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use sandwire_io::{Body, Session};
use sandwire_proto::{
    TransportError,
    http::{
        RequestHead, Verb,
        sse::{self, Event},
    },
};
use sandwire_types::{
    ErrorCode,
    wire::{Incoming, encode},
};

use super::{Known, Refusal, Response, Shared, Table, feed::Feed, streaming, table::Using};
use crate::http::{
    answer::Begun,
    stream::{KeepAlive, event},
};

/// The one stream of a session. Its end is the session's.
struct OneStream {
    endpoint: Option<String>,
    keep_alive: KeepAlive,
    using: Using,
}

impl Shared {
    pub(super) fn open_one_stream(
        &self,
        table: &Arc<Table>,
        head: &RequestHead,
        from: &Known,
    ) -> Result<Response, Refusal> {
        table.has_room()?;
        let (endpoint, env) = (Arc::clone(&self.endpoint), Arc::clone(&self.env));
        let max_queue = self.endpoint.config().limits.max_queue;
        let using = table.insert(self.session_id(), Session::new(endpoint, env, max_queue).on_one_stream(), from)?;
        let path = head.path.split('?').next().unwrap_or_default();
        let endpoint = Event {
            name: Some("endpoint".into()),
            data: Some([path, MARK, &using.live.id].concat()),
            ..Event::default()
        };
        let stream = OneStream { endpoint: Some(sse::encode(&endpoint)), keep_alive: self.keep_alive(), using };
        Ok((streaming(), Box::new(stream)))
    }

    /// Takes what a client posts beside its stream, on which it is answered.
    pub(in crate::http) fn beside_stream(
        &self,
        table: &Arc<Table>,
        id: &str,
        incoming: Incoming,
        from: &Known,
    ) -> Result<Begun, Refusal> {
        let Some(using) = table.find(id, from).filter(|using| using.live.session.has_one_stream()) else {
            let message = "there is no such session: its stream has ended; open one with a GET";
            return Err(Refusal::new(404, ErrorCode::INVALID_REQUEST, message));
        };
        if using.live.session.is_full() {
            let message = "the stream holds all that it may; read it before sending more";
            return Err(Refusal::new(503, ErrorCode::INTERNAL_ERROR, message));
        }
        let received = match incoming {
            Incoming::One(message) => using.live.session.receive(message, from.clone()),
            Incoming::Batch(items) => using.live.session.receive_batch(items, from.clone()),
        };
        Feed::new(received, using).leave();
        Ok(Begun::Accepted)
    }
}

const MARK: &str = "?sessionId=";

impl Table {
    /// The session that the address of a POST names, where old clients are served.
    pub(in crate::http) fn named<'a>(&self, head: &'a RequestHead) -> Option<&'a str> {
        let named = head.path.split_once(MARK).map(|(_, id)| id);
        named.filter(|_| self.settings.sse && head.method == Verb::Post)
    }
}

impl Body for OneStream {
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, TransportError>>> {
        let Self { endpoint, keep_alive, using } = self;
        if let Some(endpoint) = endpoint.take() {
            return Poll::Ready(Some(Ok(endpoint.into_bytes())));
        }
        match using.live.session.poll_pipe(cx) {
            Poll::Ready(message) => {
                keep_alive.put_off();
                Poll::Ready(message.map(|message| Ok(event(None, &encode(&message)))))
            }
            Poll::Pending => keep_alive.poll(cx).map(|comment| Some(Ok(comment))),
        }
    }
}

impl Drop for OneStream {
    fn drop(&mut self) {
        self.using.table.remove(&self.using);
    }
}
