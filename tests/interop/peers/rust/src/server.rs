//! The crate `rmcp`, 3.11, as a server: `rmcp-server <stdio|http>`
// Sampling and the subscriptions of the legacy era are deprecated.
#![allow(deprecated)]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::handler::server::router::prompt::PromptRouter;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::tool::InputResponses;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::*;
use rmcp::service::{RequestContext, SubscriptionContext, SubscriptionSink};
use rmcp::transport::io::stdio;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{
    ErrorData, Json, Peer, RoleServer, ServerHandler, ServiceExt, prompt, prompt_handler, prompt_router, tool,
    tool_handler, tool_router,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const NOTE: &str = "note://today";

#[derive(Deserialize, JsonSchema)]
struct Message {
    message: String,
}

#[derive(Deserialize, JsonSchema)]
struct Pair {
    a: i64,
    b: i64,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Steps {
    steps: u32,
}

#[derive(Deserialize, JsonSchema)]
struct Question {
    question: String,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Topic {
    topic: String,
}

#[derive(Clone)]
struct Interop {
    tool_router: ToolRouter<Self>,
    prompt_router: PromptRouter<Self>,
    given_up: Arc<AtomicU32>,
    /// Who wants to hear of the note, in the legacy era.
    peers: Arc<Mutex<Vec<Peer<RoleServer>>>>,
    /// The same in the modern one.
    sinks: Arc<Mutex<Vec<SubscriptionSink>>>,
}

fn text(said: impl Into<String>) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(said)]).into()
}

fn failed(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

/// Whether the client is asked by the result of its call.
fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version.as_str() >= "2026")
}

fn asking(key: &str, request: InputRequest) -> CallToolResponse {
    InputRequiredResult::from_input_requests(BTreeMap::from([(key.to_owned(), request)])).into()
}

async fn report(context: &RequestContext<RoleServer>, step: u32, total: Option<u32>) -> Result<(), ErrorData> {
    let token = context.meta.get_progress_token().ok_or_else(|| ErrorData::invalid_params("no token", None))?;
    let mut params = ProgressNotificationParam::new(token, step.into());
    params.total = total.map(f64::from);
    context.peer.notify_progress(params).await.map_err(failed)
}

#[tool_router]
impl Interop {
    fn new() -> Self {
        Self {
            tool_router: Self::tool_router(),
            prompt_router: Self::prompt_router(),
            given_up: Arc::default(),
            peers: Arc::default(),
            sinks: Arc::default(),
        }
    }

    #[tool]
    async fn echo(&self, Parameters(Message { message }): Parameters<Message>) -> String {
        message
    }

    #[tool]
    async fn add(&self, Parameters(Pair { a, b }): Parameters<Pair>) -> Json<Sum> {
        Json(Sum { sum: a + b })
    }

    #[tool]
    async fn fail(&self) -> CallToolResult {
        CallToolResult::error(vec![ContentBlock::text("as it was asked to")])
    }

    #[tool]
    async fn count(
        &self,
        Parameters(Steps { steps }): Parameters<Steps>,
        context: RequestContext<RoleServer>,
    ) -> Result<String, ErrorData> {
        for step in 1..=steps {
            report(&context, step, Some(steps)).await?;
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
        Ok(format!("counted to {steps}"))
    }

    #[tool]
    async fn wait(&self, context: RequestContext<RoleServer>) -> Result<String, ErrorData> {
        report(&context, 1, None).await?;
        context.ct.cancelled().await;
        self.given_up.fetch_add(1, Ordering::SeqCst);
        Ok("given up".to_owned())
    }

    #[tool]
    async fn waited(&self) -> String {
        self.given_up.load(Ordering::SeqCst).to_string()
    }

    #[tool]
    async fn greet(
        &self,
        Parameters(Question { question }): Parameters<Question>,
        InputResponses(responses): InputResponses,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] });
        let params = ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: question,
            requested_schema: serde_json::from_value(schema).map_err(failed)?,
        };
        let answer = match responses.as_ref().and_then(|responses| responses.get("who")) {
            Some(answer) => answer.clone(),
            None if is_modern(&context) => {
                return Ok(asking("who", InputRequest::Elicitation(ElicitRequest::new(params))));
            }
            None => {
                let answer = context.peer.create_elicitation(params).await.map_err(failed)?;
                serde_json::to_value(answer).map_err(failed)?
            }
        };
        let accepted = answer["action"] == "accept";
        let name = answer["content"]["name"].as_str().filter(|_| accepted).unwrap_or("stranger");
        Ok(text(format!("Hello, {name}.")))
    }

    #[tool]
    async fn ask_model(
        &self,
        InputResponses(responses): InputResponses,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let params = CreateMessageRequestParams::new(vec![SamplingMessage::user_text("What grows?")], 100);
        let answer: Value = match responses.as_ref().and_then(|responses| responses.get("model")) {
            Some(answer) => answer.clone(),
            None if is_modern(&context) => {
                return Ok(asking("model", InputRequest::CreateMessage(CreateMessageRequest::new(params))));
            }
            None => {
                let answer = context.peer.create_message(params).await.map_err(failed)?;
                serde_json::to_value(answer).map_err(failed)?
            }
        };
        let (model, said) = (answer["model"].as_str(), answer["content"]["text"].as_str());
        Ok(text(format!("The model {} says: {}", model.unwrap_or_default(), said.unwrap_or_default())))
    }

    #[tool]
    async fn touch(&self, context: RequestContext<RoleServer>) -> String {
        // A subscription is acknowledged before its handler runs.
        for _ in 0..100 {
            if !is_modern(&context) || !self.sinks.lock().unwrap().is_empty() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let peers = self.peers.lock().unwrap().clone();
        for peer in peers {
            let _ = peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(NOTE)).await;
        }
        let sinks = self.sinks.lock().unwrap().clone();
        for sink in sinks {
            let _ = sink.notify_resource_updated(NOTE).await;
        }
        "touched".to_owned()
    }
}

#[prompt_router]
impl Interop {
    #[prompt]
    async fn summary(&self, Parameters(Topic { topic }): Parameters<Topic>) -> Vec<PromptMessage> {
        vec![PromptMessage::new_text(Role::User, format!("Summarise {topic}."))]
    }
}

#[tool_handler(router = self.tool_router)]
#[prompt_handler(router = self.prompt_router)]
impl ServerHandler for Interop {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_prompts().enable_resources();
        ServerConfig::new(capabilities.enable_resources_subscribe().enable_completions().build())
            .with_server_info(Implementation::new("interop", "1.0.0"))
            .with_instructions("A server for tests.")
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(vec![Resource::new(NOTE, "today")]))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(vec![ResourceTemplate::new("day://{name}", "day")]))
    }

    async fn read_resource(
        &self,
        ReadResourceRequestParams { uri, .. }: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let said = match uri.strip_prefix("day://") {
            Some(day) => format!("It is {day}."),
            None if uri == NOTE => "Water the plants.".to_owned(),
            None => return Err(ErrorData::resource_not_found("no such resource", None)),
        };
        Ok(ReadResourceResult::new(vec![ResourceContents::text(said, uri)]).into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let days = ["monday", "tuesday"].into_iter().filter(|day| day.starts_with(&request.argument.value));
        let completion = CompletionInfo::new(days.map(str::to_owned).collect()).map_err(failed)?;
        Ok(CompleteResult::new(completion))
    }

    async fn subscribe(&self, _: SubscribeRequestParams, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.peers.lock().unwrap().push(context.peer);
        Ok(())
    }

    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.peers.lock().unwrap().clear();
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.sinks.lock().unwrap().push(context.sink().clone());
        context.cancelled().await;
        Ok(())
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let server = Interop::new();
    if std::env::args().nth(1).as_deref() == Some("stdio") {
        server.serve(stdio()).await?.waiting().await?;
        return Ok(());
    }
    let sessions = Arc::new(LocalSessionManager::default());
    let service =
        StreamableHttpService::new(move || Ok(server.clone()), sessions, StreamableHttpServerConfig::default());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/mcp", listener.local_addr()?);
    axum::serve(listener, axum::Router::new().route_service("/mcp", service)).await?;
    Ok(())
}
