//! What a peer declares it can do, as far as methods depend on it.

use sandwire_json::{Raw, find};

macro_rules! capabilities {
    ($( $(#[$doc:meta])* $variant:ident = $name:literal / $part:literal; )*) => {
        /// A capability that a method needs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Capability {
            $( $(#[$doc])* $variant, )*
        }

        impl Capability {
            /// Every capability.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The member of the capabilities object, and the member of its value; empty where the value suffices.
            const fn path(self) -> (&'static str, &'static str) {
                match self {
                    $( Self::$variant => ($name, $part), )*
                }
            }
        }
    };
}

capabilities! {
    /// The server has tools.
    Tools = "tools" / "";
    /// It tells when their list changes.
    ToolsListChanged = "tools" / "listChanged";
    /// The server has prompts.
    Prompts = "prompts" / "";
    /// It tells when their list changes.
    PromptsListChanged = "prompts" / "listChanged";
    /// The server has resources.
    Resources = "resources" / "";
    /// It tells when their list changes.
    ResourcesListChanged = "resources" / "listChanged";
    /// It tells when one of them changes.
    ResourcesSubscribe = "resources" / "subscribe";
    /// The server completes arguments.
    Completions = "completions" / "";
    /// The server sends log messages.
    Logging = "logging" / "";
    /// The client has a model to ask.
    Sampling = "sampling" / "";
    /// The client has a user to ask.
    Elicitation = "elicitation" / "";
    /// The client has roots.
    Roots = "roots" / "";
    /// It tells when they change.
    RootsListChanged = "roots" / "listChanged";
    /// The peer has tasks.
    Tasks = "tasks" / "";
    /// It lists them.
    TasksList = "tasks" / "list";
    /// It cancels them.
    TasksCancel = "tasks" / "cancel";
}

/// Declares tasks in the modern era, all that belongs to them included.
const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

impl Capability {
    /// Whether a peer declares it in this capabilities object.
    pub fn is_in(self, capabilities: &Raw) -> bool {
        let (name, part) = self.path();
        let value = find(capabilities.as_str(), name).filter(|value| value.starts_with('{'));
        let declared = value.is_some_and(|value| {
            part.is_empty() || find(value, part).is_some_and(|part| part == "true" || part.starts_with('{'))
        });
        declared || name == "tasks" && extends(capabilities.as_str())
    }
}

fn extends(capabilities: &str) -> bool {
    find(capabilities, "extensions").is_some_and(|extensions| find(extensions, TASKS_EXTENSION).is_some())
}
