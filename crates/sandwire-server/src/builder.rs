//! Building a server.

use crate::completion::{Completing, CompletionRun};
use crate::error::{Problem, RegistrationError};
use crate::extension::Extending;
use crate::function::Function;
use crate::kind;
use crate::prompt::{IntoPrompt, PromptHandler};
use crate::resource::{IntoResource, ResourceHandler};
use crate::result::IntoToolResult;
use crate::server::{PROMPTS, RESOURCES, Rest, Served, Server, TOOLS, Tables};
use crate::table::Row;
use crate::tool::ToolHandler;
use sandwire_io::EventBus;
use sandwire_json::{Raw, Writer, to_raw};
use sandwire_proto::server::{Config, HmacSealer, Sealer};
use sandwire_types::model::Implementation;
use sandwire_types::{CacheHint, CacheScope, Method};
use std::sync::Arc;

/// A server that is being put together.
///
/// ```
/// use sandwire_server::{Schema, Server};
///
/// #[derive(serde::Deserialize, Schema)]
/// struct Name {
///     /// Whom to greet.
///     name: String,
/// }
///
/// let server = Server::builder("greeter", "1.0")
///     .instructions("Greet people before anything else.")
///     .tool("greet", "Greets someone.", |Name { name }: Name| ["Hello ", &name].concat())
///     .resource("greetings://all", "All greetings.", || "Hello, Bonjour")
///     .prompt("polite", "Asks for politeness.", || "Please be polite.")
///     .build()?;
/// # Ok::<(), sandwire_server::RegistrationError>(())
/// ```
#[derive(Debug)]
#[must_use = "the server is there after `build`"]
pub struct Builder {
    info: Implementation,
    instructions: Option<String>,
    page_size: usize,
    declared: Vec<Capability>,
    members: Vec<(&'static str, Raw)>,
    tools: Vec<Row>,
    resources: Vec<Row>,
    templates: Vec<Row>,
    prompts: Vec<Row>,
    #[cfg(feature = "skills")]
    pub(crate) skills: Vec<Row>,
    completions: Vec<(String, String, CompletionRun)>,
    /// Set by the first completion, so that a server without any does not contain it.
    attach_completions: Option<fn(&mut Self)>,
    methods: Vec<Served>,
    caches: Vec<(Method, CacheHint)>,
    sealer: Option<Arc<dyn Sealer>>,
    bus: Option<(Arc<dyn EventBus>, Join)>,
    pub(crate) extending: Option<Box<Extending>>,
    #[cfg(feature = "tasks")]
    pub(crate) tasks: Option<crate::tasks::Tasks>,
    error: Option<RegistrationError>,
}

/// Has a server join a bus; a server without one does not contain it.
type Join = fn(&Server, Arc<dyn EventBus>);

/// What a server can declare although nothing registered asks for it yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Capability {
    /// Tools: some may be added while the server runs.
    Tools,
    /// Resources: some may be added while the server runs.
    Resources,
    /// Prompts: some may be added while the server runs.
    Prompts,
    /// Log messages. Declared by itself as soon as a handler takes a [`Context`](crate::Context).
    Logging,
}

/// Something that can be given to a [`Builder`]: a handler, several, or a value with `#[handlers]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is nothing a server can be given",
    label = "not a handler",
    note = "give it a `ToolHandler`, `ResourceHandler` or `PromptHandler`, or a value whose `impl` block has the attribute `#[handlers]`",
    note = "a function with an attribute becomes one: `.with(add::tool())`, `.with(note::resource())`, `.with(greet::prompt())`"
)]
pub trait Bundle {
    /// Registers everything in it.
    fn add_to(self, builder: Builder) -> Builder;
}

impl Builder {
    pub(crate) fn new(name: &str, version: &str) -> Self {
        Self {
            info: Implementation::new(name.to_owned(), version.to_owned()),
            instructions: None,
            page_size: 1000,
            declared: Vec::new(),
            members: Vec::new(),
            tools: Vec::new(),
            resources: Vec::new(),
            templates: Vec::new(),
            prompts: Vec::new(),
            #[cfg(feature = "skills")]
            skills: Vec::new(),
            completions: Vec::new(),
            attach_completions: None,
            methods: Vec::new(),
            caches: Vec::new(),
            sealer: None,
            bus: None,
            extending: None,
            #[cfg(feature = "tasks")]
            tasks: None,
            error: None,
        }
    }

    /// What the server says about itself beyond its name and version: title, description, website, icons.
    pub fn info(mut self, change: impl FnOnce(&mut Implementation)) -> Self {
        change(&mut self.info);
        self
    }

    /// Advice for the model that uses this server.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// How many entries one page of a list holds; 1000 unless changed.
    pub fn page_size(mut self, entries: usize) -> Self {
        self.page_size = entries;
        self
    }

    /// For how many milliseconds clients may keep the results of a method, such as `tools/list` or `resources/read`, and
    /// whether caches may share them. Without it they may not keep any; a [resource](ResourceHandler::cached) can say so
    /// for itself.
    pub fn cached(mut self, method: Method, ttl_ms: u64, scope: CacheScope) -> Self {
        self.caches.push((method, CacheHint { ttl_ms, scope }));
        self
    }

    /// The secret keys that protect what clients hold of calls that asked for input: the first seals, all open. Instances
    /// of a server that share them go on where another stopped. Without them the key is one of this process.
    pub fn state_keys(mut self, first: [u8; 32], others: impl IntoIterator<Item = [u8; 32]>) -> Self {
        self.sealer = Some(Arc::new(others.into_iter().fold(HmacSealer::new(first), HmacSealer::or)));
        self
    }

    /// Has changes go by a bus, so that clients of other instances of the server hear of them too.
    pub fn event_bus(mut self, bus: Arc<dyn EventBus>) -> Self {
        self.bus = Some((bus, Server::join));
        self
    }

    /// Declares a capability that nothing registered asks for yet.
    pub fn declare(mut self, capability: Capability) -> Self {
        self.declared.push(capability);
        match capability {
            Capability::Tools => self.serves(TOOLS),
            Capability::Resources => self.serves(RESOURCES),
            Capability::Prompts => self.serves(PROMPTS),
            Capability::Logging => {}
        }
        self
    }

    pub(crate) fn declared_member(&self, member: &str) -> Option<&Raw> {
        self.members.iter().find(|(known, _)| *known == member).map(|(_, value)| value)
    }

    /// Declares extensions, or experimental capabilities: `member` is `extensions` or `experimental`, `value` the
    /// object under it.
    pub(crate) fn declare_member(mut self, member: &'static str, value: Raw) -> Self {
        self.members.retain(|(known, _)| *known != member);
        self.members.push((member, value));
        self
    }

    /// Declares experimental capabilities: an object of settings by name.
    pub fn experimental(self, experimental: Raw) -> Self {
        self.declare_member("experimental", experimental)
    }

    /// Registers a handler, several, or a value with `#[handlers]`.
    pub fn with(self, bundle: impl Bundle) -> Self {
        bundle.add_to(self)
    }

    /// Registers a tool; see [`ToolHandler::new`].
    pub fn tool<F, M>(self, name: &str, description: &str, function: F) -> Self
    where
        F: Function<kind::Tool, M, Output: IntoToolResult>,
    {
        self.with(ToolHandler::new(name, description, function))
    }

    /// Registers a resource or a template of resources; see [`ResourceHandler::new`].
    pub fn resource<F, M>(self, uri: &str, description: &str, function: F) -> Self
    where
        F: Function<kind::Resource, M, Output: IntoResource>,
    {
        self.with(ResourceHandler::new(uri, description, function))
    }

    /// Registers a prompt; see [`PromptHandler::new`].
    pub fn prompt<F, M>(self, name: &str, description: &str, function: F) -> Self
    where
        F: Function<kind::Prompt, M, Output: IntoPrompt>,
    {
        self.with(PromptHandler::new(name, description, function))
    }

    /// Proposes values for an argument of a prompt, or for a variable of a resource template, that is registered under
    /// the name `of`; see [`Completing`].
    pub fn completion<F, M>(mut self, of: &str, argument: &str, function: F) -> Self
    where
        F: Function<kind::Completion, M, Arguments = Completing>,
    {
        self.attach_completions = Some(Self::attach_completions);
        self.completions.push((of.to_owned(), argument.to_owned(), CompletionRun::completing(function)));
        self
    }

    /// The server.
    ///
    /// # Errors
    /// Something that was registered cannot work: a name twice, a malformed template, arguments that are not an object.
    pub fn build(self) -> Result<Server, RegistrationError> {
        self.build_with(|_| {})
    }

    /// The server, with other limits, versions, cache hints or rules than usual.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_with(mut self, configure: impl FnOnce(&mut Config)) -> Result<Server, RegistrationError> {
        if let Some(attach) = self.attach_completions {
            attach(&mut self);
        }
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let results = self.methods.iter().filter_map(|served| Some((served.method.clone(), served.result?))).collect();
        let mut config = Config::with_results(to_raw(&self.info), self.capabilities(), results);
        config.caches = std::mem::take(&mut self.caches);
        if let Some(sealer) = self.sealer.take() {
            config = config.sealed_by(sealer);
        }
        config.instructions = self.instructions.take().map(Arc::from);
        #[cfg_attr(not(feature = "tasks"), expect(unused_mut))]
        let mut rest = match self.extending.take() {
            Some(extending) => (extending.finish)(*extending, &mut config)?,
            None => Rest::default(),
        };
        #[cfg(feature = "tasks")]
        {
            rest.tasks = self.tasks.take();
        }
        configure(&mut config);
        let tables = Tables::new(self.page_size);
        for (table, rows) in &mut [
            (&tables.tools, &mut self.tools),
            (&tables.resources, &mut self.resources),
            (&tables.templates, &mut self.templates),
            (&tables.prompts, &mut self.prompts),
            #[cfg(feature = "skills")]
            (&tables.skills, &mut self.skills),
        ] {
            table.update(|table| table.with(std::mem::take(rows)))?;
        }
        let server = Server::new(config, tables, self.methods, rest);
        if let Some((bus, join)) = self.bus {
            join(&server, bus);
        }
        Ok(server)
    }

    fn attach_completions(&mut self) {
        for (of, argument, run) in std::mem::take(&mut self.completions) {
            let row = self.prompts.iter_mut().chain(&mut self.templates).find(|row| *row.key == *of);
            let problem = match row.and_then(|row| row.handler.completions()) {
                Some(completions) => {
                    completions.add(&argument, run);
                    completions.problem()
                }
                None => Some(Problem::NothingToComplete),
            };
            if let Some(problem) = problem {
                self.failed(RegistrationError::new(&of, problem));
            }
        }
    }

    pub(crate) fn serves<const N: usize>(&mut self, methods: [Served; N]) {
        self.methods.extend(methods);
    }

    /// Keeps the first error.
    pub(crate) fn failed(&mut self, error: RegistrationError) {
        self.error.get_or_insert(error);
    }

    fn capabilities(&self) -> Raw {
        let declares = |capability| self.declared.contains(&capability);
        let completes = |row: &Row| row.handler.completes();
        let completes = self.prompts.iter().any(completes) || self.templates.iter().any(completes);
        let mut rows = self.tools.iter().chain(&self.resources).chain(&self.templates).chain(&self.prompts);
        let logs = rows.any(|row| row.handler.takes_context());
        let reads = !self.resources.is_empty() || !self.templates.is_empty();
        let mut writer = Writer::new();
        writer.begin_object();
        for (there, name, value) in &[
            (!self.tools.is_empty() || declares(Capability::Tools), "tools", r#"{"listChanged":true}"#),
            (reads || declares(Capability::Resources), "resources", r#"{"subscribe":true,"listChanged":true}"#),
            (!self.prompts.is_empty() || declares(Capability::Prompts), "prompts", r#"{"listChanged":true}"#),
            (completes, "completions", "{}"),
            (logs || declares(Capability::Logging), "logging", "{}"),
        ] {
            if *there {
                writer.key(name);
                writer.raw(value);
            }
        }
        for (name, value) in &self.members {
            writer.key(name);
            writer.raw(value.as_str());
        }
        writer.end_object();
        writer.into_raw()
    }
}

impl Bundle for ToolHandler {
    fn add_to(self, mut builder: Builder) -> Builder {
        if builder.tools.is_empty() {
            builder.serves(TOOLS);
        }
        match self.into_row() {
            Ok(row) => builder.tools.push(row),
            Err(error) => builder.failed(error),
        }
        builder
    }
}

impl Bundle for ResourceHandler {
    fn add_to(self, mut builder: Builder) -> Builder {
        if builder.resources.is_empty() && builder.templates.is_empty() {
            builder.serves(RESOURCES);
        }
        let is_template = self.is_template;
        match self.into_row() {
            Ok(row) if is_template => builder.templates.push(row),
            Ok(row) => builder.resources.push(row),
            Err(error) => builder.failed(error),
        }
        builder
    }
}

impl Bundle for PromptHandler {
    fn add_to(self, mut builder: Builder) -> Builder {
        if builder.prompts.is_empty() {
            builder.serves(PROMPTS);
        }
        match self.into_row() {
            Ok(row) => builder.prompts.push(row),
            Err(error) => builder.failed(error),
        }
        builder
    }
}

impl<B: Bundle> Bundle for Vec<B> {
    fn add_to(self, builder: Builder) -> Builder {
        self.into_iter().fold(builder, Builder::with)
    }
}

impl<B: Bundle, const N: usize> Bundle for [B; N] {
    fn add_to(self, builder: Builder) -> Builder {
        self.into_iter().fold(builder, Builder::with)
    }
}

impl<B: Bundle> Bundle for Option<B> {
    fn add_to(self, builder: Builder) -> Builder {
        self.into_iter().fold(builder, Builder::with)
    }
}
