use std::sync::Arc;

use httparse::{EMPTY_HEADER, ParserConfig, Response, Status};
use sandwire_proto::{
    TransportError, TransportErrorKind,
    http::{Headers, RequestHead, ResponseHead},
};

use super::{proxy::Proxy, url::Url};

/// The fields that this client writes itself, because they say how the message ends and what the connection is for.
const OWN: [&str; 6] = ["host", "content-length", "transfer-encoding", "connection", "accept-encoding", "expect"];

/// The text of a request's head. The fields in `extra` are sent unless the head has them too.
pub(super) fn write(
    url: &Url,
    proxy: Option<&Proxy>,
    head: &RequestHead,
    extra: &Headers,
    body: Option<&str>,
) -> Result<String, TransportError> {
    let method = head.method.as_str();
    if !is_token(method) {
        return Err(unsendable(format!("{method:?} is no HTTP method")));
    }
    let mut text = String::with_capacity(512);
    text.extend([method, " "]);
    if let Some(proxy) = proxy {
        text.push_str(&url.origin.to_string());
        text.extend([&url.target, " HTTP/1.1\r\nhost: ", &url.origin.authority(), "\r\n"]);
        if let Some(authorization) = &proxy.authorization {
            text.extend(["proxy-authorization: ", authorization, "\r\n"]);
        }
    } else {
        text.extend([&url.target, " HTTP/1.1\r\nhost: ", &url.origin.authority(), "\r\n"]);
    }
    // What was compressed could grow without bound where it is unpacked.
    text.push_str("accept-encoding: identity\r\n");
    let defaults = extra.iter().filter(|(name, _)| head.headers.get(name).is_none());
    for (name, value) in head.headers.iter().chain(defaults) {
        if !is_token(name) || value.bytes().any(|byte| byte != b'\t' && byte.is_ascii_control()) {
            return Err(unsendable(format!("the header field {name:?} has a name or a value that HTTP cannot carry")));
        }
        if !OWN.iter().any(|own| own.eq_ignore_ascii_case(name)) {
            text.extend([name, ": ", value, "\r\n"]);
        }
    }
    if head.headers.get("user-agent").or(extra.get("user-agent")).is_none() {
        text.push_str(concat!("user-agent: sandwire/", env!("CARGO_PKG_VERSION"), "\r\n"));
    }
    match body {
        Some(body) => text.extend(["content-length: ", &body.len().to_string(), "\r\n"]),
        None if method == "POST" => text.push_str("content-length: 0\r\n"),
        None => {}
    }
    text.push_str("\r\n");
    Ok(text)
}

fn unsendable(message: String) -> TransportError {
    TransportError::new(TransportErrorKind::Other, message)
}

fn is_token(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(fits)
}

/// A response's head.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) head: ResponseHead,
    pub(super) framing: Framing,
    /// Whether the connection is of use after the body.
    pub(super) persists: bool,
}

/// How a response's body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    Length(u64),
    Chunked,
    /// With the connection.
    Open,
}

/// Where the head that `text` begins with ends, if the end is there. The first `seen` bytes have no end in them.
pub(super) fn end(text: &[u8], seen: usize) -> Option<usize> {
    let from = seen.saturating_sub(3);
    let rest = text.get(from..)?;
    let line = |at: &usize| rest.get(*at) == Some(&b'\n');
    (0..rest.len()).filter(line).find_map(|at| match rest.get(at + 1..)? {
        [b'\n', ..] => Some(from + at + 2),
        [b'\r', b'\n', ..] => Some(from + at + 3),
        _ => None,
    })
}

/// Reads a whole head of at most `max_fields` fields. `method` is that of the request.
pub(super) fn parse(text: &[u8], max_fields: usize, method: &str) -> Result<Parsed, TransportError> {
    let mut fields = vec![EMPTY_HEADER; max_fields];
    let mut response = Response::new(&mut fields);
    match ParserConfig::default().parse_response(&mut response, text) {
        Ok(Status::Complete(_)) => {}
        Ok(Status::Partial) => return Err(malformed("the head of the response is incomplete")),
        Err(httparse::Error::TooManyHeaders) => {
            return Err(TransportError::new(
                TransportErrorKind::TooLarge,
                "the response has more header fields than the limit allows",
            ));
        }
        Err(error) => {
            let what = malformed("the response is not HTTP; check that the address is that of an MCP server");
            return Err(what.with_source(Arc::new(error)));
        }
    }
    let mut head = ResponseHead::new(response.code.unwrap_or_default());
    for field in response.headers.iter() {
        head.headers.push(field.name.to_ascii_lowercase(), String::from_utf8_lossy(field.value));
    }
    let framing = framing(&head, method)?;
    let closes = tokens(&head.headers, "connection").any(|token| token.eq_ignore_ascii_case("close"));
    let persists = response.version == Some(1) && !closes && framing != Framing::Open;
    if tokens(&head.headers, "content-encoding").any(|coding| !coding.eq_ignore_ascii_case("identity")) {
        return Err(malformed("the server compressed the response though it was asked not to; turn that off there"));
    }
    Ok(Parsed { head, framing, persists })
}

fn framing(head: &ResponseHead, method: &str) -> Result<Framing, TransportError> {
    let mut codings = tokens(&head.headers, "transfer-encoding");
    let mut lengths = tokens(&head.headers, "content-length");
    let framing = match (codings.next(), lengths.next()) {
        (Some(_), Some(_)) => return Err(malformed("the response says in two ways how long it is")),
        (Some(coding), None) if coding.eq_ignore_ascii_case("chunked") && codings.next().is_none() => Framing::Chunked,
        (Some(_), None) => return Err(malformed("the response has a transfer coding other than chunked")),
        (None, Some(length)) => {
            let agreed = lengths.all(|other| other == length) && length.bytes().all(|byte| byte.is_ascii_digit());
            let length = length.parse().ok().filter(|_| agreed);
            Framing::Length(length.ok_or_else(|| malformed("the response has a content length that is none"))?)
        }
        (None, None) => Framing::Open,
    };
    let bodiless = method == "HEAD" || matches!(head.status, 100..=199 | 204 | 304);
    Ok(if bodiless { Framing::Length(0) } else { framing })
}

/// The parts of a field that is a list.
fn tokens<'a>(headers: &'a Headers, name: &'a str) -> impl Iterator<Item = &'a str> {
    headers.get_all(name).flat_map(|value| value.split(',')).map(str::trim_ascii)
}

pub(super) fn malformed(message: &'static str) -> TransportError {
    TransportError::new(TransportErrorKind::Malformed, message)
}
