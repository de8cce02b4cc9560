//! What a handler can learn about its call, and do while it runs.

use crate::ask::{Elicited, Form};
use crate::error::ToolError;
use crate::server::Server;
use sandwire_io::{Answer, Outlet};
use sandwire_json::{Raw, from_str};
use sandwire_proto::server::{AskError, Progress};
use sandwire_proto::{PeerInfo, Principal};
use sandwire_types::model::{
    CreateMessageRequestParams, CreateMessageResult, Implementation, ListRootsResult, LoggingLevel, ReadResourceResult,
    Root,
};
use sandwire_types::{ErrorObject, Method, ProtocolVersion, trace::TraceContext};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::future::Future;
use std::sync::Arc;

/// A call under way, as its handler sees it. Cheap to clone.
///
/// ```
/// use sandwire_server::{Context, Server};
///
/// async fn count(ctx: &Context) -> String {
///     for step in 1..=3 {
///         ctx.progress(f64::from(step), 3.0, "counting");
///     }
///     "three".to_owned()
/// }
///
/// let server = Server::builder("counter", "1.0").tool("count", "Counts to three.", count).build()?;
/// # Ok::<(), sandwire_server::RegistrationError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Context {
    server: Server,
    outlet: Outlet,
    peer: Arc<PeerInfo>,
    meta: Option<Raw>,
    /// Set when the handler wants the call to become a task.
    #[cfg(feature = "tasks")]
    demand: Option<Arc<std::sync::atomic::AtomicBool>>,
}

impl Context {
    pub(crate) fn new(server: Server, outlet: Outlet, peer: Arc<PeerInfo>, meta: Option<Raw>) -> Self {
        Self {
            server,
            outlet,
            peer,
            meta,
            #[cfg(feature = "tasks")]
            demand: None,
        }
    }

    /// Tells the client how far the call is: `progress` of `total`, in any unit.
    ///
    /// `progress` must grow from one report to the next; one that does not is not sent, and none is when the client
    /// did not ask for progress.
    pub fn progress<'a>(&self, progress: f64, total: impl Into<Option<f64>>, message: impl Into<Option<&'a str>>) {
        self.outlet.progress(Progress { progress, total: total.into(), message: message.into() });
    }

    /// Sends a log message, if the client wants messages of this level. `data` is any value serde can write.
    pub fn log(&self, level: LoggingLevel, data: impl Serialize) {
        self.log_as(None, level, &data);
    }

    /// Sends a log message under the name of a logger.
    pub fn log_from(&self, logger: &str, level: LoggingLevel, data: impl Serialize) {
        self.log_as(Some(logger), level, &data);
    }

    fn log_as(&self, logger: Option<&str>, level: LoggingLevel, data: &impl Serialize) {
        if let Ok(data) = sandwire_json::serde::to_raw(data) {
            self.outlet.log(level, logger, data);
        }
    }

    /// Whether the client gave up on the call. A handler that asks is told, and not dropped.
    pub fn is_cancelled(&self) -> bool {
        self.outlet.is_cancelled()
    }

    /// Waits until the client gives up on the call.
    ///
    /// A handler that never waits for this is dropped where it awaits when that happens, which is all that most need.
    /// One that does runs on, to clean up; what it returns goes nowhere.
    pub fn cancelled(&self) -> impl Future<Output = ()> + 'static {
        self.outlet.cancelled()
    }

    /// Closes the connection that the call's stream is sent on, to be rid of it while the call takes long. The client
    /// comes back for what is said from then on. Nothing happens where it could not: other than in a session over HTTP
    /// whose events are kept, with a client of 2025-11-25.
    #[cfg(feature = "sessions")]
    pub fn close_stream(&self) {
        self.outlet.close_stream();
    }

    /// Reads a resource of this server, as a client would.
    ///
    /// # Errors
    /// There is no such resource, or its handler failed.
    pub async fn read_resource(&self, uri: &str) -> Result<ReadResourceResult, ToolError> {
        let reply = match self.server.read(uri, self) {
            Answer::Ready(reply) => reply,
            Answer::Pending(reply) => reply.await,
        };
        let reply = reply.map_err(|error| ToolError::new(error.message))?;
        from_str(reply.value.as_str()).map_err(|error| ToolError::new(error.message()))
    }

    /// Asks the user, through the client. `key` tells this question from the others of the same call.
    ///
    /// The handler waits for the answer where the connection can carry a question back. Where it cannot, the call ends
    /// here and the handler is run again from its beginning once the client has the answers: **code before a question
    /// may run more than once**. What must not belongs into [`once`](Self::once).
    ///
    /// ```
    /// use sandwire_server::{Context, Elicited, Form, Schema, ToolError};
    ///
    /// #[derive(serde::Deserialize, Schema)]
    /// struct Who {
    ///     /// Your name
    ///     name: String,
    /// }
    ///
    /// async fn greet(ctx: &Context) -> Result<String, ToolError> {
    ///     Ok(match ctx.elicit("who", Form::<Who>::new("Who are you?")).await? {
    ///         Elicited::Accepted(who) => ["Hello ", &who.name].concat(),
    ///         Elicited::Declined | Elicited::Cancelled => "Hello stranger".to_owned(),
    ///     })
    /// }
    /// # sandwire_server::Server::builder("greeter", "1.0").tool("greet", "Greets.", greet).build()?;
    /// # Ok::<(), sandwire_server::RegistrationError>(())
    /// ```
    ///
    /// # Errors
    /// The client cannot be asked this, refused, or answered nonsense. `?` passes it on as the error that the
    /// specification wants.
    pub async fn elicit<T>(&self, key: &str, form: Form<T>) -> Result<Elicited<T>, AskError> {
        let params = form.params(self.peer.era(), || self.outlet.unguessable());
        let answer = self.outlet.ask(key, Method::ElicitationCreate, params).await?;
        form.read(&answer)
    }

    /// Asks the client's model. `key` tells this question from the others; see [`elicit`](Self::elicit).
    ///
    /// # Errors
    /// As [`elicit`](Self::elicit).
    pub async fn sample(
        &self,
        key: &str,
        request: CreateMessageRequestParams,
    ) -> Result<CreateMessageResult, AskError> {
        self.ask(key, Method::SamplingCreateMessage, sandwire_json::to_raw(&request)).await
    }

    /// Asks which folders the client works in. `key` tells this question from the others; see [`elicit`](Self::elicit).
    ///
    /// # Errors
    /// As [`elicit`](Self::elicit).
    pub async fn roots(&self, key: &str) -> Result<Vec<Root>, AskError> {
        self.ask(key, Method::RootsList, Raw::object()).await.map(|answer: ListRootsResult| answer.roots)
    }

    async fn ask<T: sandwire_json::Read>(&self, key: &str, method: Method, params: Raw) -> Result<T, AskError> {
        let answer = self.outlet.ask(key, method, params).await?;
        from_str(answer.as_str()).map_err(|error| crate::ask::nonsense(&error))
    }

    /// Runs `work` once for this call, also when a question makes the handler run again: then the value it gave before
    /// is returned, and `work` is dropped unpolled. The value travels through the client, which can read it and cannot
    /// change it.
    ///
    /// ```
    /// # use sandwire_server::{Context, Elicited, Form, ToolError};
    /// # async fn reserve() -> u64 { 7 }
    /// async fn order(ctx: &Context) -> Result<String, ToolError> {
    ///     let ticket = ctx.once("ticket", reserve()).await?;
    ///     ctx.elicit("sure", Form::<sandwire_server::Agreed>::new("Buy it?")).await?;
    ///     Ok(format!("ticket {ticket}"))
    /// }
    /// # sandwire_server::Server::builder("shop", "1.0").tool("order", "Orders.", order).build()?;
    /// # Ok::<(), sandwire_server::RegistrationError>(())
    /// ```
    ///
    /// # Errors
    /// The client brought back a state that is not this server's, or the value cannot be written as JSON and read back.
    pub async fn once<T: Serialize + DeserializeOwned>(
        &self,
        key: &str,
        work: impl Future<Output = T>,
    ) -> Result<T, ErrorObject> {
        if let Some(value) = self.outlet.recorded(key)? {
            return sandwire_json::serde::from_str(value.as_str()).map_err(|error| unkept(&error));
        }
        let value = work.await;
        self.outlet.record(key, sandwire_json::serde::to_raw(&value).map_err(|error| unkept(&error))?)?;
        Ok(value)
    }

    /// What the client says it is.
    pub fn client_info(&self) -> Option<Implementation> {
        self.peer.info.as_ref().and_then(|info| from_str(info.as_str()).ok())
    }

    /// Who the client is, as the host that authenticated it says; see [`Hook::authenticate`](crate::http::Hook).
    pub fn principal(&self) -> Option<&Principal> {
        self.peer.principal.as_deref()
    }

    /// What the client can do: a `ClientCapabilities` object.
    pub fn client_capabilities(&self) -> &Raw {
        &self.peer.capabilities
    }

    /// The settings with which the client declared an extension, if it did: an object.
    pub fn extension(&self, id: &str) -> Option<Raw> {
        self.peer.extension(id).map(Raw::from_valid)
    }

    /// The protocol version of the call.
    pub fn protocol_version(&self) -> ProtocolVersion {
        self.peer.version
    }

    /// The members of the request's `_meta` that the protocol does not use itself, such as `traceparent`.
    pub fn meta(&self) -> Option<&Raw> {
        self.meta.as_ref()
    }

    /// The trace that the call belongs to, if the client says so and keeps to the format: for the spans and log lines
    /// of what the handler does, and for what it calls in turn.
    pub fn trace(&self) -> Option<TraceContext> {
        TraceContext::read(self.meta.as_ref()?)
    }

    /// The server.
    pub fn server(&self) -> &Server {
        &self.server
    }

    #[cfg(feature = "tasks")]
    pub(crate) fn peer(&self) -> &PeerInfo {
        &self.peer
    }

    #[cfg(feature = "tasks")]
    pub(crate) fn demand(&self) -> Option<&std::sync::atomic::AtomicBool> {
        self.demand.as_deref()
    }

    /// The same call, which becomes a task when its handler sets `demand`.
    #[cfg(feature = "tasks")]
    pub(crate) fn on_demand(self, demand: Arc<std::sync::atomic::AtomicBool>) -> Self {
        Self { demand: Some(demand), ..self }
    }

    /// The same call, which goes on over another connection.
    #[cfg(feature = "tasks")]
    pub(crate) fn through(self, outlet: Outlet) -> Self {
        Self { outlet, demand: None, ..self }
    }

    /// What the connection offers below all this.
    pub fn outlet(&self) -> &Outlet {
        &self.outlet
    }
}

fn unkept(error: &sandwire_json::Error) -> ErrorObject {
    let mut message = String::from("a value for the next run of this call cannot be kept: ");
    message.push_str(error.message());
    ErrorObject::internal(message)
}
