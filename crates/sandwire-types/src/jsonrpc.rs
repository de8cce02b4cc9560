//! The JSON-RPC envelope: messages whose parameters and results stay text.

use std::sync::Arc;

use sandwire_json::{Error, ErrorKind, Kind, Raw, Read, Reader, Write, Writer};

use crate::meta::{RequestMeta, ResultKind, Stamp};
use crate::method::Method;
use crate::version::ProtocolVersion;

/// One message.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// A call that wants an answer.
    Request(Request),
    /// A call that wants none.
    Notification(Notification),
    /// An answer.
    Response(Response),
}

/// The id of a request: an integer or a string, and `1` is not `"1"`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RequestId {
    /// An integer.
    Number(i64),
    /// A string.
    String(Arc<str>),
}

/// What a request's progress notifications name it by.
pub type ProgressToken = RequestId;

/// A call that wants an answer.
///
/// One that is sent holds no `_meta` in `params`: it is written from `meta`. One that was received
/// keeps `params` as they came, with the decoded `_meta` beside them.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// What the answer names it by.
    pub id: RequestId,
    /// What is called.
    pub method: Method,
    /// The parameters, an object.
    pub params: Option<Raw>,
    /// What `params._meta` says.
    pub meta: RequestMeta,
}

/// A call that wants no answer. `params` is as for [`Request`].
#[derive(Clone, Debug, PartialEq)]
pub struct Notification {
    /// What is told.
    pub method: Method,
    /// The parameters, an object.
    pub params: Option<Raw>,
    /// The listen request in whose stream it travels (modern).
    pub subscription: Option<RequestId>,
}

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// The request's id; `None` when that could not be read.
    pub id: Option<RequestId>,
    /// Whether an id that could not be read is `null`, as before 2025-11-25, and not left out.
    pub null_id: bool,
    /// What came of it.
    pub result: Result<Reply, ErrorObject>,
}

/// A result, as text, with what the modern era says about it beside it.
///
/// In one that is sent, `resultType`, the cache hint and the stamp's `_meta` are written from the
/// other fields, replacing what `value` has of them. One that was received keeps its text as it came.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The result, an object.
    pub value: Raw,
    /// Whether this is the end of it.
    pub kind: ResultKind,
    /// What a modern server adds; `None` in the legacy era.
    pub stamp: Option<Box<Stamp>>,
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorObject {
    /// What kind of failure.
    pub code: ErrorCode,
    /// What happened, for people.
    pub message: String,
    /// More about it.
    pub data: Option<Raw>,
}

/// The code of an [`ErrorObject`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ErrorCode(pub i64);

impl ErrorCode {
    /// The text is not JSON.
    pub const PARSE_ERROR: Self = Self(-32700);
    /// The text is JSON and no message of this protocol.
    pub const INVALID_REQUEST: Self = Self(-32600);
    /// The receiver has no such method.
    pub const METHOD_NOT_FOUND: Self = Self(-32601);
    /// The parameters are wrong.
    pub const INVALID_PARAMS: Self = Self(-32602);
    /// The receiver failed.
    pub const INTERNAL_ERROR: Self = Self(-32603);
    /// The HTTP headers contradict the body (modern).
    pub const HEADER_MISMATCH: Self = Self(-32020);
    /// The client did not declare a capability the request needs (modern).
    pub const MISSING_CLIENT_CAPABILITY: Self = Self(-32021);
    /// The server does not speak the version (modern).
    pub const UNSUPPORTED_PROTOCOL_VERSION: Self = Self(-32022);
    /// There is no such resource (legacy).
    pub const RESOURCE_NOT_FOUND: Self = Self(-32002);
    /// The user has to visit an address first (legacy, 2025-11-25).
    pub const URL_ELICITATION_REQUIRED: Self = Self(-32042);
    /// The user refused.
    pub const USER_REJECTED: Self = Self(-1);
}

impl Request {
    /// A request without parameters and metadata.
    pub fn new(id: impl Into<RequestId>, method: Method) -> Self {
        Self { id: id.into(), method, params: None, meta: RequestMeta::default() }
    }
}

impl Notification {
    /// A notification outside any subscription.
    pub fn new(method: Method, params: Option<Raw>) -> Self {
        Self { method, params, subscription: None }
    }
}

impl Response {
    /// The answer to the request of that id.
    pub fn new(id: RequestId, result: Result<Reply, ErrorObject>) -> Self {
        Self { id: Some(id), null_id: false, result }
    }

    /// The answer to a request that got no further than its id, or not even there, for a peer of that version, if it is
    /// known.
    pub fn refusal(id: Option<RequestId>, error: ErrorObject, version: Option<ProtocolVersion>) -> Self {
        let null_id = id.is_none() && version.is_some_and(|version| !version.omits_unreadable_id());
        Self { id, null_id, result: Err(error) }
    }
}

impl Reply {
    /// A complete result without a stamp.
    pub fn new(value: Raw) -> Self {
        Self { value, kind: ResultKind::Complete, stamp: None }
    }

    /// The result that says nothing.
    pub fn empty() -> Self {
        Self::new(Raw::object())
    }

    /// The result with a stamp.
    #[must_use]
    pub fn stamped(mut self, stamp: Stamp) -> Self {
        self.stamp = Some(Box::new(stamp));
        self
    }
}

impl ErrorObject {
    /// An error without data.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// The error with data.
    #[must_use]
    pub fn with_data(mut self, data: Raw) -> Self {
        self.data = Some(data);
        self
    }

    /// The error for a method that the receiver does not have.
    pub fn method_not_found(method: &Method) -> Self {
        let mut message = String::from("method not found: ");
        message.push_str(method.as_str());
        Self::new(ErrorCode::METHOD_NOT_FOUND, message)
    }

    /// The error for wrong parameters.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::INVALID_PARAMS, message)
    }

    /// The error for a failure of the receiver.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::INTERNAL_ERROR, message)
    }
}

impl std::fmt::Display for ErrorObject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ErrorObject {}

impl From<i64> for RequestId {
    fn from(value: i64) -> Self {
        Self::Number(value)
    }
}

impl From<&str> for RequestId {
    fn from(value: &str) -> Self {
        Self::String(value.into())
    }
}

impl From<String> for RequestId {
    fn from(value: String) -> Self {
        Self::String(value.into())
    }
}

impl Read for RequestId {
    fn read(r: &mut Reader<'_>) -> Result<Self, Error> {
        match r.peek()? {
            Kind::Number => r.integer().map(Self::Number),
            Kind::String => r.string().map(|text| Self::String(text.into())),
            _ => Err(r.error(ErrorKind::Type, "expected a string or an integer")),
        }
    }
}

impl Write for RequestId {
    fn write(&self, w: &mut Writer) {
        match self {
            Self::Number(value) => w.integer(*value),
            Self::String(text) => w.string(text),
        }
    }
}

impl std::fmt::Display for RequestId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(value) => std::fmt::Display::fmt(value, f),
            Self::String(text) => f.write_str(text),
        }
    }
}

impl Read for ErrorObject {
    fn read(r: &mut Reader<'_>) -> Result<Self, Error> {
        let mut code = None;
        let mut message = None;
        let mut data = None;
        r.object(&mut |key, r| {
            match key {
                "code" => code = Some(r.integer()?),
                "message" => message = Some(String::read(r)?),
                "data" => data = Some(Raw::read(r)?),
                _ => {}
            }
            Ok(())
        })?;
        let code = ErrorCode(code.ok_or_else(|| Error::missing("code", r))?);
        let message = message.ok_or_else(|| Error::missing("message", r))?;
        Ok(Self { code, message, data })
    }
}

impl Write for ErrorObject {
    fn write(&self, w: &mut Writer) {
        w.begin_object();
        w.key("code");
        w.integer(self.code.0);
        w.key("message");
        w.string(&self.message);
        if let Some(data) = &self.data {
            w.key("data");
            data.write(w);
        }
        w.end_object();
    }
}
