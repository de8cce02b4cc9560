use std::{borrow::Cow, error::Error, fmt, sync::Arc};

macro_rules! faults {
    ($(#[$outer:meta])* $name:ident { $($(#[doc = $doc:literal])+ $variant:ident => $text:literal,)+ }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name { $($(#[doc = $doc])+ $variant,)+ }

        impl $name {
            /// What happened and what to do about it.
            #[must_use]
            pub const fn message(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.message())
            }
        }

        impl Error for $name {}
    };
}

faults! {
    /// The peer broke a rule of the specification.
    PeerMisbehaved {
        /// A request was answered by HTTP status 202, which is for notifications.
        AcceptedRequest => "the server accepted a request without answering it (HTTP 202); report this to the server's author",
        /// The response stream ended without the response.
        EndedWithoutResponse => "the response ended before the answer came; call again if that is safe",
        /// The answer to `server/discover` is not a discovery result.
        InvalidDiscovery => "the server's answer to server/discover cannot be read; connect with a legacy version instead",
        /// The answer to `initialize` is not an initialization result.
        InvalidInitialization => "the server's answer to initialize cannot be read; check that the address is that of an MCP server",
        /// What came is not a JSON-RPC message, or is a malformed one.
        InvalidMessage => "the peer sent something that is not a JSON-RPC message; check that it is an MCP server",
        /// The response has a content type other than JSON and event stream.
        UnexpectedContentType => "the response is neither JSON nor an event stream; check that the address is that of an MCP server",
        /// An answer that asks for input has neither requests nor a state.
        EmptyInputRequest => "the server asked for input without saying which; report this to the server's author",
        /// More input was asked for at once than the limit on the peer's requests allows.
        TooManyInputRequests => "the server asked for too much at once; raise the limit on its requests if it really needs more",
        /// More input was asked for than the limit on rounds allows.
        TooManyRounds => "the server kept asking for input; raise the limit on rounds if it really needs more",
        /// Input was asked for that this client never declared.
        UndeclaredInput => "the server asked for input that this client did not declare; declare the capability or use another tool",
        /// A message is longer than the limit.
        MessageTooLarge => "the peer sent a message over the size limit; raise the limit or ask for less at once",
        /// A result of a kind this client does not know.
        UnknownResultType => "the server answered with an unknown kind of result; it may need an extension this client did not declare",
    }
}

faults! {
    /// Both sides are right, and have nothing in common.
    PeerIncompatible {
        /// There is no protocol version both sides speak.
        NoCommonVersion => "client and server share no protocol version; update the older one",
        /// The server does not speak the version that was pinned.
        PinnedVersion => "the server does not speak the pinned protocol version; connect without pinning one",
        /// The method does not exist in the version both sides speak.
        MethodNotInVersion => "the method does not exist in the negotiated protocol version; check the version before calling it",
        /// The server wants input for a call, and this build of the client has no feature `asks`.
        NeedsInput => "the server asks for input, which this client was built without; use the full client",
    }
}

faults! {
    /// Our own caller's mistake, to be found by reading the caller's code.
    ApiMisuse {
        /// The connection was closed before this was asked for.
        Closed => "the connection is closed; connect again",
        /// Too many requests wait for an answer.
        TooManyInFlight => "too many calls wait for an answer; await some of them first or raise the limit",
        /// The message is longer than the limit.
        MessageTooLarge => "the message is over the size limit; send less at once or raise the limit",
        /// `params` is not a JSON object.
        ParamsNotObject => "params must be a JSON object",
        /// The key belongs to no question that is open.
        UnknownAsk => "this question was already answered or withdrawn",
        /// The method belongs to the opening, which the machine does itself.
        ReservedMethod => "the connection does this itself; do not send it",
        /// A subscription, for which this build of the client has no feature `listen`.
        NoSubscriptions => "this client was built without subscriptions; use the full client",
    }
}

/// The link failed, whoever is at fault. Cheap to clone.
#[derive(Clone, Debug)]
pub struct TransportError(Arc<Failure>);

#[derive(Debug)]
struct Failure {
    kind: TransportErrorKind,
    message: Cow<'static, str>,
    status: Option<u16>,
    challenge: Option<String>,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

/// What kind of failure a [`TransportError`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TransportErrorKind {
    /// No connection could be made: refused, no such host, offline.
    Unreachable,
    /// The platform refuses to say why: a browser does this when a server's CORS answer does not allow the request.
    Opaque,
    /// The connection ended early.
    Closed,
    /// The peer was replaced by a new one that knows nothing of this connection.
    Restarted,
    /// Nothing came in time.
    Timeout,
    /// The server wants authorization (HTTP 401) or refuses this one (403).
    Unauthorized,
    /// The server answered with another HTTP status that is no success.
    Status,
    /// A message, body, line or event is over the size limit.
    TooLarge,
    /// What came breaks the rules of the transport.
    Malformed,
    /// Anything else.
    Other,
}

impl TransportError {
    /// A failure of `kind`, told by `message` (lower case, no final stop, saying what to do next).
    pub fn new(kind: TransportErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Arc::new(Failure { kind, message: message.into(), status: None, challenge: None, source: None }))
    }

    /// A response with an HTTP status that is no success, with its `WWW-Authenticate` value where it has one.
    #[must_use]
    pub fn status(status: u16, challenge: Option<String>) -> Self {
        Self::status_of(status, challenge, false)
    }

    /// The same; `session` says that the request named a session.
    pub(crate) fn status_of(status: u16, challenge: Option<String>, session: bool) -> Self {
        let (kind, message) = match status {
            404 if session => (
                TransportErrorKind::Restarted,
                "the server no longer knows the session (HTTP 404); call again if that is safe",
            ),
            401 => (TransportErrorKind::Unauthorized, "the server wants authorization (HTTP 401); send a valid token"),
            403 => (
                TransportErrorKind::Unauthorized,
                "the server refuses this request (HTTP 403); check the token's scope and the allowed origins",
            ),
            404 => (TransportErrorKind::Status, "there is nothing at this address (HTTP 404); check the URL"),
            405 => {
                (TransportErrorKind::Status, "the address does not take this kind of request (HTTP 405); check the URL")
            }
            413 => {
                (TransportErrorKind::TooLarge, "the server finds the message too large (HTTP 413); send less at once")
            }
            429 => (TransportErrorKind::Status, "the server is asked too often (HTTP 429); wait before the next call"),
            500..=599 => (TransportErrorKind::Status, "the server failed (HTTP 5xx); try again later"),
            _ => (
                TransportErrorKind::Status,
                "the server answered with an HTTP error status; check the URL and the server's log",
            ),
        };
        Self(Arc::new(Failure { kind, message: Cow::Borrowed(message), status: Some(status), challenge, source: None }))
    }

    /// Whether another attempt may succeed by itself: the server is overloaded or fails, or still holds what broke.
    pub(crate) fn is_transient(&self) -> bool {
        matches!(self.0.status, Some(408 | 409 | 425 | 429 | 500 | 502..=504))
    }

    /// The same failure, told in the peer's own words.
    pub(crate) fn with_message(&self, message: impl Into<Cow<'static, str>>) -> Self {
        let Failure { kind, status, challenge, source, .. } = &*self.0;
        Self(Arc::new(Failure {
            kind: *kind,
            message: message.into(),
            status: *status,
            challenge: challenge.clone(),
            source: source.clone(),
        }))
    }

    /// The same failure, caused by `source`.
    #[must_use]
    pub fn with_source(self, source: Arc<dyn Error + Send + Sync>) -> Self {
        let Failure { kind, message, status, challenge, .. } = &*self.0;
        Self(Arc::new(Failure {
            kind: *kind,
            message: message.clone(),
            status: *status,
            challenge: challenge.clone(),
            source: Some(source),
        }))
    }

    /// What kind of failure it is.
    #[must_use]
    pub fn kind(&self) -> TransportErrorKind {
        self.0.kind
    }

    /// The HTTP status, where there was one.
    #[must_use]
    pub fn http_status(&self) -> Option<u16> {
        self.0.status
    }

    /// The `WWW-Authenticate` value of a 401 or 403.
    #[must_use]
    pub fn challenge(&self) -> Option<&str> {
        self.0.challenge.as_deref()
    }

    /// What happened and what to do about it.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl Error for TransportError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_ref().map(|source| &**source as &(dyn Error + 'static))
    }
}
