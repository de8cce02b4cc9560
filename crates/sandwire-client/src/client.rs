use crate::{Error, Options, Page, Request, Subscription, cache::Cache, handler::Handlers, page, request};
use sandwire_io::{
    Endpoint, Env, Link, Timer,
    client::{ClientHandle, Driver, connect},
    in_memory,
};
use sandwire_json::{Raw, Read, Write, Writer};
use sandwire_proto::{PeerInfo, Time};
use sandwire_types::{
    LoggingLevel, Method, Notification, Reply,
    model::{
        CallToolResult, CompleteRequestParams, CompleteResult, DiscoverResult, EmptyResult, GetPromptRequestParams,
        GetPromptResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, Map,
        Prompt, ReadResourceResult, Resource, ResourceRequestParams, ResourceTemplate, SetLevelRequestParams,
        SubscriptionFilter, SubscriptionsListenRequestParams, Tool,
    },
};
use serde::Serialize;
use std::{
    sync::Arc,
    task::{Context, Poll},
};

/// A connection to one server. Clones talk over the same connection.
///
/// Calls may be made at once: they wait until the connection is open. Each gives a [`Request`].
#[derive(Clone, Debug)]
pub struct Client {
    handle: ClientHandle,
    cache: Option<Arc<Cache>>,
    #[cfg(feature = "schema")]
    listed: Option<Arc<crate::validate::Listed>>,
    #[cfg(feature = "tasks")]
    pub(crate) tasks: crate::tasks::Support,
    only_offered: bool,
}

impl Client {
    /// Connects to a server in the same process. Messages are handed over as they are, without text between them.
    ///
    /// Such a connection knows no time, so calls have no timeout: see [`in_memory_with`](Self::in_memory_with).
    pub fn in_memory<S: Endpoint + Clone>(server: &S) -> (Self, Driver) {
        Self::in_memory_with(server, Options::new("sandwire", env!("CARGO_PKG_VERSION")), Arc::new(Timeless))
    }

    /// Connects to a server in the same process, with options and a host's clock.
    pub fn in_memory_with<S: Endpoint + Clone>(server: &S, options: Options, env: Arc<dyn Env>) -> (Self, Driver) {
        let (config, handlers) = options.finish(&env);
        let client = Self::over(&handlers, &env);
        let (handle, driver) = in_memory(Arc::new(server.clone()), config, env, Box::new(handlers));
        (client(handle), driver)
    }

    /// Connects over a link. Nothing moves until the driver is polled; it ends with the connection.
    pub fn connect(link: impl Link, env: Arc<dyn Env>, options: Options) -> (Self, Driver) {
        let (config, handlers) = options.finish(&env);
        let client = Self::over(&handlers, &env);
        let (handle, driver) = connect(config, env, Box::new(link), Box::new(handlers));
        (client(handle), driver)
    }

    /// The client of a handle, which shares what its handlers have.
    #[cfg_attr(not(feature = "tasks"), expect(unused_variables))]
    fn over(handlers: &Handlers, env: &Arc<dyn Env>) -> impl FnOnce(ClientHandle) -> Self + use<> {
        let (cache, only_offered) = (handlers.cache.clone(), handlers.only_offered);
        #[cfg(feature = "schema")]
        let listed = handlers.listed.clone();
        #[cfg(feature = "tasks")]
        let tasks = crate::tasks::Support { desk: handlers.desk.clone(), env: env.clone() };
        move |handle| Self {
            handle,
            cache,
            only_offered,
            #[cfg(feature = "schema")]
            listed,
            #[cfg(feature = "tasks")]
            tasks,
        }
    }

    /// The handle underneath, which makes calls without types.
    #[must_use]
    pub fn handle(&self) -> &ClientHandle {
        &self.handle
    }

    #[cfg(feature = "schema")]
    pub(crate) fn listed(&self) -> Option<&Arc<crate::validate::Listed>> {
        self.listed.as_ref()
    }

    pub(crate) fn cache(&self) -> Option<&Arc<Cache>> {
        self.cache.as_ref()
    }

    pub(crate) fn only_offered(&self) -> bool {
        self.only_offered
    }

    /// Forgets every result that was kept for this client's partition of the cache.
    pub fn forget_cached(&self) {
        if let Some(cache) = &self.cache {
            cache.clear();
        }
    }

    /// Waits until the connection is open.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub async fn ready(&self) -> Result<Arc<PeerInfo>, Error> {
        Ok(self.handle.ready().await?)
    }

    /// The server and the version spoken with it, once the connection is open.
    #[must_use]
    pub fn server(&self) -> Option<Arc<PeerInfo>> {
        self.handle.info()
    }

    /// Closes the connection. Calls under way fail.
    pub fn close(&self) {
        self.handle.close();
    }

    /// One page of tools.
    pub fn list_tools(&self) -> Request<ListToolsResult> {
        self.list()
    }

    /// One page of resources.
    pub fn list_resources(&self) -> Request<ListResourcesResult> {
        self.list()
    }

    /// One page of resource templates.
    pub fn list_resource_templates(&self) -> Request<ListResourceTemplatesResult> {
        self.list()
    }

    /// One page of prompts.
    pub fn list_prompts(&self) -> Request<ListPromptsResult> {
        self.list()
    }

    /// Every tool, from all pages.
    ///
    /// # Errors
    /// If a page cannot be had, or the pages do not end.
    pub async fn list_all_tools(&self) -> Result<Vec<Tool>, Error> {
        page::walk::<ListToolsResult>(self).await
    }

    /// Every resource, from all pages.
    ///
    /// # Errors
    /// If a page cannot be had, or the pages do not end.
    pub async fn list_all_resources(&self) -> Result<Vec<Resource>, Error> {
        page::walk::<ListResourcesResult>(self).await
    }

    /// Every resource template, from all pages.
    ///
    /// # Errors
    /// If a page cannot be had, or the pages do not end.
    pub async fn list_all_resource_templates(&self) -> Result<Vec<ResourceTemplate>, Error> {
        page::walk::<ListResourceTemplatesResult>(self).await
    }

    /// Every prompt, from all pages.
    ///
    /// # Errors
    /// If a page cannot be had, or the pages do not end.
    pub async fn list_all_prompts(&self) -> Result<Vec<Prompt>, Error> {
        page::walk::<ListPromptsResult>(self).await
    }

    /// Calls a tool with arguments that serialize to an object; `&()` stands for none.
    ///
    /// Whether the tool failed stands in the result; [`structured`](Request::structured) makes it an error.
    pub fn call_tool<A: Serialize + ?Sized>(&self, name: &str, arguments: &A) -> Request<CallToolResult> {
        let call = tool_call(name, arguments).map(|params| request::call(Method::ToolsCall, Some(params)));
        Request::new(self, call, request::decode)
    }

    /// Reads a resource.
    pub fn read_resource(&self, uri: &str) -> Request<ReadResourceResult> {
        self.call(Method::ResourcesRead, &ResourceRequestParams::new(uri))
    }

    /// Expands a prompt.
    pub fn get_prompt<'a>(
        &self,
        name: &str,
        arguments: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Request<GetPromptResult> {
        let mut params = GetPromptRequestParams::new(name);
        let arguments: Vec<_> =
            arguments.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        params.arguments = (!arguments.is_empty()).then_some(Map(arguments));
        self.call(Method::PromptsGet, &params)
    }

    /// Completes an argument of a prompt or of a resource template.
    pub fn complete(&self, params: &CompleteRequestParams) -> Request<CompleteResult> {
        self.call(Method::CompletionComplete, params)
    }

    /// Asks whether the server is there (legacy era).
    pub fn ping(&self) -> Request<EmptyResult> {
        Request::new(self, Ok(request::call(Method::Ping, None)), request::decode)
    }

    /// Asks what the server is and can do (modern era).
    pub fn discover(&self) -> Request<DiscoverResult> {
        Request::new(self, Ok(request::call(Method::ServerDiscover, None)), request::decode)
    }

    /// Sets the least severe log messages the server may send (legacy era); for the modern one see
    /// [`Request::log_level`].
    pub fn set_logging_level(&self, level: LoggingLevel) -> Request<EmptyResult> {
        self.call(Method::LoggingSetLevel, &SetLevelRequestParams::new(level))
    }

    /// Asks to be told when a resource changes (legacy era); for the modern one see [`listen`](Self::listen). A new
    /// session, or a server that replaces the one asked, is asked again.
    pub fn subscribe_resource(&self, uri: &str) -> Request<EmptyResult> {
        self.call(Method::ResourcesSubscribe, &ResourceRequestParams::new(uri))
    }

    /// Ends what [`subscribe_resource`](Self::subscribe_resource) began.
    pub fn unsubscribe_resource(&self, uri: &str) -> Request<EmptyResult> {
        self.call(Method::ResourcesUnsubscribe, &ResourceRequestParams::new(uri))
    }

    /// Begins a subscription (modern era). It lasts as long as the request is awaited, and has no timeout; its
    /// notifications go to [`on_event`](Request::on_event). A server process that replaces the one asked is asked again,
    /// and what it tells follows, its acknowledgement first.
    pub fn listen(&self, filter: SubscriptionFilter) -> Request<EmptyResult> {
        self.call(Method::SubscriptionsListen, &SubscriptionsListenRequestParams::new(filter))
    }

    /// Begins a subscription (modern era), and gives it as a value that tells what the server agreed to, what changes, and
    /// how it ends. It begins when it is first asked.
    ///
    /// ```
    /// # use sandwire_types::model::SubscriptionFilter;
    /// # async fn example(client: sandwire_client::Client) {
    /// let mut filter = SubscriptionFilter::new();
    /// filter.tools_list_changed = Some(true);
    /// let mut changes = client.subscribe(filter);
    /// while let Some(change) = changes.next().await {
    ///     println!("{}", change.method);
    /// }
    /// println!("{:?}", changes.end());
    /// # }
    /// ```
    pub fn subscribe(&self, filter: SubscriptionFilter) -> Subscription {
        Subscription::new(self.listen(filter))
    }

    /// Calls any method with any parameters, which are an object without `_meta`.
    pub fn request(&self, method: impl Into<Method>, params: Option<Raw>) -> Request<Reply> {
        Request::new(self, Ok(request::call(method.into(), params)), Ok)
    }

    /// Sends a notification.
    ///
    /// # Errors
    /// If the connection is closed, or the notification is over the size limit.
    pub fn notify(&self, notification: Notification) -> Result<(), Error> {
        Ok(self.handle.notify(notification)?)
    }

    /// Tells the server that the roots changed (legacy era; a modern server asks when it needs them).
    ///
    /// # Errors
    /// If the connection is closed.
    pub fn roots_changed(&self) -> Result<(), Error> {
        self.notify(Notification::new(Method::RootsListChanged, None))
    }

    pub(crate) fn list<P: Page>(&self) -> Request<P> {
        Request::new(self, Ok(request::call(P::METHOD, None)), request::decode)
    }

    pub(crate) fn call<P: Write + ?Sized, T: Read>(&self, method: Method, params: &P) -> Request<T> {
        let params = sandwire_json::to_raw(params);
        Request::new(self, Ok(request::call(method, Some(params))), request::decode)
    }
}

/// A host without time, for connections that need none.
struct Timeless;

struct Never;

impl Env for Timeless {
    fn now(&self) -> Time {
        Time(0)
    }

    fn timer(&self) -> Box<dyn Timer> {
        Box::new(Never)
    }

    /// What is sealed with this key never leaves the process: a connection in memory has a key of its own.
    fn fill_random(&self, bytes: &mut [u8]) {
        bytes.fill(0);
    }

    fn unix_time(&self) -> Option<u64> {
        None
    }
}

impl Timer for Never {
    fn poll(&mut self, at: Time, _: &mut Context<'_>) -> Poll<()> {
        if at == Time(0) { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// The parameters of `tools/call`.
fn tool_call<A: Serialize + ?Sized>(name: &str, arguments: &A) -> Result<Raw, Error> {
    let begin = || {
        let mut params = Writer::with_capacity(128);
        params.begin_object();
        params.key("name");
        params.string(name);
        params
    };
    let mut params = begin();
    params.key("arguments");
    sandwire_json::serde::write(&mut params, arguments).map_err(Error::arguments)?;
    params.end_object();
    let text = params.finish();
    if !text.ends_with(r#""arguments":null}"#) {
        return Ok(Raw::from_valid(text));
    }
    let mut params = begin();
    params.end_object();
    Ok(params.into_raw())
}
