//! From text to messages.

use std::borrow::Cow;
use std::sync::Arc;

use sandwire_json::{Error, ErrorKind, Kind, Raw, Read, Reader, Writer};

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
            && *last.version == *version
            && last.capabilities.as_str() == capabilities
            && last.client_info.as_ref().map(Raw::as_str) == client_info
        {
            return Arc::clone(last);
        }
        let envelope = Arc::new(Envelope {
            version: version.into(),
            capabilities: Raw::from_valid(capabilities),
            client_info: client_info.map(Raw::from_valid),
        });
        self.text.clear();
        self.envelope = Some(Arc::clone(&envelope));
        envelope
    }

    fn server_info(&mut self, text: &str) -> Raw {
        match &self.server_info {
            Some(last) if last.as_str() == text => last.clone(),
            _ => self.server_info.insert(Raw::from_valid(text)).clone(),
        }
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
    let mut r = Reader::new(text);
    match r.peek() {
        Ok(Kind::Array) => batch(r, memo),
        Ok(_) => one(r, memo).map(Incoming::One),
        Err(error) => Err(refusal(&error, None, false)),
    }
}

fn batch(mut r: Reader<'_>, memo: &mut Memo) -> Result<Incoming, WireError> {
    let mut items = Vec::new();
    r.array(&mut |r| {
        items.push(r.raw()?);
        Ok(())
    })
    .and_then(|()| r.end())
    .map_err(|error| refusal(&error, None, false))?;
    if items.is_empty() {
        return Err(Fault::invalid("a batch holds no message").refusal(None, false));
    }
    Ok(Incoming::Batch(items.into_iter().map(|item| one(Reader::new(item), memo)).collect()))
}

/// The answer to a text that could not be read to its end.
fn refusal(error: &Error, id: Option<RequestId>, is_response: bool) -> WireError {
    let (code, id) = match error.kind() {
        ErrorKind::Syntax => (ErrorCode::PARSE_ERROR, id.filter(|_| is_response)),
        _ => (ErrorCode::INVALID_REQUEST, id),
    };
    WireError { code, id, message: error.to_string(), is_response, is_notification: false }
}

/// Something in a text that is JSON and keeps it from being a message.
struct Fault {
    code: ErrorCode,
    message: &'static str,
}

impl Fault {
    fn invalid(message: &'static str) -> Self {
        Self { code: ErrorCode::INVALID_REQUEST, message }
    }

    fn params(message: &'static str) -> Self {
        Self { code: ErrorCode::INVALID_PARAMS, message }
    }

    fn refusal(self, id: Option<RequestId>, is_response: bool) -> WireError {
        WireError { code: self.code, id, message: self.message.into(), is_response, is_notification: false }
    }
}

/// The members of a message, as far as they were read.
struct Parts<'a, 'm> {
    memo: &'m mut Memo,
    version: Option<bool>,
    /// `Some(None)` is `null`.
    id: Option<Option<RequestId>>,
    method: Option<Cow<'a, str>>,
    params: Option<Option<&'a str>>,
    result: Option<&'a str>,
    error: Option<ErrorObject>,
    lifted: Lifted<'a>,
    /// The first fault; the text is read to its end all the same, since bad syntax outweighs it.
    fault: Option<Fault>,
    is_response: bool,
}

/// What parameters or results say about themselves.
#[derive(Default)]
struct Lifted<'a> {
    meta: Option<&'a str>,
    /// The envelope, when it came in the same text as the last one.
    envelope: Option<Arc<Envelope>>,
    version: Option<Cow<'a, str>>,
    capabilities: Option<&'a str>,
    client_info: Option<&'a str>,
    server_info: Option<&'a str>,
    progress_token: Option<RequestId>,
    log_level: Option<LoggingLevel>,
    subscription: Option<RequestId>,
    extra: Option<Writer>,
    kind: Option<ResultKind>,
    ttl_ms: Option<u64>,
    scope: Option<CacheScope>,
}

fn one(mut r: Reader<'_>, memo: &mut Memo) -> Result<Message, WireError> {
    let mut parts = Parts {
        memo,
        version: None,
        id: None,
        method: None,
        params: None,
        result: None,
        error: None,
        lifted: Lifted::default(),
        fault: None,
        is_response: false,
    };
    let read = match r.peek() {
        Ok(Kind::Object) => r.object(&mut |key, r| parts.member(key, r)).and_then(|()| r.end()),
        _ => r.skip().and_then(|()| r.end()).map(|()| {
            parts.fault = Some(Fault::invalid("a message is an object"));
        }),
    };
    if let Err(error) = read {
        return Err(refusal(&error, parts.id.flatten(), parts.is_response));
    }
    parts.message()
}

impl<'a> Parts<'a, '_> {
    fn member(&mut self, key: &str, r: &mut Reader<'a>) -> Result<(), Error> {
        let seen = match key {
            "jsonrpc" => self.version.is_some(),
            "id" => self.id.is_some(),
            "method" => self.method.is_some(),
            "params" => self.params.is_some(),
            "result" => self.result.is_some(),
            "error" => self.error.is_some(),
            _ => return Ok(()),
        };
        if seen {
            self.fault("a message has a member twice");
            return Ok(());
        }
        let kind = r.peek()?;
        match key {
            "jsonrpc" => self.version = Some(kind == Kind::String && r.string()? == "2.0"),
            "id" => match kind {
                Kind::Null => {
                    r.null()?;
                    self.id = Some(None);
                }
                _ => match tolerate(r, RequestId::read)? {
                    Some(id) => self.id = Some(Some(id)),
                    None => {
                        self.id = Some(None);
                        self.fault("id is neither a string nor an integer");
                    }
                },
            },
            "method" if kind == Kind::String => self.method = Some(r.string()?),
            "method" => self.fault("method is not a string"),
            "params" => match kind {
                Kind::Null => {
                    r.null()?;
                    self.params = Some(None);
                }
                Kind::Object => {
                    let start = r.offset();
                    r.object(&mut |key, r| self.params_member(key, r))?;
                    self.params = Some(Some(r.since(start)));
                }
                _ => {
                    self.params = Some(None);
                    self.fault.get_or_insert(Fault::params("params is not an object"));
                }
            },
            "result" => {
                self.is_response = true;
                if kind == Kind::Object {
                    let start = r.offset();
                    r.object(&mut |key, r| self.result_member(key, r))?;
                    self.result = Some(r.since(start));
                } else {
                    self.fault("result is not an object");
                }
            }
            _ => {
                self.is_response = true;
                match tolerate(r, ErrorObject::read)? {
                    Some(error) => self.error = Some(error),
                    None => self.fault("error has no code or no message"),
                }
            }
        }
        Ok(())
    }

    fn params_member(&mut self, key: &str, r: &mut Reader<'a>) -> Result<(), Error> {
        if key != "_meta" {
            return Ok(());
        }
        match r.peek()? {
            Kind::Object if self.lifted.meta.is_none() => {
                let start = r.offset();
                self.lifted.envelope = if cfg!(feature = "server") { self.memo.again(r) } else { None };
                if self.lifted.envelope.is_none() {
                    r.object(&mut |key, r| self.meta_member(key, r))?;
                }
                self.lifted.meta = Some(r.since(start));
                Ok(())
            }
            Kind::Null => Ok(()),
            _ => {
                self.fault.get_or_insert(Fault::params("_meta is not one object"));
                Ok(())
            }
        }
    }

    fn meta_member(&mut self, key: &str, r: &mut Reader<'a>) -> Result<(), Error> {
        let kind = r.peek()?;
        let lifted = &mut self.lifted;
        let fits = match key {
            _ if !cfg!(feature = "server") && key != modern::SUBSCRIPTION_ID => return Ok(()),
            "progressToken" => {
                lifted.progress_token = tolerate(r, RequestId::read)?;
                lifted.progress_token.is_some()
            }
            modern::PROTOCOL_VERSION if kind == Kind::String && lifted.version.is_none() => {
                lifted.version = Some(r.string()?);
                true
            }
            modern::CLIENT_CAPABILITIES if kind == Kind::Object && lifted.capabilities.is_none() => {
                lifted.capabilities = Some(r.raw()?);
                true
            }
            modern::CLIENT_INFO if kind == Kind::Object && lifted.client_info.is_none() => {
                lifted.client_info = Some(r.raw()?);
                true
            }
            modern::LOG_LEVEL if kind == Kind::String => {
                lifted.log_level = Some(LoggingLevel::read(r)?);
                true
            }
            modern::SUBSCRIPTION_ID => {
                lifted.subscription = tolerate(r, RequestId::read)?;
                lifted.subscription.is_some()
            }
            modern::PROTOCOL_VERSION | modern::CLIENT_CAPABILITIES | modern::CLIENT_INFO | modern::LOG_LEVEL => false,
            _ => {
                let start = r.member();
                r.skip()?;
                let w = lifted.extra.get_or_insert_with(|| {
                    let mut w = Writer::new();
                    w.begin_object();
                    w
                });
                w.raw(r.since(start));
                true
            }
        };
        if !fits {
            self.fault.get_or_insert(Fault::params("a reserved member of _meta is malformed"));
        }
        Ok(())
    }

    fn result_member(&mut self, key: &str, r: &mut Reader<'a>) -> Result<(), Error> {
        let kind = r.peek()?;
        match key {
            modern::RESULT_TYPE if kind == Kind::String => {
                self.lifted.kind = Some(ResultKind::from(&*r.string()?));
            }
            modern::RESULT_TYPE => self.fault("resultType is not a string"),
            modern::TTL_MS => {
                // A hint that makes no sense is the hint not to keep the result.
                let ttl = if kind == Kind::Number { tolerate(r, |r| r.integer())? } else { None };
                self.lifted.ttl_ms = Some(ttl.and_then(|ttl| u64::try_from(ttl).ok()).unwrap_or(0));
            }
            modern::CACHE_SCOPE => {
                let public = kind == Kind::String && r.string()? == CacheScope::Public.as_str();
                self.lifted.scope = Some(if public { CacheScope::Public } else { CacheScope::Private });
            }
            "_meta" if kind == Kind::Object => r.object(&mut |key, r| {
                match key {
                    modern::SERVER_INFO if r.peek()? == Kind::Object => {
                        self.lifted.server_info = Some(r.raw()?);
                    }
                    modern::SUBSCRIPTION_ID => self.lifted.subscription = tolerate(r, RequestId::read)?,
                    _ => {}
                }
                Ok(())
            })?,
            _ => {}
        }
        Ok(())
    }

    fn fault(&mut self, message: &'static str) {
        self.fault.get_or_insert(Fault::invalid(message));
    }

    fn message(mut self) -> Result<Message, WireError> {
        if self.version != Some(true) {
            self.fault("jsonrpc is not \"2.0\"");
        }
        if self.is_response && self.method.is_some() {
            self.fault("a message is both a call and an answer");
        }
        if self.result.is_some() && self.error.is_some() {
            self.fault("an answer has both a result and an error");
        }
        if let Some(fault) = self.fault {
            let is_notification = self.method.is_some() && self.id.is_none();
            let error = fault.refusal(self.id.flatten(), self.is_response);
            return Err(WireError { is_notification, ..error });
        }
        let lifted = self.lifted;
        if let Some(value) = self.result {
            let Some(Some(id)) = self.id else {
                return Err(Fault::invalid("a result has no id").refusal(None, true));
            };
            let result = Ok(lifted.reply(value, self.memo));
            return Ok(Message::Response(Response::new(id, result)));
        }
        if let Some(error) = self.error {
            return Ok(Message::Response(Response {
                null_id: self.id == Some(None),
                id: self.id.flatten(),
                result: Err(error),
            }));
        }
        let Some(method) = self.method else {
            return Err(Fault::invalid("a message has no method").refusal(self.id.flatten(), false));
        };
        let method = Method::from(&*method);
        let params = self.params.flatten().map(Raw::from_valid);
        match self.id {
            Some(Some(id)) if !cfg!(feature = "server") => {
                Ok(Message::Request(Request { id, method, params, meta: RequestMeta::default() }))
            }
            Some(Some(id)) => match lifted.request_meta(self.memo) {
                Ok(meta) => Ok(Message::Request(Request { id, method, params, meta })),
                Err(fault) => Err(fault.refusal(Some(id), false)),
            },
            Some(None) => Err(Fault::invalid("id is null").refusal(None, false)),
            None => {
                let subscription = lifted.subscription;
                Ok(Message::Notification(Notification { method, params, subscription }))
            }
        }
    }
}

impl Lifted<'_> {
    fn request_meta(self, memo: &mut Memo) -> Result<RequestMeta, Fault> {
        if let Some(envelope) = self.envelope {
            return Ok(RequestMeta { envelope: Some(envelope), ..RequestMeta::default() });
        }
        let envelope = match (self.version, self.capabilities) {
            (Some(version), Some(capabilities)) => Some(memo.envelope(&version, capabilities, self.client_info)),
            (Some(_), None) => return Err(Fault::params("_meta lacks the client's capabilities")),
            (None, _) => None,
        };
        let extra = self.extra.map(|mut w| {
            w.end_object();
            w.into_raw()
        });
        let meta = RequestMeta { envelope, progress_token: self.progress_token, log_level: self.log_level, extra };
        let alone = meta.progress_token.is_none() && meta.log_level.is_none() && meta.extra.is_none();
        if let (true, Some(text), Some(_)) = (alone && self.subscription.is_none(), self.meta, &meta.envelope) {
            memo.keep(text);
        }
        Ok(meta)
    }

    fn reply(self, value: &str, memo: &mut Memo) -> Reply {
        let cache = match (self.ttl_ms, self.scope) {
            (None, None) => None,
            (ttl_ms, scope) => {
                Some(CacheHint { ttl_ms: ttl_ms.unwrap_or(0), scope: scope.unwrap_or(CacheScope::Private) })
            }
        };
        let stamped =
            self.kind.is_some() || cache.is_some() || self.server_info.is_some() || self.subscription.is_some();
        let stamp = stamped.then(|| {
            let server_info = self.server_info.map(|text| memo.server_info(text));
            Box::new(Stamp { server_info, cache, subscription: self.subscription })
        });
        Reply { value: Raw::from_valid(value), kind: self.kind.unwrap_or_default(), stamp }
    }
}

/// Reads a value that may be of the wrong type, and then is `None` and left to be skipped.
fn tolerate<'a, T>(
    r: &mut Reader<'a>,
    read: impl FnOnce(&mut Reader<'a>) -> Result<T, Error>,
) -> Result<Option<T>, Error> {
    let mut ahead = r.clone();
    match read(&mut ahead) {
        Ok(value) => {
            *r = ahead;
            Ok(Some(value))
        }
        Err(error) if matches!(error.kind(), ErrorKind::Syntax | ErrorKind::Depth) => Err(error),
        Err(_) => Ok(None),
    }
}
