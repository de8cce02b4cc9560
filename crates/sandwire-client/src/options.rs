#[cfg(feature = "schema")]
use crate::validate::Checked;
use crate::{
    CacheOptions, Error, ErrorKind,
    cache::Cache,
    elicitation::Completed,
    handler::{Handler, Handlers, Typed},
};
use sandwire_io::{
    Env, MaybeSend,
    client::{Config, Mode, SessionLoss, Warning},
};
use sandwire_json::{Raw, Writer};
use sandwire_proto::{Limits, PeerInfo};
use sandwire_types::{
    ErrorObject, Method, Notification, ProtocolVersion, extension,
    model::{
        CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams, ElicitResult, ListRootsResult, Root,
    },
};
use std::{sync::Arc, time::Duration};

/// Who the client is, how it connects, and what it answers when a server asks.
///
/// A handler declares its capability: servers ask only for what the client can answer.
///
/// ```
/// use sandwire_client::Options;
/// use sandwire_types::model::{ElicitAction, ElicitResult};
///
/// let options = Options::new("reader", "1.0")
///     .on_elicitation(|_form| async { Ok(ElicitResult::new(ElicitAction::Decline)) })
///     .on_notification(|notification| println!("{}", notification.method));
/// ```
pub struct Options {
    pub(crate) config: Config,
    pub(crate) handlers: Handlers,
    sampling_tools: bool,
    urls: bool,
    defaults: bool,
    roots_change: bool,
    declared: Option<Raw>,
    cache: Option<CacheOptions>,
    pub(crate) extensions: Vec<(String, Raw)>,
    #[cfg(feature = "schema")]
    unchecked: bool,
    only_offered: bool,
}

impl Options {
    /// A client of this name and version that answers nothing.
    #[must_use]
    pub fn new(name: &str, version: &str) -> Self {
        Self {
            config: Config::new(name, version),
            handlers: Handlers::default(),
            sampling_tools: false,
            urls: false,
            defaults: false,
            roots_change: false,
            declared: None,
            cache: None,
            only_offered: false,
            extensions: Vec::new(),
            #[cfg(feature = "schema")]
            unchecked: false,
        }
    }

    /// How to find the protocol version to speak. By default the client finds it out.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.config.mode = mode;
        self
    }

    /// Speaks this version or fails.
    #[must_use]
    pub fn version(self, version: ProtocolVersion) -> Self {
        self.mode(Mode::Pinned(version))
    }

    /// Goes on with what an earlier connection to the same server found out.
    #[must_use]
    pub fn remembered(self, server: Arc<PeerInfo>) -> Self {
        self.mode(Mode::Remembered(server))
    }

    /// How long a call may take if it does not say itself: one minute if this is not called.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.config.call_timeout_ms = timeout.as_millis().try_into().unwrap_or(u64::MAX);
        self
    }

    /// How long the server may take to answer the question that finds out its era: ten seconds if this is not called.
    /// Over a pipe, one that says nothing for so long is taken for a legacy server, some of which never answer it; over
    /// HTTP it cannot be connected to.
    #[must_use]
    pub fn probe_timeout(mut self, timeout: Duration) -> Self {
        self.config.probe_timeout_ms = timeout.as_millis().try_into().unwrap_or(u64::MAX);
        self
    }

    /// What to do about a call that finds its session lost (legacy HTTP only). By default it is made again, once, in a
    /// new session: [`SessionLoss`] says what may then run twice.
    #[must_use]
    pub fn session_loss(mut self, policy: SessionLoss) -> Self {
        self.config.session_loss = policy;
        self
    }

    /// What the connection may use.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.config.limits = limits;
        self
    }

    /// What the connection may use: whoever makes the link needs it.
    #[must_use]
    pub fn get_limits(&self) -> &Limits {
        &self.config.limits
    }

    /// Describes the client in full: an `Implementation` object in place of name and version.
    #[must_use]
    pub fn info(mut self, info: Raw) -> Self {
        self.config.info = info;
        self
    }

    /// Makes only calls for which the server declared the capability; others fail here. Without this the server decides:
    /// some offer more than they declare.
    #[must_use]
    pub fn only_offered(mut self) -> Self {
        self.only_offered = true;
        self
    }

    /// Keeps the results of modern servers as long as they say, and uses them again until they are told to have changed.
    /// Without this, nothing is kept.
    #[must_use]
    pub fn cache(mut self, options: CacheOptions) -> Self {
        self.cache = Some(options);
        self
    }

    /// Takes the results of tools as they come. Without this, structured content that is not what the tool's output
    /// schema says, as the server listed it last, is an error of kind [`Protocol`](crate::ErrorKind::Protocol).
    #[cfg(feature = "schema")]
    #[must_use]
    pub fn unchecked_results(mut self) -> Self {
        self.unchecked = true;
        self
    }

    /// Goes on with a legacy HTTP server that answers `notifications/initialized` with an error status. Some do that
    /// serve well otherwise.
    #[must_use]
    pub fn ignore_failed_initialized(mut self) -> Self {
        self.config.ignore_failed_initialized = true;
        self
    }

    /// Declares these capabilities, an object, in place of those that the handlers and extensions imply.
    #[must_use]
    pub fn capabilities(mut self, capabilities: Raw) -> Self {
        self.declared = Some(capabilities);
        self
    }

    /// Declares an extension with its settings, an object: servers may then do as it says. The id is a prefix and a
    /// name, as `com.example/notes`.
    ///
    /// # Errors
    /// If the id is none, or the settings are no object.
    pub fn extension(mut self, id: &str, settings: Raw) -> Result<Self, Error> {
        let problem = match extension::problem(id) {
            None if !settings.is_object() => Some("the settings of an extension are an object"),
            problem => problem,
        };
        if let Some(problem) = problem {
            return Err(Error::new(ErrorKind::Usage, problem));
        }
        self.extensions.retain(|(known, _)| known != id);
        self.extensions.push((id.to_owned(), settings));
        Ok(self)
    }

    /// Takes results of this type, which an extension adds, as they are. Results of types that nobody knows are errors.
    #[must_use]
    pub fn result_type(mut self, kind: &str) -> Self {
        self.config.result_types.push(kind.into());
        self
    }

    /// Has the HTTP header `Mcp-Name` repeat this member of the parameters of an extension's method.
    #[must_use]
    pub fn name_member(mut self, method: &str, member: &str) -> Self {
        self.config.name_members.push((Method::from(method), member.into()));
        self
    }

    /// Answers `sampling/createMessage`: asks a model for a message.
    #[must_use]
    pub fn on_sampling<F, A>(mut self, answer: F) -> Self
    where
        F: FnMut(CreateMessageRequestParams) -> A + MaybeSend + 'static,
        A: Future<Output = Result<CreateMessageResult, ErrorObject>> + MaybeSend + 'static,
    {
        self.handlers.sampling = Some(Box::new(Typed::new(Method::SamplingCreateMessage, answer)));
        self
    }

    /// Lets servers hand tools to the model they sample.
    #[must_use]
    pub fn sampling_with_tools(mut self) -> Self {
        self.sampling_tools = true;
        self
    }

    /// Answers `elicitation/create`: asks the user to fill in a form. Show who asks, and let the user decline.
    #[must_use]
    pub fn on_elicitation<F, A>(mut self, answer: F) -> Self
    where
        F: FnMut(ElicitRequestParams) -> A + MaybeSend + 'static,
        A: Future<Output = Result<ElicitResult, ErrorObject>> + MaybeSend + 'static,
    {
        self.handlers.elicitation = Some(Box::new(Typed::new(Method::ElicitationCreate, answer)));
        self
    }

    /// Lets servers ask the user to visit an address, too. Never open it without consent.
    #[must_use]
    pub fn elicitation_by_url(mut self) -> Self {
        self.urls = true;
        self
    }

    /// Gives the fields that an accepted form leaves out the values they have by default, and declares that.
    /// [`form_defaults`](crate::form_defaults) are what to show the user.
    #[must_use]
    pub fn apply_form_defaults(mut self) -> Self {
        self.defaults = true;
        self
    }

    /// Hears that a visit the server asked for is over, by its `elicitationId` (2025-11-25). One that nobody asked for is
    /// not told.
    #[must_use]
    pub fn on_visited<F: FnMut(String) + MaybeSend + 'static>(mut self, heard: F) -> Self {
        self.handlers.visits = Some(Box::new(heard));
        self
    }

    /// Answers `roots/list` with these, whose addresses begin with `file://`.
    #[must_use]
    pub fn roots(self, roots: Vec<Root>) -> Self {
        self.on_roots(move || {
            let roots = roots.clone();
            async move { Ok(roots) }
        })
    }

    /// Answers `roots/list`, and declares that the roots may change: tell the server with
    /// [`roots_changed`](crate::Client::roots_changed).
    #[must_use]
    pub fn changing_roots<F, A>(mut self, answer: F) -> Self
    where
        F: FnMut() -> A + MaybeSend + 'static,
        A: Future<Output = Result<Vec<Root>, ErrorObject>> + MaybeSend + 'static,
    {
        self.roots_change = true;
        self.on_roots(answer)
    }

    fn on_roots<F, A>(mut self, mut answer: F) -> Self
    where
        F: FnMut() -> A + MaybeSend + 'static,
        A: Future<Output = Result<Vec<Root>, ErrorObject>> + MaybeSend + 'static,
    {
        self.handlers.roots = Some(Box::new(Typed::new(Method::RootsList, move |_: Raw| {
            let roots = answer();
            async move { valid_roots(roots.await?) }
        })));
        self
    }

    /// Hears every notification that belongs to no call: changed lists, updated resources, log messages.
    #[must_use]
    pub fn on_notification<F: FnMut(Notification) + MaybeSend + 'static>(mut self, heard: F) -> Self {
        self.handlers.notifications = Some(Box::new(heard));
        self
    }

    /// Hears what is wrong with a server where everything goes on, such as a tool that had to be left out of a list.
    #[must_use]
    pub fn on_warning<F: FnMut(&Warning) + MaybeSend + 'static>(mut self, heard: F) -> Self {
        self.handlers.warnings = Some(Box::new(heard));
        self
    }

    pub(crate) fn finish(mut self, env: &Arc<dyn Env>) -> (Config, Handlers) {
        self.handlers.only_offered = self.only_offered;
        self.handlers.cache = self.cache.take().map(|options| Arc::new(Cache::new(options, Arc::clone(env))));
        self.config.capabilities = self.declared.take().unwrap_or_else(|| self.implied());
        if self.defaults {
            let handler = self.handlers.elicitation.take();
            self.handlers.elicitation = handler.map(|handler| Box::new(Completed(handler)) as Box<dyn Handler>);
        }
        #[cfg(feature = "schema")]
        {
            let handler = self.handlers.elicitation.take();
            self.handlers.elicitation = handler.map(|handler| Box::new(Checked(handler)) as Box<dyn Handler>);
            self.handlers.listed = (!self.unchecked).then(Arc::default);
        }
        (self.config, self.handlers)
    }

    fn implied(&self) -> Raw {
        let mut w = Writer::new();
        let flag = |w: &mut Writer, key: &str| {
            w.key(key);
            w.begin_object();
            w.end_object();
        };
        w.begin_object();
        if self.handlers.sampling.is_some() {
            w.key("sampling");
            w.begin_object();
            if self.sampling_tools {
                flag(&mut w, "tools");
            }
            w.end_object();
        }
        if self.handlers.elicitation.is_some() {
            w.key("elicitation");
            w.begin_object();
            w.key("form");
            w.begin_object();
            if self.defaults {
                w.key("applyDefaults");
                w.boolean(true);
            }
            w.end_object();
            if self.urls {
                flag(&mut w, "url");
            }
            w.end_object();
        }
        if self.handlers.roots.is_some() {
            w.key("roots");
            w.begin_object();
            if self.roots_change {
                w.key("listChanged");
                w.boolean(true);
            }
            w.end_object();
        }
        if !self.extensions.is_empty() {
            w.key("extensions");
            w.begin_object();
            for (id, settings) in &self.extensions {
                w.key(id);
                w.raw(settings.as_str());
            }
            w.end_object();
        }
        w.end_object();
        w.into_raw()
    }
}

/// Servers may be told of files only.
fn valid_roots(roots: Vec<Root>) -> Result<ListRootsResult, ErrorObject> {
    match roots.iter().all(|root| root.uri.starts_with("file://")) {
        true => Ok(ListRootsResult::new(roots)),
        false => Err(ErrorObject::internal("this client has a root that is no file:// address")),
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options").field("config", &self.config).finish_non_exhaustive()
    }
}
