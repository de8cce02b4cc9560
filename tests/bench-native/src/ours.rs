//! Ours, as the README shows it: over a child's pipes and over HTTP.

use std::pin::{Pin, pin};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use futures::future::{Either, select};
use sandwire::client::{Driver, Limits, Options};
use sandwire::types::model::{CallToolResult, ContentBlock};
use sandwire::{Client, Command, Run, Schema, Server, Transport, tool};
use serde::Serialize;
use serde_json::json;

use crate::big;
use crate::child::own_path;
use crate::measure::{Subject, expected_text, repeat};

/// Room for ten megabytes.
const LIMIT_BYTES: usize = 32 << 20;

#[derive(Serialize, Schema)]
struct Sum {
    sum: i64,
}

/// Adds two integers.
#[tool]
fn add(a: i64, b: i64) -> Sum {
    Sum { sum: a + b }
}

fn server() -> Server {
    static ROWS: LazyLock<CallToolResult> = LazyLock::new(|| {
        read(&json!({
            "content": [{ "type": "text", "text": "a table" }],
            "structuredContent": big::table(),
        }))
    });
    static TEXT: LazyLock<CallToolResult> =
        LazyLock::new(|| read(&json!({ "content": [{ "type": "text", "text": big::text() }] })));
    Server::builder("bench", "1.0.0")
        .with(add::tool())
        .tool("rows", "A large table.", || ROWS.clone())
        .tool("text", "A long text.", || TEXT.clone())
        .build_with(|config| config.limits.max_message_bytes = LIMIT_BYTES)
        .expect("the server is built")
}

fn read(result: &serde_json::Value) -> CallToolResult {
    serde_json::from_str(&result.to_string()).expect("a result")
}

/// Serves on this process's standard streams until they end.
pub fn serve_stdio() {
    server().run(Transport::Stdio).expect("the standard streams are there");
}

/// Serves over HTTP on a free port, which it tells on standard error.
pub fn serve_http() {
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
    server().run(address).expect("there is a free port");
}

/// What is called.
#[derive(Clone, Copy)]
pub enum Tool {
    Add,
    /// Ten megabytes of rows, read into structs.
    Rows,
    /// The same, left as text inside of the result.
    RowsUnread,
    /// A text of ten megabytes.
    Text,
}

/// Who polls the connection.
#[derive(Clone, Copy)]
pub enum Driven {
    /// A thread of its own, which `connect` starts.
    ByThread,
    /// The task that calls.
    ByTask,
}

/// A client, and a server in another process.
pub struct Calls {
    client: Client,
    driver: Option<Pin<Box<Driver>>>,
    tool: Tool,
}

impl Calls {
    /// Starts a server of ours as a child and connects to its pipes.
    pub fn pipes(driven: Driven, tool: Tool) -> Self {
        Self::connect(Command::new(own_path()).arg("ours-stdio"), driven, tool)
    }

    /// Connects to a server, at an address for example.
    pub fn connect(target: impl Into<sandwire::Target>, driven: Driven, tool: Tool) -> Self {
        let limits = Limits { max_message_bytes: LIMIT_BYTES, ..Limits::default() };
        let connect = sandwire::connect(target).options(Options::new("bench", "1.0.0").limits(limits));
        let (client, driver) = match driven {
            Driven::ByThread => (sandwire::block_on(async { connect.await }).expect("the connection opens"), None),
            Driven::ByTask => {
                let (client, driver) = connect.split().expect("the server can be reached");
                (client, Some(Box::pin(driver)))
            }
        };
        Self { client, driver, tool }
    }

    /// Runs `work`, and the connection beside it if nobody else does.
    fn beside<T>(&mut self, work: impl Future<Output = T>) -> T {
        let Some(driver) = &mut self.driver else { return sandwire::block_on(work) };
        match sandwire::block_on(select(pin!(work), driver)) {
            Either::Left((done, _)) => done,
            Either::Right(_) => panic!("the connection ended"),
        }
    }
}

impl Subject for Calls {
    fn run(&mut self, time: Duration) -> f64 {
        let client = self.client.clone();
        match self.tool {
            Tool::Add => self.beside(async {
                let begin = Instant::now();
                let mut done = 0;
                while done == 0 || begin.elapsed() < time {
                    add_once(&client, done).await;
                    done += 1;
                }
                begin.elapsed().as_nanos() as f64 / done as f64
            }),
            Tool::Rows => repeat(time, || {
                let call = client.call_tool("rows", &()).structured::<big::Table>();
                let table = self.beside(call.into_future()).expect("the call succeeds");
                assert!(big::is_right(&table));
            }),
            Tool::RowsUnread => repeat(time, || {
                let call = client.call_tool("rows", &());
                let result = self.beside(call.into_future()).expect("the call succeeds");
                assert!(result.structured_content.is_some_and(|rows| rows.as_str().len() > 9_000_000));
            }),
            Tool::Text => repeat(time, || {
                let call = client.call_tool("text", &());
                let result = self.beside(call.into_future()).expect("the call succeeds");
                assert!(text(&result).is_some_and(|text| text.len() == 10_000_000));
            }),
        }
    }
}

async fn add_once(client: &Client, number: i64) {
    let (a, b) = (number, 1);
    #[derive(Serialize)]
    struct Arguments {
        a: i64,
        b: i64,
    }
    let result = client.call_tool("add", &Arguments { a, b }).await.expect("the call succeeds");
    assert_eq!(text(&result), Some(expected_text(a + b).as_str()));
}

fn text(result: &CallToolResult) -> Option<&str> {
    match result.content.first()? {
        ContentBlock::Text(content) => Some(&content.text),
        _ => None,
    }
}
