use crate::{Client, Error, ErrorKind, cache::Cache};
use sandwire_io::{
    BoxFuture, Callback, MaybeSend, MaybeSync,
    client::{Call, CallFuture, ClientHandle, Timeout},
};
use sandwire_json::{Raw, Read};
use sandwire_proto::{PeerInfo, client};
use sandwire_types::{
    Capability, LoggingLevel, Method, Notification, Reply, ResultKind,
    model::{CallToolResult, ContentBlock, ProgressNotificationParams},
    trace::TraceContext,
};
use serde::de::DeserializeOwned;
use std::{
    fmt,
    future::IntoFuture,
    marker::PhantomData,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

pub(crate) type Decode<T> = fn(Reply) -> Result<T, Error>;

/// A call to make: options, then `.await`. It is sent when it is first awaited; dropping what awaits cancels it.
///
/// ```
/// # use std::time::Duration;
/// # async fn example(client: sandwire_client::Client) -> Result<(), sandwire_client::Error> {
/// let result = client
///     .call_tool("build", &())
///     .timeout(Duration::from_secs(5))
///     .keep_while_progressing()
///     .on_progress(|progress| println!("{:?}", progress.message))
///     .await?;
/// # let _ = result;
/// # Ok(())
/// # }
/// ```
#[must_use = "a request is sent when it is awaited"]
pub struct Request<T> {
    client: ClientHandle,
    call: Result<Call, Error>,
    decode: Decode<T>,
    cache: Option<Arc<Cache>>,
    #[cfg(feature = "schema")]
    listed: Option<Arc<crate::validate::Listed>>,
    only_offered: bool,
}

impl<T> Request<T> {
    pub(crate) fn new(client: &Client, call: Result<Call, Error>, decode: Decode<T>) -> Self {
        Self {
            client: client.handle().clone(),
            call,
            decode,
            cache: client.cache().cloned(),
            only_offered: client.only_offered(),
            #[cfg(feature = "schema")]
            listed: client.listed().cloned(),
        }
    }

    /// Asks the server even if the result is in the client's cache, and does not keep the new one.
    pub fn uncached(mut self) -> Self {
        self.cache = None;
        self
    }

    /// How long the answer may take. One minute unless the options say otherwise.
    pub fn timeout(self, timeout: Duration) -> Self {
        self.with(|call| call.request.timeout = Timeout::After(milliseconds(timeout)))
    }

    /// Waits as long as it takes.
    pub fn no_timeout(self) -> Self {
        self.with(|call| call.request.timeout = Timeout::Never)
    }

    /// Begins the timeout anew with each progress notification, which are asked for.
    pub fn keep_while_progressing(self) -> Self {
        self.with(|call| {
            call.request.progress = true;
            call.request.reset_on_progress = true;
        })
    }

    /// How long the call may take however much progress it makes.
    pub fn total_timeout(self, timeout: Duration) -> Self {
        self.with(|call| call.request.total_timeout_ms = Some(milliseconds(timeout)))
    }

    /// Asks for progress and tells it to `seen`, always before the result is there.
    pub fn on_progress<F>(self, seen: F) -> Self
    where
        F: Fn(ProgressNotificationParams) + MaybeSend + MaybeSync + 'static,
    {
        let seen: Callback<Raw> = Arc::new(move |params: Raw| {
            if let Ok(progress) = sandwire_json::from_str(params.as_str()) {
                seen(progress);
            }
        });
        self.with(|call| {
            call.request.progress = true;
            call.on_progress = Some(seen);
        })
    }

    /// Tells each notification of the subscription to `seen`, the acknowledgement first. For
    /// [`listen`](crate::Client::listen).
    pub fn on_event<F: Fn(Notification) + MaybeSend + MaybeSync + 'static>(self, seen: F) -> Self {
        let seen: Callback<Notification> = Arc::new(seen);
        self.with(|call| call.on_event = Some(seen))
    }

    /// The least severe log messages the server may send while it works on this (modern era).
    pub fn log_level(self, level: LoggingLevel) -> Self {
        self.with(|call| call.request.log_level = Some(level))
    }

    /// Says which trace the call belongs to, in either era. To be called after [`meta`](Self::meta), which replaces it.
    ///
    /// ```
    /// use sandwire_types::trace::TraceContext;
    /// # async fn example(client: sandwire_client::Client) -> Result<(), Box<dyn std::error::Error>> {
    /// let trace = TraceContext::new("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")?;
    /// client.call_tool("build", &()).trace(&trace).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn trace(self, trace: &TraceContext) -> Self {
        self.with(|call| call.request.meta = Some(trace.written(call.request.meta.as_ref())))
    }

    /// Members to add to `_meta`, an object.
    pub fn meta(self, meta: Raw) -> Self {
        self.with(|call| call.request.meta = Some(meta))
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut Call)) -> Self {
        if let Ok(call) = &mut self.call {
            change(call);
        }
        self
    }

    /// The same call, with its result taken as another type.
    pub(crate) fn decoded_by<R>(self, decode: Decode<R>) -> Request<R> {
        Request {
            client: self.client,
            call: self.call,
            decode,
            cache: self.cache,
            only_offered: self.only_offered,
            #[cfg(feature = "schema")]
            listed: self.listed,
        }
    }

    pub(crate) fn with_params(self, params: Raw) -> Self {
        self.with(|call| call.request.params = Some(params))
    }
}

impl Request<CallToolResult> {
    /// Takes the structured content as a value of its type instead of the whole result. A result that says the tool
    /// failed becomes an [`Error`] of kind [`Tool`](ErrorKind::Tool).
    pub fn structured<R: DeserializeOwned>(self) -> Request<R> {
        self.decoded_by(structured)
    }
}

fn structured<R: DeserializeOwned>(reply: Reply) -> Result<R, Error> {
    let value = reply.value.as_str();
    let failed = sandwire_json::find(value, "isError") == Some("true");
    match sandwire_json::find(value, "structuredContent") {
        Some(content) if !failed => {
            sandwire_json::serde::from_str(content).map_err(|error| Error::decode("the structured content", error))
        }
        _ => Err(no_structure(reply)),
    }
}

fn no_structure(reply: Reply) -> Error {
    match decode::<CallToolResult>(reply) {
        Ok(result) if result.is_error == Some(true) => {
            let text = result.content.iter().find_map(|block| match block {
                ContentBlock::Text(text) => Some(text.text.as_str()),
                _ => None,
            });
            Error::tool(text.unwrap_or_default())
        }
        Ok(_) => Error::new(
            ErrorKind::Decode,
            "the tool gave no structured content; await the call without `structured` and read its content",
        ),
        Err(error) => error,
    }
}

pub(crate) fn decode<T: Read>(reply: Reply) -> Result<T, Error> {
    if let ResultKind::Other(kind) = &reply.kind {
        let kind: &str = kind;
        let message = ["the result is of the type `", kind, "` of an extension; make the call in the extension's way"];
        return Err(Error::new(ErrorKind::Decode, message.concat()));
    }
    read(&reply.value)
}

pub(crate) fn read<T: Read>(result: &Raw) -> Result<T, Error> {
    sandwire_json::from_str(result.as_str()).map_err(|error| Error::decode("the result", error))
}

pub(crate) fn call(method: Method, params: Option<Raw>) -> Call {
    client::Call::new(method, params).into()
}

fn milliseconds(duration: Duration) -> u64 {
    duration.as_millis().try_into().unwrap_or(u64::MAX)
}

/// A call that has begun.
enum Begun {
    Sent(CallFuture),
    /// Something is looked up first.
    Looked(BoxFuture<'static, Result<Reply, Error>>),
}

impl Future for Begun {
    type Output = Result<Reply, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut *self {
            Self::Sent(call) => Pin::new(call).poll(cx).map_err(Error::from),
            Self::Looked(call) => call.as_mut().poll(cx),
        }
    }
}

fn begin(client: ClientHandle, mut call: Call, cache: Option<Arc<Cache>>) -> Begun {
    if let Some(cache) = cache {
        if let Some(place) = cache.place(&call) {
            return Begun::Looked(Box::pin(async move { Ok(cache.call(client, call, place).await?) }));
        }
        if call.request.method == Method::SubscriptionsListen {
            call.on_event = Some(cache.overhear(call.on_event.take()));
        }
    }
    Begun::Sent(client.into_call(call))
}

/// Whether the server declared what a method needs.
fn offered(server: &PeerInfo, method: &Method) -> Result<(), Error> {
    // The oldest version has no word for completions.
    let needed = method.facts().and_then(|facts| facts.capability);
    let needed =
        needed.filter(|needed| *needed != Capability::Completions || server.version.has_completions_capability());
    match needed.is_none_or(|needed| needed.is_in(&server.capabilities)) {
        true => Ok(()),
        false => Err(Error::new(
            ErrorKind::Incompatible,
            "the server does not offer this; look at its capabilities before calling it",
        )),
    }
}

impl<T> IntoFuture for Request<T> {
    type Output = Result<T, Error>;
    type IntoFuture = Response<T>;

    fn into_future(self) -> Response<T> {
        #[cfg(feature = "schema")]
        let watch = self.listed.zip(self.call.as_ref().ok()).and_then(|(listed, call)| listed.watch(call));
        let Self { client, call, decode, cache, only_offered, .. } = self;
        let state = match call {
            Ok(call) if only_offered => {
                let checked = async move {
                    let server = client.ready().await?;
                    offered(&server, &call.request.method)?;
                    begin(client, call, cache).await
                };
                State::Waiting(Begun::Looked(Box::pin(checked)), decode)
            }
            Ok(call) => State::Waiting(begin(client, call, cache), decode),
            Err(error) => State::Failed(Some(error)),
        };
        Response {
            state,
            #[cfg(feature = "schema")]
            watch,
            result: PhantomData,
        }
    }
}

impl<T> fmt::Debug for Request<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").field("call", &self.call).finish_non_exhaustive()
    }
}

/// A call under way. Dropping it cancels the call.
#[must_use = "dropping a call cancels it"]
pub struct Response<T> {
    state: State<T>,
    #[cfg(feature = "schema")]
    watch: Option<crate::validate::Watch>,
    result: PhantomData<fn() -> T>,
}

enum State<T> {
    Waiting(Begun, Decode<T>),
    Failed(Option<Error>),
}

impl<T> Future for Response<T> {
    type Output = Result<T, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let (polled, decode) = match &mut self.state {
            State::Waiting(call, decode) => (Pin::new(call).poll(cx), *decode),
            State::Failed(error) => {
                return Poll::Ready(Err(error
                    .take()
                    .unwrap_or_else(|| Error::new(ErrorKind::Usage, "the call was polled after it had ended"))));
            }
        };
        polled.map(|result| {
            let reply = result?;
            #[cfg(feature = "schema")]
            if let Some(watch) = &self.watch {
                watch.examine(&reply)?;
            }
            decode(reply)
        })
    }
}

impl<T> fmt::Debug for Response<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response").finish_non_exhaustive()
    }
}
