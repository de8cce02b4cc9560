//! The server: tables, and who looks into which.

use crate::builder::Builder;
use crate::context::Context;
use crate::resource::not_found;
use crate::table::{Swap, Table};
use sandwire_io::{Answer, Call, Changes, Endpoint, EventBus, MaybeSend, MaybeSync};
use sandwire_json::shape::Type;
use sandwire_json::{Raw, Reader, find};
use sandwire_proto::PeerInfo;
use sandwire_proto::http::Headers;
use sandwire_proto::server::{Change, Config};
use sandwire_types::model::{
    CallToolResult, Described, GetPromptResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, ReadResourceResult,
};
use sandwire_types::{ErrorObject, LoggingLevel, Method, Notification, Reply};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// A server. Cheap to clone; all clones are the same server.
///
/// It is an [`Endpoint`]: any link can serve it, and a client in the same process can call it without one.
///
/// ```
/// use sandwire_server::{Schema, Server};
///
/// #[derive(serde::Deserialize, Schema)]
/// struct Add {
///     a: i64,
///     b: i64,
/// }
///
/// let server = Server::builder("calculator", "1.0")
///     .tool("add", "Adds two numbers.", |Add { a, b }: Add| a + b)
///     .build()?;
/// # Ok::<(), sandwire_server::RegistrationError>(())
/// ```
#[derive(Clone)]
pub struct Server(Arc<Inner>);

struct Inner {
    config: Arc<Config>,
    tables: Tables,
    methods: Vec<Served>,
    rest: Rest,
    changes: Arc<Changes>,
}

/// What the tables do not answer.
#[derive(Default)]
pub(crate) struct Rest {
    pub(crate) run: Option<Box<dyn RawRun>>,
    pub(crate) hear: Option<Box<dyn Hear>>,
    #[cfg(feature = "tasks")]
    pub(crate) tasks: Option<crate::tasks::Tasks>,
}

/// A method of which a kind of handlers takes care. A server holds those of the kinds that it has, so that it contains
/// nothing that answers the others.
#[derive(Debug)]
pub(crate) struct Served {
    pub(crate) method: Method,
    /// The table of its result, where other versions have it otherwise.
    pub(crate) result: Option<Type>,
    pub(crate) answer: fn(&Server, Call) -> Answer,
}

impl Served {
    pub(crate) const fn new(method: Method, result: Type, answer: fn(&Server, Call) -> Answer) -> Self {
        Self { method, result: Some(result), answer }
    }
}

pub(crate) const TOOLS: [Served; 2] = [
    Served::new(Method::ToolsCall, CallToolResult::TYPE, |server, call| {
        server.run(&server.tables().tools, "unknown tool: ", call)
    }),
    Served::new(Method::ToolsList, ListToolsResult::TYPE, |server, call| page(&server.tables().tools, &call)),
];

pub(crate) const RESOURCES: [Served; 4] = [
    Served::new(Method::ResourcesRead, ReadResourceResult::TYPE, Server::read_requested),
    Served::new(Method::ResourcesList, ListResourcesResult::TYPE, |server, call| {
        page(&server.tables().resources, &call)
    }),
    Served::new(Method::ResourcesTemplatesList, ListResourceTemplatesResult::TYPE, |server, call| {
        page(&server.tables().templates, &call)
    }),
    COMPLETION,
];

pub(crate) const PROMPTS: [Served; 3] = [
    Served::new(Method::PromptsGet, GetPromptResult::TYPE, |server, call| {
        server.run(&server.tables().prompts, "unknown prompt: ", call)
    }),
    Served::new(Method::PromptsList, ListPromptsResult::TYPE, |server, call| page(&server.tables().prompts, &call)),
    COMPLETION,
];

const COMPLETION: Served = Served { method: Method::CompletionComplete, result: None, answer: Server::complete };

/// The handlers, each kind of which can be swapped by itself.
pub(crate) struct Tables {
    pub(crate) tools: Swap<Table>,
    pub(crate) resources: Swap<Table>,
    pub(crate) templates: Swap<Table>,
    pub(crate) prompts: Swap<Table>,
    #[cfg(feature = "skills")]
    pub(crate) skills: Swap<Table>,
}

impl Tables {
    pub(crate) fn new(page_size: usize) -> Self {
        let table = |list| Swap::new(Table::new(list, page_size));
        Self {
            tools: table("tools"),
            resources: table("resources"),
            templates: table("resourceTemplates"),
            prompts: table("prompts"),
            #[cfg(feature = "skills")]
            skills: table("skills"),
        }
    }
}

/// Answers requests for which there is no table.
pub(crate) trait RawRun: MaybeSend + MaybeSync {
    fn run(&self, server: &Server, call: Call) -> Answer;
}

impl<F: Fn(Call) -> Answer + MaybeSend + MaybeSync> RawRun for F {
    fn run(&self, _: &Server, call: Call) -> Answer {
        self(call)
    }
}

/// Hears notifications.
pub(crate) trait Hear: MaybeSend + MaybeSync {
    fn hear(&self, notification: &Notification, peer: &PeerInfo);
}

impl<F: Fn(&Notification, &PeerInfo) + MaybeSend + MaybeSync> Hear for F {
    fn hear(&self, notification: &Notification, peer: &PeerInfo) {
        self(notification, peer);
    }
}

impl Server {
    /// Begins a server of this name and version.
    pub fn builder(name: &str, version: &str) -> Builder {
        Builder::new(name, version)
    }

    /// A server without tables: `handler` answers every request that the connection does not answer itself.
    ///
    /// The opening, `server/discover`, `ping`, subscriptions and log levels are still taken care of, and only requests
    /// whose capability `config` declares arrive. The handler sees the params as text, and gives the result as text.
    ///
    /// ```
    /// use sandwire_server::types::{ErrorObject, Method, Raw, Reply};
    /// use sandwire_server::{Answer, Config, Server};
    ///
    /// let config = Config::new(
    ///     Raw::from_valid(r#"{"name":"raw","version":"1.0"}"#),
    ///     Raw::from_valid(r#"{"tools":{}}"#),
    /// );
    /// let server = Server::raw(config, |call| {
    ///     Answer::Ready(match call.request.method {
    ///         Method::ToolsList => Ok(Reply::new(Raw::from_valid(r#"{"tools":[]}"#))),
    ///         method => Err(ErrorObject::method_not_found(&method)),
    ///     })
    /// });
    /// ```
    pub fn raw(config: Config, handler: impl Fn(Call) -> Answer + MaybeSend + MaybeSync + 'static) -> Self {
        Self(Arc::new(Inner {
            config: Arc::new(config),
            tables: Tables::new(1),
            methods: Vec::new(),
            rest: Rest { run: Some(Box::new(handler)), ..Rest::default() },
            changes: Arc::default(),
        }))
    }

    pub(crate) fn new(config: Config, tables: Tables, methods: Vec<Served>, rest: Rest) -> Self {
        Self(Arc::new(Inner { config: Arc::new(config), tables, methods, rest, changes: Arc::default() }))
    }

    pub(crate) fn join(&self, bus: Arc<dyn EventBus>) {
        self.0.changes.join(bus);
    }

    /// Sends a log message that belongs to no call to the connected clients of legacy versions that want messages of this
    /// level. Newer ones take messages with calls only: see [`Context::log`].
    pub fn log(&self, level: &LoggingLevel, logger: Option<&str>, data: impl serde::Serialize) {
        if let Ok(data) = sandwire_json::serde::to_raw(&data) {
            self.0.changes.log(level, logger, &data);
        }
    }

    /// Tells the client that was asked to open an address, under the id of [`Form::id`](crate::Form::id), that what was
    /// to do there is done. Only clients of 2025-11-25 that are still connected can hear of it; none has to.
    pub fn elicitation_completed(&self, id: &str) {
        self.0.changes.elicited(id);
    }

    /// Ends all subscriptions, which tells their clients that they may subscribe elsewhere: the server is about to stop.
    pub fn end_subscriptions(&self) {
        self.0.changes.end();
    }

    /// What the server declares about itself.
    pub fn config(&self) -> &Arc<Config> {
        &self.0.config
    }

    pub(crate) fn tables(&self) -> &Tables {
        &self.0.tables
    }

    #[cfg(feature = "tasks")]
    pub(crate) fn tasks(&self) -> Option<&Arc<crate::tasks::Shared>> {
        self.0.rest.tasks.as_ref().map(|tasks| &tasks.0)
    }

    pub(crate) fn announce(&self, change: &Change) {
        self.0.changes.announce(change);
    }

    /// Has the tool or prompt answer that the params name.
    fn run(&self, table: &Swap<Table>, unknown_name: &str, call: Call) -> Answer {
        let (params, context) = self.taken(call);
        let (mut name, mut arguments) = (None, None);
        // In one pass: what a peer sends has long metadata in front. Of members that stand twice the first counts, as
        // for the HTTP headers that repeat them.
        let read = Reader::new(text_of(&params)).object(&mut |key, reader| {
            match key {
                "name" if name.is_none() => name = Some(reader.string()?),
                "arguments" if arguments.is_none() => arguments = Some(reader.raw()?),
                _ => {}
            }
            Ok(())
        });
        let Some(name) = name.filter(|_| read.is_ok()) else {
            return refused("the name of the tool or prompt is missing");
        };
        // Some clients write `null` for none.
        let arguments = arguments.filter(|arguments| *arguments != "null");
        if arguments.is_some_and(|arguments| !arguments.starts_with('{')) {
            return refused("the arguments of a tool or prompt are an object");
        }
        let table = table.load();
        let answer = table.find(&name).and_then(|row| row.handler.run(arguments, context));
        answer.unwrap_or_else(|| unknown(unknown_name, &name))
    }

    fn read_requested(&self, call: Call) -> Answer {
        let (params, context) = self.taken(call);
        match text(text_of(&params), "uri") {
            Some(uri) => self.read(&uri, &context),
            None => refused("the resource's address is missing"),
        }
    }

    pub(crate) fn read(&self, uri: &str, context: &Context) -> Answer {
        let tables = &self.0.tables;
        let (resources, templates) = (tables.resources.load(), tables.templates.load());
        let mut rows = resources.find(uri).into_iter().chain(templates.enabled());
        let answer = rows.find_map(|row| row.handler.read(uri, context));
        answer.unwrap_or_else(|| Answer::Ready(Err(not_found(uri))))
    }

    fn complete(&self, call: Call) -> Answer {
        let (params, context) = self.taken(call);
        let params = text_of(&params);
        let reference = find(params, "ref").unwrap_or("{}");
        let (table, key) = match text(reference, "type").as_deref() {
            Some("ref/prompt") => (&self.0.tables.prompts, text(reference, "name")),
            Some("ref/resource") => (&self.0.tables.templates, text(reference, "uri")),
            _ => return refused("the reference to complete has no known type"),
        };
        let Some(key) = key else { return refused("the reference to complete has no name") };
        let answer = table.load().find(&key).and_then(|row| row.handler.complete(params, context));
        answer.unwrap_or_else(|| unknown("nothing to complete is known as ", &key))
    }

    /// A call as its params and what its handler sees of it.
    pub(crate) fn taken(&self, call: Call) -> (Option<Raw>, Context) {
        let Call { request, peer, outlet, .. } = call;
        (request.params, Context::new(self.clone(), outlet, peer, request.meta.extra))
    }
}

impl Endpoint for Server {
    fn config(&self) -> Arc<Config> {
        self.0.config.clone()
    }

    fn call(&self, call: Call) -> Answer {
        let served = self.0.methods.iter().find(|served| served.method == call.request.method);
        match (served, &self.0.rest.run) {
            (Some(served), _) => (served.answer)(self, call),
            (None, Some(rest)) => rest.run(self, call),
            (None, None) => Answer::Ready(Err(ErrorObject::method_not_found(&call.request.method))),
        }
    }

    fn notification(&self, notification: &Notification, peer: &Arc<PeerInfo>) {
        if let Some(hear) = &self.0.rest.hear {
            hear.hear(notification, peer);
        }
    }

    fn changes(&self) -> Option<&Changes> {
        Some(&self.0.changes)
    }

    fn is_mirrored(&self, tool: &str, arguments: &str, headers: &Headers) -> bool {
        self.0.tables.tools.load().find(tool).is_none_or(|row| row.handler.is_mirrored(arguments, headers))
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Server").field(&self.0.config.info).finish()
    }
}

pub(crate) fn page(table: &Swap<Table>, call: &Call) -> Answer {
    let cursor = match find(text_of(&call.request.params), "cursor") {
        None | Some("null") => None,
        Some(cursor) => match Reader::new(cursor).string() {
            Ok(cursor) => Some(cursor),
            Err(_) => return refused("the cursor is not a string"),
        },
    };
    match table.load().page(cursor.as_deref()) {
        Some(page) => Answer::Ready(Ok(Reply::new(page))),
        None => refused("the cursor is not one of this list"),
    }
}

pub(crate) fn text_of(params: &Option<Raw>) -> &str {
    params.as_ref().map_or("{}", Raw::as_str)
}

pub(crate) fn text<'a>(object: &'a str, key: &str) -> Option<Cow<'a, str>> {
    find(object, key).and_then(|text| Reader::new(text).string().ok())
}

pub(crate) fn refused(message: &'static str) -> Answer {
    Answer::Ready(Err(ErrorObject::invalid_params(message)))
}

fn unknown(message: &str, name: &str) -> Answer {
    Answer::Ready(Err(ErrorObject::invalid_params([message, name].concat())))
}
