use super::{Link, LinkEvent};
use crate::HttpClient;
use sandwire_proto::{ExchangeId, Limits, Via, Wire, http::RequestHead};
use sandwire_types::Message;
use std::{
    sync::Arc,
    task::{Context, Poll},
};

/// Streamable HTTP: every message sent is a request of its own, answered by JSON or by an event stream.
pub struct HttpLink {
    client: Arc<dyn HttpClient>,
    url: String,
    limits: Limits,
}

impl HttpLink {
    /// A link to the server at `url`.
    #[must_use]
    pub fn new(client: Arc<dyn HttpClient>, url: impl Into<String>, limits: Limits) -> Self {
        Self {
            client,
            url: url.into(),
            limits,
        }
    }
}

impl Link for HttpLink {
    fn wire(&self) -> Wire {
        Wire::Http
    }

    fn send(&mut self, _via: Via, _message: Message, _head: Option<Box<RequestHead>>) {
        let _ = (&self.client, &self.url, &self.limits);
    }

    fn abandon(&mut self, _exchange: ExchangeId) {}

    fn poll(&mut self, _cx: &mut Context<'_>) -> Poll<LinkEvent> {
        Poll::Pending
    }

    fn close(&mut self) {}
}
