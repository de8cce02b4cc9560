//! The specification's nouns, the same for every version.
//!
//! Each is declared once, and the declaration gives the struct, its codec and its shape table. A
//! member that only some versions have is optional; [`wire`](crate::wire) leaves it out for the others.
//! Whatever a peer sends beyond what is declared is kept: unknown members in `extra`, unknown strings
//! and objects in a variant `Other`.
//!
//! ```
//! use sandwire_types::json::{from_str, to_raw};
//! use sandwire_types::model::{CallToolResult, ContentBlock};
//!
//! let text = r#"{"content":[{"type":"text","text":"3"},{"type":"hologram","depth":1.50}],"cost":7}"#;
//! let result: CallToolResult = from_str(text)?;
//! assert_eq!(result.content.first().and_then(ContentBlock::as_text), Some("3"));
//! assert_eq!(to_raw(&result).as_str(), text);
//! # Ok::<(), sandwire_types::json::Error>(())
//! ```

mod capability;
mod completion;
mod content;
mod elicitation;
mod input;
mod logging;
pub(crate) mod macros;
mod opening;
mod progress;
mod prompt;
mod resource;
mod roots;
mod sampling;
mod skill;
mod subscription;
mod support;
mod tables;
mod task;
mod tool;

pub use capability::{
    ClientCapabilities, ElicitationCapability, ListCapability, ResourcesCapability, RootsCapability,
    SamplingCapability, ServerCapabilities, TasksCapability,
};
pub use completion::{
    CompleteRequestParams, CompleteResult, Completion, CompletionArgument, CompletionContext, CompletionReference,
    PromptReference, ResourceTemplateReference,
};
pub use content::{
    Annotations, AudioContent, BlobResourceContents, ContentBlock, EmbeddedResource, Icon, IconTheme, ImageContent,
    ResourceContents, ResourceLink, Role, TextContent, TextResourceContents,
};
pub use elicitation::{
    BooleanSchema, ElicitAction, ElicitMode, ElicitRequestFormParams, ElicitRequestParams, ElicitRequestURLParams,
    ElicitResult, ElicitationCompleteNotificationParams, EnumOption, MultiSelectEnumSchema, NumberKind, NumberSchema,
    PrimitiveSchemaDefinition, RequestedSchema, StringSchema, TitledSingleSelectEnumSchema,
    UntitledSingleSelectEnumSchema,
};
pub use input::{InputRequest, InputRequests, InputRequiredResult, InputResponses};
pub use logging::{LoggingLevel, LoggingMessageNotificationParams, SetLevelRequestParams};
pub use opening::{DiscoverResult, Implementation, InitializeRequestParams, InitializeResult};
pub use progress::{CancelledNotificationParams, PaginatedRequestParams, ProgressNotificationParams};
pub use prompt::{GetPromptRequestParams, GetPromptResult, ListPromptsResult, Prompt, PromptArgument, PromptMessage};
pub use resource::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceRequestParams, ReadResourceResult, Resource,
    ResourceRequestParams, ResourceTemplate, ResourceUpdatedNotificationParams,
};
pub use roots::{ListRootsResult, Root};
pub use sampling::{
    CreateMessageRequestParams, CreateMessageResult, IncludeContext, ModelHint, ModelPreferences, SamplingMessage,
    SamplingMessageContentBlock, ToolChoice, ToolChoiceMode, ToolResultContent, ToolUseContent,
};
pub use skill::{
    GetSkillResult, ListSkillsResult, ReadResourceDirectoryRequestParams, ReadResourceDirectoryResult, Skill,
    SkillResource, SkillResources,
};
pub use subscription::{
    EmptyResult, SubscriptionFilter, SubscriptionsAcknowledgedNotificationParams, SubscriptionsListenRequestParams,
};
pub use support::{Described, Extra, Map, OneOrMany};
pub(crate) use support::{read_known, read_optional, read_required, read_tag, require_tag, shape_of, union_tag};
pub(crate) use tables::INPUT_REQUEST;
pub use tables::{answer_type, check_params, check_result, params_type, result_type};
pub use task::{
    CreateTaskResult, ListTasksResult, RelatedTaskMetadata, Task, TaskMetadata, TaskRequestParams, TaskStatus,
    UpdateTaskRequestParams,
};
pub use tool::{
    CallToolRequestParams, CallToolResult, ListToolsResult, TaskSupport, Tool, ToolAnnotations, ToolExecution,
};
