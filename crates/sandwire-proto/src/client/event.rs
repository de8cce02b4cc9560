#[cfg(feature = "param-headers")]
use crate::http::param_headers::InvalidAnnotation;
use crate::{
    ApiMisuse, ExchangeId, PeerIncompatible, PeerInfo, PeerMisbehaved, TransportError, Via, http::RequestHead,
};
use sandwire_json::Raw;
use sandwire_types::{ErrorObject, LoggingLevel, Message, Method, Notification, Reply};
use std::{error::Error, fmt, sync::Arc};

/// Names one call for as long as it is under way. Never names another call later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallKey(pub(crate) u64);

impl CallKey {
    /// The key as a number below 2^53, for keeping it outside Rust.
    #[must_use]
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    /// The key that [`as_u64`](Self::as_u64) gave.
    #[must_use]
    pub const fn from_u64(number: u64) -> Self {
        Self(number)
    }

    /// Which of the slots that are reused by later calls this call has: small, and unique among calls under way.
    #[must_use]
    pub const fn slot(self) -> usize {
        (self.0 & 0xffff) as usize
    }
}

/// Names one question the server asked, until it is answered or withdrawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AskKey(pub(crate) u64);

impl AskKey {
    /// The key as a number below 2^53, for keeping it outside Rust.
    #[must_use]
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    /// The key that [`as_u64`](Self::as_u64) gave.
    #[must_use]
    pub const fn from_u64(number: u64) -> Self {
        Self(number)
    }
}

/// How long a call may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Timeout {
    /// As long as [`Config::call_timeout_ms`](super::Config::call_timeout_ms) says; without limit for `subscriptions/listen`.
    #[default]
    Default,
    /// So many milliseconds.
    After(u64),
    /// Without limit.
    Never,
}

/// A request to make.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_structs)]
pub struct Call {
    /// The method.
    pub method: Method,
    /// The parameters, an object without `_meta`.
    pub params: Option<Raw>,
    /// Members of `_meta` besides those the connection writes itself, an object.
    pub meta: Option<Raw>,
    /// The least severe log messages to send for this call (modern era).
    pub log_level: Option<LoggingLevel>,
    /// Whether to ask for progress.
    pub progress: bool,
    /// How long it may take.
    pub timeout: Timeout,
    /// Whether progress begins the timeout anew.
    pub reset_on_progress: bool,
    /// How long it may take in milliseconds however much progress it makes.
    pub total_timeout_ms: Option<u64>,
    /// Whether a result that asks for input is given to the caller, who may make the call again with `inputResponses` and
    /// `requestState` (modern era). Otherwise the application is asked, and the call made again by itself.
    pub manual_rounds: bool,
}

impl Call {
    /// A call with default options.
    #[must_use]
    pub fn new(method: Method, params: Option<Raw>) -> Self {
        Self {
            method,
            params,
            meta: None,
            log_level: None,
            progress: false,
            timeout: Timeout::Default,
            reset_on_progress: false,
            total_timeout_ms: None,
            manual_rounds: false,
        }
    }
}

/// What the machine wants done. Every output is final: nothing has to be confirmed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Output {
    /// Send a message.
    Send {
        /// On which stream; a new [`Via::Exchange`] begins here.
        via: Via,
        /// The message.
        message: Message,
        /// The head of the HTTP request, if the link is HTTP.
        head: Option<Box<RequestHead>>,
    },
    /// Begin an exchange that carries no message: a GET for an event stream, or the DELETE of a session.
    Open {
        /// The exchange that begins.
        exchange: ExchangeId,
        /// The head of the request.
        head: Box<RequestHead>,
    },
    /// Drop an exchange; nothing more of it is wanted.
    Abandon(ExchangeId),
    /// A call ended. Each call ends exactly once.
    Done {
        /// The call.
        key: CallKey,
        /// Its result.
        result: Result<Reply, CallError>,
    },
    /// A call made progress.
    Progress {
        /// The call.
        key: CallKey,
        /// The parameters of `notifications/progress`.
        params: Raw,
    },
    /// A notification of a subscription that `subscriptions/listen` began.
    Event {
        /// The call that began it.
        key: CallKey,
        /// The notification, the acknowledgement first.
        notification: Notification,
    },
    /// Any other notification.
    Notification(Notification),
    /// The server asks something of the user or the application.
    Ask {
        /// What to answer under.
        key: AskKey,
        /// `sampling/createMessage`, `elicitation/create` or `roots/list`.
        method: Method,
        /// Its parameters, `{}` if there are none.
        params: Raw,
    },
    /// A question is withdrawn: its answer is no longer wanted.
    Unask(AskKey),
    /// Something is wrong that ends neither a call nor the connection.
    Warning(Warning),
    /// The connection is open.
    Opened(Arc<PeerInfo>),
    /// The connection could not be opened. Every call fails with the same error.
    Failed(Arc<OpenError>),
    /// The server may be one of the oldest, with two addresses: go on over a link that is a pipe to it. Only with the
    /// feature `sse`, and only over HTTP.
    Downgrade,
    /// Close the link, once what was sent before is on its way.
    Close,
}

/// What is wrong with a server, although everything goes on.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Warning {
    /// A tool is left out of what `tools/list` gave, because its input schema says `x-mcp-header` in a way that must not
    /// be used (modern HTTP).
    #[cfg(feature = "param-headers")]
    ToolDropped {
        /// The tool's name.
        tool: String,
        /// What is wrong with it.
        fault: InvalidAnnotation,
    },
    /// The server offers no stream of messages that belong to no call, or refuses it. It is not asked again
    /// (legacy HTTP).
    #[cfg(feature = "listen")]
    StreamRefused(TransportError),
}

#[cfg(any(feature = "param-headers", feature = "listen"))]
impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            #[cfg(feature = "param-headers")]
            Self::ToolDropped { ref tool, fault } => write!(f, "the tool {tool} is left out: {fault}"),
            #[cfg(feature = "listen")]
            Self::StreamRefused(ref error) => write!(f, "the server has no stream of its own: {error}"),
        }
    }
}

/// Why a call has no result.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum CallError {
    /// The server answered with an error.
    Peer(ErrorObject),
    /// No answer came in time.
    Timeout,
    /// It took longer than it may in all, whatever progress it made.
    TotalTimeout,
    /// The caller cancelled it.
    Cancelled,
    /// The connection could not be opened.
    Open(Arc<OpenError>),
    /// The connection was closed, by us or for the reason given.
    Closed(Option<TransportError>),
    /// This call's request failed on the way.
    Transport(TransportError),
    /// The server broke a rule.
    Misbehaved(PeerMisbehaved),
    /// The server cannot do this.
    Incompatible(PeerIncompatible),
    /// The server asked for input, and the application answered with this error instead.
    Refused(ErrorObject),
    /// The server ended the subscription before its time.
    Unsubscribed,
    /// The caller's mistake.
    Misuse(ApiMisuse),
}

/// Why a connection could not be opened.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// The server refused `initialize` or `server/discover`.
    Refused(ErrorObject),
    /// No answer came in time.
    Timeout,
    /// The connection was closed before it was open.
    Closed,
    /// The link failed. What it says about the server's era: nothing.
    Transport(TransportError),
    /// The server broke a rule.
    Misbehaved(PeerMisbehaved),
    /// There is no version in common.
    Incompatible(PeerIncompatible),
}

/// What to say of a subscription that its server ended.
pub const UNSUBSCRIBED: &str = "the server ended the subscription; listen again to hear of later changes";

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Peer(error) | Self::Refused(error) => &error.message,
            Self::Timeout => {
                "no answer came in time; raise the timeout or ask for progress to see whether it is still working"
            }
            Self::TotalTimeout => "the call took longer than it may in all; raise the total timeout",
            Self::Cancelled => "the call was cancelled",
            Self::Unsubscribed => UNSUBSCRIBED,
            Self::Open(error) => return error.fmt(f),
            Self::Closed(Some(error)) | Self::Transport(error) => error.message(),
            Self::Closed(None) => ApiMisuse::Closed.message(),
            Self::Misbehaved(fault) => fault.message(),
            Self::Incompatible(fault) => fault.message(),
            Self::Misuse(fault) => fault.message(),
        })
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Refused(error) => &error.message,
            Self::Timeout => "the server did not answer in time; check that it runs and that the address is right",
            Self::Closed => "the connection was closed before it was open; check the server's log",
            Self::Transport(error) => error.message(),
            Self::Misbehaved(fault) => fault.message(),
            Self::Incompatible(fault) => fault.message(),
        })
    }
}

impl Error for CallError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Closed(Some(error)) | Self::Transport(error) => Some(error),
            Self::Open(error) => Some(&**error),
            _ => None,
        }
    }
}

impl Error for OpenError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Transport(error) => Some(error),
            _ => None,
        }
    }
}
