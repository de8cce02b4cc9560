//! [Completion](https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion).

use sandwire_json::{Number, Raw};

use super::macros::{noun, union};
use super::support::Map;

noun! {
    /// A prompt whose argument is completed.
    PromptReference("type" = "ref/prompt") {
        /// Its programmatic name.
        name: String = "name",
    } optional {
        /// Its name for people.
        title: String = "title" since V2025_06_18,
    }
}

noun! {
    /// A resource template whose variable is completed.
    ResourceTemplateReference("type" = "ref/resource") {
        /// The address, or the template.
        uri: String = "uri",
    } optional {}
}

union! {
    /// Whose argument is completed.
    CompletionReference by "type" {
        /// A prompt's.
        Prompt(PromptReference) = "ref/prompt",
        /// A resource template's.
        Resource(ResourceTemplateReference) = "ref/resource",
    }
}

noun! {
    /// The argument to complete.
    CompletionArgument {
        /// Its name.
        name: String = "name",
        /// What there is of it.
        value: String = "value",
    } optional {}
}

noun! {
    /// What else is known already.
    CompletionContext {} optional {
        /// The arguments that have their value.
        arguments: Map<String> = "arguments",
    }
}

noun! {
    /// What `completion/complete` is called with.
    CompleteRequestParams {
        /// Whose argument.
        reference: CompletionReference = "ref",
        /// Which one.
        argument: CompletionArgument = "argument",
    } optional {
        /// What else is known already.
        context: CompletionContext = "context" since V2025_06_18,
    }
}

noun! {
    /// Values that an argument may have.
    Completion {
        /// At most a hundred of them.
        values: Vec<String> = "values",
    } optional {
        /// How many there are.
        total: Number = "total",
        /// Whether there are more.
        has_more: bool = "hasMore",
    }
}

noun! {
    /// The answer to `completion/complete`.
    CompleteResult {
        /// The values.
        completion: Completion = "completion",
    } optional {
        /// Metadata.
        meta: Raw as object = "_meta",
    }
}
