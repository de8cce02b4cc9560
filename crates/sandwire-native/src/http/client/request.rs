use std::{
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use hyper::{
    HeaderMap, Method, Request, Uri,
    body::{Body, Bytes, Frame, SizeHint},
    header::{self, HeaderName, HeaderValue},
};
use sandwire_proto::{
    TransportError, TransportErrorKind,
    http::{Headers, RequestHead, ResponseHead},
};

use super::{proxy::Proxy, url::Url};

/// The fields that this client writes itself, because they say how the message ends and what the connection is for.
const OWN: [HeaderName; 6] = [
    header::HOST,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::CONNECTION,
    header::ACCEPT_ENCODING,
    header::EXPECT,
];

/// The body of a request, all of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Payload(Bytes);

impl From<String> for Payload {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl Body for Payload {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let all = std::mem::take(&mut self.0);
        Poll::Ready((!all.is_empty()).then(|| Ok(Frame::data(all))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.len() as u64)
    }
}

/// A request as it is sent, through `proxy` where that is to pass it on. The fields in `extra` are sent unless the head
/// has them too.
pub(super) fn request(
    url: &Url,
    proxy: Option<&Proxy>,
    head: &RequestHead,
    extra: &Headers,
    body: Payload,
) -> Result<Request<Payload>, TransportError> {
    let mut request = Request::new(body);
    let method = head.method.as_str();
    *request.method_mut() =
        Method::from_bytes(method.as_bytes()).map_err(|_| unsendable(format!("{method:?} is no HTTP method")))?;
    let target = match proxy {
        Some(_) => format!("{}{}", url.origin, url.target),
        None => url.target.clone(),
    };
    *request.uri_mut() = target.parse::<Uri>().map_err(|_| unsendable(format!("{target:?} is no target")))?;
    let fields = request.headers_mut();
    fields.insert(header::HOST, value("host", &url.origin.authority())?);
    // What was compressed could grow without bound where it is unpacked.
    fields.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    let defaults = extra.iter().filter(|(name, _)| head.headers.get(name).is_none());
    for (name, text) in head.headers.iter().chain(defaults) {
        let field = HeaderName::from_bytes(name.as_bytes()).map_err(|_| unsendable(format!("{name:?} is no field")))?;
        let value = value(name, text)?;
        if !OWN.contains(&field) {
            fields.append(field, value);
        }
    }
    let agent = HeaderValue::from_static(concat!("sandwire/", env!("CARGO_PKG_VERSION")));
    fields.entry(header::USER_AGENT).or_insert(agent);
    if let Some(authorization) = proxy.and_then(|proxy| proxy.authorization.clone()) {
        fields.insert(header::PROXY_AUTHORIZATION, authorization);
    }
    Ok(request)
}

fn value(name: &str, text: &str) -> Result<HeaderValue, TransportError> {
    HeaderValue::from_bytes(text.as_bytes()).map_err(|error| {
        unsendable(format!("the header field {name:?} has a value that HTTP cannot carry")).with_source(Arc::new(error))
    })
}

fn unsendable(message: String) -> TransportError {
    TransportError::new(TransportErrorKind::Other, message)
}

/// The head of a response, if what it announces can be read.
pub(super) fn response_head(status: u16, fields: &HeaderMap) -> Result<ResponseHead, TransportError> {
    let mut codings = fields.get_all(header::TRANSFER_ENCODING).iter();
    let is_chunked = |coding: &HeaderValue| coding.as_bytes().eq_ignore_ascii_case(b"chunked");
    let chunked_only = codings.next().is_none_or(is_chunked) && codings.next().is_none();
    let two_ways = fields.contains_key(header::TRANSFER_ENCODING) && fields.contains_key(header::CONTENT_LENGTH);
    if status == 101 {
        return Err(malformed("the server switched protocols unasked"));
    }
    if !chunked_only || two_ways {
        return Err(malformed("the response does not say clearly where it ends"));
    }
    let is_plain = |coding: &HeaderValue| coding.as_bytes().eq_ignore_ascii_case(b"identity");
    if !fields.get_all(header::CONTENT_ENCODING).iter().all(is_plain) {
        return Err(malformed("the server compressed the response though it was asked not to; turn that off there"));
    }
    let mut head = ResponseHead::new(status);
    for (name, value) in fields {
        head.headers.push(name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()));
    }
    Ok(head)
}

fn malformed(message: &'static str) -> TransportError {
    TransportError::new(TransportErrorKind::Malformed, message)
}
