//! Bodies of the fuzz targets: each takes any bytes, and panics when something that must hold does not.
#![allow(clippy::panic, clippy::expect_used, reason = "a panic is how a fuzz body reports")]

use sandwire_json::{Error, Kind, Raw, Read, Reader, Write, Writer, check, from_str, to_raw};

use crate::jsonrpc::{Message, Response};
use crate::meta::split_meta;
use crate::model::*;
use crate::wire::{Incoming, Memo, decode, encode, legacy, modern};
use crate::{KNOWN_VERSIONS, Method, Notification, Request, WireError};

/// Decodes a noun and encodes it again.
pub type Codec = fn(&str) -> Result<Raw, Error>;

macro_rules! nouns {
    ($($name:literal $noun:ty),* $(,)?) => {
        /// Every noun, by the specification's name for it.
        pub const NOUNS: &[(&str, Codec)] = &[$(($name, codec::<$noun>)),*];
    };
}

nouns! {
    "Annotations" Annotations,
    "AudioContent" AudioContent,
    "BlobResourceContents" BlobResourceContents,
    "BooleanSchema" BooleanSchema,
    "CallToolRequestParams" CallToolRequestParams,
    "CallToolResult" CallToolResult,
    "CancelledNotificationParams" CancelledNotificationParams,
    "ClientCapabilities" ClientCapabilities,
    "CompleteRequestParams" CompleteRequestParams,
    "CompleteResult" CompleteResult,
    "ContentBlock" ContentBlock,
    "CreateMessageRequestParams" CreateMessageRequestParams,
    "CreateMessageResult" CreateMessageResult,
    "CreateTaskResult" CreateTaskResult,
    "DiscoverResult" DiscoverResult,
    "ElicitRequestFormParams" ElicitRequestFormParams,
    "ElicitRequestParams" ElicitRequestParams,
    "ElicitRequestURLParams" ElicitRequestURLParams,
    "ElicitResult" ElicitResult,
    "EmbeddedResource" EmbeddedResource,
    "GetPromptRequestParams" GetPromptRequestParams,
    "GetPromptResult" GetPromptResult,
    "Icon" Icon,
    "ImageContent" ImageContent,
    "Implementation" Implementation,
    "InitializeRequestParams" InitializeRequestParams,
    "InitializeResult" InitializeResult,
    "InputRequests" InputRequests,
    "InputRequiredResult" InputRequiredResult,
    "InputResponses" InputResponses,
    "GetSkillResult" GetSkillResult,
    "ListPromptsResult" ListPromptsResult,
    "ListResourceTemplatesResult" ListResourceTemplatesResult,
    "ListResourcesResult" ListResourcesResult,
    "ListRootsResult" ListRootsResult,
    "ListTasksResult" ListTasksResult,
    "ListSkillsResult" ListSkillsResult,
    "ListToolsResult" ListToolsResult,
    "LoggingLevel" LoggingLevel,
    "LoggingMessageNotificationParams" LoggingMessageNotificationParams,
    "ModelPreferences" ModelPreferences,
    "NumberSchema" NumberSchema,
    "PaginatedRequestParams" PaginatedRequestParams,
    "PrimitiveSchemaDefinition" PrimitiveSchemaDefinition,
    "ProgressNotificationParams" ProgressNotificationParams,
    "Prompt" Prompt,
    "PromptMessage" PromptMessage,
    "ReadResourceDirectoryRequestParams" ReadResourceDirectoryRequestParams,
    "ReadResourceDirectoryResult" ReadResourceDirectoryResult,
    "ReadResourceRequestParams" ReadResourceRequestParams,
    "ReadResourceResult" ReadResourceResult,
    "Resource" Resource,
    "ResourceContents" ResourceContents,
    "ResourceLink" ResourceLink,
    "ResourceRequestParams" ResourceRequestParams,
    "ResourceTemplate" ResourceTemplate,
    "ResourceUpdatedNotificationParams" ResourceUpdatedNotificationParams,
    "Root" Root,
    "SamplingMessage" SamplingMessage,
    "ServerCapabilities" ServerCapabilities,
    "SetLevelRequestParams" SetLevelRequestParams,
    "StringSchema" StringSchema,
    "SubscriptionFilter" SubscriptionFilter,
    "SubscriptionsAcknowledgedNotificationParams" SubscriptionsAcknowledgedNotificationParams,
    "SubscriptionsListenRequestParams" SubscriptionsListenRequestParams,
    "SubscriptionsListenResult" EmptyResult,
    "Task" Task,
    "TextContent" TextContent,
    "TextResourceContents" TextResourceContents,
    "TitledMultiSelectEnumSchema" MultiSelectEnumSchema,
    "TitledSingleSelectEnumSchema" TitledSingleSelectEnumSchema,
    "Tool" Tool,
    "ToolResultContent" ToolResultContent,
    "ToolUseContent" ToolUseContent,
    "UntitledMultiSelectEnumSchema" MultiSelectEnumSchema,
    "UntitledSingleSelectEnumSchema" UntitledSingleSelectEnumSchema,
    "UpdateTaskRequestParams" UpdateTaskRequestParams,
}

fn codec<T: Read + Write + Described>(text: &str) -> Result<Raw, Error> {
    let noun: T = from_str(text)?;
    let table = check(&T::TYPE, &mut Reader::new(text));
    // The questions of a modern server are text to the codec and have tables all the same.
    let questions = text.contains("inputRequests");
    assert!(table.is_ok() || questions, "the table refuses what the codec reads: {text}");
    let raw = to_raw(&noun);
    let again = from_str::<T>(raw.as_str()).map(|noun| to_raw(&noun));
    assert_eq!(again.as_ref(), Ok(&raw), "a noun comes back");
    Ok(raw)
}

/// A text with the members of its objects in order, and strings in one form.
pub fn canonical(text: &str) -> Result<String, Error> {
    let mut r = Reader::new(text);
    let text = sorted(&mut r)?;
    r.end()?;
    Ok(text)
}

fn sorted(r: &mut Reader<'_>) -> Result<String, Error> {
    let mut w = Writer::new();
    match r.peek()? {
        Kind::Object => {
            let mut members = Vec::new();
            r.object(&mut |key, r| {
                members.push((key.to_owned(), sorted(r)?));
                Ok(())
            })?;
            members.sort();
            w.begin_object();
            for (key, value) in members {
                w.key(&key);
                w.raw(&value);
            }
            w.end_object();
        }
        Kind::Array => {
            w.begin_array();
            r.array(&mut |r| {
                w.raw(&sorted(r)?);
                Ok(())
            })?;
            w.end_array();
        }
        Kind::String => w.string(&r.string()?),
        _ => w.raw(r.raw()?),
    }
    Ok(w.finish())
}

/// Decodes any text as a message, and encodes what it says.
///
/// # Panics
/// When that says something else.
pub fn wire(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let _ = decode(&text, &mut Memo::new());
    // What is written is one line; texts are compared as they stand.
    let text = text.replace(['\n', '\r'], " ");
    let mut memo = Memo::new();
    match decode(&text, &mut memo) {
        Ok(Incoming::One(message)) => again(&message, &mut memo),
        Ok(Incoming::Batch(items)) => {
            assert!(!items.is_empty());
            items.iter().for_each(|item| match item {
                Ok(message) => again(message, &mut memo),
                Err(error) => answerable(error, &text),
            });
        }
        Err(error) => answerable(&error, &text),
    }
}

fn answerable(error: &WireError, text: &str) {
    assert!(!error.message.is_empty());
    for version in KNOWN_VERSIONS {
        let answer = encode(&Message::Response(error.clone().into_response(Some(*version))));
        assert!(decode(&answer, &mut Memo::new()).is_ok(), "{answer} answers {text}");
    }
}

fn again(message: &Message, memo: &mut Memo) {
    let text = encode(message);
    assert!(!text.contains(['\n', '\r']), "a message is one line");
    match decode(&text, memo) {
        Ok(Incoming::One(other)) => {
            assert_eq!(essence(message), essence(&other), "{text} says the same");
            assert_eq!(encode(&other), text, "encoding is stable");
        }
        other => panic!("{text} is no message: {other:?}"),
    }
    lower(message);
}

/// A message without the text of what is decoded beside it.
fn essence(message: &Message) -> Message {
    let bare = |params: &Option<Raw>| {
        params
            .as_ref()
            .map(|params| canonical(split_meta(params).0.as_str()))
            .and_then(Result::ok)
            .filter(|text| text != "{}")
            .map(Raw::from_valid)
    };
    match message {
        Message::Request(Request { id, method, params, meta }) => Message::Request(Request {
            id: id.clone(),
            method: method.clone(),
            params: bare(params),
            meta: meta.clone(),
        }),
        Message::Notification(Notification { method, params, subscription }) => Message::Notification(Notification {
            method: method.clone(),
            params: bare(params),
            subscription: subscription.clone(),
        }),
        Message::Response(response) => {
            let mut response = response.clone();
            if let Ok(reply) = &mut response.result {
                let value = split_meta(&reply.value).0;
                let mut w = Writer::new();
                w.begin_object();
                let read = value.reader().object(&mut |key, r| {
                    if !matches!(key, modern::RESULT_TYPE | modern::TTL_MS | modern::CACHE_SCOPE) {
                        w.key(key);
                        w.raw(r.raw()?);
                    }
                    Ok(())
                });
                assert_eq!(read, Ok(()));
                w.end_object();
                let value = canonical(w.into_raw().as_str()).expect("valid text");
                reply.value = Raw::from_valid(value);
            }
            Message::Response(response)
        }
    }
}

/// Lowering for any version gives valid text, and lowering that again changes nothing.
fn lower(message: &Message) {
    for version in KNOWN_VERSIONS {
        match message {
            Message::Request(Request { method, params: Some(params), .. })
            | Message::Notification(Notification { method, params: Some(params), .. }) => {
                let lowered = legacy::lower_params(*version, method, params);
                assert_eq!(Raw::parse(lowered.as_str()).as_ref(), Ok(&lowered));
            }
            Message::Response(Response { result: Ok(reply), .. }) => {
                for method in Method::KNOWN {
                    let lowered = legacy::lower_result(*version, method, &reply.value);
                    assert_eq!(Raw::parse(lowered.as_str()).as_ref(), Ok(&lowered));
                    let again = legacy::lower_result(*version, method, &lowered);
                    assert_eq!(again, lowered, "{method} is lowered once");
                }
            }
            _ => {}
        }
    }
}

/// Decodes any text as every noun; what is one is encoded again and says the same.
///
/// # Panics
/// When it does not.
pub fn model(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for (name, codec) in NOUNS {
        if let Ok(raw) = codec(&text) {
            // An id of 1.0 is the integer 1, and written so.
            let ids = text.contains("progressToken") || text.contains("requestId");
            let same = canonical(raw.as_str()) == canonical(&text);
            assert!(same || ids, "{name} says the same: {text} {raw}");
        }
    }
}
