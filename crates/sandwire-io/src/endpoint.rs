//! What a server is to everything that carries messages to it.

use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use sandwire_json::Raw;
use sandwire_proto::{
    PeerInfo,
    http::Headers,
    server::{AskError, AskKey, AskStep, CallKey, Config, Learned, Progress},
};
use sandwire_types::{ErrorObject, LoggingLevel, Method, Notification, Reply, Request};

use crate::{
    bounds::{BoxFuture, MaybeSend, MaybeSync},
    changes::Changes,
    host::Host,
};

/// A server, as seen by the code that carries messages to it.
///
/// The connection itself (opening, discovery, ping, log levels, subscriptions, cancellation) is handled before an
/// endpoint sees anything. What arrives here are requests whose method exists in the negotiated version and whose
/// capability was declared, so an endpoint answers each by its tables.
///
/// ```
/// use std::sync::Arc;
/// use sandwire_io::{Answer, Call, Endpoint};
/// use sandwire_proto::server::Config;
/// use sandwire_types::{Raw, Reply};
///
/// struct Empty(Arc<Config>);
///
/// impl Endpoint for Empty {
///     fn config(&self) -> Arc<Config> {
///         self.0.clone()
///     }
///     fn call(&self, _: Call) -> Answer {
///         Answer::Ready(Ok(Reply::new(Raw::from_valid(r#"{"tools":[]}"#))))
///     }
/// }
/// ```
pub trait Endpoint: MaybeSend + MaybeSync + 'static {
    /// What the server declares. Asked once for every connection and every HTTP exchange, so it should be cheap.
    fn config(&self) -> Arc<Config>;

    /// Answers a request, at once or later.
    fn call(&self, call: Call) -> Answer;

    /// Hears of a client's notification that the connection has no use for itself, in the order they came.
    fn notification(&self, notification: &Notification, peer: &Arc<PeerInfo>) {
        let _ = (notification, peer);
    }

    /// Where the server announces changes of its tables. Without it, clients never hear of any.
    fn changes(&self) -> Option<&Changes> {
        None
    }

    /// Whether the header fields of an HTTP request repeat those arguments of a tool that its input schema says they
    /// must: see [`mirrored`](sandwire_proto::http::param_headers::mirrored).
    fn is_mirrored(&self, tool: &str, arguments: &str, headers: &Headers) -> bool {
        let _ = (tool, arguments, headers);
        true
    }
}

/// How a request is answered.
#[allow(missing_debug_implementations)]
#[allow(clippy::exhaustive_enums)]
pub enum Answer {
    /// Already done. Costs no allocation.
    Ready(Result<Reply, ErrorObject>),
    /// Done when the future is. It runs inside the connection's driver; it is dropped when the call is cancelled,
    /// unless it watches for that (see [`Outlet::cancelled`]).
    Pending(BoxFuture<'static, Result<Reply, ErrorObject>>),
}

/// A request to answer.
#[derive(Debug)]
#[non_exhaustive]
pub struct Call {
    /// The request.
    pub request: Request,
    /// Who asks, in which version.
    pub peer: Arc<PeerInfo>,
    /// What can be said to the client before the answer.
    pub outlet: Outlet,
}

/// What a handler can say to the client, and ask it, while its call is under way.
///
/// Cheap to clone, and harmless to keep: once the call has been answered or cancelled, nothing said here reaches
/// the client.
#[derive(Clone)]
pub struct Outlet {
    host: Arc<Host>,
    key: CallKey,
}

impl Outlet {
    pub(crate) fn new(host: Arc<Host>, key: CallKey) -> Self {
        Self { host, key }
    }

    /// Tells the client how far the call is. Nothing is sent if the client did not ask for progress, or if
    /// `progress` is not more than what was told before.
    pub fn progress(&self, progress: Progress<'_>) {
        self.host.say(|machine| machine.progress(self.key, progress));
    }

    /// Sends a log message, if the client wants messages of this level. `data` is any JSON value.
    pub fn log(&self, level: LoggingLevel, logger: Option<&str>, data: Raw) {
        self.host.say(|machine| machine.log(self.key, level, logger, data));
    }

    /// Sends a notification that belongs to this call: on HTTP, on the call's own stream.
    pub fn notify(&self, method: Method, params: Option<Raw>) {
        self.host.say(|machine| machine.notify(self.key, method, params));
    }

    /// Closes the connection that the call's stream is sent on, to be rid of it while the call takes long. The client
    /// comes back for what is said from then on. Nothing happens where it could not: other than in a session over HTTP
    /// whose events are kept, with a client of 2025-11-25.
    #[cfg(feature = "sessions")]
    pub fn close_stream(&self) {
        self.host.close_stream(self.key);
    }

    /// Whether the client gave up on the call. A handler that asks is told, and not dropped.
    pub fn is_cancelled(&self) -> bool {
        self.host.watch(self.key)
    }

    /// Waits until the client gives up on the call. A handler that waits for this is not dropped when it happens:
    /// it runs on to clean up, and what it answers goes nowhere. Over HTTP, where giving up is dropping the response,
    /// it is polled once more.
    pub fn cancelled(&self) -> Cancelled {
        self.host.watch(self.key);
        Cancelled { outlet: self.clone() }
    }

    /// Asks the client for input: `method` is `elicitation/create`, `sampling/createMessage` or `roots/list`, and
    /// `name` tells this question from the others of the same call.
    ///
    /// In the legacy era, and in any with a client in the same process, the handler waits for the client's answer. In
    /// the modern era the call ends here, is answered with the question, and the handler is run again from its
    /// beginning when the client calls again with the answer: code before a question may run more than once. What must
    /// not can be kept with [`record`](Self::record).
    ///
    /// # Errors
    /// [`AskError`] says why there is no answer.
    pub fn ask(&self, name: &str, method: Method, params: Raw) -> Ask {
        Ask { outlet: self.clone(), state: AskState::New { name: name.into(), method, params } }
    }

    /// 128 bits that nobody can guess, in hexadecimal digits.
    pub fn unguessable(&self) -> String {
        let mut bytes = [0; 16];
        self.host.env().fill_random(&mut bytes);
        let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
        bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
    }

    /// What was recorded under `name` in an earlier run of this call.
    ///
    /// # Errors
    /// The client brought back a state that it did not get from this server, or too late.
    pub fn recorded(&self, name: &str) -> Result<Option<Raw>, AskError> {
        self.host.recorded(self.key, name)
    }

    /// What this call has learned so far, for a call that goes on in its place.
    ///
    /// # Errors
    /// As [`recorded`](Self::recorded).
    pub fn learned(&self) -> Result<Learned, AskError> {
        self.host.learned(self.key)
    }

    /// Keeps `value` for the next run of this call. It travels through the client, which can read it and cannot
    /// change it.
    ///
    /// # Errors
    /// As [`recorded`](Self::recorded).
    pub fn record(&self, name: &str, value: Raw) -> Result<(), AskError> {
        self.host.record(self.key, name, value)
    }
}

impl fmt::Debug for Outlet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outlet").field("key", &self.key).finish_non_exhaustive()
    }
}

/// Waits until the client gives up on a call.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct Cancelled {
    outlet: Outlet,
}

impl Future for Cancelled {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.outlet.host.poll_cancelled(self.outlet.key, cx.waker())
    }
}

/// A question to the client.
#[derive(Debug)]
#[must_use = "the question is asked when this is polled"]
pub struct Ask {
    outlet: Outlet,
    state: AskState,
}

#[derive(Debug)]
enum AskState {
    New {
        name: Box<str>,
        method: Method,
        params: Raw,
    },
    Waiting(AskKey),
    /// The call ends here: whoever runs the handler drops it.
    Suspended,
    Over,
}

impl Future for Ask {
    type Output = Result<Raw, AskError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let host = Arc::clone(&self.outlet.host);
        let polled = match &self.state {
            AskState::New { name, method, params } => {
                match host.ask(self.outlet.key, name, method, params, cx.waker()) {
                    Ok(AskStep::Sent(ask)) => {
                        self.state = AskState::Waiting(ask);
                        return Poll::Pending;
                    }
                    Ok(AskStep::Suspended) => {
                        self.state = AskState::Suspended;
                        return Poll::Pending;
                    }
                    Ok(AskStep::Answered(answer)) => Poll::Ready(Ok(answer)),
                    Err(error) => Poll::Ready(Err(error)),
                }
            }
            AskState::Waiting(ask) => host.poll_answer(*ask, cx.waker()),
            AskState::Suspended => return Poll::Pending,
            AskState::Over => Poll::Ready(Err(AskError::Over)),
        };
        if polled.is_ready() {
            self.state = AskState::Over;
        }
        polled
    }
}

impl Drop for Ask {
    fn drop(&mut self) {
        if let AskState::Waiting(ask) = self.state {
            self.outlet.host.unask(ask);
        }
    }
}
