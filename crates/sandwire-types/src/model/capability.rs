//! [Capabilities](https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning): what a
//! peer says it can do. An object that is there says yes.

use sandwire_json::Raw;

use super::macros::noun;
use super::support::Map;

noun! {
    /// What a client can do.
    ClientCapabilities {} optional {
        /// What no specification knows of.
        experimental: Map<Raw> = "experimental",
        /// Names the places it works in.
        roots: RootsCapability = "roots",
        /// Asks its model.
        sampling: SamplingCapability = "sampling",
        /// Asks its user.
        elicitation: ElicitationCapability = "elicitation" since V2025_06_18,
        /// Runs what it is asked as a task (2025-11-25).
        tasks: TasksCapability = "tasks" since V2025_11_25 until V2025_11_25,
        /// Extensions and their settings.
        extensions: Map<Raw> = "extensions",
    }
}

noun! {
    /// What a server can do.
    ServerCapabilities {} optional {
        /// What no specification knows of.
        experimental: Map<Raw> = "experimental",
        /// Sends log messages.
        logging: Raw as object = "logging",
        /// Completes arguments.
        completions: Raw as object = "completions" since V2025_03_26,
        /// Has prompts.
        prompts: ListCapability = "prompts",
        /// Has resources.
        resources: ResourcesCapability = "resources",
        /// Has tools.
        tools: ListCapability = "tools",
        /// Runs what it is asked as a task (2025-11-25).
        tasks: TasksCapability = "tasks" since V2025_11_25 until V2025_11_25,
        /// Extensions and their settings.
        extensions: Map<Raw> = "extensions",
    }
}

noun! {
    /// A client's roots.
    RootsCapability {} optional {
        /// Whether it tells when they change (legacy).
        list_changed: bool = "listChanged" until V2025_11_25,
    }
}

noun! {
    /// How a client asks its model.
    SamplingCapability {} optional {
        /// With context of servers.
        context: Raw as object = "context" since V2025_11_25,
        /// With tools.
        tools: Raw as object = "tools" since V2025_11_25,
    }
}

noun! {
    /// How a client asks its user; without any member, by forms.
    ElicitationCapability {} optional {
        /// By a form.
        form: Raw as object = "form" since V2025_11_25,
        /// By an address to visit.
        url: Raw as object = "url" since V2025_11_25,
    }
}

noun! {
    /// A server's prompts or tools.
    ListCapability {} optional {
        /// Whether it tells when the list changes.
        list_changed: bool = "listChanged",
    }
}

noun! {
    /// A server's resources.
    ResourcesCapability {} optional {
        /// Whether it tells when one changes.
        subscribe: bool = "subscribe",
        /// Whether it tells when the list changes.
        list_changed: bool = "listChanged",
    }
}

noun! {
    /// How requests run as tasks (2025-11-25).
    TasksCapability {} optional {
        /// Tasks can be listed.
        list: Raw as object = "list",
        /// Tasks can be cancelled.
        cancel: Raw as object = "cancel",
        /// Which requests, by the parts of their names.
        requests: Raw as object = "requests",
    }
}

impl ClientCapabilities {
    /// Whether the client asks its user by forms.
    pub fn has_form_elicitation(&self) -> bool {
        self.elicitation.as_ref().is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none())
    }

    /// Whether the client asks its user to visit an address.
    pub fn has_url_elicitation(&self) -> bool {
        self.elicitation.as_ref().is_some_and(|elicitation| elicitation.url.is_some())
    }
}
