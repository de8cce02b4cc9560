//! One table of every request and notification of both eras.

use std::sync::Arc;

use crate::{Capability, ProtocolVersion};

/// Which side sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The client.
    Client,
    /// The server.
    Server,
}

/// Whether a message wants an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MethodKind {
    /// It does.
    Request,
    /// It does not.
    Notification,
}

/// The parameter whose value the HTTP header `Mcp-Name` repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NameSource {
    /// `params.name`
    Name,
    /// `params.uri`
    Uri,
    /// `params.taskId`
    TaskId,
}

impl NameSource {
    /// The member of `params`.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Uri => "uri",
            Self::TaskId => "taskId",
        }
    }
}

/// What is known of a method.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// The name on the wire.
    pub name: &'static str,
    /// Whether it wants an answer.
    pub kind: MethodKind,
    /// The versions in which the client may send it, one bit for each level.
    from_client: u8,
    /// The versions in which the server may send it.
    from_server: u8,
    /// What `Mcp-Name` repeats.
    pub name_source: Option<NameSource>,
    /// Whether modern results carry `ttlMs` and `cacheScope`.
    pub cacheable: bool,
    /// Whether a modern server may answer that input is required.
    pub may_require_input: bool,
    /// What its receiver must have declared, or its sender where it is a notification.
    pub capability: Option<Capability>,
}

const NONE: u8 = 0;
const ALL: u8 = 0b1_1111;
const LEGACY: u8 = 0b0_1111;
const FROM_2025_06: u8 = 0b0_1100;
const ONLY_2025_11: u8 = 0b0_1000;
const MODERN: u8 = 0b1_0000;
const TASKS: u8 = 0b1_1000;

const REQUEST: Facts = Facts {
    name: "",
    kind: MethodKind::Request,
    from_client: NONE,
    from_server: NONE,
    name_source: None,
    cacheable: false,
    may_require_input: false,
    capability: None,
};
const NOTIFICATION: Facts = Facts { kind: MethodKind::Notification, ..REQUEST };

macro_rules! methods {
    ($( $(#[$doc:meta])* $variant:ident = $name:literal, $base:ident { $($fact:ident: $value:expr),* }; )*) => {
        /// The name of a request or notification.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Method {
            $( $(#[$doc])* $variant, )*
            /// One that this library does not know.
            Other(Arc<str>),
        }

        impl Method {
            /// Every known method.
            pub const KNOWN: &[Self] = &[$(Self::$variant),*];

            /// What is known of it; `None` for an unknown method.
            pub fn facts(&self) -> Option<&'static Facts> {
                match self {
                    $( Self::$variant => {
                        const FACTS: &Facts = &Facts { name: $name, $($fact: $value,)* ..$base };
                        Some(FACTS)
                    } )*
                    Self::Other(_) => None,
                }
            }
        }
    };
}

methods! {
    /// Opens a legacy connection.
    Initialize = "initialize", REQUEST { from_client: LEGACY };
    /// Asks whether the peer is there.
    Ping = "ping", REQUEST { from_client: LEGACY, from_server: LEGACY };
    /// Asks what a modern server is and can do.
    ServerDiscover = "server/discover", REQUEST { from_client: MODERN, cacheable: true };
    /// Lists tools.
    ToolsList = "tools/list", REQUEST { from_client: ALL, cacheable: true, capability: Some(Capability::Tools) };
    /// Calls a tool.
    ToolsCall = "tools/call", REQUEST {
        from_client: ALL, name_source: Some(NameSource::Name), may_require_input: true, capability: Some(Capability::Tools)
    };
    /// Lists prompts.
    PromptsList = "prompts/list", REQUEST { from_client: ALL, cacheable: true, capability: Some(Capability::Prompts) };
    /// Expands a prompt.
    PromptsGet = "prompts/get", REQUEST {
        from_client: ALL, name_source: Some(NameSource::Name), may_require_input: true, capability: Some(Capability::Prompts)
    };
    /// Lists resources.
    ResourcesList = "resources/list", REQUEST { from_client: ALL, cacheable: true, capability: Some(Capability::Resources) };
    /// Lists resource templates.
    ResourcesTemplatesList = "resources/templates/list", REQUEST {
        from_client: ALL, cacheable: true, capability: Some(Capability::Resources)
    };
    /// Reads a resource.
    ResourcesRead = "resources/read", REQUEST {
        from_client: ALL, name_source: Some(NameSource::Uri), cacheable: true, may_require_input: true,
        capability: Some(Capability::Resources)
    };
    /// Asks to be told when a resource changes.
    ResourcesSubscribe = "resources/subscribe", REQUEST {
        from_client: LEGACY, capability: Some(Capability::ResourcesSubscribe)
    };
    /// Ends a subscription.
    ResourcesUnsubscribe = "resources/unsubscribe", REQUEST {
        from_client: LEGACY, capability: Some(Capability::ResourcesSubscribe)
    };
    /// Sets the level from which on log messages are sent.
    LoggingSetLevel = "logging/setLevel", REQUEST { from_client: LEGACY, capability: Some(Capability::Logging) };
    /// Completes an argument.
    CompletionComplete = "completion/complete", REQUEST { from_client: ALL, capability: Some(Capability::Completions) };
    /// Opens a stream of change notifications.
    SubscriptionsListen = "subscriptions/listen", REQUEST { from_client: MODERN };
    /// Asks the client's model for a message.
    SamplingCreateMessage = "sampling/createMessage", REQUEST { from_server: LEGACY, capability: Some(Capability::Sampling) };
    /// Asks for the client's roots.
    RootsList = "roots/list", REQUEST { from_server: LEGACY, capability: Some(Capability::Roots) };
    /// Asks the client's user for input.
    ElicitationCreate = "elicitation/create", REQUEST { from_server: FROM_2025_06, capability: Some(Capability::Elicitation) };
    /// Asks for the state of a task.
    TasksGet = "tasks/get", REQUEST {
        from_client: TASKS, from_server: ONLY_2025_11, name_source: Some(NameSource::TaskId), capability: Some(Capability::Tasks)
    };
    /// Waits for the result of a task.
    TasksResult = "tasks/result", REQUEST {
        from_client: ONLY_2025_11, from_server: ONLY_2025_11, capability: Some(Capability::Tasks)
    };
    /// Lists tasks.
    TasksList = "tasks/list", REQUEST {
        from_client: ONLY_2025_11, from_server: ONLY_2025_11, capability: Some(Capability::TasksList)
    };
    /// Cancels a task.
    TasksCancel = "tasks/cancel", REQUEST {
        from_client: TASKS, from_server: ONLY_2025_11, name_source: Some(NameSource::TaskId),
        capability: Some(Capability::TasksCancel)
    };
    /// Answers what a task asked for.
    TasksUpdate = "tasks/update", REQUEST {
        from_client: MODERN, name_source: Some(NameSource::TaskId), capability: Some(Capability::Tasks)
    };
    /// Lists skills.
    SkillsList = "skills/list", REQUEST { from_client: ALL, cacheable: true, capability: Some(Capability::Skills) };
    /// Asks for one skill.
    SkillsGet = "skills/get", REQUEST { from_client: ALL, cacheable: true, capability: Some(Capability::Skills) };
    /// Lists what a directory of resources holds.
    ResourcesDirectoryRead = "resources/directory/read", REQUEST {
        from_client: ALL, capability: Some(Capability::SkillsDirectoryRead)
    };
    /// Says that a legacy client is ready.
    Initialized = "notifications/initialized", NOTIFICATION { from_client: LEGACY };
    /// Gives up a request.
    Cancelled = "notifications/cancelled", NOTIFICATION { from_client: ALL, from_server: ALL };
    /// Tells how far a request has come.
    Progress = "notifications/progress", NOTIFICATION { from_client: LEGACY, from_server: ALL };
    /// Carries a log message.
    LogMessage = "notifications/message", NOTIFICATION { from_server: ALL, capability: Some(Capability::Logging) };
    /// Says that the list of tools changed.
    ToolsListChanged = "notifications/tools/list_changed", NOTIFICATION {
        from_server: ALL, capability: Some(Capability::ToolsListChanged)
    };
    /// Says that the list of prompts changed.
    PromptsListChanged = "notifications/prompts/list_changed", NOTIFICATION {
        from_server: ALL, capability: Some(Capability::PromptsListChanged)
    };
    /// Says that the list of resources changed.
    ResourcesListChanged = "notifications/resources/list_changed", NOTIFICATION {
        from_server: ALL, capability: Some(Capability::ResourcesListChanged)
    };
    /// Says that a resource changed.
    ResourcesUpdated = "notifications/resources/updated", NOTIFICATION {
        from_server: ALL, capability: Some(Capability::ResourcesSubscribe)
    };
    /// Says that the client's roots changed.
    RootsListChanged = "notifications/roots/list_changed", NOTIFICATION {
        from_client: LEGACY, capability: Some(Capability::RootsListChanged)
    };
    /// Says that what an elicitation opened is done.
    ElicitationComplete = "notifications/elicitation/complete", NOTIFICATION { from_server: ONLY_2025_11 };
    /// Tells the state of a legacy task.
    TasksStatus = "notifications/tasks/status", NOTIFICATION {
        from_client: ONLY_2025_11, from_server: ONLY_2025_11, capability: Some(Capability::Tasks)
    };
    /// Tells the state of a task of the extension.
    Tasks = "notifications/tasks", NOTIFICATION { from_server: MODERN, capability: Some(Capability::Tasks) };
    /// Says which notifications a listen request gets.
    SubscriptionsAcknowledged = "notifications/subscriptions/acknowledged", NOTIFICATION { from_server: MODERN };
}

impl From<&str> for Method {
    fn from(name: &str) -> Self {
        let known = Self::KNOWN.iter().find(|method| method.as_str() == name);
        known.cloned().unwrap_or_else(|| Self::Other(name.into()))
    }
}

impl Method {
    /// The name on the wire.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Other(name) => name,
            known => known.facts().map_or("", |facts| facts.name),
        }
    }

    /// Whether `side` may send it in `version`; true for an unknown method, which no version forbids.
    pub fn may_send(&self, side: Side, version: ProtocolVersion) -> bool {
        let Some(facts) = self.facts() else { return true };
        let versions = match side {
            Side::Client => facts.from_client,
            Side::Server => facts.from_server,
        };
        versions >> version.level() & 1 == 1
    }

    /// Whether it is a known request.
    pub fn is_request(&self) -> bool {
        self.facts().is_some_and(|facts| facts.kind == MethodKind::Request)
    }

    /// What its receiver must have declared, or its sender where it is a notification.
    pub fn capability(&self) -> Option<Capability> {
        self.facts().and_then(|facts| facts.capability)
    }

    /// What the HTTP header `Mcp-Name` repeats.
    pub fn name_source(&self) -> Option<NameSource> {
        self.facts().and_then(|facts| facts.name_source)
    }

    /// Whether modern results carry `ttlMs` and `cacheScope`.
    pub fn is_cacheable(&self) -> bool {
        self.facts().is_some_and(|facts| facts.cacheable)
    }

    /// Whether a modern server may answer that input is required.
    pub fn may_require_input(&self) -> bool {
        self.facts().is_some_and(|facts| facts.may_require_input)
    }
}

impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl PartialEq<str> for Method {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}
