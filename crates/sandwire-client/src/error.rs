use sandwire_io::client::{CallError, OpenError};
use sandwire_json::Raw;
use sandwire_proto::{TransportError, TransportErrorKind};
use sandwire_types::{ErrorCode, ErrorObject, model::ElicitRequestURLParams};
use std::{error, fmt};

/// Why a call, or a connection, failed. The message says what happened and what to do next.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    message: String,
    object: Option<ErrorObject>,
    source: Option<Box<dyn error::Error + Send + Sync>>,
}

/// What kind of failure an [`Error`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The server answered with an error: see [`Error::code`] and [`Error::data`].
    Server,
    /// The tool itself failed, and said so in its result.
    Tool,
    /// No answer came in time.
    Timeout,
    /// The call was cancelled.
    Cancelled,
    /// The connection is closed.
    Closed,
    /// The server wants authorization.
    Unauthorized,
    /// The server was replaced by a new one, or lost the session, before it answered. It may have begun the call: make
    /// it again if that is safe.
    Restarted,
    /// The link failed.
    Transport,
    /// The server broke a rule of the protocol.
    Protocol,
    /// Client and server have nothing in common here: a version, or a method that the version lacks.
    Incompatible,
    /// The server ended the subscription before its time.
    Unsubscribed,
    /// The server asked for input, and a handler of this client refused.
    Refused,
    /// The result is valid and not of the type asked for.
    Decode,
    /// What was read is not what its skill's entry says, so that it must not be used.
    Unverified,
    /// The caller's mistake.
    Usage,
}

impl Error {
    /// A failure of `kind`, told by `message` (lower case, no final stop, saying what to do next).
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, message: message.into(), object: None, source: None }))
    }

    pub(crate) fn decode(what: &str, source: sandwire_json::Error) -> Self {
        let mut message = String::from(what);
        message.push_str(" is not of the expected type: ");
        message.push_str(&source.to_string());
        message.push_str("; ask for the raw result to look at it");
        Self::new(ErrorKind::Decode, message).caused_by(source)
    }

    pub(crate) fn arguments(source: sandwire_json::Error) -> Self {
        let mut message = String::from("the arguments cannot be written as a JSON object: ");
        message.push_str(&source.to_string());
        Self::new(ErrorKind::Usage, message).caused_by(source)
    }

    pub(crate) fn tool(text: &str) -> Self {
        let mut message = String::from("the tool failed: ");
        message.push_str(if text.is_empty() { "it did not say why" } else { text });
        Self::new(ErrorKind::Tool, message)
    }

    pub(crate) fn caused_by(mut self, source: impl error::Error + Send + Sync + 'static) -> Self {
        self.0.source = Some(Box::new(source));
        self
    }

    pub(crate) fn of_object(kind: ErrorKind, object: ErrorObject) -> Self {
        let mut message = String::from(match kind {
            ErrorKind::Refused => "this client refused what the server asked: ",
            _ => "the server answered with an error: ",
        });
        message.push_str(&object.message);
        if let Some(advice) = advice(object.code) {
            message.push_str("; ");
            message.push_str(advice);
        }
        let mut error = Self::new(kind, message);
        error.0.object = Some(object);
        error
    }

    fn transport(kind: ErrorKind, error: TransportError) -> Self {
        let kind = match error.kind() {
            TransportErrorKind::Unauthorized => ErrorKind::Unauthorized,
            TransportErrorKind::Timeout => ErrorKind::Timeout,
            TransportErrorKind::Restarted => ErrorKind::Restarted,
            _ => kind,
        };
        Self::new(kind, error.message()).caused_by(error)
    }

    /// What kind of failure it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The code of the error the server, or this client's handler, answered with.
    #[must_use]
    pub fn code(&self) -> Option<ErrorCode> {
        self.0.object.as_ref().map(|object| object.code)
    }

    /// What that error says besides.
    #[must_use]
    pub fn data(&self) -> Option<&Raw> {
        self.0.object.as_ref()?.data.as_ref()
    }

    /// The addresses that the server wants to have visited before the call is made again (2025-11-25).
    #[must_use]
    pub fn elicitations(&self) -> Vec<ElicitRequestURLParams> {
        let mut visits = Vec::new();
        if self.code() == Some(ErrorCode::URL_ELICITATION_REQUIRED)
            && let Some(list) = self.data().and_then(|data| data.get("elicitations"))
        {
            // What cannot be read is no address.
            let _ = list.reader().array(&mut |reader| {
                visits.extend(sandwire_json::from_str::<ElicitRequestURLParams>(reader.raw()?));
                Ok(())
            });
        }
        visits
    }

    /// Whether no answer came in time.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        self.0.kind == ErrorKind::Timeout
    }

    /// Whether the server wants authorization.
    #[must_use]
    pub fn is_unauthorized(&self) -> bool {
        self.0.kind == ErrorKind::Unauthorized
    }

    /// Whether the server says that there is no such resource.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        // Both eras' codes: the newer one means any invalid parameter.
        matches!(self.code(), Some(ErrorCode::RESOURCE_NOT_FOUND | ErrorCode::INVALID_PARAMS))
    }
}

fn advice(code: ErrorCode) -> Option<&'static str> {
    Some(match code {
        ErrorCode::METHOD_NOT_FOUND => "look at the server's capabilities before calling this",
        ErrorCode::INVALID_PARAMS => "compare the name and the arguments with what the server lists",
        ErrorCode::INTERNAL_ERROR => "the server's log may say more",
        ErrorCode::RESOURCE_NOT_FOUND => "list the resources to see which there are",
        ErrorCode::MISSING_CLIENT_CAPABILITY => "give the client a handler for what the server needs",
        ErrorCode::URL_ELICITATION_REQUIRED => "open the address in the error's data, then call again",
        _ => return None,
    })
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as &(dyn error::Error + 'static))
    }
}

impl From<CallError> for Error {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Peer(object) => Self::of_object(ErrorKind::Server, object),
            CallError::Refused(object) => Self::of_object(ErrorKind::Refused, object),
            CallError::Open(error) => (*error).clone().into(),
            CallError::Closed(Some(error)) => Self::transport(ErrorKind::Closed, error),
            CallError::Transport(error) => Self::transport(ErrorKind::Transport, error),
            other => {
                let kind = match &other {
                    CallError::Timeout | CallError::TotalTimeout => ErrorKind::Timeout,
                    CallError::Cancelled => ErrorKind::Cancelled,
                    CallError::Closed(_) => ErrorKind::Closed,
                    CallError::Misbehaved(_) => ErrorKind::Protocol,
                    CallError::Unsubscribed => ErrorKind::Unsubscribed,
                    CallError::Incompatible(_) => ErrorKind::Incompatible,
                    _ => ErrorKind::Usage,
                };
                Self::new(kind, other.to_string())
            }
        }
    }
}

impl From<OpenError> for Error {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Refused(object) => Self::of_object(ErrorKind::Server, object),
            OpenError::Transport(error) => Self::transport(ErrorKind::Transport, error),
            other => {
                let kind = match &other {
                    OpenError::Timeout => ErrorKind::Timeout,
                    OpenError::Closed => ErrorKind::Closed,
                    OpenError::Incompatible(_) => ErrorKind::Incompatible,
                    _ => ErrorKind::Protocol,
                };
                Self::new(kind, other.to_string())
            }
        }
    }
}

impl From<sandwire_proto::ApiMisuse> for Error {
    fn from(misuse: sandwire_proto::ApiMisuse) -> Self {
        CallError::Misuse(misuse).into()
    }
}
