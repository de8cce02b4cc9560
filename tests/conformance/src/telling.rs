//! Tools that say something before their answer, or to others.

use std::time::Duration;

use sandwire::server::{Context, PromptHandler, RegistrationError, ToolHandler, tool};
use sandwire::types::model::LoggingLevel;

use crate::host::pause;

pub(crate) fn tools() -> Vec<ToolHandler> {
    vec![
        test_tool_with_logging::tool(),
        test_logging_tool::tool(),
        test_tool_with_progress::tool(),
        test_reconnection::tool(),
        test_trigger_tool_change::tool(),
        test_trigger_prompt_change::tool(),
    ]
}

/// Logs three messages.
#[tool]
async fn test_tool_with_logging(ctx: &Context) -> &'static str {
    ctx.log(LoggingLevel::Info, "Tool execution started");
    pause(Duration::from_millis(50)).await;
    ctx.log(LoggingLevel::Info, "Tool processing data");
    pause(Duration::from_millis(50)).await;
    ctx.log(LoggingLevel::Info, "Tool execution completed");
    "logged three messages"
}

/// Logs a message.
#[tool]
fn test_logging_tool(ctx: &Context) -> &'static str {
    ctx.log(LoggingLevel::Info, "Tool execution started");
    "logged, if that was wanted"
}

/// Tells of its progress.
#[tool]
async fn test_tool_with_progress(ctx: &Context) -> &'static str {
    ctx.progress(0.0, 100.0, None);
    pause(Duration::from_millis(50)).await;
    ctx.progress(50.0, 100.0, None);
    pause(Duration::from_millis(50)).await;
    ctx.progress(100.0, 100.0, None);
    "done"
}

/// Ends its stream before it answers.
#[tool]
async fn test_reconnection(ctx: &Context) -> &'static str {
    ctx.close_stream();
    pause(Duration::from_millis(100)).await;
    "Reconnection test completed successfully"
}

/// Changes the list of tools, twice.
#[tool]
fn test_trigger_tool_change(ctx: &Context) -> Result<&'static str, RegistrationError> {
    let tools = ctx.server().tools();
    tools.add(ToolHandler::new("test_passing_tool", "Is soon gone.", || "here"))?;
    tools.remove("test_passing_tool");
    Ok("tool list changed")
}

/// Changes the list of prompts, twice.
#[tool]
fn test_trigger_prompt_change(ctx: &Context) -> Result<&'static str, RegistrationError> {
    let prompts = ctx.server().prompts();
    prompts.add(PromptHandler::new("test_passing_prompt", "Is soon gone.", || "here"))?;
    prompts.remove("test_passing_prompt");
    Ok("prompt list changed")
}
