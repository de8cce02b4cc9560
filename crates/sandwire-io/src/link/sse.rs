use super::{HttpLink, Link, LinkEvent};
use crate::{HttpClient, Observer};
use sandwire_proto::{
    Ended, ExchangeId, Limits, TransportError, TransportErrorKind, Via,
    http::{Content, RequestHead, endpoint, failure, outgoing},
};
use sandwire_types::{Message, RequestId};
use std::{
    collections::VecDeque,
    sync::Arc,
    task::{Context, Poll, ready},
};

/// HTTP with two addresses, the transport of protocol version 2024-11-05: at one the server tells events for as long
/// as the connection lasts, the first of which names the other, to which messages are posted.
///
/// An [`HttpLink`] turns into one when the server refuses what it says; this is for servers that are known to be so
/// old. When the stream of events ends, another is begun, with a server that may have forgotten what was before.
#[derive(Debug)]
pub struct SseLink {
    http: HttpLink,
    /// Where the events are.
    url: String,
    /// The exchange that brings them.
    stream: ExchangeId,
    /// How many exchanges there were.
    exchanges: u64,
    /// Whether the server said where messages go.
    located: bool,
    waiting: VecDeque<Message>,
    posts: Vec<Post>,
    /// What is to be told before anything that comes.
    unsent: Vec<LinkEvent>,
    /// How many messages this stream has brought.
    heard: u32,
    /// How many streams in a row brought no more than the answer to the opening.
    attempts: u32,
}

/// How many events one poll may skip before the executor gets its turn.
const EVENTS: usize = 64;

/// How many streams in a row may bring no more than the answer to the opening.
const MAX_ATTEMPTS: u32 = 3;

/// A message on its way.
#[derive(Debug)]
struct Post {
    exchange: ExchangeId,
    /// The request, whose failure is told.
    request: Option<RequestId>,
    /// Whether what follows waits until this has arrived, as calls do that follow the end of the handshake.
    blocks: bool,
}

impl SseLink {
    /// A link to the server that tells its events at `url`.
    #[must_use]
    pub fn new(client: Arc<dyn HttpClient>, url: impl Into<String>, limits: Limits) -> Self {
        Self::over(HttpLink::new(client, url, limits))
    }

    /// A link to the server of another one, which has no exchanges.
    pub(super) fn over(http: HttpLink) -> Self {
        let mut link = Self {
            url: http.url.clone(),
            http,
            stream: ExchangeId(0),
            exchanges: 0,
            located: false,
            waiting: VecDeque::new(),
            posts: Vec::new(),
            unsent: Vec::new(),
            heard: 0,
            attempts: 0,
        };
        link.listen();
        link
    }

    /// Asks for the stream of events.
    fn listen(&mut self) {
        self.stream = self.next_exchange();
        self.http.open(self.stream, Box::new(outgoing::events()));
    }

    fn next_exchange(&mut self) -> ExchangeId {
        self.exchanges += 1;
        ExchangeId(self.exchanges)
    }

    /// Posts what need wait no longer.
    fn post(&mut self) {
        while self.located
            && !self.posts.iter().any(|post| post.blocks)
            && let Some(message) = self.waiting.pop_front()
        {
            let exchange = self.next_exchange();
            let blocks = matches!(message, Message::Notification(_));
            self.posts.push(Post { exchange, request: id_of(&message), blocks });
            let head = outgoing::legacy_message(None, None);
            self.http.send(Via::Exchange(exchange), message, Some(Box::new(head)));
        }
    }

    /// What an event of the exchanges below is to those above, if anything.
    fn translate(&mut self, event: LinkEvent) -> Option<LinkEvent> {
        match event {
            LinkEvent::Message { message, .. } => {
                self.heard();
                Some(LinkEvent::Message { via: Via::Pipe, message })
            }
            LinkEvent::Batch { items, .. } => {
                self.heard();
                Some(LinkEvent::Batch { via: Via::Pipe, items })
            }
            LinkEvent::Garbage { via, error } => {
                (via == Via::Exchange(self.stream)).then_some(LinkEvent::Garbage { via: Via::Pipe, error })
            }
            LinkEvent::Mark { .. } => self.locate(),
            LinkEvent::Head { exchange, head } if exchange == self.stream => {
                let error = match Content::of(&head.headers) {
                    _ if !head.is_success() => failure(&head, false),
                    Content::EventStream => return None,
                    _ => TransportError::new(
                        TransportErrorKind::Other,
                        "there are no events at this address; check that it is that of an MCP server",
                    ),
                };
                Some(LinkEvent::Closed(Some(error)))
            }
            LinkEvent::Head { exchange, head } => {
                let post = self.posts.iter_mut().find(|post| post.exchange == exchange)?;
                post.blocks = false;
                let id = post.request.take().filter(|_| !head.is_success())?;
                Some(LinkEvent::Unsent { id, error: failure(&head, false) })
            }
            LinkEvent::Ended { exchange, how } if exchange == self.stream => Some(self.lost(how)),
            LinkEvent::Ended { exchange, how } => {
                let at = self.posts.iter().position(|post| post.exchange == exchange)?;
                match (self.posts.remove(at).request, how) {
                    (Some(id), Ended::Lost(error)) => Some(LinkEvent::Unsent { id, error }),
                    _ => None,
                }
            }
            other => Some(other),
        }
    }

    fn heard(&mut self) {
        self.heard = self.heard.saturating_add(1);
        if self.heard > 1 {
            self.attempts = 0;
        }
    }

    /// The server says where messages go, for the first time; what it says without data keeps the connection alive.
    fn locate(&mut self) -> Option<LinkEvent> {
        let named = self.http.endpoint(self.stream).filter(|named| !named.is_empty() && !self.located)?;
        let Some(url) = endpoint(&self.url, &named) else {
            return Some(LinkEvent::Closed(Some(TransportError::new(
                TransportErrorKind::Malformed,
                "the server wants messages sent to another origin, which is refused; report this to its author",
            ))));
        };
        self.http.url = url;
        self.located = true;
        None
    }

    /// The stream ended. Another one is another connection, to a server that need not remember this one.
    fn lost(&mut self, how: Ended) -> LinkEvent {
        if !cfg!(feature = "restarts") || !self.located || self.attempts >= MAX_ATTEMPTS {
            return LinkEvent::Closed(match how {
                Ended::Lost(error) => Some(error),
                Ended::Finished => {
                    Some(TransportError::new(TransportErrorKind::Closed, "the server ended the connection"))
                }
            });
        }
        self.attempts += 1;
        self.heard = 0;
        self.located = false;
        self.waiting.clear();
        for post in std::mem::take(&mut self.posts) {
            self.http.abandon(post.exchange);
        }
        self.http.url.clone_from(&self.url);
        self.listen();
        let message = "the connection ended and was made anew; call again if that is safe";
        let error = TransportError::new(TransportErrorKind::Restarted, message);
        LinkEvent::Restarted(match how {
            Ended::Lost(cause) => error.with_source(Arc::new(cause)),
            Ended::Finished => error,
        })
    }
}

fn id_of(message: &Message) -> Option<RequestId> {
    match message {
        Message::Request(request) => Some(request.id.clone()),
        _ => None,
    }
}

impl Link for SseLink {
    fn send(&mut self, _via: Via, message: Message, _head: Option<Box<RequestHead>>) {
        if self.waiting.len() < self.http.room {
            self.waiting.push_back(message);
        } else if let Some(id) = id_of(&message) {
            let error = TransportError::new(TransportErrorKind::Other, "too many messages wait");
            self.unsent.push(LinkEvent::Unsent { id, error });
        }
    }

    fn abandon(&mut self, _exchange: ExchangeId) {}

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<LinkEvent> {
        for _ in 0..EVENTS {
            if let Some(event) = self.unsent.pop() {
                return Poll::Ready(event);
            }
            self.post();
            let event = ready!(self.http.poll(cx));
            if let Some(event) = self.translate(event) {
                return Poll::Ready(event);
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn close(&mut self) {
        self.http.close();
    }

    fn observe(&mut self, observer: Observer) {
        self.http.observe(observer);
    }
}
