//! From a decoded message to a response: JSON if the first thing said is the answer, an event stream otherwise.

use std::{collections::VecDeque, sync::Arc};

use sandwire_io::{Body, Bytes, Exchange};
use sandwire_proto::{
    PeerInfo,
    http::{RequestHead, ResponseHead, names},
};
use sandwire_types::{
    Era, ErrorCode, ErrorObject, Message, Method, ProtocolVersion, Request, RequestId, Response as Answer, WireError,
    wire::encode,
};

use super::{
    Known, Response, Shared, VERSION, check,
    stream::{Events, KeepAlive},
};

/// A request that is answered before it reaches the server.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) id: Option<RequestId>,
    pub(super) error: ErrorObject,
}

impl Refusal {
    #[inline(never)]
    pub(super) fn new(status: u16, code: ErrorCode, message: &'static str) -> Self {
        Self { status, id: None, error: ErrorObject::new(code, message) }
    }

    /// `methods` are those that the address takes.
    pub(super) fn into_response(self, version: Option<ProtocolVersion>, methods: &'static str) -> Response {
        let Self { status, id, error } = self;
        let answer = Message::Response(Answer::refusal(id, error, version));
        let (mut head, body) = json(status, encode(&answer));
        match status {
            405 => head.headers.push(names::ALLOW, methods),
            503 => head.headers.push(names::RETRY_AFTER, "1"),
            _ => {}
        }
        (head, body)
    }
}

/// What became of a request.
pub(super) enum Begun {
    /// A page asks whether it may send one.
    Preflight,
    /// Nothing will be said to it.
    Accepted,
    /// The server works on its requests.
    Waits(Box<Events>),
    /// A session has answered it.
    #[cfg(feature = "sessions")]
    Responded(Response),
}

pub(super) fn accepted() -> Response {
    (ResponseHead::new(202), nothing())
}

pub(super) fn nothing() -> Box<dyn Body> {
    Box::new(Bytes::default())
}

pub(super) fn json(status: u16, text: String) -> Response {
    let mut head = ResponseHead::new(status);
    head.headers.push(names::CONTENT_TYPE, "application/json");
    (head, Box::new(Bytes::new(text)))
}

impl Shared {
    pub(super) fn message(&self, head: &RequestHead, message: Message, from: &Known) -> Result<Begun, Refusal> {
        let modern = self.names_modern(head);
        match message {
            Message::Request(request) => self.request(head, request, modern, from),
            // The modern era has none of its own over HTTP, and nothing says who sent it.
            Message::Notification(notification) if modern => {
                if matches!(notification.method, Method::Other(_)) {
                    let peer = Arc::new(PeerInfo::new(ProtocolVersion::LATEST, sandwire_json::Raw::object()));
                    self.endpoint.notification(&notification, &peer);
                }
                Ok(Begun::Accepted)
            }
            Message::Notification(notification) => {
                let peer = self.legacy_peer(head, None, from)?;
                self.exchange(Some(peer), from).receive(Message::Notification(notification));
                Ok(Begun::Accepted)
            }
            Message::Response(_) if modern => Err(invalid("a client sends no responses; send a request")),
            Message::Response(_) => self.legacy_peer(head, None, from).map(|_| Begun::Accepted),
        }
    }

    fn request(&self, head: &RequestHead, request: Request, modern: bool, from: &Known) -> Result<Begun, Refusal> {
        let refuse = |refusal: Refusal| Refusal { id: Some(request.id.clone()), ..refusal };
        if modern || request.meta.envelope.is_some() {
            check::routing(head).map_err(refuse)?;
        }
        let peer = if let Some(envelope) = &request.meta.envelope {
            self.check_modern(head, &request, envelope)
                .map_err(|message| refuse(Refusal::new(400, ErrorCode::HEADER_MISMATCH, message)))?;
            None
        } else if request.method == Method::Initialize {
            let version = self.endpoint.config().newest_legacy().unwrap_or(ProtocolVersion::LATEST);
            Some(Arc::new(PeerInfo::new(version, sandwire_json::Raw::object())))
        } else if modern {
            let message = "params._meta lacks io.modelcontextprotocol/protocolVersion and \
                io.modelcontextprotocol/clientCapabilities; send them with every request";
            return Err(refuse(Refusal::new(400, ErrorCode::INVALID_PARAMS, message)));
        } else {
            Some(self.legacy_peer(head, Some(&request.id), from)?)
        };
        let version = peer.as_ref().map_or(ProtocolVersion::LATEST, |peer| peer.version);
        let mut exchange = self.exchange(peer, from);
        exchange.receive(Message::Request(request));
        Ok(self.wait(exchange, version, 1))
    }

    pub(super) fn batch(
        &self,
        head: &RequestHead,
        items: Vec<Result<Message, WireError>>,
        from: &Known,
    ) -> Result<Begun, Refusal> {
        if self.names_modern(head) {
            return Err(invalid("a body is one message; send the messages of a batch one by one"));
        }
        let peer = self.legacy_peer(head, None, from)?;
        self.check_batch(peer.version, items.len())?;
        let waiting = items.iter().filter(|item| wants_answer(item)).count();
        let mut exchange = self.exchange(Some(Arc::clone(&peer)), from);
        exchange.receive_batch(items);
        if waiting == 0 {
            return Ok(Begun::Accepted);
        }
        Ok(self.wait(exchange, peer.version, waiting))
    }

    pub(super) fn check_batch(&self, version: ProtocolVersion, messages: usize) -> Result<(), Refusal> {
        if !version.allows_batch() {
            return Err(invalid("batches exist in protocol version 2025-03-26 only; send the messages one by one"));
        }
        if messages > self.endpoint.config().limits.max_peer_requests {
            let message = "the batch holds more messages than may be under way at once; send fewer";
            return Err(Refusal::new(413, ErrorCode::INVALID_REQUEST, message));
        }
        Ok(())
    }

    pub(super) fn names_modern(&self, head: &RequestHead) -> bool {
        let named = head.headers.get(VERSION).and_then(ProtocolVersion::parse);
        named.is_some_and(|version| version.era() == Era::Modern)
    }

    fn exchange(&self, legacy: Option<Arc<PeerInfo>>, from: &Known) -> Exchange {
        Exchange::new(Arc::clone(&self.endpoint), Arc::clone(&self.env), legacy, from.clone())
    }

    fn wait(&self, exchange: Exchange, version: ProtocolVersion, waiting: usize) -> Begun {
        Begun::Waits(Box::new(Events::new(exchange, version, waiting, self.keep_alive())))
    }

    pub(super) fn keep_alive(&self) -> KeepAlive {
        KeepAlive::new(&self.env, self.guard.keep_alive_ms)
    }
}

/// Whether something is to be said to a message of a batch, or to what stands in its place.
pub(super) fn wants_answer(item: &Result<Message, WireError>) -> bool {
    match item {
        Ok(message) => matches!(message, Message::Request(_)),
        Err(error) => error.wants_answer(),
    }
}

impl From<WireError> for Refusal {
    fn from(error: WireError) -> Self {
        Self { status: 400, id: error.id, error: ErrorObject::new(error.code, error.message) }
    }
}

/// The answers as one body of JSON: the only one, or the array of a batch.
pub(super) fn whole(version: ProtocolVersion, answers: &VecDeque<Message>) -> Response {
    if let (1, Some(message @ Message::Response(answer))) = (answers.len(), answers.front()) {
        return json(status(version, answer), encode(message));
    }
    let mut array = String::from("[");
    for answer in answers {
        if array.len() > 1 {
            array.push(',');
        }
        array.push_str(&encode(answer));
    }
    array.push(']');
    json(200, array)
}

/// The status of an answer that is the whole body: the modern era fixes some of them.
pub(super) fn status(version: ProtocolVersion, answer: &Answer) -> u16 {
    let modern = version.era() == Era::Modern;
    match &answer.result {
        Err(error) => match error.code {
            ErrorCode::UNSUPPORTED_PROTOCOL_VERSION => 400,
            ErrorCode::METHOD_NOT_FOUND if modern => 404,
            ErrorCode::MISSING_CLIENT_CAPABILITY
            | ErrorCode::HEADER_MISMATCH
            | ErrorCode::INVALID_REQUEST
            | ErrorCode::PARSE_ERROR
                if modern =>
            {
                400
            }
            _ => 200,
        },
        Ok(_) => 200,
    }
}

fn invalid(message: &'static str) -> Refusal {
    Refusal::new(400, ErrorCode::INVALID_REQUEST, message)
}

/// The head of an event stream.
pub(super) fn streaming() -> ResponseHead {
    let mut head = ResponseHead::new(200);
    for (name, value) in
        [(names::CONTENT_TYPE, "text/event-stream"), ("cache-control", "no-cache"), ("x-accel-buffering", "no")]
    {
        head.headers.push(name, value);
    }
    head
}
