//! What a tool may return.

use crate::error::ToolError;
use crate::function::{Answered, Returned};
use crate::kind;
use crate::schema::{self, Schema};
use sandwire_json::{Raw, Writer, to_raw};
use sandwire_types::model::{CallToolResult, ContentBlock};
use sandwire_types::{ErrorCode, ErrorObject, Reply};
use serde::Serialize;

/// What a tool may return.
///
/// | returned | becomes |
/// |---|---|
/// | `String`, `&'static str` | a text block |
/// | a number, a boolean, a list, a struct with `Serialize` and `Schema`, [`Json`] | structured content, and its text |
/// | `()` | an empty result |
/// | `Option<T>` | `T`, or `null`; an absent text is an empty result |
/// | [`ContentBlock`], `Vec<ContentBlock>` | these blocks |
/// | [`CallToolResult`] | itself |
/// | `Result<T, E>`, where `E` can be displayed or is a [`ToolError`] | `T`, or a result with `isError` that the model can read |
///
/// The type also gives the tool's output schema, where it has one.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "this is returned",
    note = "a structured result implements `serde::Serialize` and `Schema`: derive both",
    note = "also fine: `String`, numbers, `()`, `Option<T>`, `Result<T, E: Display>`, `Vec<ContentBlock>`, `CallToolResult`"
)]
pub trait IntoToolResult {
    /// The schema of the structured content, if there is any.
    fn output_schema() -> Option<Raw> {
        None
    }

    /// The `CallToolResult` as text.
    ///
    /// # Errors
    /// The JSON-RPC error to answer with instead.
    fn into_tool_result(self) -> Result<Raw, ErrorObject>;
}

impl<T: IntoToolResult> Returned<kind::Tool> for T {
    fn answer(self, (): &()) -> Answered {
        self.into_tool_result().map(Reply::new)
    }
}

/// A structured result, also where the value alone would be a text.
///
/// ```
/// use sandwire_server::{IntoToolResult, Json};
///
/// assert_eq!(
///     Json("yes").into_tool_result()?.as_str(),
///     r#"{"content":[{"type":"text","text":"\"yes\""}],"structuredContent":"yes"}"#,
/// );
/// # Ok::<(), sandwire_server::types::ErrorObject>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Json<T>(pub T);

impl<T: Serialize + Schema> IntoToolResult for Json<T> {
    fn output_schema() -> Option<Raw> {
        Some(schema::output::<T>())
    }

    fn into_tool_result(self) -> Result<Raw, ErrorObject> {
        let mut writer = Writer::with_capacity(64);
        match sandwire_json::serde::write(&mut writer, &self.0) {
            Ok(()) => Ok(structured(&writer.finish())),
            Err(error) => Err(unwritable(&error)),
        }
    }
}

impl<T: Serialize + Schema> IntoToolResult for T {
    fn output_schema() -> Option<Raw> {
        (!T::PLAIN).then(schema::output::<T>)
    }

    fn into_tool_result(self) -> Result<Raw, ErrorObject> {
        if T::PLAIN { Ok(self.plain().map_or_else(nothing, text)) } else { Json(self).into_tool_result() }
    }
}

impl IntoToolResult for () {
    fn into_tool_result(self) -> Result<Raw, ErrorObject> {
        Ok(nothing())
    }
}

impl<T: IntoToolResult, E: Into<ToolError>> IntoToolResult for Result<T, E> {
    fn output_schema() -> Option<Raw> {
        T::output_schema()
    }

    fn into_tool_result(self) -> Result<Raw, ErrorObject> {
        match self {
            Ok(value) => value.into_tool_result(),
            Err(error) => error.into().split().map(|message| failure(&message)),
        }
    }
}

impl IntoToolResult for CallToolResult {
    fn into_tool_result(self) -> Result<Raw, ErrorObject> {
        Ok(to_raw(&self))
    }
}

impl IntoToolResult for ContentBlock {
    fn into_tool_result(self) -> Result<Raw, ErrorObject> {
        vec![self].into_tool_result()
    }
}

impl IntoToolResult for Vec<ContentBlock> {
    fn into_tool_result(self) -> Result<Raw, ErrorObject> {
        CallToolResult::new(self).into_tool_result()
    }
}

/// A result that tells the model what went wrong.
pub(crate) fn failure(message: &str) -> Raw {
    let mut writer = begin(message);
    writer.key("isError");
    writer.boolean(true);
    writer.end_object();
    writer.into_raw()
}

fn text(text: &str) -> Raw {
    let mut writer = begin(text);
    writer.end_object();
    writer.into_raw()
}

fn structured(value: &str) -> Raw {
    let mut writer = begin(value);
    writer.key("structuredContent");
    writer.raw(value);
    writer.end_object();
    writer.into_raw()
}

fn nothing() -> Raw {
    Raw::from_valid(r#"{"content":[]}"#)
}

fn begin(text: &str) -> Writer {
    let mut writer = Writer::with_capacity(text.len() * 2 + 80);
    writer.begin_object();
    writer.name(r#""content":[{"type":"text","text":"#);
    writer.string(text);
    writer.end_object();
    writer.end_array();
    writer
}

fn unwritable(error: &sandwire_json::Error) -> ErrorObject {
    let mut message = String::from("the tool's result cannot be written as JSON: ");
    message.push_str(error.message());
    ErrorObject::new(ErrorCode::INTERNAL_ERROR, message)
}
