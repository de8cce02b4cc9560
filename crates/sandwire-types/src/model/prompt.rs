//! [Prompts](https://modelcontextprotocol.io/specification/2026-07-28/server/prompts).

use sandwire_json::Raw;

use super::content::{ContentBlock, Icon, Role};
use super::input::InputResponses;
use super::macros::noun;
use super::support::Map;

noun! {
    /// A prompt, or a template of one.
    Prompt {
        /// Its programmatic name.
        name: String = "name",
    } optional {
        /// Its name for people.
        title: String = "title" since V2025_06_18,
        /// What it is for.
        description: String = "description",
        /// What it can be filled with.
        arguments: Vec<PromptArgument> = "arguments",
        /// Pictures that stand for it.
        icons: Vec<Icon> = "icons" since V2025_11_25,
        /// Metadata.
        meta: Raw as object = "_meta" since V2025_06_18,
    }
}

noun! {
    /// An argument of a prompt.
    PromptArgument {
        /// Its programmatic name.
        name: String = "name",
    } optional {
        /// Its name for people.
        title: String = "title" since V2025_06_18,
        /// What it is for.
        description: String = "description",
        /// Whether it must be given.
        required: bool = "required",
    }
}

noun! {
    /// A message of a prompt.
    PromptMessage {
        /// Who says it.
        role: Role = "role",
        /// What is said.
        content: ContentBlock = "content",
    } optional {}
}

noun! {
    /// A page of prompts.
    ListPromptsResult {
        /// The prompts.
        prompts: Vec<Prompt> = "prompts",
    } optional {
        /// Where the next page begins.
        next_cursor: String = "nextCursor",
        /// Metadata.
        meta: Raw as object = "_meta",
    }
}

noun! {
    /// What `prompts/get` is called with.
    GetPromptRequestParams {
        /// The prompt.
        name: String = "name",
    } optional {
        /// What it is filled with.
        arguments: Map<String> = "arguments",
        /// Answers to what the call asked for (modern).
        input_responses: InputResponses = "inputResponses" since V2026_07_28,
        /// What the server wants to be told again (modern).
        request_state: String = "requestState" since V2026_07_28,
    }
}

noun! {
    /// A prompt, filled.
    GetPromptResult {
        /// The messages.
        messages: Vec<PromptMessage> = "messages",
    } optional {
        /// What it is for.
        description: String = "description",
        /// Metadata.
        meta: Raw as object = "_meta",
    }
}
