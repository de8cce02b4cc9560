//! The crate `rmcp`, 3.11, as a client: `rmcp-client <stdio|http> <version> <program and arguments, or address>`
// Sampling and the subscriptions of the legacy era are deprecated.
#![allow(deprecated)]

use std::fmt::Debug;
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use rmcp::model::*;
use rmcp::service::{NotificationContext, RequestContext, RunningService, ServiceError};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

const NOTE: &str = "note://today";
const PATIENCE: Duration = Duration::from_secs(30);

type Client = RunningService<RoleClient, Interop>;

/// Answers what it is asked and keeps what it is told.
#[derive(Clone)]
struct Interop {
    version: ProtocolVersion,
    steps: Arc<Mutex<Vec<(f64, Option<f64>)>>>,
    updates: Arc<Mutex<u32>>,
}

impl ClientHandler for Interop {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::builder().enable_sampling().build();
        capabilities.elicitation = serde_json::from_value(json!({ "form": {} })).unwrap();
        let info = ClientConfig::new(capabilities, Implementation::new("interop", "1.0.0"));
        info.with_protocol_version(self.version.clone())
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        Ok(CreateMessageResult::new(SamplingMessage::assistant_text("Trees."), "oak".to_owned()))
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let message = match &params {
            ElicitRequestParams::FormElicitationParams { message, .. } => message.as_str(),
            _ => "",
        };
        Ok(match message {
            "Who are you?" => ElicitResult::new(ElicitationAction::Accept).with_content(json!({ "name": "Ada" })),
            _ => ElicitResult::new(ElicitationAction::Decline),
        })
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.steps.lock().unwrap().push((params.progress, params.total));
    }

    async fn on_resource_updated(&self, _: ResourceUpdatedNotificationParam, _: NotificationContext<RoleClient>) {
        *self.updates.lock().unwrap() += 1;
    }
}

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [transport, version, target @ ..] = arguments.as_slice() else { panic!("no target") };
    let client = match open(transport, version, target).await {
        Ok(client) => client,
        Err(error) => return report("negotiate", async { Err(error) }).await,
    };
    report("negotiate", async { negotiate(&client, version) }).await;
    report("tools", tools(&client, version)).await;
    report("resources", resources(&client)).await;
    report("prompts", prompts(&client)).await;
    report("completion", completion(&client)).await;
    report("progress", progress(&client)).await;
    report("cancellation", cancellation(&client)).await;
    report("elicitation", elicitation(&client)).await;
    report("sampling", sampling(&client)).await;
    report("subscription", subscription(&client, version)).await;
    let _ = client.cancel().await;
}

async fn open(transport: &str, version: &str, target: &[String]) -> Result<Client> {
    let version: ProtocolVersion = serde_json::from_value(version.into())?;
    let modern = version == ProtocolVersion::V_2026_07_28;
    let handler = Interop { version: version.clone(), steps: Arc::default(), updates: Arc::default() };
    let lifecycle = match modern {
        true => ClientLifecycleMode::Discover { preferred_versions: vec![version] },
        false => ClientLifecycleMode::Initialize,
    };
    let (program, arguments) = target.split_first().context("no target")?;
    Ok(match transport {
        "stdio" => {
            let mut command = tokio::process::Command::new(program);
            command.args(arguments);
            handler.serve_with_lifecycle(TokioChildProcess::new(command)?, lifecycle).await?
        }
        _ => {
            let transport = StreamableHttpClientTransport::from_uri(program.as_str());
            handler.serve_with_lifecycle(transport, lifecycle).await?
        }
    })
}

/// Does something, and prints how it went.
async fn report(area: &str, run: impl Future<Output = Result<()>>) {
    match timeout(PATIENCE, run).await {
        Ok(Ok(())) => println!("{area}: passed"),
        Ok(Err(error)) => println!("{area}: {}", format!("{error:#}").replace('\n', " ")),
        Err(_) => println!("{area}: nothing came of it in {PATIENCE:?}"),
    }
}

fn same<T: PartialEq + Debug>(found: T, wanted: T) -> Result<()> {
    ensure!(found == wanted, "{found:?} in place of {wanted:?}");
    Ok(())
}

fn params(tool: &str, arguments: Value) -> CallToolRequestParams {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments)
}

async fn call(client: &Client, tool: &str, arguments: Value) -> Result<Value, ServiceError> {
    let result = client.call_tool(params(tool, arguments)).await?;
    Ok(serde_json::to_value(result).unwrap())
}

/// What a call that succeeds says.
async fn say(client: &Client, tool: &str, arguments: Value) -> Result<String> {
    let result = call(client, tool, arguments).await?;
    ensure!(result["isError"] != true, "{tool} failed: {result}");
    Ok(result["content"][0]["text"].as_str().context("no text")?.to_owned())
}

fn negotiate(client: &Client, version: &str) -> Result<()> {
    let server = client.peer_info().context("no server")?;
    same(server.protocol_version.as_str(), version)?;
    let capabilities = serde_json::to_value(&server.capabilities)?;
    for part in ["tools", "resources", "prompts"] {
        ensure!(!capabilities[part].is_null(), "no {part}");
    }
    let server = serde_json::to_value(&*server)?;
    same(&server["instructions"], &json!("A server for tests."))?;
    same(&server["serverInfo"]["name"], &json!("interop"))
}

async fn tools(client: &Client, version: &str) -> Result<()> {
    let tools = serde_json::to_value(client.list_all_tools().await?)?;
    let tools = tools.as_array().context("no list")?;
    for name in ["echo", "add", "fail", "count", "wait", "waited", "greet", "ask_model", "touch"] {
        ensure!(tools.iter().any(|tool| tool["name"] == name), "no {name}");
    }
    let message = "grüße \u{2028} 😀";
    same(say(client, "echo", json!({ "message": message })).await?.as_str(), message)?;
    let sum = call(client, "add", json!({ "a": 2, "b": 40 })).await?;
    if version >= "2025-06-18" {
        same(&sum["structuredContent"], &json!({ "sum": 42 }))?;
        let add = tools.iter().find(|tool| tool["name"] == "add").context("no add")?;
        ensure!(add["outputSchema"].is_object(), "no output schema");
    }
    let sums = (0..50).map(|a| {
        let sum = call(client, "add", json!({ "a": a, "b": 1 }));
        async move { (a, sum.await) }
    });
    for (a, sum) in futures::future::join_all(sums).await {
        let sum = sum?;
        ensure!(
            sum["content"][0]["text"].as_str().is_some_and(|text| text.contains(&(a + 1).to_string())),
            "{a}: {sum}"
        );
    }
    let failed = call(client, "fail", json!({})).await?;
    same(&failed["isError"], &json!(true))?;
    ensure!(failed["content"][0]["text"].as_str().is_some_and(|text| text.contains("as it was asked to")), "{failed}");
    match call(client, "missing", json!({})).await {
        // The specification wants an error; some say it in a result.
        Err(ServiceError::McpError(_)) => Ok(()),
        Ok(result) if result["isError"] == true => Ok(()),
        other => bail!("a tool that is not there: {other:?}"),
    }
}

async fn resources(client: &Client) -> Result<()> {
    let resources = serde_json::to_value(client.list_all_resources().await?)?;
    same(resources.as_array().map(Vec::len), Some(1))?;
    same(&resources[0]["uri"], &json!(NOTE))?;
    let templates = serde_json::to_value(client.list_all_resource_templates().await?)?;
    same(templates.as_array().map(Vec::len), Some(1))?;
    same(&templates[0]["uriTemplate"], &json!("day://{name}"))?;
    for (uri, wanted) in [(NOTE, "Water the plants."), ("day://friday", "It is friday.")] {
        let read = serde_json::to_value(client.read_resource(ReadResourceRequestParams::new(uri)).await?)?;
        same(&read["contents"][0]["text"], &json!(wanted))?;
        same(&read["contents"][0]["uri"], &json!(uri))?;
    }
    match client.read_resource(ReadResourceRequestParams::new("note://never")).await {
        Err(ServiceError::McpError(_)) => Ok(()),
        other => bail!("a resource that is not there: {other:?}"),
    }
}

async fn prompts(client: &Client) -> Result<()> {
    let prompts = serde_json::to_value(client.list_all_prompts().await?)?;
    same(&prompts[0]["name"], &json!("summary"))?;
    same(&prompts[0]["arguments"][0]["name"], &json!("topic"))?;
    let arguments = json!({ "topic": "trees" }).as_object().cloned().unwrap_or_default();
    let prompt = client.get_prompt(GetPromptRequestParams::new("summary").with_arguments(arguments)).await?;
    let prompt = serde_json::to_value(prompt)?;
    same(&prompt["messages"][0]["content"]["text"], &json!("Summarise trees."))
}

async fn completion(client: &Client) -> Result<()> {
    let completed = client.complete_resource_argument("day://{name}", "name", "t", None).await?;
    same(completed.values, vec!["tuesday".to_owned()])
}

async fn progress(client: &Client) -> Result<()> {
    same(say(client, "count", json!({ "steps": 3 })).await?.as_str(), "counted to 3")?;
    let steps = || client.service().steps.lock().unwrap().clone();
    // What is told runs beside the call.
    for _ in 0..50 {
        if steps().len() == 3 {
            break;
        }
        sleep(Duration::from_millis(20)).await;
    }
    // Nor is its order that of arrival.
    let mut steps = steps();
    steps.sort_by(|one, other| one.0.total_cmp(&other.0));
    same(steps, vec![(1.0, Some(3.0)), (2.0, Some(3.0)), (3.0, Some(3.0))])
}

async fn cancellation(client: &Client) -> Result<()> {
    let before = client.service().steps.lock().unwrap().len();
    let started = async {
        while client.service().steps.lock().unwrap().len() == before {
            sleep(Duration::from_millis(10)).await;
        }
    };
    // What is not awaited any more is given up.
    tokio::select! {
        early = call(client, "wait", json!({})) => bail!("the wait ended by itself: {early:?}"),
        () = started => {}
    }
    for _ in 0..200 {
        if say(client, "waited", json!({})).await? == "1" {
            return Ok(());
        }
        sleep(Duration::from_millis(20)).await;
    }
    bail!("the handler did not see it")
}

async fn elicitation(client: &Client) -> Result<()> {
    same(say(client, "greet", json!({ "question": "Who are you?" })).await?.as_str(), "Hello, Ada.")?;
    same(say(client, "greet", json!({ "question": "May I know?" })).await?.as_str(), "Hello, stranger.")
}

async fn sampling(client: &Client) -> Result<()> {
    same(say(client, "ask_model", json!({})).await?.as_str(), "The model oak says: Trees.")
}

async fn subscription(client: &Client, version: &str) -> Result<()> {
    if version >= "2026" {
        let filter = SubscriptionFilter::builder().resource_subscription(NOTE).build();
        let mut subscription = client.listen(filter).await?;
        same(say(client, "touch", json!({})).await?.as_str(), "touched")?;
        let heard = timeout(Duration::from_secs(5), subscription.next()).await??;
        ensure!(matches!(heard, Some(ServerNotification::ResourceUpdatedNotification(_))), "{heard:?}");
        return Ok(subscription.cancel().await?);
    }
    client.subscribe(SubscribeRequestParams::new(NOTE)).await?;
    same(say(client, "touch", json!({})).await?.as_str(), "touched")?;
    for _ in 0..250 {
        if *client.service().updates.lock().unwrap() > 0 {
            return Ok(client.unsubscribe(UnsubscribeRequestParams::new(NOTE)).await?);
        }
        sleep(Duration::from_millis(20)).await;
    }
    bail!("no notifications/resources/updated came")
}
