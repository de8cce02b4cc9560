//! The official schemas, where they are at hand.
#![allow(dead_code, clippy::unwrap_used, clippy::panic)]

pub(crate) mod generate;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use sandwire_types::{Method, ProtocolVersion};
use serde_json::{Value, json};

/// The folder with the official schemas and examples, from `SANDWIRE_SPEC` or beside the workspace.
pub(crate) fn directory() -> Option<PathBuf> {
    let path = match std::env::var_os("SANDWIRE_SPEC") {
        Some(path) => PathBuf::from(path),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/spec"),
    };
    if path.join("schema/2026-07-28/schema.json").exists() {
        return Some(path);
    }
    eprintln!(
        "skipped: no official schemas in {}; set SANDWIRE_SPEC to a folder with `schema/` of the \
         modelcontextprotocol repository in it",
        path.display()
    );
    None
}

pub(crate) struct Schemas {
    version: ProtocolVersion,
    document: Value,
    definitions: &'static str,
    validators: Mutex<HashMap<String, jsonschema::Validator>>,
}

impl Schemas {
    pub(crate) fn load(spec: &Path, version: ProtocolVersion) -> Self {
        let file = spec.join("schema").join(version.as_str()).join("schema.json");
        Self::parse(version, &std::fs::read_to_string(file).unwrap())
    }

    pub(crate) fn parse(version: ProtocolVersion, text: &str) -> Self {
        let document: Value = serde_json::from_str(text).unwrap();
        let definitions = if document.get("$defs").is_some() { "$defs" } else { "definitions" };
        Self { version, document, definitions, validators: Mutex::default() }
    }

    pub(crate) fn has(&self, definition: &str) -> bool {
        self.document[self.definitions].get(definition).is_some()
    }

    /// The first thing in which `text` is not what the definition says.
    pub(crate) fn difference(&self, definition: &str, text: &str) -> Option<String> {
        assert!(self.has(definition), "{} has no {definition}", self.version);
        let mut validators = self.validators.lock().unwrap();
        let validator = validators.entry(definition.into()).or_insert_with(|| {
            let schema = json!({
                "$schema": self.document["$schema"],
                "$ref": format!("#/{}/{definition}", self.definitions),
                (self.definitions): self.document[self.definitions],
            });
            let schema = if self.definitions == "definitions" {
                // Beside a reference draft-07 reads nothing else.
                json!({ "$schema": schema["$schema"], "allOf": [{ "$ref": schema["$ref"] }], "definitions": schema["definitions"] })
            } else {
                schema
            };
            jsonschema::options().should_validate_formats(false).build(&schema).unwrap()
        });
        let instance: Value = serde_json::from_str(text).unwrap();
        validator.iter_errors(&instance).next().map(|error| format!("{} at {}", error, error.instance_path()))
    }

    #[track_caller]
    pub(crate) fn assert_valid(&self, definition: &str, text: &str) {
        if let Some(difference) = self.difference(definition, text) {
            panic!("{} {definition}: {difference}\n{text}", self.version);
        }
    }
}

/// The specification's name for a method's result.
pub(crate) fn result_noun(method: &Method) -> Option<&'static str> {
    Some(match method {
        Method::Initialize => "InitializeResult",
        Method::ServerDiscover => "DiscoverResult",
        Method::ToolsList => "ListToolsResult",
        Method::ToolsCall => "CallToolResult",
        Method::PromptsList => "ListPromptsResult",
        Method::PromptsGet => "GetPromptResult",
        Method::ResourcesList => "ListResourcesResult",
        Method::ResourcesTemplatesList => "ListResourceTemplatesResult",
        Method::ResourcesRead => "ReadResourceResult",
        Method::CompletionComplete => "CompleteResult",
        Method::SamplingCreateMessage => "CreateMessageResult",
        Method::RootsList => "ListRootsResult",
        Method::ElicitationCreate => "ElicitResult",
        Method::SubscriptionsListen => "SubscriptionsListenResult",
        Method::TasksGet => "GetTaskResult",
        Method::TasksList => "ListTasksResult",
        Method::Ping | Method::LoggingSetLevel | Method::ResourcesSubscribe | Method::ResourcesUnsubscribe => {
            "EmptyResult"
        }
        _ => return None,
    })
}

/// The specification's name for a request or notification.
pub(crate) fn call_noun(method: &Method) -> Option<&'static str> {
    Some(match method {
        Method::Initialize => "InitializeRequest",
        Method::Ping => "PingRequest",
        Method::ServerDiscover => "DiscoverRequest",
        Method::ToolsList => "ListToolsRequest",
        Method::ToolsCall => "CallToolRequest",
        Method::PromptsList => "ListPromptsRequest",
        Method::PromptsGet => "GetPromptRequest",
        Method::ResourcesList => "ListResourcesRequest",
        Method::ResourcesTemplatesList => "ListResourceTemplatesRequest",
        Method::ResourcesRead => "ReadResourceRequest",
        Method::ResourcesSubscribe => "SubscribeRequest",
        Method::ResourcesUnsubscribe => "UnsubscribeRequest",
        Method::LoggingSetLevel => "SetLevelRequest",
        Method::CompletionComplete => "CompleteRequest",
        Method::SubscriptionsListen => "SubscriptionsListenRequest",
        Method::SamplingCreateMessage => "CreateMessageRequest",
        Method::RootsList => "ListRootsRequest",
        Method::ElicitationCreate => "ElicitRequest",
        Method::Initialized => "InitializedNotification",
        Method::Cancelled => "CancelledNotification",
        Method::Progress => "ProgressNotification",
        Method::LogMessage => "LoggingMessageNotification",
        Method::ToolsListChanged => "ToolListChangedNotification",
        Method::PromptsListChanged => "PromptListChangedNotification",
        Method::ResourcesListChanged => "ResourceListChangedNotification",
        Method::ResourcesUpdated => "ResourceUpdatedNotification",
        Method::RootsListChanged => "RootsListChangedNotification",
        Method::ElicitationComplete => "ElicitationCompleteNotification",
        Method::TasksGet => "GetTaskRequest",
        Method::TasksResult => "GetTaskPayloadRequest",
        Method::TasksList => "ListTasksRequest",
        Method::TasksCancel => "CancelTaskRequest",
        Method::TasksStatus => "TaskStatusNotification",
        Method::SubscriptionsAcknowledged => "SubscriptionsAcknowledgedNotification",
        _ => return None,
    })
}
