//! Tools that ask the client, under the names that the suite has for legacy clients.

use sandwire::server::{Context, Form, Schema, ToolError, ToolHandler, tool};
use sandwire::types::Raw;
use sandwire::types::model::{
    CreateMessageRequestParams, CreateMessageResult, Role, SamplingMessage, SamplingMessageContentBlock, TextContent,
};
use serde::{Deserialize, Serialize};

/// A form with a field of every kind of choice.
const CHOICES: &str = r#"{
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {
            "type": "string",
            "oneOf": [
                {"const": "value1", "title": "First Option"},
                {"const": "value2", "title": "Second Option"},
                {"const": "value3", "title": "Third Option"}
            ]
        },
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"]
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
        "titledMulti": {
            "type": "array",
            "items": {
                "anyOf": [
                    {"const": "value1", "title": "First Choice"},
                    {"const": "value2", "title": "Second Choice"},
                    {"const": "value3", "title": "Third Choice"}
                ]
            }
        }
    },
    "required": []
}"#;

pub(crate) fn tools() -> Vec<ToolHandler> {
    vec![
        test_sampling::tool(),
        test_elicitation::tool(),
        test_elicitation_sep1034_defaults::tool(),
        test_elicitation_sep1330_enums::tool(),
        test_missing_capability::tool(),
        test_streaming_elicitation::tool(),
    ]
}

/// A question for the model.
pub(crate) fn question(text: &str) -> CreateMessageRequestParams {
    let text = SamplingMessageContentBlock::Text(TextContent::new(text));
    CreateMessageRequestParams::new(vec![SamplingMessage::new(Role::User, text)], 100)
}

/// What the model said.
pub(crate) fn said(answer: &CreateMessageResult) -> &str {
    let mut blocks = answer.content.as_slice().iter();
    let text = blocks.find_map(|block| match block {
        SamplingMessageContentBlock::Text(text) => Some(&*text.text),
        _ => None,
    });
    text.unwrap_or_default()
}

#[derive(Deserialize, Serialize, Schema)]
struct User {
    /// User's response
    username: String,
    /// User's email address
    email: String,
}

#[derive(Deserialize, Serialize, Schema)]
#[serde(rename_all = "lowercase")]
enum Status {
    Active,
    Inactive,
    Pending,
}

#[derive(Deserialize, Serialize, Schema)]
struct Defaults {
    #[schema(default = "John Doe")]
    name: Option<String>,
    #[schema(default = 30)]
    age: Option<i64>,
    #[schema(default = 95.5)]
    score: Option<f64>,
    #[schema(default = "active")]
    status: Option<Status>,
    #[schema(default = true)]
    verified: Option<bool>,
}

#[derive(Deserialize, Serialize, Schema)]
struct Word {
    word: String,
}

/// Asks the client's model.
#[tool]
async fn test_sampling(prompt: String, ctx: &Context) -> Result<String, ToolError> {
    let answer = ctx.sample("answer", question(&prompt)).await?;
    Ok(format!("LLM response: {}", said(&answer)))
}

/// Asks the user.
#[tool]
async fn test_elicitation(message: String, ctx: &Context) -> Result<String, ToolError> {
    let user = ctx.elicit("user", Form::<User>::new(message)).await?;
    told(user.accepted().as_ref())
}

/// Asks the user with a form that is filled in already.
#[tool]
async fn test_elicitation_sep1034_defaults(ctx: &Context) -> Result<String, ToolError> {
    let form = Form::<Defaults>::new("Please review and update the form fields with defaults");
    told(ctx.elicit("form", form).await?.accepted().as_ref())
}

/// Asks the user to choose.
#[tool]
async fn test_elicitation_sep1330_enums(ctx: &Context) -> Result<String, ToolError> {
    let form = Form::from_schema("Please select options from the enum fields", Raw::from_valid(CHOICES));
    Ok(match ctx.elicit("choices", form).await?.accepted() {
        Some(choices) => format!("Elicitation completed: {}", choices.as_str()),
        None => "The user chose nothing.".to_owned(),
    })
}

/// Needs the client's model.
#[tool]
async fn test_missing_capability(ctx: &Context) -> Result<String, ToolError> {
    let answer = ctx.sample("answer", question("Say something.")).await?;
    Ok(said(&answer).to_owned())
}

/// Asks the user in the middle of a stream.
#[tool]
async fn test_streaming_elicitation(ctx: &Context) -> Result<String, ToolError> {
    let word = ctx.elicit("word", Form::<Word>::new("Which word?")).await?;
    told(word.accepted().as_ref())
}

fn told<T: Serialize>(content: Option<&T>) -> Result<String, ToolError> {
    Ok(match content {
        Some(content) => format!("Elicitation completed: {}", serde_json::to_string(content)?),
        None => "The user did not answer.".to_owned(),
    })
}
