//! What a peer declares it can do, as far as methods depend on it.

use sandwire_json::{Raw, find};

macro_rules! capabilities {
    ($( $(#[$doc:meta])* $variant:ident = $($member:literal)/+; )*) => {
        /// A capability that a method needs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Capability {
            $( $(#[$doc])* $variant, )*
        }

        impl Capability {
            /// Every capability.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The member of the capabilities object, and the members of its value on the way to what declares it.
            const fn path(self) -> &'static [&'static str] {
                match self {
                    $( Self::$variant => &[$($member),+], )*
                }
            }
        }
    };
}

capabilities! {
    /// The server has tools.
    Tools = "tools";
    /// It tells when their list changes.
    ToolsListChanged = "tools" / "listChanged";
    /// The server has prompts.
    Prompts = "prompts";
    /// It tells when their list changes.
    PromptsListChanged = "prompts" / "listChanged";
    /// The server has resources.
    Resources = "resources";
    /// It tells when their list changes.
    ResourcesListChanged = "resources" / "listChanged";
    /// It tells when one of them changes.
    ResourcesSubscribe = "resources" / "subscribe";
    /// The server completes arguments.
    Completions = "completions";
    /// The server sends log messages.
    Logging = "logging";
    /// The client has a model to ask.
    Sampling = "sampling";
    /// The client has a user to ask.
    Elicitation = "elicitation";
    /// The client has roots.
    Roots = "roots";
    /// It tells when they change.
    RootsListChanged = "roots" / "listChanged";
    /// The peer has tasks.
    Tasks = "tasks";
    /// It lists them.
    TasksList = "tasks" / "list";
    /// It cancels them.
    TasksCancel = "tasks" / "cancel";
    /// The server has skills.
    Skills = "extensions" / "io.modelcontextprotocol/skills";
    /// It lists the directories they are in.
    SkillsDirectoryRead = "extensions" / "io.modelcontextprotocol/skills" / "directoryRead";
}

/// Declares tasks in the modern era, all that belongs to them included.
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

impl Capability {
    /// Whether a peer declares it in this capabilities object.
    pub fn is_in(self, capabilities: &Raw) -> bool {
        let path = self.path();
        let declared = path.iter().try_fold(capabilities.as_str(), |value, member| find(value, member));
        let is_member = path.len() > 1;
        declared.is_some_and(|value| value.starts_with('{') || is_member && value == "true")
            || path.first() == Some(&"tasks") && extends(capabilities.as_str())
    }
}

fn extends(capabilities: &str) -> bool {
    find(capabilities, "extensions").is_some_and(|extensions| find(extensions, TASKS_EXTENSION).is_some())
}
