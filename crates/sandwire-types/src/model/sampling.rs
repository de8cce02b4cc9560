//! [Sampling](https://modelcontextprotocol.io/specification/2026-07-28/client/sampling).

use sandwire_json::{Number, Raw};

use super::content::{AudioContent, ContentBlock, ImageContent, Role, TextContent};
use super::macros::{noun, open_enum, union};
use super::support::OneOrMany;
use super::task::TaskMetadata;
use super::tool::Tool;

open_enum! {
    /// Which servers' context a model is given.
    IncludeContext {
        /// None.
        None = "none",
        /// The asking server's.
        ThisServer = "thisServer",
        /// Every server's.
        AllServers = "allServers",
    }
}

open_enum! {
    /// Whether a model uses tools.
    ToolChoiceMode {
        /// As it likes.
        Auto = "auto",
        /// It must.
        Required = "required",
        /// It must not.
        None = "none",
    }
}

noun! {
    /// Whether a model uses tools.
    ToolChoice {} optional {
        /// The mode; `auto` if absent.
        mode: ToolChoiceMode = "mode",
    }
}

noun! {
    /// A hint at a model.
    ModelHint {} optional {
        /// A part of its name.
        name: String = "name",
    }
}

noun! {
    /// Which model a server would like; the client decides.
    ModelPreferences {} optional {
        /// Hints, the first that fits counts.
        hints: Vec<ModelHint> = "hints",
        /// How much the price counts, from 0 to 1.
        cost_priority: Number = "costPriority",
        /// How much speed counts.
        speed_priority: Number = "speedPriority",
        /// How much skill counts.
        intelligence_priority: Number = "intelligencePriority",
    }
}

noun! {
    /// A model's call of a tool.
    ToolUseContent("type" = "tool_use") {
        /// What its result names it by.
        id: String = "id",
        /// The tool.
        name: String = "name",
        /// Its arguments, an object.
        input: Raw as object = "input",
    } optional {
        /// Metadata.
        meta: Raw as object = "_meta",
    }
}

noun! {
    /// What came of a model's call of a tool.
    ToolResultContent("type" = "tool_result") {
        /// Which call.
        tool_use_id: String = "toolUseId",
        /// For the model.
        content: Vec<ContentBlock> = "content",
    } optional {
        /// For programs: any JSON value.
        structured_content: Raw = "structuredContent",
        /// Whether the tool failed.
        is_error: bool = "isError",
        /// Metadata.
        meta: Raw as object = "_meta",
    }
}

union! {
    /// A piece of a message to or from a model.
    SamplingMessageContentBlock by "type" {
        /// Text.
        Text(TextContent) = "text",
        /// An image.
        Image(ImageContent) = "image",
        /// Sound.
        Audio(AudioContent) = "audio" since V2025_03_26,
        /// A call of a tool.
        ToolUse(ToolUseContent) = "tool_use" since V2025_11_25,
        /// What came of one.
        ToolResult(ToolResultContent) = "tool_result" since V2025_11_25,
    }
}

noun! {
    /// A message to a model.
    SamplingMessage {
        /// Who says it.
        role: Role = "role",
        /// What is said; an array only since 2025-11-25.
        content: OneOrMany<SamplingMessageContentBlock> = "content",
    } optional {
        /// Metadata.
        meta: Raw as object = "_meta" since V2025_11_25,
    }
}

noun! {
    /// What `sampling/createMessage` is called with.
    CreateMessageRequestParams {
        /// The conversation so far.
        messages: Vec<SamplingMessage> = "messages",
        /// How long the answer may get.
        max_tokens: Number = "maxTokens",
    } optional {
        /// Which model is wanted.
        model_preferences: ModelPreferences = "modelPreferences",
        /// The system prompt.
        system_prompt: String = "systemPrompt",
        /// Which servers' context is wanted.
        include_context: IncludeContext = "includeContext",
        /// How freely the model writes.
        temperature: Number = "temperature",
        /// What ends the answer.
        stop_sequences: Vec<String> = "stopSequences",
        /// For the model's provider.
        metadata: Raw as object = "metadata",
        /// Tools the model may call.
        tools: Vec<Tool> = "tools" since V2025_11_25,
        /// Whether it has to.
        tool_choice: ToolChoice = "toolChoice" since V2025_11_25,
        /// The wish to have it run as a task (2025-11-25).
        task: TaskMetadata = "task" since V2025_11_25 until V2025_11_25,
    }
}

noun! {
    /// What a model answered.
    CreateMessageResult {
        /// Who says it.
        role: Role = "role",
        /// What is said; an array only since 2025-11-25.
        content: OneOrMany<SamplingMessageContentBlock> = "content",
        /// The model.
        model: String = "model",
    } optional {
        /// Why it stopped: `endTurn`, `stopSequence`, `maxTokens`, `toolUse`, or the provider's word.
        stop_reason: String = "stopReason",
        /// Metadata.
        meta: Raw as object = "_meta",
    }
}
