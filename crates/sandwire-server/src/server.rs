//! The server: tables, and who looks into which.

use crate::builder::Builder;
use crate::context::Context;
use crate::resource::not_found;
use crate::table::{Handler, Swap, Table};
use sandwire_io::{Answer, Call, Changes, Endpoint, MaybeSend, MaybeSync};
use sandwire_json::{Raw, Reader, find};
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

    fn call_tool(&self, params: &str, context: Context) -> Answer {
        let Some(name) = text(params, "name") else { return refused("the tool's name is missing") };
        let tools = self.0.tables.tools.load();
        match tools.find(&name).map(|row| &row.handler) {
            Some(Handler::Tool { run, .. }) => run.run(find(params, "arguments").unwrap_or("{}"), context),
            _ => unknown("unknown tool: ", &name),
        }
    }

    pub(crate) fn read(&self, uri: &str, context: &Context) -> Answer {
        let tables = &self.0.tables;
        let attempt = |handler: &Handler| match handler {
            Handler::Resource { run, mime_type, .. } => run.run(uri, mime_type.as_ref(), context),
            _ => None,
        };
        if let Some(answer) = tables.resources.load().find(uri).and_then(|row| attempt(&row.handler)) {
            return answer;
        }
        let templates = tables.templates.load();
        let answer = templates.enabled().find_map(|row| attempt(&row.handler));
        answer.unwrap_or_else(|| Answer::Ready(Err(not_found(uri))))
    }

    fn get_prompt(&self, params: &str, context: Context) -> Answer {
        let Some(name) = text(params, "name") else { return refused("the prompt's name is missing") };
        let Some(given) = texts(params) else { return refused("the prompt's arguments are not texts") };
        let prompts = self.0.tables.prompts.load();
        match prompts.find(&name).map(|row| &row.handler) {
            Some(Handler::Prompt { run, .. }) => run.run(&given, context),
            _ => unknown("unknown prompt: ", &name),
        }
    }

    fn complete(&self, params: &str, context: Context) -> Answer {
        let reference = find(params, "ref").unwrap_or("{}");
        let (table, key) = match text(reference, "type").as_deref() {
            Some("ref/prompt") => (&self.0.tables.prompts, text(reference, "name")),
            Some("ref/resource") => (&self.0.tables.templates, text(reference, "uri")),
            _ => return refused("the reference to complete has no known type"),
        };
        let Some(key) = key else { return refused("the reference to complete has no name") };
        match table.load().find(&key).map(|row| &row.handler) {
            Some(Handler::Prompt { completions, .. } | Handler::Resource { completions, .. }) => {
                completions.run(params, context)
            }
            _ => unknown("nothing to complete is known as ", &key),
        }
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
            Method::ToolsCall => self.call_tool(params, context),
            Method::ResourcesRead => match text(params, "uri") {
                Some(uri) => self.read(&uri, &context),
                None => refused("the resource's address is missing"),
            },
            Method::PromptsGet => self.get_prompt(params, context),
            Method::CompletionComplete => self.complete(params, context),
            method => Answer::Ready(Err(ErrorObject::method_not_found(&method))),
        }
    }

    fn changes(&self) -> Option<&Changes> {
        Some(&self.0.changes)
    }

    fn input_schema(&self, tool: &str) -> Option<Raw> {
        match &self.0.tables.tools.load().find(tool)?.handler {
            Handler::Tool { input_schema, .. } => Some(input_schema.clone()),
            _ => None,
        }
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

/// The `arguments` of a prompt: texts, though numbers and booleans are forgiven.
fn texts(params: &str) -> Option<Vec<(String, String)>> {
    let mut texts = Vec::new();
    let Some(arguments) = find(params, "arguments").filter(|arguments| *arguments != "null") else {
        return Some(texts);
    };
    let read = Reader::new(arguments).object(&mut |key, reader| {
        let raw = reader.raw()?;
        let text = Reader::new(raw).string().unwrap_or(Cow::Borrowed(raw));
        texts.push((key.to_owned(), text.into_owned()));
        Ok(())
    });
    read.ok().map(|()| texts)
}

fn refused(message: &'static str) -> Answer {
    Answer::Ready(Err(ErrorObject::invalid_params(message)))
}

fn unknown(message: &str, name: &str) -> Answer {
    Answer::Ready(Err(ErrorObject::invalid_params([message, name].concat())))
}
