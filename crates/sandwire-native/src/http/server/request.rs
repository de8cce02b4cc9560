//! The head of a request: what it says, and how long its body is.

use std::borrow::Cow;

use sandwire_proto::http::{Headers, RequestHead, Verb, names};

/// How many header fields a request may have.
const MAX_FIELDS: usize = 100;

/// A request whose head has arrived.
#[derive(Debug, PartialEq)]
pub(super) struct Request {
    pub(super) head: RequestHead,
    pub(super) framing: Framing,
    /// Whether the client waits for a word before it sends the body.
    pub(super) expects_continue: bool,
    /// Whether the connection may serve another request.
    pub(super) keep_alive: bool,
    /// Whether the client reads chunks.
    pub(super) takes_chunks: bool,
}

/// Where a request's body ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Framing {
    /// After so many bytes.
    Length(u64),
    /// Where the last chunk says so.
    Chunked,
}

/// The status with which a head that cannot be served is answered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Refused(pub(super) u16);

const BAD_REQUEST: Refused = Refused(400);

/// Reads a head from the start of `bytes`: the request and the length of its head, or nothing while it is incomplete.
pub(super) fn parse(bytes: &[u8]) -> Result<Option<(Request, usize)>, Refused> {
    let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut parsed = httparse::Request::new(&mut fields);
    let length = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(Refused(431)),
        Err(httparse::Error::Version) => return Err(Refused(505)),
        Err(_) => return Err(BAD_REQUEST),
    };
    let is_newer = parsed.version == Some(1);
    let (method, target) = (parsed.method.unwrap_or_default(), parsed.path.unwrap_or_default());
    let mut facts = Facts::default();
    let mut headers = Headers::with_capacity(parsed.headers.len());
    for field in parsed.headers.iter() {
        let value = String::from_utf8_lossy(field.value);
        facts.note(field.name, value.trim_ascii())?;
        headers.push(name(field.name), value);
    }
    let path = match target.split_once("://").filter(|_| !target.starts_with('/')) {
        None => target,
        Some((_, rest)) => {
            let (host, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
            headers.set(HOST, host);
            path
        }
    };
    if is_newer && facts.hosts != 1 || facts.hosts > 1 {
        return Err(BAD_REQUEST);
    }
    let framing = match (facts.chunked, facts.length) {
        // Two ends of one body are how requests are smuggled, and chunks came with HTTP/1.1.
        (true, Some(_)) => return Err(BAD_REQUEST),
        (true, None) if !is_newer => return Err(BAD_REQUEST),
        (true, None) => Framing::Chunked,
        (false, length) => Framing::Length(length.unwrap_or(0)),
    };
    let request = Request {
        head: RequestHead { method: Verb::from(method), path: path.to_owned(), headers },
        framing,
        expects_continue: is_newer && facts.expects_continue,
        keep_alive: is_newer && !facts.closes,
        takes_chunks: is_newer,
    };
    Ok(Some((request, length)))
}

/// What the fields say about the connection.
#[derive(Default)]
struct Facts {
    hosts: usize,
    length: Option<u64>,
    chunked: bool,
    expects_continue: bool,
    closes: bool,
}

impl Facts {
    fn note(&mut self, name: &str, value: &str) -> Result<(), Refused> {
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        match name.len() {
            4 if is(HOST) => self.hosts += 1,
            6 if is("expect") => self.expects_continue = value.eq_ignore_ascii_case("100-continue"),
            10 if is("connection") => {
                let mut options = value.split(',').map(str::trim_ascii);
                self.closes |= options.any(|option| option.eq_ignore_ascii_case("close"));
            }
            14 if is("content-length") => {
                let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
                let length = value.parse().ok().filter(|_| digits && self.length.is_none());
                self.length = Some(length.ok_or(BAD_REQUEST)?);
            }
            17 if is("transfer-encoding") => {
                if self.chunked {
                    return Err(BAD_REQUEST);
                }
                if !value.eq_ignore_ascii_case("chunked") {
                    return Err(Refused(501));
                }
                self.chunked = true;
            }
            _ => {}
        }
        Ok(())
    }
}

const HOST: &str = "host";

/// Field names that most requests have: they are borrowed, not copied.
const COMMON: [&str; 15] = [
    HOST,
    names::ACCEPT,
    "accept-encoding",
    "accept-language",
    "authorization",
    "connection",
    "content-length",
    names::CONTENT_TYPE,
    names::METHOD,
    names::NAME,
    names::PROTOCOL_VERSION,
    names::SESSION_ID,
    "origin",
    "transfer-encoding",
    "user-agent",
];

fn name(name: &str) -> Cow<'static, str> {
    match COMMON.iter().find(|common| common.len() == name.len() && common.eq_ignore_ascii_case(name)) {
        Some(common) => Cow::Borrowed(common),
        None => Cow::Owned(name.to_owned()),
    }
}

/// Whether the bytes that came after the first `seen` may complete a head: an empty line ends in them.
pub(super) fn may_be_complete(bytes: &[u8], seen: usize) -> bool {
    let tail = bytes.get(seen.saturating_sub(3)..).unwrap_or_default();
    tail.windows(2).any(|pair| pair == b"\n\n") || tail.windows(3).any(|three| three == b"\n\r\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(text: &str) -> Request {
        parse(text.as_bytes()).unwrap().unwrap().0
    }

    fn refused(text: &str) -> u16 {
        parse(text.as_bytes()).unwrap_err().0
    }

    #[test]
    fn a_head_gives_method_path_and_fields() {
        let text = "POST /mcp?x=1 HTTP/1.1\r\nHost: a\r\nX-Other:  two words \r\nContent-Length: 5\r\n\r\nhello";
        let (request, length) = parse(text.as_bytes()).unwrap().unwrap();
        assert_eq!(length, text.len() - 5);
        assert_eq!((&request.head.method, &*request.head.path), (&Verb::Post, "/mcp?x=1"));
        assert_eq!(request.head.headers.get("x-other"), Some("two words"));
        assert_eq!(request.framing, Framing::Length(5));
        assert!(request.keep_alive && request.takes_chunks && !request.expects_continue);
    }

    #[test]
    fn half_a_head_is_waited_for() {
        let text = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
        for end in 0..text.len() {
            assert_eq!(parse(&text[..end]), Ok(None), "{end}");
            assert!(!may_be_complete(&text[..end], end.saturating_sub(1)), "{end}");
        }
        assert!(may_be_complete(text, text.len() - 1) && may_be_complete(text, 0));
        assert!(may_be_complete(b"GET / HTTP/1.1\nHost: a\n\n", 23));
    }

    #[test]
    fn one_body_has_one_end() {
        for fields in [
            "Content-Length: 5\r\nContent-Length: 5",
            "Content-Length: 5\r\nTransfer-Encoding: chunked",
            "Transfer-Encoding: chunked\r\nContent-Length: 5",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
            "Content-Length: +5",
            "Content-Length: 5, 5",
            "Content-Length: -1",
            "Content-Length:",
            "Content-Length: 99999999999999999999",
            "Content-Length : 5",
            "Transfer-Encoding : chunked",
            "X: a\r\n folded: b",
        ] {
            assert_eq!(refused(&format!("POST / HTTP/1.1\r\nHost: a\r\n{fields}\r\n\r\n")), 400, "{fields}");
        }
        for coding in ["gzip, chunked", "identity", "xchunked", "chunked, chunked"] {
            let text = format!("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: {coding}\r\n\r\n");
            assert_eq!(refused(&text), 501, "{coding}");
        }
        assert_eq!(refused("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
    }

    #[test]
    fn a_request_names_one_host() {
        assert_eq!(refused("GET / HTTP/1.1\r\n\r\n"), 400);
        assert_eq!(refused("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), 400);
        assert_eq!(request("GET / HTTP/1.0\r\n\r\n").head.headers.get("host"), None);
        let absolute = request("GET http://b:1/x?y HTTP/1.1\r\nHost: a\r\n\r\n").head;
        assert_eq!((&*absolute.path, absolute.headers.get("host")), ("/x?y", Some("b:1")));
    }

    #[test]
    fn a_flood_of_fields_and_garbage_are_refused() {
        let many = "a: b\r\n".repeat(MAX_FIELDS);
        assert_eq!(refused(&format!("GET / HTTP/1.1\r\nHost: a\r\n{many}\r\n")), 431);
        assert_eq!(refused("\u{16}\u{3}\u{1}\u{2}\u{0}"), 400);
        assert_eq!(refused("GET / HTTP/2.0\r\n\r\n"), 505);
    }

    #[test]
    fn who_closes_says_so() {
        let head = |line: &str, fields: &str| request(&format!("GET / {line}\r\nHost: a\r\n{fields}\r\n"));
        assert!(!head("HTTP/1.1", "Connection: foo, Close\r\n").keep_alive);
        let old = head("HTTP/1.0", "Expect: 100-continue\r\n");
        assert!(!old.keep_alive && !old.takes_chunks && !old.expects_continue);
        assert!(head("HTTP/1.1", "Expect: 100-Continue\r\n").expects_continue);
    }
}
