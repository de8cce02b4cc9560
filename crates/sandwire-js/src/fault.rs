//! Errors as JavaScript gets them: a code, a message that says what to do, JSON data.
//!
//! What JavaScript threw stays there as a finished error, under a number that is the [`Cause`] of the failure here.

use std::{error::Error, fmt, sync::Arc};

use sandwire_json::Raw;
use sandwire_proto::{
    ApiMisuse, TransportError, TransportErrorKind,
    client::{CallError, OpenError},
};
use sandwire_types::ErrorObject;

use crate::boundary;

/// What was thrown, by its number.
struct Cause(u32);

impl Drop for Cause {
    fn drop(&mut self) {
        boundary::forget(self.0);
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("thrown by JavaScript")
    }
}

impl fmt::Debug for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for Cause {}

/// The failure that stands for what was thrown under this number; 0 is no failure.
pub(crate) fn thrown(kind: TransportErrorKind, cause: u32) -> Option<TransportError> {
    (cause != 0).then(|| TransportError::new(kind, "").with_source(Arc::new(Cause(cause))))
}

/// The parts of an `McpError`.
pub(crate) struct Fault<'a> {
    /// Empty for an error that the server answered with.
    pub(crate) code: &'static str,
    /// Its JSON-RPC code, or the HTTP status of a failed request, or 0.
    pub(crate) number: f64,
    pub(crate) message: &'a str,
    /// JSON, or the challenge of a server that wants authorization, or empty.
    pub(crate) data: &'a str,
    /// The number of what was thrown, which has all of the above, or 0.
    pub(crate) cause: u32,
}

impl<'a> Fault<'a> {
    fn new(code: &'static str, message: &'a str) -> Self {
        Self { code, number: 0.0, message, data: "", cause: 0 }
    }

    fn peer(error: &'a ErrorObject) -> Self {
        let data = error.data.as_ref().map_or("", Raw::as_str);
        Self { number: error.code.0 as f64, data, ..Self::new("", &error.message) }
    }

    pub(crate) fn misuse(fault: ApiMisuse) -> Self {
        Self::new("misuse", fault.message())
    }

    pub(crate) fn unreadable() -> Self {
        Self::new("misuse", "the parameters are no JSON that can be sent; nest them less deeply")
    }

    pub(crate) fn transport(error: &'a TransportError) -> Self {
        let code = match error.kind() {
            TransportErrorKind::Closed => "closed",
            TransportErrorKind::Unauthorized => "unauthorized",
            // Here a server is only ever replaced by one that answers with a status: 404 for a session it does not know.
            TransportErrorKind::Status | TransportErrorKind::Restarted => "status",
            TransportErrorKind::TooLarge => "too-large",
            TransportErrorKind::Malformed => "malformed",
            _ => "transport",
        };
        Self {
            number: f64::from(error.http_status().unwrap_or_default()),
            data: error.challenge().unwrap_or_default(),
            cause: error.source().and_then(|source| source.downcast_ref::<Cause>()).map_or(0, |cause| cause.0),
            ..Self::new(code, error.message())
        }
    }

    pub(crate) fn opening(error: &'a OpenError) -> Self {
        match error {
            OpenError::Refused(error) => Self::peer(error),
            OpenError::Timeout => Self::new(
                "timeout",
                "the server did not answer in time; check that it runs and that the address is right",
            ),
            OpenError::Transport(error) => Self::transport(error),
            OpenError::Misbehaved(fault) => Self::new("misbehaved", fault.message()),
            OpenError::Incompatible(fault) => Self::new("incompatible", fault.message()),
            _ => Self::new("closed", "the connection was closed before it was open; check the server's log"),
        }
    }

    pub(crate) fn call(error: &'a CallError) -> Self {
        match error {
            CallError::Peer(error) | CallError::Refused(error) => Self::peer(error),
            CallError::Timeout | CallError::TotalTimeout => {
                Self::new("timeout", "no answer came in time; raise the timeout, or reset it on progress")
            }
            CallError::Open(error) => Self::opening(error),
            CallError::Closed(Some(error)) | CallError::Transport(error) => Self::transport(error),
            CallError::Misbehaved(fault) => Self::new("misbehaved", fault.message()),
            CallError::Incompatible(fault) => Self::new("incompatible", fault.message()),
            CallError::Misuse(fault) => Self::misuse(*fault),
            CallError::Cancelled => Self::new("cancelled", "the call was cancelled"),
            #[cfg(feature = "client")]
            CallError::Unsubscribed => Self::new("unsubscribed", sandwire_proto::client::UNSUBSCRIBED),
            _ => Self::new("closed", "the connection is closed; connect again"),
        }
    }
}
