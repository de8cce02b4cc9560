//! Tools whose calls end with a question and are made again with its answer.

use futures_util::future::join3;
use sandwire::server::{Context, Elicited, Form, Schema, ToolError, ToolHandler, tool};
use serde::Deserialize;

use crate::asking::{question, said};

pub(crate) fn tools() -> Vec<ToolHandler> {
    vec![
        test_input_required_result_elicitation::tool(),
        test_input_required_result_sampling::tool(),
        test_input_required_result_list_roots::tool(),
        test_input_required_result_request_state::tool(),
        test_input_required_result_tampered_state::tool(),
        test_input_required_result_multiple_inputs::tool(),
        test_input_required_result_multi_round::tool(),
        test_input_required_result_capabilities::tool(),
    ]
}

#[derive(Deserialize, Schema)]
struct Name {
    name: String,
}

#[derive(Deserialize, Schema)]
struct Color {
    color: String,
}

#[derive(Deserialize, Schema)]
struct Confirmation {
    ok: bool,
}

/// Asks the user once.
#[tool]
async fn test_input_required_result_elicitation(ctx: &Context) -> Result<String, ToolError> {
    let name = ctx.elicit("user_name", Form::<Name>::new("What is your name?")).await?;
    Ok(greeting(name))
}

/// Asks the model once.
#[tool]
async fn test_input_required_result_sampling(ctx: &Context) -> Result<String, ToolError> {
    let answer = ctx.sample("capital_question", question("What is the capital of France?")).await?;
    Ok(said(&answer).to_owned())
}

/// Asks for the roots once.
#[tool]
async fn test_input_required_result_list_roots(ctx: &Context) -> Result<String, ToolError> {
    let roots = ctx.roots("client_roots").await?;
    Ok(roots.iter().map(|root| &*root.uri).collect::<Vec<_>>().join(" "))
}

/// Keeps something from one round to the next.
#[tool]
async fn test_input_required_result_request_state(ctx: &Context) -> Result<String, ToolError> {
    confirmed(ctx).await
}

/// Keeps something that a client may not change.
#[tool]
async fn test_input_required_result_tampered_state(ctx: &Context) -> Result<String, ToolError> {
    confirmed(ctx).await
}

/// Asks for three things at once.
#[tool]
async fn test_input_required_result_multiple_inputs(ctx: &Context) -> Result<String, ToolError> {
    let round: u32 = ctx.once("begun", async { 1 }).await?;
    let (name, words, roots) = join3(
        ctx.elicit("user_name", Form::<Name>::new("What is your name?")),
        ctx.sample("greeting", question("Generate a greeting")),
        ctx.roots("client_roots"),
    )
    .await;
    Ok(format!("{} {} {} roots in round {round}", greeting(name?), said(&words?), roots?.len()))
}

/// Asks twice, one after the other.
#[tool]
async fn test_input_required_result_multi_round(ctx: &Context) -> Result<String, ToolError> {
    let begun: u32 = ctx.once("begun", async { 1 }).await?;
    let name = ctx.elicit("step1", Form::<Name>::new("Step 1: What is your name?")).await?;
    let color = ctx.elicit("step2", Form::<Color>::new("Step 2: What is your favorite color?")).await?;
    let color = color.accepted().map_or_else(|| "none".to_owned(), |color| color.color);
    Ok(format!("{} Your color is {color}, since round {begun}.", greeting(name)))
}

/// Asks only for what the client can give.
#[tool]
async fn test_input_required_result_capabilities(ctx: &Context) -> Result<String, ToolError> {
    let name = ctx.elicit("user_name", Form::<Name>::new("What is your name?"));
    match name.await {
        Err(sandwire::server::AskError::Undeclared { .. }) => {
            let answer = ctx.sample("greeting", question("Generate a greeting")).await?;
            Ok(said(&answer).to_owned())
        }
        name => Ok(greeting(name?)),
    }
}

async fn confirmed(ctx: &Context) -> Result<String, ToolError> {
    let begun: u32 = ctx.once("begun", async { 1 }).await?;
    let answer = ctx.elicit("confirm", Form::<Confirmation>::new("Please confirm")).await?;
    let ok = answer.accepted().is_some_and(|answer| answer.ok);
    Ok(format!("state-ok: {ok} since round {begun}"))
}

fn greeting(name: Elicited<Name>) -> String {
    match name.accepted() {
        Some(Name { name }) => format!("Hello, {name}!"),
        None => "Hello, whoever you are!".to_owned(),
    }
}
