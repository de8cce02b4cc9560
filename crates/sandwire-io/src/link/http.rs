use super::{Direction, Link, LinkEvent, decode_into};
use crate::{Body, BoxFuture, HttpClient, HttpRequest, HttpResponse, Observer};
use sandwire_proto::{
    Ended, ExchangeId, Limits, TransportError, TransportErrorKind, Via, Wire,
    http::{Content, RequestHead, sse},
};
use sandwire_types::{
    ErrorCode, Message, WireError,
    wire::{Memo, encode},
};
use std::{
    collections::VecDeque,
    sync::Arc,
    task::{Context, Poll},
};

/// Streamable HTTP: every message sent is a request of its own, answered by JSON or by an event stream.
///
/// Exchanges run side by side. Each event of a stream is delivered when it arrives.
pub struct HttpLink {
    client: Arc<dyn HttpClient>,
    url: String,
    limits: Limits,
    running: Vec<Exchange>,
    events: VecDeque<LinkEvent>,
    memo: Memo,
    observer: Option<Observer>,
    closed: bool,
}

struct Exchange {
    id: ExchangeId,
    stage: Stage,
}

enum Stage {
    /// The head has not arrived.
    Sent(BoxFuture<'static, Result<HttpResponse, TransportError>>),
    /// A JSON body arrives. One of a failed request that is no message is nothing to complain about.
    Json { body: Box<dyn Body>, text: Vec<u8>, success: bool },
    /// An event stream arrives.
    Stream { body: Box<dyn Body>, decoder: Box<sse::Decoder> },
    /// A body arrives that nobody wants; reading it to its end keeps the connection usable.
    Drain { body: Box<dyn Body>, read: usize },
}

impl HttpLink {
    /// A link to the server at `url`.
    #[must_use]
    pub fn new(client: Arc<dyn HttpClient>, url: impl Into<String>, limits: Limits) -> Self {
        Self {
            client,
            url: url.into(),
            limits,
            running: Vec::new(),
            events: VecDeque::new(),
            memo: Memo::new(),
            observer: None,
            closed: false,
        }
    }

    fn begin(&mut self, exchange: ExchangeId, head: RequestHead, body: Option<String>) {
        if self.running.len() >= self.limits.max_in_flight + self.limits.max_queue {
            return self
                .lose(exchange, TransportError::new(TransportErrorKind::Other, "too many requests are under way"));
        }
        let request = HttpRequest { url: self.url.clone(), head, body };
        self.running.push(Exchange { id: exchange, stage: Stage::Sent(self.client.send(request)) });
    }

    fn lose(&mut self, exchange: ExchangeId, error: TransportError) {
        self.events.push_back(LinkEvent::Ended { exchange, how: Ended::Lost(error) });
    }

    /// Moves one exchange on until it waits, has told something, or is over. Says whether it is over.
    fn advance(&mut self, index: usize, cx: &mut Context<'_>) -> bool {
        let Some(exchange) = self.running.get_mut(index) else { return false };
        let id = exchange.id;
        let mut inbox = Inbox {
            via: Via::Exchange(id),
            events: &mut self.events,
            memo: &mut self.memo,
            observer: self.observer.as_ref(),
        };
        let told = inbox.events.len();
        let how = loop {
            match exchange.stage.poll(id, &self.limits, &mut inbox, cx) {
                Poll::Pending => return false,
                Poll::Ready(None) if inbox.events.len() > told => return false,
                Poll::Ready(None) => {}
                Poll::Ready(Some(how)) => break how,
            }
        };
        self.events.push_back(LinkEvent::Ended { exchange: id, how });
        true
    }
}

impl Link for HttpLink {
    fn wire(&self) -> Wire {
        Wire::Http
    }

    fn send(&mut self, via: Via, message: Message, head: Option<Box<RequestHead>>) {
        let (Via::Exchange(exchange), Some(head)) = (via, head) else { return };
        let text = encode(&message);
        if text.len() > self.limits.max_message_bytes {
            return self.lose(exchange, TransportError::new(TransportErrorKind::TooLarge, TOO_LARGE));
        }
        if let Some(observer) = &self.observer {
            observer(Direction::Sent, &text);
        }
        self.begin(exchange, *head, Some(text));
    }

    fn open(&mut self, exchange: ExchangeId, head: Box<RequestHead>) {
        self.begin(exchange, *head, None);
    }

    fn abandon(&mut self, exchange: ExchangeId) {
        self.running.retain(|running| running.id != exchange);
        self.events.retain(|event| match event {
            LinkEvent::Message { via, .. } | LinkEvent::Garbage { via, .. } => *via != Via::Exchange(exchange),
            LinkEvent::Head { exchange: id, .. }
            | LinkEvent::Mark { exchange: id, .. }
            | LinkEvent::Ended { exchange: id, .. } => *id != exchange,
            _ => true,
        });
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<LinkEvent> {
        if self.closed {
            return Poll::Ready(LinkEvent::Closed(None));
        }
        if self.events.is_empty() {
            let mut index = 0;
            while index < self.running.len() {
                if self.advance(index, cx) {
                    self.running.swap_remove(index);
                } else {
                    index += 1;
                }
            }
        }
        self.events.pop_front().map_or(Poll::Pending, Poll::Ready)
    }

    fn close(&mut self) {
        self.closed = true;
        self.running.clear();
    }

    fn observe(&mut self, observer: Observer) {
        self.observer = Some(observer);
    }
}

impl std::fmt::Debug for HttpLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpLink").field("url", &self.url).finish_non_exhaustive()
    }
}

const TOO_LARGE: &str = "message is over the size limit; raise the limit or ask for less at once";

/// Where what arrives goes.
struct Inbox<'a> {
    via: Via,
    events: &'a mut VecDeque<LinkEvent>,
    memo: &'a mut Memo,
    observer: Option<&'a Observer>,
}

impl Inbox<'_> {
    fn text(&mut self, text: &str) {
        if let Some(observer) = self.observer {
            observer(Direction::Received, text);
        }
        decode_into(text, self.via, self.memo, self.events);
    }

    fn garbage(&mut self, message: &str) {
        let error = WireError::new(ErrorCode::PARSE_ERROR, message);
        self.events.push_back(LinkEvent::Garbage { via: self.via, error });
    }
}

impl Stage {
    /// One step; `Some` at the end.
    fn poll(
        &mut self,
        id: ExchangeId,
        limits: &Limits,
        inbox: &mut Inbox<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Ended>> {
        let chunk = match self {
            Self::Sent(response) => {
                let HttpResponse { head, body } = match response.as_mut().poll(cx) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Ok(response)) => response,
                    Poll::Ready(Err(error)) => return Poll::Ready(Some(Ended::Lost(error))),
                };
                *self = match Content::of(&head.headers) {
                    Content::Json => Self::Json { body, text: Vec::new(), success: head.is_success() },
                    Content::EventStream => {
                        Self::Stream { body, decoder: Box::new(sse::Decoder::new(limits.max_message_bytes)) }
                    }
                    Content::Other => Self::Drain { body, read: 0 },
                };
                inbox.events.push_back(LinkEvent::Head { exchange: id, head });
                return Poll::Ready(None);
            }
            Self::Json { body, .. } | Self::Stream { body, .. } | Self::Drain { body, .. } => {
                match body.poll_chunk(cx) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(None) => None,
                    Poll::Ready(Some(Ok(chunk))) => Some(chunk),
                    Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Ended::Lost(error))),
                }
            }
        };
        let too_large = || Some(Ended::Lost(TransportError::new(TransportErrorKind::TooLarge, TOO_LARGE)));
        match (self, chunk) {
            (Self::Json { text, .. }, Some(chunk)) => {
                if text.len() + chunk.len() > limits.max_message_bytes {
                    return Poll::Ready(too_large());
                }
                if text.is_empty() {
                    *text = chunk;
                } else {
                    text.extend_from_slice(&chunk);
                }
            }
            (Self::Stream { decoder, .. }, Some(chunk)) => {
                decoder.push(&chunk);
                while let Some(event) = decoder.next() {
                    match event {
                        Ok(event) => take_event(id, event, inbox),
                        Err(error) => inbox.garbage(match error {
                            sse::DecodeError::TooLarge => TOO_LARGE,
                            _ => "event is not UTF-8",
                        }),
                    }
                }
            }
            (Self::Drain { read, .. }, Some(chunk)) => {
                *read += chunk.len();
                if *read > limits.max_message_bytes {
                    return Poll::Ready(too_large());
                }
            }
            (Self::Json { text, success, .. }, None) => {
                take_json(std::mem::take(text), *success, inbox);
                return Poll::Ready(Some(Ended::Finished));
            }
            (_, None) => return Poll::Ready(Some(Ended::Finished)),
            (Self::Sent(_), Some(_)) => {}
        }
        Poll::Ready(None)
    }
}

fn take_event(id: ExchangeId, event: sse::Event, inbox: &mut Inbox<'_>) {
    let message = event.message().is_some();
    if event.id.is_some() || event.retry_ms.is_some() {
        inbox.events.push_back(LinkEvent::Mark { exchange: id, event_id: event.id, retry_ms: event.retry_ms });
    }
    if let Some(data) = event.data
        && message
    {
        inbox.text(&data);
    }
}

fn take_json(text: Vec<u8>, success: bool, inbox: &mut Inbox<'_>) {
    let told = inbox.events.len();
    match String::from_utf8(text) {
        Ok(text) => inbox.text(&text),
        Err(_) => inbox.garbage("body is not UTF-8"),
    }
    if !success {
        // What a gateway says about its failure need not be a message.
        let mut index = 0;
        inbox.events.retain(|event| {
            index += 1;
            index <= told || !matches!(event, LinkEvent::Garbage { .. })
        });
    }
}
