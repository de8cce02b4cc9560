use super::{
    CallError, CallKey, OpenError,
    core::{CallResult, Core},
};
use crate::{Callback, OnceCallback};
use sandwire_json::Raw;
use sandwire_proto::{ApiMisuse, PeerInfo, client};
use sandwire_types::{ErrorObject, Method, Notification};
use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

/// A request to make, and what to tell while it is under way.
#[allow(clippy::exhaustive_structs)]
pub struct Call {
    /// The request.
    pub request: client::Call,
    /// Told the parameters of each progress notification; [`request.progress`](client::Call::progress) asks for them.
    pub on_progress: Option<Callback<Raw>>,
    /// Told each notification of the subscription, for `subscriptions/listen`.
    pub on_event: Option<Callback<Notification>>,
}

impl Call {
    /// The same call, with progress told to `seen`.
    #[must_use]
    pub fn with_progress(mut self, seen: Callback<Raw>) -> Self {
        self.request.progress = true;
        self.on_progress = Some(seen);
        self
    }

    /// The same call, with its subscription's notifications told to `seen`.
    #[must_use]
    pub fn with_events(mut self, seen: Callback<Notification>) -> Self {
        self.on_event = Some(seen);
        self
    }
}

impl From<client::Call> for Call {
    fn from(request: client::Call) -> Self {
        Self { request, on_progress: None, on_event: None }
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("request", &self.request).finish_non_exhaustive()
    }
}

/// Calls a server. Clones talk over the same connection, which closes with the last of them and of their calls.
#[derive(Clone)]
pub struct ClientHandle {
    open: Arc<Open>,
}

/// Closes the connection when nobody can call any more.
struct Open {
    core: Arc<Core>,
}

impl Open {
    fn close(&self) {
        self.core.command(|machine, now| machine.close(now));
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.close();
    }
}

impl ClientHandle {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self { open: Arc::new(Open { core }) }
    }

    /// Makes a call. It begins now; dropping the future cancels it.
    pub fn call(&self, call: impl Into<Call>) -> CallFuture {
        self.clone().into_call(call)
    }

    /// Makes a [call](Self::call) with a handle that is not needed for anything else.
    pub fn into_call(self, call: impl Into<Call>) -> CallFuture {
        let core = &self.open.core;
        let state = match core.begin(call.into(), &mut None) {
            Ok(key) => CallState::Begun(key),
            Err(error) => CallState::Rejected(error),
        };
        CallFuture { client: self, state }
    }

    /// Makes a call and has its result told to `done`, exactly once, unless it is [cancelled](Self::cancel).
    ///
    /// The key cancels it. If the call cannot begin, `done` is called before this returns.
    pub fn call_with(&self, call: impl Into<Call>, done: OnceCallback<CallResult>) -> CallKey {
        let mut done = Some(done);
        match self.open.core.begin(call.into(), &mut done) {
            Ok(key) => {
                self.open.core.pump();
                key
            }
            Err(error) => {
                if let Some(done) = done {
                    done(Err(error));
                }
                CallKey::from_u64(u64::MAX)
            }
        }
    }

    /// Cancels a call. Its `done` is not called. Nothing happens if the call is over.
    pub fn cancel(&self, key: CallKey) {
        self.open.core.forget(key);
    }

    /// Sends a notification.
    ///
    /// # Errors
    /// If the connection is closed, or the notification is over the size limit.
    pub fn notify(&self, notification: Notification) -> Result<(), ApiMisuse> {
        self.open.core.command(|machine, now| machine.notify(now, notification))
    }

    /// Waits until the connection is open, or cannot be opened.
    pub fn ready(&self) -> Ready {
        Ready { client: self.clone() }
    }

    /// Whether the server may ask this of the client, by what the client declared.
    ///
    /// # Errors
    /// What to answer instead.
    pub fn admit(&self, method: &Method, params: &Raw) -> Result<(), ErrorObject> {
        self.open.core.command(|machine, _| machine.admit(method, params))
    }

    /// The server, once the connection is open.
    #[must_use]
    pub fn info(&self) -> Option<Arc<PeerInfo>> {
        self.open.core.peer()
    }

    /// Closes the connection; calls under way end with [`CallError::Closed`]. The driver ends after that.
    pub fn close(&self) {
        self.open.close();
    }
}

impl fmt::Debug for ClientHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientHandle").field("server", &self.info()).finish_non_exhaustive()
    }
}

/// A call under way. Dropping it cancels the call.
#[must_use = "dropping a call cancels it"]
pub struct CallFuture {
    client: ClientHandle,
    state: CallState,
}

enum CallState {
    Begun(CallKey),
    Waiting(CallKey),
    Rejected(CallError),
    Over,
}

impl Future for CallFuture {
    type Output = CallResult;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<CallResult> {
        if let CallState::Begun(key) = self.state {
            self.state = CallState::Waiting(key);
            self.client.open.core.pump();
        }
        match std::mem::replace(&mut self.state, CallState::Over) {
            CallState::Begun(key) | CallState::Waiting(key) => {
                let poll = self.client.open.core.poll_call(key, cx.waker());
                if poll.is_pending() {
                    self.state = CallState::Waiting(key);
                }
                poll
            }
            CallState::Rejected(error) => Poll::Ready(Err(error)),
            CallState::Over => Poll::Ready(Err(CallError::Cancelled)),
        }
    }
}

impl Drop for CallFuture {
    fn drop(&mut self) {
        if let CallState::Begun(key) | CallState::Waiting(key) = self.state {
            self.client.open.core.forget(key);
        }
    }
}

impl fmt::Debug for CallFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallFuture").finish_non_exhaustive()
    }
}

/// Waits until a connection is open.
#[must_use = "futures do nothing unless polled"]
pub struct Ready {
    client: ClientHandle,
}

impl Future for Ready {
    type Output = Result<Arc<PeerInfo>, OpenError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.client.open.core.poll_opened(cx.waker())
    }
}

impl fmt::Debug for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ready").finish_non_exhaustive()
    }
}
