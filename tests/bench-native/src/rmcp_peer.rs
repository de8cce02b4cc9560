//! The peer: `rmcp` as its documentation shows it, over a child's pipes and on axum.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use rmcp::model::{CallToolRequestParams, CallToolResult, ContentBlock, JsonObject};
use rmcp::service::{Peer, RunningService};
use rmcp::transport::TokioChildProcess;
use rmcp::transport::io::{stdio, stdio_pipes};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{
    Json, RoleClient, ServerHandler, ServiceExt,
    handler::server::{router::tool::ToolRouter, wrapper::Parameters},
    tool, tool_handler, tool_router,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use crate::big;
use crate::child::own_path;
use crate::measure::{Subject, expected_text};

#[derive(Deserialize, schemars::JsonSchema)]
struct Arguments {
    a: i64,
    b: i64,
}

#[derive(Serialize, schemars::JsonSchema)]
struct Sum {
    sum: i64,
}

#[derive(Clone)]
struct Adder {
    tool_router: ToolRouter<Self>,
}

static ROWS: LazyLock<Value> = LazyLock::new(|| serde_json::to_value(big::table()).expect("rows are JSON"));

#[tool_router(router = tool_router)]
impl Adder {
    #[tool(name = "add", description = "Adds two integers.")]
    async fn add(&self, Parameters(Arguments { a, b }): Parameters<Arguments>) -> Json<Sum> {
        Json(Sum { sum: a + b })
    }

    #[tool(name = "rows", description = "A large table.")]
    async fn rows(&self) -> CallToolResult {
        let mut result = CallToolResult::success(vec![ContentBlock::text("a table")]);
        result.structured_content = Some(ROWS.clone());
        result
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Adder {}

fn adder() -> Adder {
    Adder { tool_router: Adder::tool_router() }
}

/// How the server of this peer takes its standard streams.
#[derive(Clone, Copy)]
pub enum Pipes {
    /// `transport::stdio`, which its examples use, on the usual runtime.
    Usual,
    /// `transport::stdio_pipes`, on a runtime of one thread: its fastest.
    Fast,
}

impl Pipes {
    fn runtime(self) -> Runtime {
        let mut builder = match self {
            Self::Usual => Builder::new_multi_thread(),
            Self::Fast => Builder::new_current_thread(),
        };
        builder.enable_all().build().expect("the runtime starts")
    }
}

/// Serves on this process's standard streams until they end.
pub fn serve_stdio(pipes: Pipes) {
    pipes.runtime().block_on(async {
        let serving = match pipes {
            Pipes::Usual => adder().serve(stdio()).await,
            Pipes::Fast => adder().serve(stdio_pipes()).await,
        };
        let _ = serving.expect("the server opens").waiting().await;
    });
}

/// Serves over HTTP on a free port, which it prints.
pub fn serve_http() {
    let runtime = Builder::new_multi_thread().enable_all().build().expect("the runtime starts");
    runtime.block_on(async {
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_sse_keep_alive(None);
        let service = StreamableHttpService::new(|| Ok(adder()), Arc::new(LocalSessionManager::default()), config);
        serve_router(axum::Router::new().route_service("/mcp", service)).await;
    });
}

/// Serves a router on a free port, which it prints.
pub async fn serve_router(router: axum::Router) {
    use axum::serve::ListenerExt;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    println!("{}", listener.local_addr().expect("its address").port());
    let listener = listener.tap_io(|stream| _ = stream.set_nodelay(true));
    axum::serve(listener, router).await.expect("the server serves");
}

/// A client of this peer and a server of it in another process.
pub struct Stdio {
    runtime: Runtime,
    client: RunningService<RoleClient, ()>,
    tool: &'static str,
}

impl Stdio {
    /// Starts the server and opens the connection; `tool` is what will be called.
    pub fn start(pipes: Pipes, tool: &'static str) -> Self {
        let role = match pipes {
            Pipes::Usual => "rmcp-stdio",
            Pipes::Fast => "rmcp-pipes",
        };
        let mut command = tokio::process::Command::new(own_path());
        command.arg(role);
        let runtime = pipes.runtime();
        let client = runtime.block_on(async {
            let child = TokioChildProcess::new(command).expect("the server starts");
            ().serve(child).await.expect("the client opens")
        });
        Self { runtime, client, tool }
    }
}

impl Subject for Stdio {
    fn run(&mut self, time: Duration) -> f64 {
        let peer = self.client.peer().clone();
        let tool = self.tool;
        self.runtime.block_on(async move {
            let begin = Instant::now();
            let mut done = 0;
            while done == 0 || begin.elapsed() < time {
                match tool {
                    "add" => add(&peer, done).await,
                    _ => rows(&peer).await,
                }
                done += 1;
            }
            begin.elapsed().as_nanos() as f64 / done as f64
        })
    }
}

async fn add(peer: &Peer<RoleClient>, number: i64) {
    let (a, b) = (number, 1);
    let mut arguments = JsonObject::new();
    arguments.insert("a".to_owned(), a.into());
    arguments.insert("b".to_owned(), b.into());
    let params = CallToolRequestParams::new("add").with_arguments(arguments);
    let result = peer.call_tool(params).await.expect("the call succeeds");
    let text = result.content.first().and_then(|block| block.as_text()).map(|text| text.text.as_str());
    assert_eq!(text, Some(expected_text(a + b).as_str()));
}

async fn rows(peer: &Peer<RoleClient>) {
    let params = CallToolRequestParams::new(Cow::Borrowed("rows"));
    let result = peer.call_tool(params).await.expect("the call succeeds");
    assert!(result.structured_content.as_ref().is_some_and(big::is_right_value));
}
