//! Changing a server while it runs.

use crate::error::{Problem, RegistrationError};
use crate::prompt::PromptHandler;
use crate::resource::ResourceHandler;
use crate::server::Server;
use crate::table::{Row, Swap, Table};
use crate::tool::ToolHandler;
use sandwire_proto::server::Change;
use std::sync::Arc;

/// The tools of a running server.
///
/// Calls under way finish on the tools they found. Clients that want to know hear that the list changed.
///
/// ```
/// use sandwire_server::{Server, ToolHandler};
///
/// let server = Server::builder("clock", "1.0").tool("tick", "Ticks.", || "tick").build()?;
/// server.tools().add(ToolHandler::new("tock", "Tocks.", || "tock"))?;
/// server.tools().disable("tick");
/// server.tools().remove("tock");
/// assert!(server.tools().enable("tick"));
/// # Ok::<(), sandwire_server::RegistrationError>(())
/// ```
#[derive(Debug)]
pub struct Tools<'s>(&'s Server);

/// The resources and resource templates of a running server. See [`Tools`].
#[derive(Debug)]
pub struct Resources<'s>(&'s Server);

/// The prompts of a running server. See [`Tools`].
#[derive(Debug)]
pub struct Prompts<'s>(&'s Server);

impl Server {
    /// The tools, to change them.
    pub fn tools(&self) -> Tools<'_> {
        Tools(self)
    }

    /// The resources, to change them.
    pub fn resources(&self) -> Resources<'_> {
        Resources(self)
    }

    /// The prompts, to change them.
    pub fn prompts(&self) -> Prompts<'_> {
        Prompts(self)
    }

    fn check(&self, capability: &str) -> Result<(), RegistrationError> {
        match self.config().capabilities().get(capability) {
            Some(_) => Ok(()),
            None => Err(RegistrationError::new(capability, Problem::Undeclared)),
        }
    }

    fn insert(&self, table: &Swap<Table>, row: Row, change: &Change) -> Result<(), RegistrationError> {
        table.update(|table| table.with(vec![row]))?;
        self.announce(change);
        Ok(())
    }

    fn alter(&self, table: &Swap<Table>, change: &Change, alter: impl FnOnce(&Table) -> Option<Table>) -> bool {
        let changed = table.update(|table| alter(table).ok_or(())).is_ok();
        if changed {
            self.announce(change);
        }
        changed
    }
}

macro_rules! switches {
    ($name:ident, $change:expr, $what:literal, |$server:ident| $tables:expr) => {
        impl $name<'_> {
            #[doc = concat!("Takes ", $what, " away. Returns whether it was there.")]
            pub fn remove(&self, key: &str) -> bool {
                let $server = self.0;
                $tables.into_iter().any(|table| $server.alter(table, &$change, |table| table.without(key)))
            }

            #[doc = concat!("Hides ", $what, " until it is enabled again. Returns whether that changed something.")]
            pub fn disable(&self, key: &str) -> bool {
                let $server = self.0;
                $tables.into_iter().any(|table| $server.alter(table, &$change, |table| table.switched(key, false)))
            }

            #[doc = concat!("Shows ", $what, " again. Returns whether that changed something.")]
            pub fn enable(&self, key: &str) -> bool {
                let $server = self.0;
                $tables.into_iter().any(|table| $server.alter(table, &$change, |table| table.switched(key, true)))
            }

            /// All of them in order, those that are disabled too.
            pub fn names(&self) -> Vec<Arc<str>> {
                let $server = self.0;
                $tables.into_iter().flat_map(|table| table.load().keys()).collect()
            }
        }
    };
}

switches!(Tools, Change::Tools, "the tool of this name", |server| [&server.tables().tools]);
switches!(Prompts, Change::Prompts, "the prompt of this name", |server| [&server.tables().prompts]);
switches!(Resources, Change::Resources, "the resource or template of this address", |server| [
    &server.tables().resources,
    &server.tables().templates
]);

impl Tools<'_> {
    /// Adds a tool. The server must have declared tools when it was built, by having one or with
    /// [`Capability::Tools`](crate::Capability::Tools).
    ///
    /// # Errors
    /// It cannot work, or there is one of that name.
    pub fn add(&self, tool: ToolHandler) -> Result<(), RegistrationError> {
        self.0.check("tools")?;
        self.0.insert(&self.0.tables().tools, tool.into_row()?, &Change::Tools)
    }
}

impl Prompts<'_> {
    /// Adds a prompt. The server must have declared prompts when it was built, by having one or with
    /// [`Capability::Prompts`](crate::Capability::Prompts).
    ///
    /// # Errors
    /// It cannot work, or there is one of that name.
    pub fn add(&self, prompt: PromptHandler) -> Result<(), RegistrationError> {
        self.0.check("prompts")?;
        self.0.insert(&self.0.tables().prompts, prompt.into_row()?, &Change::Prompts)
    }
}

impl Resources<'_> {
    /// Adds a resource or a template. The server must have declared resources when it was built, by having one or
    /// with [`Capability::Resources`](crate::Capability::Resources).
    ///
    /// # Errors
    /// It cannot work, or there is one of that address.
    pub fn add(&self, resource: ResourceHandler) -> Result<(), RegistrationError> {
        self.0.check("resources")?;
        let tables = self.0.tables();
        let table = if resource.is_template { &tables.templates } else { &tables.resources };
        self.0.insert(table, resource.into_row()?, &Change::Resources)
    }

    /// Tells the clients that watch it that the content of a resource changed.
    pub fn updated(&self, uri: &str) {
        self.0.announce(&Change::Resource(uri.into()));
    }
}
