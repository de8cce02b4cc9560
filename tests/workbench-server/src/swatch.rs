//! A picture.

use base64::{Engine, engine::general_purpose::STANDARD};
use sandwire_server::types::model::{ContentBlock, ImageContent, TextContent};
use sandwire_server::{Schema, tool};
use serde::Deserialize;

#[derive(Clone, Copy, Deserialize, Schema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Colour {
    Teal,
    Amber,
    Slate,
}

/// Draws a picture of one colour.
#[tool(read_only)]
pub(crate) fn swatch(
    /// The colour to draw.
    colour: Colour,
) -> Vec<ContentBlock> {
    let (name, fill) = match colour {
        Colour::Teal => ("teal", "#0a6b57"),
        Colour::Amber => ("amber", "#e2a13c"),
        Colour::Slate => ("slate", "#55655e"),
    };
    let picture = [
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="320" height="160"><rect width="320" height="160" fill=""#,
        fill,
        r#""/></svg>"#,
    ]
    .concat();
    vec![
        ContentBlock::Text(TextContent::new(name.to_owned())),
        ContentBlock::Image(ImageContent::new(STANDARD.encode(picture), "image/svg+xml".to_owned())),
    ]
}
