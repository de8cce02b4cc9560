//! Tools that answer at once, with every kind of content.

use sandwire::server::{Schema, ToolHandler, tool};
use sandwire::types::Raw;
use sandwire::types::model::{
    AudioContent, ContentBlock, EmbeddedResource, ImageContent, TextContent, TextResourceContents,
};
use serde::Deserialize;

/// A picture of one pixel.
pub(crate) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

/// A schema that uses what JSON Schema 2020-12 has, as it is listed.
const SCHEMA: &str = r##"{
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}}
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"}
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": false
}"##;

pub(crate) fn tools() -> Vec<ToolHandler> {
    vec![
        test_simple_text::tool(),
        test_image_content::tool(),
        test_audio_content::tool(),
        test_embedded_resource::tool(),
        test_multiple_content_types::tool(),
        test_error_handling::tool(),
        test_x_mcp_header::tool(),
        ToolHandler::new("json_schema_2020_12_tool", "Takes whom to contact.", |Anything {}| "contacted")
            .input_schema(Raw::from_valid(SCHEMA)),
    ]
}

/// Arguments that the tool does not look at.
#[derive(Deserialize, Schema)]
struct Anything {}

/// Answers with text.
#[tool]
fn test_simple_text() -> &'static str {
    "This is a simple text response for testing."
}

/// Answers with a picture.
#[tool]
fn test_image_content() -> ContentBlock {
    image()
}

/// Answers with sound.
#[tool]
fn test_audio_content() -> ContentBlock {
    ContentBlock::Audio(AudioContent::new(WAV, "audio/wav"))
}

/// Answers with a resource.
#[tool]
fn test_embedded_resource() -> ContentBlock {
    embedded("test://embedded-resource")
}

/// Answers with several kinds of content.
#[tool]
fn test_multiple_content_types() -> Vec<ContentBlock> {
    vec![
        ContentBlock::Text(TextContent::new("Multiple content types test:")),
        image(),
        embedded("test://mixed-content-resource"),
    ]
}

/// Fails.
#[tool]
fn test_error_handling() -> Result<(), &'static str> {
    Err("This tool intentionally returns an error for testing")
}

/// Takes an argument that a header repeats.
#[tool]
fn test_x_mcp_header(#[schema(header = "Region")] region: String) -> String {
    format!("region={region}")
}

pub(crate) fn image() -> ContentBlock {
    ContentBlock::Image(ImageContent::new(PNG, "image/png"))
}

pub(crate) fn embedded(uri: &str) -> ContentBlock {
    let text = TextResourceContents::new(uri, "This is an embedded resource content.");
    ContentBlock::Resource(EmbeddedResource::new(text.with(|text| text.mime_type = Some("text/plain".to_owned()))))
}
