//! From text to messages.

use std::borrow::Cow;
use std::sync::Arc;

use sandwire_json::{Error, ErrorKind, Kind, Raw, Reader, Writer};

use super::{Incoming, modern};
use crate::error::WireError;
use crate::jsonrpc::{ErrorCode, ErrorObject, Message, Notification, Reply, Request, RequestId, Response};
use crate::meta::{CacheHint, CacheScope, Envelope, RequestMeta, ResultKind, Stamp};
use crate::method::Method;
use crate::model::LoggingLevel;

/// Who spoke last: the last parsed [`Envelope`] and server, so that a stream of messages shares them.
#[derive(Clone, Debug, Default)]
pub struct Memo {
    envelope: Option<Arc<Envelope>>,
    /// The text of a `_meta` that holds this envelope and nothing else; may be empty.
    text: String,
    server_info: Option<Raw>,
    /// The text of a result's `_meta` that holds this server and nothing else that is read; may be empty.
    server_text: String,
}

impl Memo {
    /// One that remembers nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The last envelope, if the same `_meta` stands here again.
    fn again(&self, r: &mut Reader<'_>) -> Option<Arc<Envelope>> {
        let envelope = self.envelope.as_ref()?;
        r.take(&self.text).then(|| Arc::clone(envelope))
    }

    fn envelope(&mut self, version: &str, capabilities: &str, client_info: Option<&str>) -> Arc<Envelope> {
        if let Some(last) = &self.envelope
            && last.version() == version
            && last.capabilities().as_str() == capabilities
            && last.client_info().map(Raw::as_str) == client_info
        {
            return Arc::clone(last);
        }
        let capabilities = Raw::from_valid(capabilities);
        let envelope = Arc::new(Envelope::new(version, capabilities, client_info.map(Raw::from_valid)));
        self.text.clear();
        self.envelope = Some(Arc::clone(&envelope));
        envelope
    }

    /// The last server, if the same `_meta` stands here again.
    fn server_again(&self, r: &mut Reader<'_>) -> Option<Raw> {
        let server_info = self.server_info.as_ref()?;
        r.take(&self.server_text).then(|| server_info.clone())
    }

    /// Remembers a server, and the `_meta` it was in, which is empty if that says more.
    fn server_info(&mut self, text: &str, meta: &str) -> Option<Raw> {
        if self.server_info.as_ref().is_none_or(|last| last.as_str() != text) {
            self.server_info = Some(Raw::from_valid(text));
            self.server_text.clear();
        }
        if self.server_text.is_empty() {
            self.server_text.push_str(meta);
        }
        self.server_info.clone()
    }

    /// Remembers the text that the last envelope was in.
    fn keep(&mut self, text: &str) {
        if self.text.is_empty() {
            self.text.push_str(text);
        }
    }
}

/// Reads a text: one message, or an array of them.
///
/// Parameters and results are checked to be JSON and kept as text. Of what is in them only `_meta`
/// and the members that the modern era adds to every result are read.
///
/// ```
/// use sandwire_types::wire::{Incoming, Memo, decode};
/// use sandwire_types::{Message, Method};
///
/// let text = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add"}}"#;
/// let Incoming::One(Message::Request(request)) = decode(text, &mut Memo::new())? else {
///     return Ok(());
/// };
/// assert_eq!(request.method, Method::ToolsCall);
/// assert_eq!(request.params.as_ref().map(|params| params.as_str()), Some(r#"{"name":"add"}"#));
/// # Ok::<(), sandwire_types::WireError>(())
/// ```
///
/// # Errors
/// When it is not JSON, or not a message; the error says how to answer.
pub fn decode(text: &str, memo: &mut Memo) -> Result<Incoming, WireError> {
    // JSON's grammar has no place for a byte order mark, and lets whoever reads a text pass over it.
    let mut r = Reader::new(text.strip_prefix("\u{feff}").unwrap_or(text));
    match r.peek() {
        Ok(Kind::Array) => batch(r, memo),
        _ => one(r, memo).map(Incoming::One),
    }
}

fn batch(mut r: Reader<'_>, memo: &mut Memo) -> Result<Incoming, WireError> {
    let mut items = Vec::new();
    let read = r.array(&mut |r| {
        items.push(r.raw()?);
        Ok(())
    });
    if let Err(error) = read.and_then(|()| r.end()) {
        return Err(WireError::new(code(&error), error.to_text()));
    }
    if items.is_empty() {
        return Err(WireError::new(ErrorCode::INVALID_REQUEST, "a batch holds no message"));
    }
    Ok(Incoming::Batch(items.into_iter().map(|item| one(Reader::new(item), memo)).collect()))
}

fn one(mut r: Reader<'_>, memo: &mut Memo) -> Result<Message, WireError> {
    let mut parts =
        Parts { memo, seen: 0, twice: 0, texts: [""; Slot::COUNT], envelope: None, server_info: None, extra: None };
    let noise = !matches!(r.peek(), Ok(Kind::Object));
    let read = if noise { r.skip() } else { parts.read(&MESSAGE, &mut r) };
    match read.and_then(|()| r.end()) {
        Ok(()) => parts.message(),
        Err(error) => {
            Err(WireError { is_noise: noise && error.kind() == ErrorKind::Syntax, ..parts.unreadable(&error) })
        }
    }
}

fn code(error: &Error) -> ErrorCode {
    match error.kind() {
        ErrorKind::Syntax => ErrorCode::PARSE_ERROR,
        _ => ErrorCode::INVALID_REQUEST,
    }
}

/// The members of an object that are looked at.
struct Level {
    members: &'static [Member],
    /// Whether the others are kept, as [`Parts::extra`].
    keeps_others: bool,
}

struct Member {
    name: &'static str,
    slot: Slot,
    /// What is looked at in its value, when that is an object.
    inside: Option<&'static Level>,
}

/// Where the text of a member is kept.
#[derive(Clone, Copy)]
enum Slot {
    JsonRpc,
    Id,
    Method,
    Params,
    Result,
    Error,
    Meta,
    ProgressToken,
    Version,
    Capabilities,
    ClientInfo,
    LogLevel,
    Subscription,
    Kind,
    TtlMs,
    Scope,
    ResultMeta,
    ServerInfo,
    Code,
    Message,
    Data,
}

impl Slot {
    const COUNT: usize = Self::Data as usize + 1;

    const fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// The members of a message itself.
const OWN: u32 = Slot::Meta.bit() - 1;
/// The members of a request's `_meta` that have a slot.
const RESERVED: u32 = Slot::Kind.bit() - Slot::ProgressToken.bit();

const fn leaf(name: &'static str, slot: Slot) -> Member {
    Member { name, slot, inside: None }
}

const fn branch(name: &'static str, slot: Slot, inside: &'static Level) -> Member {
    Member { name, slot, inside: Some(inside) }
}

static MESSAGE: Level = Level {
    members: &[
        leaf("jsonrpc", Slot::JsonRpc),
        leaf("id", Slot::Id),
        leaf("method", Slot::Method),
        branch("params", Slot::Params, &PARAMS),
        branch("result", Slot::Result, &RESULT),
        branch("error", Slot::Error, &ERROR),
    ],
    keeps_others: false,
};

static PARAMS: Level = Level { members: &[branch("_meta", Slot::Meta, &META)], keeps_others: false };

static META: Level = if cfg!(feature = "server") {
    Level {
        members: &[
            leaf("progressToken", Slot::ProgressToken),
            leaf(modern::PROTOCOL_VERSION, Slot::Version),
            leaf(modern::CLIENT_CAPABILITIES, Slot::Capabilities),
            leaf(modern::CLIENT_INFO, Slot::ClientInfo),
            leaf(modern::LOG_LEVEL, Slot::LogLevel),
            leaf(modern::SUBSCRIPTION_ID, Slot::Subscription),
        ],
        keeps_others: true,
    }
} else {
    Level { members: &[leaf(modern::SUBSCRIPTION_ID, Slot::Subscription)], keeps_others: false }
};

static RESULT: Level = Level {
    members: &[
        leaf(modern::RESULT_TYPE, Slot::Kind),
        leaf(modern::TTL_MS, Slot::TtlMs),
        leaf(modern::CACHE_SCOPE, Slot::Scope),
        branch("_meta", Slot::ResultMeta, &RESULT_META),
    ],
    keeps_others: false,
};

static RESULT_META: Level = Level {
    members: &[leaf(modern::SERVER_INFO, Slot::ServerInfo), leaf(modern::SUBSCRIPTION_ID, Slot::Subscription)],
    keeps_others: false,
};

static ERROR: Level = Level {
    members: &[leaf("code", Slot::Code), leaf("message", Slot::Message), leaf("data", Slot::Data)],
    keeps_others: false,
};

/// The members of a message, as far as they were read.
struct Parts<'a, 'm> {
    memo: &'m mut Memo,
    /// The slots whose members began, and those whose members began again.
    seen: u32,
    twice: u32,
    /// Empty where a member is absent.
    texts: [&'a str; Slot::COUNT],
    /// The envelope, when it came in the same text as the last one.
    envelope: Option<Arc<Envelope>>,
    /// The server, likewise.
    server_info: Option<Raw>,
    /// The members of a request's `_meta` that have no slot.
    extra: Option<Writer>,
}

impl<'a> Parts<'a, '_> {
    /// Reads an object to its end, whatever is wrong with it except bad syntax, which outweighs all else.
    fn read(&mut self, level: &'static Level, r: &mut Reader<'a>) -> Result<(), Error> {
        r.object(&mut |key, r| {
            let Some(member) = level.members.iter().find(|member| member.name == key) else {
                return if level.keeps_others { self.keep(r) } else { Ok(()) };
            };
            self.twice |= self.seen & member.slot.bit();
            self.seen |= member.slot.bit();
            let kind = r.peek()?;
            let start = r.offset();
            match member.inside {
                Some(_) if self.remembers(member.slot, r) => {}
                Some(level) if kind == Kind::Object => self.read(level, r)?,
                _ => r.skip()?,
            }
            if let Some(text @ &mut "") = self.texts.get_mut(member.slot as usize) {
                *text = r.since(start);
            }
            Ok(())
        })
    }

    /// Passes over a `_meta` if the last one stands here again.
    fn remembers(&mut self, slot: Slot, r: &mut Reader<'a>) -> bool {
        match slot {
            Slot::Meta if cfg!(feature = "server") && self.envelope.is_none() => {
                self.envelope = self.memo.again(r);
                self.envelope.is_some()
            }
            Slot::ResultMeta if self.server_info.is_none() => {
                self.server_info = self.memo.server_again(r);
                self.server_info.is_some()
            }
            _ => false,
        }
    }

    fn keep(&mut self, r: &mut Reader<'a>) -> Result<(), Error> {
        let start = r.member();
        r.skip()?;
        let w = self.extra.get_or_insert_with(|| {
            let mut w = Writer::new();
            w.begin_object();
            w
        });
        w.raw(r.since(start));
        Ok(())
    }

    fn text(&self, slot: Slot) -> &'a str {
        self.texts.get(slot as usize).copied().unwrap_or_default()
    }

    fn object(&self, slot: Slot) -> Option<&'a str> {
        Some(self.text(slot)).filter(|text| text.starts_with('{'))
    }

    fn string(&self, slot: Slot) -> Option<Cow<'a, str>> {
        let text = self.text(slot);
        let inside = text.strip_prefix('"')?.strip_suffix('"')?;
        match inside.bytes().any(|byte| byte == b'\\') {
            true => Reader::new(text).string().ok(),
            false => Some(Cow::Borrowed(inside)),
        }
    }

    fn is_string(&self, slot: Slot) -> bool {
        self.text(slot).starts_with('"')
    }

    fn says(&self, slot: Slot, value: &str) -> bool {
        self.string(slot).is_some_and(|text| text == value)
    }

    fn integer(&self, slot: Slot) -> Option<i64> {
        if self.has(slot) { Reader::new(self.text(slot)).integer().ok() } else { None }
    }

    fn id(&self, slot: Slot) -> Option<RequestId> {
        match self.string(slot) {
            Some(text) => Some(RequestId::String(text.into())),
            None => self.integer(slot).map(RequestId::Number),
        }
    }

    fn is_null(&self, slot: Slot) -> bool {
        self.text(slot) == "null"
    }

    fn has(&self, slot: Slot) -> bool {
        self.seen & slot.bit() != 0
    }

    fn is_response(&self) -> bool {
        self.has(Slot::Result) || self.has(Slot::Error)
    }

    /// The answer to a text that could not be read to its end.
    fn unreadable(&self, error: &Error) -> WireError {
        let is_response = self.is_response();
        let code = code(error);
        let id = if code == ErrorCode::PARSE_ERROR && !is_response { None } else { self.id(Slot::Id) };
        WireError { code, id, message: error.to_text(), is_response, is_notification: false, is_noise: false }
    }

    fn message(&mut self) -> Result<Message, WireError> {
        let id = self.id(Slot::Id);
        let method = self.string(Slot::Method);
        let error = self.error();
        if let Some((code, message)) = self.fault(id.is_some(), error.is_some()) {
            let is_notification = method.is_some() && !self.has(Slot::Id);
            return Err(WireError {
                code,
                id,
                message: message.into(),
                is_response: self.is_response(),
                is_notification,
                is_noise: false,
            });
        }
        let null_id = self.is_null(Slot::Id);
        if let Some(error) = error {
            return Ok(Message::Response(Response { id, null_id, result: Err(error) }));
        }
        let Some(method) = method else {
            return Ok(Message::Response(Response { id, null_id, result: Ok(self.reply()) }));
        };
        let method = Method::from(&*method);
        let params = self.object(Slot::Params).map(Raw::from_valid);
        Ok(match id {
            Some(id) => Message::Request(Request { id, method, params, meta: self.request_meta() }),
            None => {
                let subscription = self.id(Slot::Subscription);
                Message::Notification(Notification { method, params, subscription })
            }
        })
    }

    /// What keeps a text that is JSON from being a message.
    fn fault(&self, has_id: bool, has_error: bool) -> Option<(ErrorCode, &'static str)> {
        let has_unreadable = |slot, is_read: bool| self.has(slot) && !is_read;
        let kinds = self.seen & (Slot::Method.bit() | Slot::Result.bit() | Slot::Error.bit());
        let may_be_null = has_error && self.is_null(Slot::Id);
        let faults = [
            (!self.says(Slot::JsonRpc, "2.0"), "a message is an object whose jsonrpc is \"2.0\""),
            (self.twice & OWN != 0, "a message has a member twice"),
            (has_unreadable(Slot::Id, has_id || may_be_null), "id is neither a string nor an integer"),
            (has_unreadable(Slot::Method, self.is_string(Slot::Method)), "method is not a string"),
            (has_unreadable(Slot::Result, self.object(Slot::Result).is_some()), "result is not an object"),
            (has_unreadable(Slot::Kind, self.is_string(Slot::Kind)), "resultType is not a string"),
            (has_unreadable(Slot::Error, has_error), "error has no code or no message"),
            (kinds.count_ones() != 1, "a message has one of method, result and error"),
            (self.has(Slot::Result) && !has_id, "a result has no id"),
        ];
        if let Some((_, words)) = faults.into_iter().find(|(is_so, _)| *is_so) {
            return Some((ErrorCode::INVALID_REQUEST, words));
        }
        let words = if self.is_no_object(Slot::Params) || self.is_no_object(Slot::Meta) {
            "params or its _meta is not an object"
        } else if self.has_wrong_reserved() {
            "a reserved member of _meta is malformed"
        } else if cfg!(feature = "server") && has_id && self.has(Slot::Version) && !self.has(Slot::Capabilities) {
            "_meta lacks the client's capabilities"
        } else {
            return None;
        };
        Some((ErrorCode::INVALID_PARAMS, words))
    }

    /// Whether a member is neither one object nor `null`, which is as good as its absence.
    fn is_no_object(&self, slot: Slot) -> bool {
        self.has(slot) && (self.object(slot).is_none() && !self.is_null(slot) || self.twice & slot.bit() != 0)
    }

    fn has_wrong_reserved(&self) -> bool {
        let wrong = |slot, fits: bool| self.has(slot) && !fits;
        !self.has(Slot::Result) && wrong(Slot::Subscription, self.id(Slot::Subscription).is_some())
            || cfg!(feature = "server")
                && (self.twice & RESERVED != 0
                    || wrong(Slot::ProgressToken, self.id(Slot::ProgressToken).is_some())
                    || wrong(Slot::Version, self.is_string(Slot::Version))
                    || wrong(Slot::LogLevel, self.is_string(Slot::LogLevel))
                    || wrong(Slot::Capabilities, self.object(Slot::Capabilities).is_some())
                    || wrong(Slot::ClientInfo, self.object(Slot::ClientInfo).is_some()))
    }

    fn error(&self) -> Option<ErrorObject> {
        Some(ErrorObject {
            code: ErrorCode(self.integer(Slot::Code)?),
            message: self.string(Slot::Message)?.into_owned(),
            data: self.has(Slot::Data).then(|| Raw::from_valid(self.text(Slot::Data))),
        })
    }

    fn request_meta(&mut self) -> RequestMeta {
        if !cfg!(feature = "server") {
            return RequestMeta::default();
        }
        if let Some(envelope) = self.envelope.take() {
            return RequestMeta { envelope: Some(envelope), ..RequestMeta::default() };
        }
        let envelope = match (self.string(Slot::Version), self.object(Slot::Capabilities)) {
            (Some(version), Some(capabilities)) => {
                Some(self.memo.envelope(&version, capabilities, self.object(Slot::ClientInfo)))
            }
            _ => None,
        };
        let meta = RequestMeta {
            envelope,
            progress_token: self.id(Slot::ProgressToken),
            log_level: self.string(Slot::LogLevel).map(|level| LoggingLevel::from(&*level)),
            extra: self.extra.take().map(|mut w| {
                w.end_object();
                w.into_raw()
            }),
        };
        let more = Slot::ProgressToken.bit() | Slot::LogLevel.bit() | Slot::Subscription.bit();
        if meta.envelope.is_some() && meta.extra.is_none() && self.seen & more == 0 {
            self.memo.keep(self.text(Slot::Meta));
        }
        meta
    }

    fn reply(&mut self) -> Reply {
        let cache = (self.has(Slot::TtlMs) || self.has(Slot::Scope)).then(|| {
            // A hint that makes no sense is the hint not to keep the result.
            let ttl = self.integer(Slot::TtlMs).and_then(|ttl| u64::try_from(ttl).ok());
            let public = self.says(Slot::Scope, CacheScope::Public.as_str());
            CacheHint {
                ttl_ms: ttl.unwrap_or_default(),
                scope: if public { CacheScope::Public } else { CacheScope::Private },
            }
        });
        let subscription = self.id(Slot::Subscription);
        let server_info = self.server_info.take().or_else(|| {
            let alone = if self.has(Slot::Subscription) { "" } else { self.text(Slot::ResultMeta) };
            self.object(Slot::ServerInfo).and_then(|text| self.memo.server_info(text, alone))
        });
        let kind = self.string(Slot::Kind);
        let stamped = kind.is_some() || cache.is_some() || server_info.is_some() || subscription.is_some();
        Reply {
            value: Raw::from_valid(self.text(Slot::Result)),
            kind: kind.map(|kind| ResultKind::from(&*kind)).unwrap_or_default(),
            stamp: stamped.then(|| Box::new(Stamp { server_info, cache, subscription })),
        }
    }
}
