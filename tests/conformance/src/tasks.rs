//! Tools whose calls may become tasks.

use futures_util::future::join;
use sandwire::server::{
    Context, Elicited, Form, Schema, TaskMode, TaskOptions, Tasks, TasksDriver, ToolError, ToolHandler, tool,
};
use sandwire::types::ErrorObject;
use serde::Deserialize;
use std::time::Duration;

use crate::host::{self, pause};

/// Tasks that clients ask after often, and what runs them.
pub fn tasks() -> (Tasks, TasksDriver) {
    Tasks::new(host::env(), TaskOptions { poll_interval_ms: 200, ..TaskOptions::default() })
}

pub(crate) fn tools() -> Vec<ToolHandler> {
    vec![
        greet::tool(),
        slow_compute::tool().task(TaskMode::Optional),
        failing_job::tool().task(TaskMode::Required),
        protocol_error_job::tool().task(TaskMode::Optional),
        confirm_delete::tool().task(TaskMode::Optional),
        multi_input::tool().task(TaskMode::Optional),
        test_tool_with_task::tool().task_on_demand(TaskMode::Optional),
    ]
}

#[derive(Deserialize, Schema)]
struct Confirmation {
    confirm: bool,
}

#[derive(Deserialize, Schema)]
struct Name {
    name: String,
}

/// Greets somebody, at once.
#[tool]
fn greet(name: String) -> String {
    format!("Hello, {name}!")
}

/// Takes its time.
#[tool]
async fn slow_compute(seconds: Option<f64>, label: Option<String>) -> String {
    pause(Duration::from_secs_f64(seconds.unwrap_or(0.0).clamp(0.0, 600.0))).await;
    format!("computed {}", label.unwrap_or_default())
}

/// Fails after a while.
#[tool]
async fn failing_job() -> Result<String, &'static str> {
    pause(Duration::from_millis(300)).await;
    Err("job failed")
}

/// Ends with an error of the protocol.
#[tool]
async fn protocol_error_job() -> Result<String, ErrorObject> {
    pause(Duration::from_millis(100)).await;
    Err(ErrorObject::internal("the job cannot be done"))
}

/// Asks before it deletes.
#[tool]
async fn confirm_delete(filename: Option<String>, ctx: &Context) -> Result<String, ToolError> {
    let filename = filename.unwrap_or_default();
    let form = Form::<Confirmation>::new(format!("Delete {filename}?"));
    let agreed = ctx.elicit("confirm", form).await?.accepted().is_some_and(|answer| answer.confirm);
    Ok(if agreed { format!("Deleted {filename}.") } else { format!("Kept {filename}.") })
}

/// Asks for two things at once.
#[tool]
async fn multi_input(ctx: &Context) -> Result<String, ToolError> {
    let first = ctx.elicit("first", Form::<Name>::new("The first name?"));
    let second = ctx.elicit("second", Form::<Name>::new("The second name?"));
    let (first, second) = join(first, second).await;
    Ok(format!("Hello, {} and {}!", name(first?), name(second?)))
}

/// Asks, and only then goes on as a task.
#[tool]
async fn test_tool_with_task(ctx: &Context) -> Result<String, ToolError> {
    let answer = ctx.elicit("user_name", Form::<Name>::new("What is your name?")).await?;
    ctx.become_task().await;
    pause(Duration::from_millis(100)).await;
    Ok(format!("Hello, {}!", name(answer)))
}

fn name(answer: Elicited<Name>) -> String {
    answer.accepted().map_or_else(|| "whoever you are".to_owned(), |answer| answer.name)
}
