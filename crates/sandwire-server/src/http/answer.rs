//! From a decoded message to a response: JSON if the first thing said is the answer, an event stream otherwise.

use std::{future::poll_fn, sync::Arc, task::Poll};

use sandwire_io::{Body, Bytes, Exchange};
use sandwire_proto::{
    PeerInfo,
    http::{RequestHead, ResponseHead, names},
};
use sandwire_types::{
    ErrorCode, ErrorObject, Message, Method, ProtocolVersion, Request, RequestId, Response as Answer, WireError,
    wire::encode_at,
};

use super::{Response, Shared, VERSION, stream::Events};

/// A request that is answered before it reaches the server.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) id: Option<RequestId>,
    pub(super) error: ErrorObject,
}

impl Refusal {
    pub(super) fn new(status: u16, error: ErrorObject) -> Self {
        Self { status, id: None, error }
    }

    pub(super) fn into_response(self, version: Option<ProtocolVersion>) -> Response {
        let Self { status, id, error } = self;
        let answer = Message::Response(Answer { id, result: Err(error) });
        let (mut head, body) = json(status, encode_at(version, &answer));
        if status == 405 {
            head.headers.push(names::ALLOW, "POST, OPTIONS");
        }
        (head, body)
    }
}

pub(super) fn accepted() -> Response {
    (ResponseHead::new(202), Box::new(Bytes::default()))
}

fn json(status: u16, text: String) -> Response {
    let mut head = ResponseHead::new(status);
    head.headers.push(names::CONTENT_TYPE, "application/json");
    (head, Box::new(Bytes::new(text)))
}

impl Shared {
    pub(super) async fn message(&self, head: &RequestHead, message: Message) -> Result<Response, Refusal> {
        let modern = self.names_modern(head);
        match message {
            Message::Request(request) => self.request(head, request, modern).await,
            Message::Notification(_) if modern => Ok(accepted()),
            Message::Notification(notification) => {
                let peer = self.legacy_peer(head, None)?;
                self.exchange(Some(peer)).receive(Message::Notification(notification));
                Ok(accepted())
            }
            Message::Response(_) if modern => {
                Err(Refusal::new(400, invalid("a client sends no responses; send a request")))
            }
            Message::Response(_) => self.legacy_peer(head, None).map(|_| accepted()),
        }
    }

    async fn request(&self, head: &RequestHead, request: Request, modern: bool) -> Result<Response, Refusal> {
        let refuse = |id: &RequestId, error| Refusal { status: 400, id: Some(id.clone()), error };
        if let Some(envelope) = &request.meta.envelope {
            self.check_modern(head, &request, envelope).map_err(|error| refuse(&request.id, error))?;
            return Ok(self.answer(None, ProtocolVersion::LATEST, [request]).await);
        }
        if request.method == Method::Initialize {
            let version = self.endpoint.config().newest_legacy().unwrap_or(ProtocolVersion::LATEST);
            let peer = Arc::new(PeerInfo::new(version, sandwire_json::Raw::object()));
            return Ok(self.answer(Some(peer), version, [request]).await);
        }
        if modern {
            let message = "params._meta lacks io.modelcontextprotocol/protocolVersion and \
                io.modelcontextprotocol/clientCapabilities; send them with every request";
            return Err(refuse(&request.id, ErrorObject::new(ErrorCode::INVALID_PARAMS, message)));
        }
        let peer = self.legacy_peer(head, Some(&request.id))?;
        let version = peer.version;
        Ok(self.answer(Some(peer), version, [request]).await)
    }

    pub(super) async fn batch(
        &self,
        head: &RequestHead,
        items: Vec<Result<Message, WireError>>,
    ) -> Result<Response, Refusal> {
        let peer = match self.names_modern(head) {
            false => self.legacy_peer(head, None)?,
            true => {
                return Err(Refusal::new(
                    400,
                    invalid("a body is one message; send the messages of a batch one by one"),
                ));
            }
        };
        let version = peer.version;
        if !version.allows_batch() {
            let message = "batches exist in protocol version 2025-03-26 only; send the messages one by one";
            return Err(Refusal::new(400, invalid(message)));
        }
        let mut requests = Vec::new();
        for item in items {
            match item {
                Ok(Message::Request(request)) if request.method == Method::Initialize => {
                    let error = invalid("initialize must not be part of a batch; send it alone");
                    return Err(Refusal { status: 400, id: Some(request.id), error });
                }
                Ok(Message::Request(request)) => requests.push(request),
                Ok(Message::Notification(_) | Message::Response(_)) => {}
                Err(error) if error.is_notification || error.is_response => {}
                Err(WireError { code, id, message, .. }) => {
                    return Err(Refusal { status: 400, id, error: ErrorObject::new(code, message) });
                }
            }
        }
        if requests.is_empty() {
            return Ok(accepted());
        }
        Ok(self.answer(Some(peer), version, requests).await)
    }

    fn names_modern(&self, head: &RequestHead) -> bool {
        let named = head.headers.get(VERSION).and_then(ProtocolVersion::parse);
        named.is_some_and(|version| version.era() == sandwire_types::Era::Modern)
    }

    fn exchange(&self, legacy: Option<Arc<PeerInfo>>) -> Exchange {
        Exchange::new(Arc::clone(&self.endpoint), Arc::clone(&self.env), legacy)
    }

    /// Has the server answer, and waits for the first thing it says.
    async fn answer(
        &self,
        legacy: Option<Arc<PeerInfo>>,
        version: ProtocolVersion,
        requests: impl IntoIterator<Item = Request>,
    ) -> Response {
        let modern = legacy.is_none();
        let mut exchange = self.exchange(legacy);
        let mut waiting = 0_usize;
        for request in requests {
            waiting += 1;
            exchange.receive(Message::Request(request));
        }
        let alone = waiting == 1;
        let mut answers = Vec::new();
        let mut timer = self.env.timer();
        let patience = self.env.now().after(self.guard.keep_alive_ms);
        while waiting > 0 {
            let first = poll_fn(|cx| match exchange.poll(cx) {
                Poll::Ready(message) => Poll::Ready(message),
                Poll::Pending => timer.poll(patience, cx).map(|()| None),
            });
            match first.await {
                Some(Message::Response(answer)) if alone => {
                    return json(status(modern, &answer), encode_at(Some(version), &Message::Response(answer)));
                }
                Some(message @ Message::Response(_)) => {
                    waiting -= 1;
                    answers.push(message);
                }
                said => {
                    answers.extend(said);
                    let env = &self.env;
                    let events =
                        Events::new(exchange, answers, version, waiting, Arc::clone(env), self.guard.keep_alive_ms);
                    return events.into_response();
                }
            }
        }
        let mut array = String::from("[");
        for answer in &answers {
            if array.len() > 1 {
                array.push(',');
            }
            array.push_str(&encode_at(Some(version), answer));
        }
        array.push(']');
        json(200, array)
    }
}

/// The status of an answer that is the whole body: the modern era fixes some of them.
fn status(modern: bool, answer: &Answer) -> u16 {
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

fn invalid(message: &'static str) -> ErrorObject {
    ErrorObject::new(ErrorCode::INVALID_REQUEST, message)
}

impl Events {
    fn into_response(self) -> Response {
        let mut head = ResponseHead::new(200);
        head.headers.push(names::CONTENT_TYPE, "text/event-stream");
        head.headers.push("cache-control", "no-cache");
        head.headers.push("x-accel-buffering", "no");
        let body: Box<dyn Body> = Box::new(self);
        (head, body)
    }
}
