//! One request and its response, between hyper's types and ours.

use std::{
    borrow::Cow,
    error, fmt,
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use hyper::{
    Method, Request, Response, StatusCode, Version,
    body::{Body as _, Bytes, Frame, Incoming, SizeHint},
    header::{self, HeaderMap, HeaderName, HeaderValue},
};
use sandwire_io::Body;
use sandwire_proto::{
    TransportError, TransportErrorKind,
    http::{Headers, RequestHead, ResponseHead, Verb, names},
};

use super::{house::House, watch::Watch};

/// Why an exchange ends without an end.
#[derive(Debug)]
pub(super) enum Broken {
    /// The server is shutting down.
    Over,
    /// The service gave up.
    Body(TransportError),
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Over => f.write_str("the server is shutting down"),
            Self::Body(error) => error.fmt(f),
        }
    }
}

impl error::Error for Broken {}

/// Lets the service answer a request.
pub(super) async fn answer(
    request: Request<Incoming>,
    house: Arc<House>,
    watch: Watch,
) -> Result<Response<Outgoing>, Broken> {
    watch.asked();
    let (parts, body) = request.into_parts();
    if let Some(status) = refusal(parts.version, &parts.headers) {
        let mut response = Response::new(Outgoing::new(Vec::new(), None, &watch));
        *response.status_mut() = status;
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        return Ok(response);
    }
    let mut headers = Headers::with_capacity(parts.headers.len());
    for (field, value) in &parts.headers {
        headers.push(name(field), text(value));
    }
    if let Some(authority) = parts.uri.authority() {
        headers.set(header::HOST.as_str(), authority.as_str());
    }
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let head = RequestHead { method: verb(&parts.method), path: path.to_owned(), headers };
    let received = Received::new(body, &house, &watch);
    let mut answer = house.service.handle(head, Box::new(received));
    poll_fn(|cx| match answer.as_mut().poll(cx) {
        Poll::Ready((head, body)) => Poll::Ready(
            begun(body, cx, &watch).map(|body| response(head, body, watch.has_whole_body() && !house.is_closing())),
        ),
        Poll::Pending if watch.is_over() => Poll::Ready(Err(Broken::Over)),
        Poll::Pending => Poll::Pending,
    })
    .await
}

/// What hyper lets pass and nobody else should: whatever leaves open where a request ends or whom it is for.
fn refusal(version: Version, headers: &HeaderMap) -> Option<StatusCode> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let has_host = hosts.next().is_some();
    if hosts.next().is_some() || version == Version::HTTP_11 && !has_host {
        return Some(StatusCode::BAD_REQUEST);
    }
    let mut codings = headers.get_all(header::TRANSFER_ENCODING).iter();
    match (codings.next(), codings.next()) {
        (_, Some(_)) => Some(StatusCode::BAD_REQUEST),
        (Some(coding), None) if !coding.as_bytes().eq_ignore_ascii_case(b"chunked") => {
            Some(StatusCode::NOT_IMPLEMENTED)
        }
        _ => None,
    }
}

fn verb(method: &Method) -> Verb {
    Verb::from(method.as_str())
}

/// The names that most requests have are borrowed, not copied.
fn name(name: &HeaderName) -> Cow<'static, str> {
    Cow::Borrowed(match name.as_str() {
        "host" => "host",
        names::ACCEPT => names::ACCEPT,
        "accept-encoding" => "accept-encoding",
        "authorization" => "authorization",
        "connection" => "connection",
        "content-length" => "content-length",
        names::CONTENT_TYPE => names::CONTENT_TYPE,
        names::METHOD => names::METHOD,
        names::NAME => names::NAME,
        names::PROTOCOL_VERSION => names::PROTOCOL_VERSION,
        names::SESSION_ID => names::SESSION_ID,
        "origin" => "origin",
        "user-agent" => "user-agent",
        other => return Cow::Owned(other.to_owned()),
    })
}

fn text(value: &HeaderValue) -> String {
    match str::from_utf8(value.as_bytes()) {
        Ok(text) => text.to_owned(),
        Err(_) => String::from_utf8_lossy(value.as_bytes()).into_owned(),
    }
}

fn response(head: ResponseHead, body: Outgoing, keep_alive: bool) -> Response<Outgoing> {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(head.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    for (name, value) in head.headers {
        // Fields that are the connection's own, or that cannot be written, are left out.
        let value = HeaderValue::from_maybe_shared(Bytes::from(value));
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), value)
            && ![header::CONNECTION, header::CONTENT_LENGTH, header::TRANSFER_ENCODING].contains(&name)
        {
            headers.append(name, value);
        }
    }
    if !keep_alive {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// The body of a request.
struct Received {
    incoming: Incoming,
    /// How many bytes came since the service last waited.
    fresh: usize,
    house: Arc<House>,
    watch: Watch,
}

impl Received {
    fn new(incoming: Incoming, house: &Arc<House>, watch: &Watch) -> Self {
        watch.begins_body(incoming.is_end_stream());
        Self { incoming, fresh: 0, house: Arc::clone(house), watch: watch.clone() }
    }
}

impl Body for Received {
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, TransportError>>> {
        loop {
            let frame = match Pin::new(&mut self.incoming).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => frame,
                Poll::Ready(Some(Err(_))) => return Poll::Ready(Some(Err(failure("the body broke off")))),
                Poll::Ready(None) => {
                    self.watch.ends_body();
                    return Poll::Ready(None);
                }
                Poll::Pending => {
                    let fresh = std::mem::take(&mut self.fresh);
                    let is_late = self.watch.awaits_body(fresh, &self.house.limits);
                    let late = || Some(Err(failure("the client sends the body too slowly")));
                    return if is_late { Poll::Ready(late()) } else { Poll::Pending };
                }
            };
            if let Ok(bytes) = frame.into_data() {
                self.watch.gives_body();
                self.fresh = self.fresh.saturating_add(bytes.len());
                return Poll::Ready(Some(Ok(bytes.into())));
            }
        }
    }
}

impl Drop for Received {
    fn drop(&mut self) {
        self.watch.leaves_body();
    }
}

fn failure(message: &'static str) -> TransportError {
    TransportError::new(TransportErrorKind::Closed, message)
}

/// The body of a response.
pub(super) struct Outgoing {
    first: Bytes,
    rest: Option<Box<dyn Body>>,
    watch: Watch,
}

/// A body that is complete is sent with its length; what waits is sent in chunks, each as soon as it is there.
fn begun(mut body: Box<dyn Body>, cx: &mut Context<'_>, watch: &Watch) -> Result<Outgoing, Broken> {
    let mut first = Vec::new();
    let mut polled = body.poll_chunk(cx);
    if let Poll::Ready(Some(Ok(chunk))) = polled {
        first = chunk;
        polled = body.poll_chunk(cx);
    }
    let rest = match polled {
        Poll::Ready(None) => None,
        Poll::Pending => Some(body),
        Poll::Ready(Some(chunk)) => {
            first.append(&mut chunk.map_err(Broken::Body)?);
            Some(body)
        }
    };
    Ok(Outgoing::new(first, rest, watch))
}

impl Outgoing {
    fn new(first: Vec<u8>, rest: Option<Box<dyn Body>>, watch: &Watch) -> Self {
        Self { first: first.into(), rest, watch: watch.clone() }
    }
}

impl hyper::body::Body for Outgoing {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        if !self.first.is_empty() {
            return Poll::Ready(Some(Ok(Frame::data(std::mem::take(&mut self.first)))));
        }
        let Some(rest) = &mut self.rest else { return Poll::Ready(None) };
        let chunk = match rest.poll_chunk(cx) {
            Poll::Pending if self.watch.is_over() => None,
            chunk => ready!(chunk),
        };
        if chunk.is_none() {
            self.rest = None;
        }
        Poll::Ready(chunk.map(|chunk| chunk.map(|bytes| Frame::data(bytes.into())).map_err(Broken::Body)))
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_empty() && self.rest.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        match self.rest {
            None => SizeHint::with_exact(self.first.len() as u64),
            Some(_) => SizeHint::new(),
        }
    }
}

impl Drop for Outgoing {
    fn drop(&mut self) {
        self.watch.answered();
    }
}
