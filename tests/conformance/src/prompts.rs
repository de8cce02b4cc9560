//! Prompts.

use sandwire::server::{Completing, Context, Form, PromptHandler, Schema, ToolError, prompt};
use sandwire::types::model::{ContentBlock, PromptMessage, Role, TextContent};
use serde::Deserialize;

use crate::content::{embedded, image};

pub(crate) fn all() -> Vec<PromptHandler> {
    vec![
        test_simple_prompt::prompt(),
        test_prompt_with_arguments::prompt().completing("arg1", |given: Completing| {
            let words = ["paris", "park", "party"].into_iter().filter(|word| word.starts_with(&given.value));
            words.map(str::to_owned).collect::<Vec<_>>()
        }),
        test_prompt_with_embedded_resource::prompt(),
        test_prompt_with_image::prompt(),
        test_input_required_result_prompt::prompt(),
    ]
}

#[derive(Deserialize, Schema)]
struct Background {
    context: String,
}

/// Takes nothing.
#[prompt]
fn test_simple_prompt() -> &'static str {
    "This is a simple prompt for testing."
}

/// Takes two words.
#[prompt]
fn test_prompt_with_arguments(
    /// The first.
    arg1: String,
    /// The second.
    arg2: String,
) -> String {
    format!("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")
}

/// Has a resource in it.
#[prompt]
fn test_prompt_with_embedded_resource(
    /// Its address.
    #[serde(rename = "resourceUri")]
    resource_uri: String,
) -> Vec<PromptMessage> {
    vec![
        PromptMessage::new(Role::User, embedded(&resource_uri)),
        PromptMessage::new(Role::User, text("Please process the embedded resource above.")),
    ]
}

/// Has a picture in it.
#[prompt]
fn test_prompt_with_image() -> Vec<PromptMessage> {
    vec![
        PromptMessage::new(Role::User, image()),
        PromptMessage::new(Role::User, text("Please analyze the image above.")),
    ]
}

/// Asks the user before it is filled in.
#[prompt]
async fn test_input_required_result_prompt(ctx: &Context) -> Result<String, ToolError> {
    let form = Form::<Background>::new("What context should the prompt use?");
    let background = ctx.elicit("user_context", form).await?.accepted();
    Ok(background.map_or_else(|| "Use no context.".to_owned(), |background| format!("Use {}.", background.context)))
}

fn text(text: &str) -> ContentBlock {
    ContentBlock::Text(TextContent::new(text))
}
