//! [Tools](https://modelcontextprotocol.io/specification/2026-07-28/server/tools).

use sandwire_json::Raw;

use super::content::{ContentBlock, Icon};
use super::input::InputResponses;
use super::macros::{noun, open_enum};
use super::task::TaskMetadata;

open_enum! {
    /// Whether a tool runs as a task (2025-11-25).
    TaskSupport {
        /// Never.
        Forbidden = "forbidden",
        /// If the client wants.
        Optional = "optional",
        /// Always.
        Required = "required",
    }
}

noun! {
    /// Something that a model can have done.
    Tool {
        /// Its programmatic name.
        name: String = "name",
        /// The JSON Schema of its arguments, of type object.
        input_schema: Raw as object = "inputSchema",
    } optional {
        /// Its name for people.
        title: String = "title" since V2025_06_18,
        /// What it does, for the model.
        description: String = "description",
        /// The JSON Schema of its structured results.
        output_schema: Raw as object = "outputSchema" since V2025_06_18,
        /// Hints about what it does.
        annotations: ToolAnnotations = "annotations" since V2025_03_26,
        /// How it is run.
        execution: ToolExecution = "execution" since V2025_11_25 until V2025_11_25,
        /// Pictures that stand for it.
        icons: Vec<Icon> = "icons" since V2025_11_25,
        /// Metadata.
        meta: Raw as object = "_meta" since V2025_06_18,
    }
}

impl Tool {
    /// The name to show: its title, its annotated title, or its name.
    pub fn display_name(&self) -> &str {
        let annotated = self.annotations.as_ref().and_then(|annotations| annotations.title.as_deref());
        self.title.as_deref().or(annotated).unwrap_or(&self.name)
    }
}

noun! {
    /// Hints about what a tool does; not to be trusted more than its server.
    ToolAnnotations {} optional {
        /// Its name for people.
        title: String = "title",
        /// Whether it changes nothing (`false` if absent).
        read_only_hint: bool = "readOnlyHint",
        /// Whether what it changes may be lost (`true` if absent).
        destructive_hint: bool = "destructiveHint",
        /// Whether calling it again changes nothing more (`false` if absent).
        idempotent_hint: bool = "idempotentHint",
        /// Whether it deals with an open world (`true` if absent).
        open_world_hint: bool = "openWorldHint",
    }
}

noun! {
    /// How a tool is run (2025-11-25).
    ToolExecution {} optional {
        /// Whether it runs as a task.
        task_support: TaskSupport = "taskSupport",
    }
}

noun! {
    /// A page of tools.
    ListToolsResult {
        /// The tools.
        tools: Vec<Tool> = "tools",
    } optional {
        /// Where the next page begins.
        next_cursor: String = "nextCursor",
        /// Metadata.
        meta: Raw as object = "_meta",
    }
}

noun! {
    /// What `tools/call` is called with.
    CallToolRequestParams {
        /// The tool.
        name: String = "name",
    } optional {
        /// Its arguments, an object.
        arguments: Raw as object = "arguments",
        /// The wish to have it run as a task (2025-11-25).
        task: TaskMetadata = "task" since V2025_11_25 until V2025_11_25,
        /// Answers to what the call asked for (modern).
        input_responses: InputResponses = "inputResponses" since V2026_07_28,
        /// What the server wants to be told again (modern).
        request_state: String = "requestState" since V2026_07_28,
    }
}

noun! {
    /// What came of a call.
    CallToolResult {
        /// For the model.
        content: Vec<ContentBlock> = "content",
    } optional {
        /// For programs: any JSON value, and `null` is one. Before 2026-07-28 it is an object.
        structured_content: Raw = "structuredContent" since V2025_06_18,
        /// Whether the tool failed.
        is_error: bool = "isError",
        /// Metadata.
        meta: Raw as object = "_meta",
    }
}

impl CallToolResult {
    /// A result of one piece of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(vec![ContentBlock::text(text)])
    }

    /// A failure that the model is told about.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: Some(true), ..Self::text(text) }
    }
}
