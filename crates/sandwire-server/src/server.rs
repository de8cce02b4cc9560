//! The server: tables, and who looks into which.

use crate::builder::Builder;
use crate::context::Context;
use crate::resource::not_found;
use crate::table::{Swap, Table};
use sandwire_io::{Answer, Call, Changes, Endpoint, MaybeSend, MaybeSync};
use sandwire_json::{Raw, Reader, find};
use sandwire_proto::http::Headers;
use sandwire_proto::server::{Change, Config};
use sandwire_types::{ErrorObject, Method, Reply};
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
    raw: Option<Box<dyn RawRun>>,
    changes: Changes,
}

/// The handlers, each kind of which can be swapped by itself.
pub(crate) struct Tables {
    pub(crate) tools: Swap<Table>,
    pub(crate) resources: Swap<Table>,
    pub(crate) templates: Swap<Table>,
    pub(crate) prompts: Swap<Table>,
}

impl Tables {
    pub(crate) fn new(page_size: usize) -> Self {
        let table = |list| Swap::new(Table::new(list, page_size));
        Self {
            tools: table("tools"),
            resources: table("resources"),
            templates: table("resourceTemplates"),
            prompts: table("prompts"),
        }
    }
}

trait RawRun: MaybeSend + MaybeSync {
    fn run(&self, call: Call) -> Answer;
}

impl<F: Fn(Call) -> Answer + MaybeSend + MaybeSync> RawRun for F {
    fn run(&self, call: Call) -> Answer {
        self(call)
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
            raw: Some(Box::new(handler)),
            changes: Changes::default(),
        }))
    }

    pub(crate) fn new(config: Config, tables: Tables) -> Self {
        Self(Arc::new(Inner { config: Arc::new(config), tables, raw: None, changes: Changes::default() }))
    }

    /// What the server declares about itself.
    pub fn config(&self) -> &Arc<Config> {
        &self.0.config
    }

    pub(crate) fn tables(&self) -> &Tables {
        &self.0.tables
    }

    pub(crate) fn announce(&self, change: &Change) {
        self.0.changes.announce(change);
    }

    /// Has the tool or prompt answer that the params name.
    fn run(&self, table: &Swap<Table>, unknown_name: &str, params: &str, context: Context) -> Answer {
        let (mut name, mut arguments) = (None, None);
        // In one pass: what a peer sends has long metadata in front. Of members that stand twice the first counts, as
        // for the HTTP headers that repeat them.
        let read = Reader::new(params).object(&mut |key, reader| {
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
        let table = table.load();
        let answer = table.find(&name).and_then(|row| row.handler.run(arguments, context));
        answer.unwrap_or_else(|| unknown(unknown_name, &name))
    }

    pub(crate) fn read(&self, uri: &str, context: &Context) -> Answer {
        let tables = &self.0.tables;
        let (resources, templates) = (tables.resources.load(), tables.templates.load());
        let mut rows = resources.find(uri).into_iter().chain(templates.enabled());
        let answer = rows.find_map(|row| row.handler.read(uri, context));
        answer.unwrap_or_else(|| Answer::Ready(Err(not_found(uri))))
    }

    fn complete(&self, params: &str, context: Context) -> Answer {
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
}

impl Endpoint for Server {
    fn config(&self) -> Arc<Config> {
        self.0.config.clone()
    }

    fn call(&self, call: Call) -> Answer {
        if let Some(raw) = &self.0.raw {
            return raw.run(call);
        }
        let Call { request, peer, outlet, .. } = call;
        let params = request.params.as_ref().map_or("{}", Raw::as_str);
        let tables = &self.0.tables;
        match request.method {
            Method::ToolsList => return page(&tables.tools, params),
            Method::ResourcesList => return page(&tables.resources, params),
            Method::ResourcesTemplatesList => return page(&tables.templates, params),
            Method::PromptsList => return page(&tables.prompts, params),
            _ => {}
        }
        let context = Context::new(self.clone(), outlet, peer, request.meta.extra);
        match request.method {
            Method::ToolsCall => self.run(&tables.tools, "unknown tool: ", params, context),
            Method::PromptsGet => self.run(&tables.prompts, "unknown prompt: ", params, context),
            Method::ResourcesRead => match text(params, "uri") {
                Some(uri) => self.read(&uri, &context),
                None => refused("the resource's address is missing"),
            },
            Method::CompletionComplete => self.complete(params, context),
            method => Answer::Ready(Err(ErrorObject::method_not_found(&method))),
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

fn page(table: &Swap<Table>, params: &str) -> Answer {
    let cursor = match find(params, "cursor") {
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

fn text<'a>(object: &'a str, key: &str) -> Option<Cow<'a, str>> {
    find(object, key).and_then(|text| Reader::new(text).string().ok())
}

fn refused(message: &'static str) -> Answer {
    Answer::Ready(Err(ErrorObject::invalid_params(message)))
}

fn unknown(message: &str, name: &str) -> Answer {
    Answer::Ready(Err(ErrorObject::invalid_params([message, name].concat())))
}
