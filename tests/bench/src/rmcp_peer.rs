//! The peer: `rmcp` over its tokio duplex, on one current-thread runtime.

use std::time::{Duration, Instant};

use rmcp::{
    ClientLifecycleMode, ClientServiceExt, Json, RoleClient, ServerHandler, ServiceExt,
    handler::server::{router::tool::ToolRouter, wrapper::Parameters},
    model::{CallToolRequestParams, CallToolResult, JsonObject, ProtocolVersion},
    service::{Peer, RunningService},
    tool, tool_handler, tool_router,
};
use serde::{Deserialize, Serialize};
use tokio::runtime::{Builder, Runtime};

use crate::measure::{Subject, expected_text};

const DUPLEX_BYTES: usize = 64 * 1024;

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

#[tool_router(router = tool_router)]
impl Adder {
    #[tool(name = "add", description = "Adds two integers.")]
    async fn add(&self, Parameters(Arguments { a, b }): Parameters<Arguments>) -> Json<Sum> {
        Json(Sum { sum: a + b })
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Adder {}

/// Which opening the peer's client is told to use.
#[derive(Clone, Copy)]
pub enum Opening {
    /// `initialize`.
    Legacy,
    /// `server/discover`.
    Modern,
}

/// A connected pair of `rmcp` peers.
pub struct Rmcp {
    runtime: Runtime,
    client: RunningService<RoleClient, ()>,
    in_flight: u64,
}

impl Rmcp {
    /// Connects both ends over a duplex; `in_flight` calls are kept open at once.
    pub fn connect(opening: Opening, in_flight: u64) -> Self {
        let runtime = Builder::new_current_thread().enable_time().build().expect("the runtime starts");
        let client = runtime.block_on(async {
            let (server_end, client_end) = tokio::io::duplex(DUPLEX_BYTES);
            tokio::spawn(async move {
                let adder = Adder { tool_router: Adder::tool_router() };
                let serving = adder.serve(server_end).await.expect("the server opens");
                serving.waiting().await.expect("the server ends in peace");
            });
            let lifecycle = match opening {
                Opening::Legacy => ClientLifecycleMode::Initialize,
                Opening::Modern => {
                    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
                }
            };
            ().serve_with_lifecycle(client_end, lifecycle).await.expect("the client opens")
        });
        Self { runtime, client, in_flight }
    }
}

impl Subject for Rmcp {
    fn run(&mut self, calls: u64) -> Duration {
        let peer = self.client.peer().clone();
        let in_flight = self.in_flight;
        self.runtime.block_on(async move {
            let begin = Instant::now();
            if in_flight == 1 {
                for number in 0..calls {
                    call(&peer, number).await;
                }
            } else {
                for first in (0..calls).step_by(in_flight as usize) {
                    let open = (first..calls.min(first + in_flight)).map(|n| call(&peer, n));
                    futures::future::join_all(open).await;
                }
            }
            begin.elapsed()
        })
    }
}

async fn call(peer: &Peer<RoleClient>, number: u64) {
    let (a, b) = (number as i64, 1);
    let mut arguments = JsonObject::new();
    arguments.insert("a".to_owned(), a.into());
    arguments.insert("b".to_owned(), b.into());
    let result =
        peer.call_tool(CallToolRequestParams::new("add").with_arguments(arguments)).await.expect("the call succeeds");
    assert_eq!(text(&result), Some(expected_text(a + b).as_str()));
}

fn text(result: &CallToolResult) -> Option<&str> {
    Some(result.content.first()?.as_text()?.text.as_str())
}
