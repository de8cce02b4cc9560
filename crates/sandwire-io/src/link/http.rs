use super::{Link, LinkEvent, TOO_LARGE, Texts};
use crate::{Body, BoxFuture, HttpClient, HttpRequest, HttpResponse, Observer};
use sandwire_proto::{
    Ended, ExchangeId, Limits, TransportError, TransportErrorKind, Via, Wire,
    http::{Content, RequestHead, sse},
};
use sandwire_types::Message;
use std::{
    sync::Arc,
    task::{Context, Poll, ready},
};

/// Streamable HTTP: every message sent is a request of its own, answered by JSON or by an event stream.
///
/// Exchanges run side by side and take turns: none waits for what another has to tell. Each event of a stream is
/// delivered when it arrives. While many answers to the server are on their way, its streams are not read on.
pub struct HttpLink {
    client: Arc<dyn HttpClient>,
    /// Where exchanges go that begin.
    pub(super) url: String,
    texts: Texts,
    /// How many exchanges there may be.
    pub(super) room: usize,
    running: Vec<Exchange>,
    /// Whose turn it is.
    turn: usize,
    closed: bool,
}

/// How many answers to the server may be on their way before its streams have to wait.
const ANSWERS: usize = 32;

/// How many chunks that tell nothing one exchange may read before the executor gets its turn.
const CHUNKS: usize = 64;

struct Exchange {
    id: ExchangeId,
    /// Whether its request answers one of the server's.
    answers: bool,
    stage: Stage,
    /// Whether the head told of success.
    success: bool,
    content: Content,
    /// The body so far, unless it is an event stream.
    text: Vec<u8>,
    events: Option<Box<sse::Decoder>>,
    /// The message of an event that named its place in the stream, which is told first.
    message: Option<String>,
    /// Whether something was skipped because of its size.
    skipped: bool,
    /// Where an event said that messages go.
    #[cfg(feature = "sse")]
    endpoint: Option<String>,
}

enum Stage {
    /// The head has not arrived.
    Sent(BoxFuture<'static, Result<HttpResponse, TransportError>>),
    /// The body arrives. One that nobody wants is read to its end too, which keeps the connection usable.
    Body(Box<dyn Body>),
    Over(Ended),
}

impl HttpLink {
    /// A link to the server at `url`.
    #[must_use]
    pub fn new(client: Arc<dyn HttpClient>, url: impl Into<String>, limits: Limits) -> Self {
        Self {
            client,
            url: url.into(),
            texts: Texts::new(&limits),
            room: limits.max_in_flight + limits.max_queue,
            running: Vec::new(),
            turn: 0,
            closed: false,
        }
    }

    fn begin(
        &mut self,
        id: ExchangeId,
        answers: bool,
        head: RequestHead,
        body: Result<Option<String>, TransportError>,
    ) {
        let stage = match body {
            Err(error) => Stage::Over(Ended::Lost(error)),
            Ok(_) if self.running.len() >= self.room => {
                let error = TransportError::new(TransportErrorKind::Other, "too many requests are under way");
                Stage::Over(Ended::Lost(error))
            }
            Ok(body) => Stage::Sent(self.client.send(HttpRequest { url: self.url.clone(), head, body })),
        };
        self.running.push(Exchange {
            id,
            answers,
            stage,
            success: false,
            content: Content::Other,
            text: Vec::new(),
            events: None,
            message: None,
            skipped: false,
            #[cfg(feature = "sse")]
            endpoint: None,
        });
    }

    /// Where an event of this exchange said that messages go, once.
    #[cfg(feature = "sse")]
    pub(super) fn endpoint(&mut self, exchange: ExchangeId) -> Option<String> {
        self.running.iter_mut().find(|running| running.id == exchange)?.endpoint.take()
    }
}

impl Link for HttpLink {
    fn wire(&self) -> Wire {
        Wire::Http
    }

    fn send(&mut self, via: Via, message: Message, head: Option<Box<RequestHead>>) {
        let (Via::Exchange(exchange), Some(head)) = (via, head) else { return };
        let body = self.texts.write(&message).map(Some);
        self.begin(exchange, matches!(message, Message::Response(_)), *head, body);
    }

    fn open(&mut self, exchange: ExchangeId, head: Box<RequestHead>) {
        self.begin(exchange, false, *head, Ok(None));
    }

    fn abandon(&mut self, exchange: ExchangeId) {
        if let Some(at) = self.running.iter().position(|running| running.id == exchange) {
            self.running.remove(at);
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<LinkEvent> {
        if self.closed {
            return Poll::Ready(LinkEvent::Closed(None));
        }
        let busy = self.running.iter().filter(|exchange| exchange.answers).count() >= ANSWERS;
        for _ in 0..self.running.len() {
            if self.turn >= self.running.len() {
                self.turn = 0;
            }
            let Some(exchange) = self.running.get_mut(self.turn) else { break };
            let stream = exchange.events.is_some();
            if !(busy && stream)
                && let Poll::Ready(event) = exchange.poll(&mut self.texts, cx)
            {
                if matches!(event, LinkEvent::Ended { .. }) {
                    // What began first goes out first.
                    self.running.remove(self.turn);
                } else if stream {
                    self.turn += 1;
                }
                return Poll::Ready(event);
            }
            self.turn += 1;
        }
        Poll::Pending
    }

    #[cfg(feature = "sse")]
    fn downgrade(&mut self) -> Option<Box<dyn Link>> {
        let http = Self {
            client: Arc::clone(&self.client),
            url: std::mem::take(&mut self.url),
            texts: self.texts.for_successor(),
            room: self.room,
            running: Vec::new(),
            turn: 0,
            closed: false,
        };
        Some(Box::new(super::SseLink::over(http)))
    }

    fn close(&mut self) {
        self.closed = true;
        self.running.clear();
    }

    fn observe(&mut self, observer: Observer) {
        self.texts.observer = Some(observer);
    }
}

impl std::fmt::Debug for HttpLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpLink").field("url", &self.url).finish_non_exhaustive()
    }
}

impl Exchange {
    /// Moves on until there is something to tell.
    fn poll(&mut self, texts: &mut Texts, cx: &mut Context<'_>) -> Poll<LinkEvent> {
        for _ in 0..CHUNKS {
            if let Some(event) = self.next_event(texts) {
                return Poll::Ready(event);
            }
            match &mut self.stage {
                Stage::Sent(response) => match ready!(response.as_mut().poll(cx)) {
                    Ok(HttpResponse { head, body }) => {
                        self.success = head.is_success();
                        self.content = Content::of(&head.headers);
                        if self.content == Content::EventStream {
                            self.events = Some(Box::new(sse::Decoder::new(texts.max_bytes)));
                        }
                        self.stage = Stage::Body(body);
                        if self.content == Content::Other {
                            // What is empty ends before its head is told of, which may make others want its connection.
                            let _ = self.read(texts.max_bytes, cx);
                        }
                        return Poll::Ready(LinkEvent::Head { exchange: self.id, head });
                    }
                    Err(error) => self.stage = Stage::Over(Ended::Lost(error)),
                },
                Stage::Body(_) => {
                    ready!(self.read(texts.max_bytes, cx));
                    if matches!(self.stage, Stage::Over(Ended::Finished))
                        && self.content == Content::Json
                        && let Some(event) = self.whole(texts)
                    {
                        return Poll::Ready(event);
                    }
                }
                Stage::Over(how) => {
                    let how = std::mem::replace(how, Ended::Finished);
                    return Poll::Ready(LinkEvent::Ended { exchange: self.id, how });
                }
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Reads one more chunk of the body, or its end.
    fn read(&mut self, max_bytes: usize, cx: &mut Context<'_>) -> Poll<()> {
        let Stage::Body(body) = &mut self.stage else { return Poll::Ready(()) };
        match ready!(body.poll_chunk(cx)) {
            Some(Ok(chunk)) => self.take(chunk, max_bytes),
            Some(Err(error)) => self.stage = Stage::Over(Ended::Lost(error)),
            None => self.stage = Stage::Over(if self.skipped { too_large() } else { Ended::Finished }),
        }
        Poll::Ready(())
    }

    fn take(&mut self, chunk: Vec<u8>, max_bytes: usize) {
        if let Some(events) = &mut self.events {
            events.push(&chunk);
        } else if self.text.len() + chunk.len() > max_bytes {
            self.stage = Stage::Over(too_large());
        } else if self.text.is_empty() {
            self.text = chunk;
        } else {
            self.text.extend_from_slice(&chunk);
        }
    }

    /// What the event stream tells next.
    fn next_event(&mut self, texts: &mut Texts) -> Option<LinkEvent> {
        loop {
            if let Some(text) = self.message.take() {
                return Some(texts.read(Via::Exchange(self.id), Ok(&text)));
            }
            match self.events.as_mut()?.next()? {
                Err(sse::DecodeError::TooLarge) => self.skipped = true,
                Err(_) => return Some(texts.read(Via::Exchange(self.id), Err("event is not UTF-8"))),
                #[cfg(feature = "sse")]
                Ok(event) if event.name.as_deref() == Some("endpoint") => {
                    self.endpoint = event.data;
                    return Some(LinkEvent::Mark { exchange: self.id, event_id: None, retry_ms: None });
                }
                Ok(event) => {
                    let is_message = event.message().is_some();
                    self.message = event.data.filter(|_| is_message);
                    if event.id.is_some() || event.retry_ms.is_some() {
                        let (event_id, retry_ms) = (event.id, event.retry_ms);
                        return Some(LinkEvent::Mark { exchange: self.id, event_id, retry_ms });
                    }
                }
            }
        }
    }

    /// What a JSON body is. That of a failed request need not be a message: a gateway may speak of its failure.
    fn whole(&mut self, texts: &mut Texts) -> Option<LinkEvent> {
        let text = std::str::from_utf8(&self.text).map_err(|_| "body is not UTF-8");
        let event = texts.read(Via::Exchange(self.id), text);
        (self.success || !matches!(event, LinkEvent::Garbage { .. })).then_some(event)
    }
}

fn too_large() -> Ended {
    Ended::Lost(TransportError::new(TransportErrorKind::TooLarge, TOO_LARGE))
}
