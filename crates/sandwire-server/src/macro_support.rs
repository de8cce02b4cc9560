//! What generated code names. Not for people.

pub use crate::schema::{Direction, Field, Node, Presence, Schema};
pub use crate::schema::{Given, with_default};
pub use crate::schema::{bytes as schema_bytes, length as schema_length, text as schema_text};
pub use crate::{Builder, Bundle, Context, PromptHandler, ResourceHandler, ToolHandler};
#[cfg(feature = "macros")]
pub use sandwire_macros::Schema as DeriveSchema;
pub use serde::{self, Deserialize};

/// The description of what a variant holds, which must be an object to carry its tag inside.
#[track_caller]
pub const fn object(node: &'static Node) -> &'static Node {
    assert!(node.is_object(), "a variant that carries its tag inside must hold a struct");
    node
}

/// Checks a tool's return type where it is written.
pub const fn tool_returns<T: crate::IntoToolResult>() {}

/// Checks a resource's return type where it is written.
pub const fn resource_returns<T: crate::IntoResource>() {}

/// Checks a prompt's return type where it is written.
pub const fn prompt_returns<T: crate::IntoPrompt>() {}
