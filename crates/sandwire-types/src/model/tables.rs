//! Which nouns a method's parameters and result are, as tables.

use sandwire_json::shape::{Field, Shape, Type, Union, Variant};
use sandwire_json::{Error, Raw, check};

use super::*;
use crate::jsonrpc::Reply;
use crate::meta::ResultKind;
use crate::method::Method;
use crate::version::ProtocolVersion;

/// What the parameters of a method must be; `None` for a method that is not known here.
pub fn params_type(method: &Method) -> Option<Type> {
    Some(match method {
        Method::Initialize => InitializeRequestParams::TYPE,
        Method::ToolsCall => CallToolRequestParams::TYPE,
        Method::PromptsGet => GetPromptRequestParams::TYPE,
        Method::ResourcesRead => ReadResourceRequestParams::TYPE,
        Method::ResourcesSubscribe | Method::ResourcesUnsubscribe | Method::SkillsGet => ResourceRequestParams::TYPE,
        Method::ResourcesDirectoryRead => ReadResourceDirectoryRequestParams::TYPE,
        Method::LoggingSetLevel => SetLevelRequestParams::TYPE,
        Method::CompletionComplete => CompleteRequestParams::TYPE,
        Method::SubscriptionsListen => SubscriptionsListenRequestParams::TYPE,
        Method::SamplingCreateMessage => CreateMessageRequestParams::TYPE,
        Method::ElicitationCreate => ElicitRequestParams::TYPE,
        Method::TasksGet | Method::TasksResult | Method::TasksCancel => TaskRequestParams::TYPE,
        Method::TasksUpdate => UpdateTaskRequestParams::TYPE,
        Method::ToolsList
        | Method::PromptsList
        | Method::ResourcesList
        | Method::ResourcesTemplatesList
        | Method::SkillsList
        | Method::TasksList => PaginatedRequestParams::TYPE,
        Method::Cancelled => CancelledNotificationParams::TYPE,
        Method::Progress => ProgressNotificationParams::TYPE,
        Method::LogMessage => LoggingMessageNotificationParams::TYPE,
        Method::ResourcesUpdated => ResourceUpdatedNotificationParams::TYPE,
        Method::ElicitationComplete => ElicitationCompleteNotificationParams::TYPE,
        Method::TasksStatus | Method::Tasks => Task::TYPE,
        Method::SubscriptionsAcknowledged => SubscriptionsAcknowledgedNotificationParams::TYPE,
        Method::Ping
        | Method::ServerDiscover
        | Method::RootsList
        | Method::Initialized
        | Method::ToolsListChanged
        | Method::PromptsListChanged
        | Method::ResourcesListChanged
        | Method::RootsListChanged => Type::AnyObject,
        Method::Other(_) => return None,
    })
}

/// What the complete result of a request must be; `None` for a notification or a method that is not
/// known here.
pub fn result_type(method: &Method) -> Option<Type> {
    Some(match method {
        Method::Initialize => InitializeResult::TYPE,
        Method::ServerDiscover => DiscoverResult::TYPE,
        Method::ToolsList => ListToolsResult::TYPE,
        Method::ToolsCall => or_task::<CallToolResult>(),
        Method::PromptsList => ListPromptsResult::TYPE,
        Method::PromptsGet => GetPromptResult::TYPE,
        Method::ResourcesList => ListResourcesResult::TYPE,
        Method::ResourcesTemplatesList => ListResourceTemplatesResult::TYPE,
        Method::ResourcesRead => ReadResourceResult::TYPE,
        Method::CompletionComplete => CompleteResult::TYPE,
        Method::SamplingCreateMessage | Method::RootsList | Method::ElicitationCreate => return answer_type(method),
        Method::SkillsList => ListSkillsResult::TYPE,
        Method::SkillsGet => GetSkillResult::TYPE,
        Method::ResourcesDirectoryRead => ReadResourceDirectoryResult::TYPE,
        Method::TasksGet => Task::TYPE,
        Method::TasksList => ListTasksResult::TYPE,
        Method::Ping
        | Method::LoggingSetLevel
        | Method::ResourcesSubscribe
        | Method::ResourcesUnsubscribe
        | Method::SubscriptionsListen
        | Method::TasksUpdate => EmptyResult::TYPE,
        // A task's result is that of its request; cancelling answers the task, or in the modern era nothing.
        Method::TasksResult | Method::TasksCancel => Type::AnyObject,
        Method::Initialized
        | Method::Cancelled
        | Method::Progress
        | Method::LogMessage
        | Method::ToolsListChanged
        | Method::PromptsListChanged
        | Method::ResourcesListChanged
        | Method::ResourcesUpdated
        | Method::RootsListChanged
        | Method::ElicitationComplete
        | Method::TasksStatus
        | Method::Tasks
        | Method::SubscriptionsAcknowledged
        | Method::Other(_) => return None,
    })
}

/// What the answer of a client must be; `None` for a method that clients are not asked.
pub fn answer_type(method: &Method) -> Option<Type> {
    Some(match method {
        Method::SamplingCreateMessage => or_task::<CreateMessageResult>(),
        Method::RootsList => ListRootsResult::TYPE,
        Method::ElicitationCreate => or_task::<ElicitResult>(),
        _ => return None,
    })
}

/// Checks parameters against the table of their method.
///
/// # Errors
/// The first difference, with the member's path.
pub fn check_params(method: &Method, params: &Raw) -> Result<(), Error> {
    check(&params_type(method).unwrap_or(Type::AnyObject), &mut params.reader())
}

/// Checks a result against the table of its request's method, and of its kind.
///
/// # Errors
/// The first difference, with the member's path.
pub fn check_result(method: &Method, reply: &Reply) -> Result<(), Error> {
    let kind = match &reply.kind {
        ResultKind::Complete => result_type(method),
        ResultKind::InputRequired => Some(InputRequiredResult::TYPE),
        ResultKind::Other(_) => None,
    };
    check(&kind.unwrap_or(Type::AnyObject), &mut reply.value.reader())
}

/// The result of a request that 2025-11-25 may turn into a task.
const fn or_task<T: Described>() -> Type {
    Type::Union(
        const {
            &Union {
                tag: "",
                variants: &[
                    Variant {
                        tag: "task",
                        shape: shape_of::<CreateTaskResult>(),
                        since: ProtocolVersion::V2025_11_25.level(),
                        until: ProtocolVersion::V2025_11_25.level(),
                    },
                    Variant { tag: "", shape: shape_of::<T>(), since: 0, until: u8::MAX },
                ],
            }
        },
    )
}

/// A question to the client, by its method.
pub(crate) const INPUT_REQUEST: Type = {
    static ELICIT: Shape = Shape {
        name: "ElicitRequest",
        fields: &[Field { key: "params", kind: ElicitRequestParams::TYPE, required: true, since: 0, until: u8::MAX }],
    };
    static SAMPLE: Shape = Shape {
        name: "CreateMessageRequest",
        fields: &[Field {
            key: "params",
            kind: CreateMessageRequestParams::TYPE,
            required: true,
            since: 0,
            until: u8::MAX,
        }],
    };
    static UNION: Union = Union {
        tag: "method",
        variants: &[
            Variant { tag: "elicitation/create", shape: &ELICIT, since: 0, until: u8::MAX },
            Variant { tag: "sampling/createMessage", shape: &SAMPLE, since: 0, until: u8::MAX },
            Variant { tag: "roots/list", shape: shape_of::<InputRequest>(), since: 0, until: u8::MAX },
        ],
    };
    Type::Union(&UNION)
};
