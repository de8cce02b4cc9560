//! The entry as a service of the `tower` family, for axum, hyper and what else takes one.

use std::{
    convert::Infallible,
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::{Buf, Bytes};
use sandwire_io::{Body, BoxFuture, HttpService, MaybeSend};
use sandwire_proto::{
    TransportError, TransportErrorKind,
    http::{RequestHead, ResponseHead, Verb},
};

use super::HttpEntry;

/// The body of a response.
pub struct TowerBody(Box<dyn Body>);

impl fmt::Debug for TowerBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TowerBody")
    }
}

impl http_body::Body for TowerBody {
    type Data = Bytes;
    type Error = TransportError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, TransportError>>> {
        let chunk = self.0.poll_chunk(cx);
        chunk.map(|chunk| chunk.map(|chunk| chunk.map(|chunk| http_body::Frame::data(Bytes::from(chunk)))))
    }
}

/// A request is answered on whatever path it comes; whoever mounts the entry says on which.
///
/// ```
/// use sandwire_server::http::HttpEntry;
/// # fn example(entry: HttpEntry) {
/// let app: axum::Router = axum::Router::new().route_service("/mcp", entry);
/// # drop(app);
/// # }
/// ```
impl<B> tower_service::Service<http::Request<B>> for HttpEntry
where
    B: http_body::Body + MaybeSend + 'static,
{
    type Response = http::Response<TowerBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        let (parts, body) = request.into_parts();
        let response = self.handle(head(&parts), Box::new(Incoming(Box::pin(body))));
        Box::pin(async move {
            let (head, body) = response.await;
            Ok(responded(&head, body))
        })
    }
}

fn head(parts: &http::request::Parts) -> RequestHead {
    let mut head = RequestHead::new(Verb::from(parts.method.as_str()));
    head.path = parts.uri.path_and_query().map(|path| path.as_str().to_owned()).unwrap_or_default();
    for (name, value) in &parts.headers {
        head.headers.push(name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()));
    }
    // HTTP/2 has the host in the address.
    if let (None, Some(authority)) = (head.headers.get("host"), parts.uri.authority()) {
        head.headers.push("host", authority.as_str());
    }
    head
}

fn responded(head: &ResponseHead, body: Box<dyn Body>) -> http::Response<TowerBody> {
    let mut response = http::Response::new(TowerBody(body));
    if let Ok(status) = http::StatusCode::from_u16(head.status) {
        *response.status_mut() = status;
    }
    for (name, value) in head.headers.iter() {
        if let (Ok(name), Ok(value)) =
            (http::HeaderName::from_bytes(name.as_bytes()), http::HeaderValue::from_str(value))
        {
            response.headers_mut().append(name, value);
        }
    }
    response
}

struct Incoming<B>(Pin<Box<B>>);

impl<B: http_body::Body + MaybeSend> Body for Incoming<B> {
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, TransportError>>> {
        loop {
            return match self.0.as_mut().poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(mut data) => Poll::Ready(Some(Ok(data.copy_to_bytes(data.remaining()).into()))),
                    // Trailers.
                    Err(_) => continue,
                },
                Poll::Ready(Some(Err(_))) => {
                    let message = "the body broke off; send it again";
                    Poll::Ready(Some(Err(TransportError::new(TransportErrorKind::Closed, message))))
                }
                Poll::Ready(None) => Poll::Ready(None),
                Poll::Pending => Poll::Pending,
            };
        }
    }
}
