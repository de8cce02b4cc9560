//! Sandwire between processes, ours beside the peers: over pipes and over HTTP, small calls and large results.
//!
//! `cargo xtask bench native` runs it and puts the ratios beside the figures. As a child of itself it is a server, in the
//! role that its argument names.

mod big;
mod child;
mod floor;
mod load;
mod measure;
mod ours;
mod rmcp_peer;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use child::{Listening, own};
use load::Load;
use measure::{Effort, Row, Subject};
use ours::{Calls, Driven, Tool};
use rmcp_peer::{Pipes, Stdio};
use serde_json::json;

const CONNECTIONS: usize = 64;
const SESSIONS: usize = 1000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let role = arguments.first().map_or("", String::as_str);
    match role {
        "ours-stdio" => ours::serve_stdio(),
        "ours-http" => ours::serve_http(),
        "rmcp-stdio" => rmcp_peer::serve_stdio(Pipes::Usual),
        "rmcp-pipes" => rmcp_peer::serve_stdio(Pipes::Fast),
        "rmcp-http" => rmcp_peer::serve_http(),
        "floor-http" => floor::serve_http(arguments[1].clone()),
        _ => measure(&arguments),
    }
}

fn measure(arguments: &[String]) {
    let usage = "usage: sandwire-bench-native <rounds> <milliseconds> <folder of npm packages> <python>";
    let [rounds, milliseconds, npm, python] = arguments else { panic!("{usage}") };
    let effort = Effort {
        rounds: rounds.parse().expect(usage),
        round: Duration::from_millis(milliseconds.parse().expect(usage)),
    };
    let mut rows = rows(Path::new(npm), Path::new(python));
    measure::alternate(&mut rows, effort);
    let rows: Vec<_> = rows
        .iter()
        .map(|row| json!({ "key": row.key, "what": row.what, "unit": row.unit, "rounds": row.rounds() }))
        .collect();
    println!("{}", json!({ "rows": rows }));
}

fn rows(npm: &Path, python: &Path) -> Vec<Row> {
    let ours = Posting::to(Listening::start_telling(&mut own("ours-http")));
    let address = format!("http://{}/mcp", ours.server.address);
    let posting = |command: &mut Command| Posting::to(Listening::start(command));
    let floor = posting(own("floor-http").arg(ours.load.right()));
    let pipes = Calls::pipes;
    let http = |tool| Calls::connect(address.as_str(), Driven::ByTask, tool);
    vec![
        Row::new("stdio", "ours to ours, a child's pipes", pipes(Driven::ByTask, Tool::Add)),
        Row::new("stdio_thread", "the same, the connection on a thread of its own", pipes(Driven::ByThread, Tool::Add)),
        Row::new("rmcp_stdio", "rmcp 3.11, a child's pipes", Stdio::start(Pipes::Usual, "add")),
        Row::new("rmcp_pipes", "the same, not blocking, one thread each", Stdio::start(Pipes::Fast, "add")),
        Row::new("http", "ours, 64 connections, modern", ours),
        Row::new("axum_http", "a handler by hand on axum, the same bytes", floor),
        Row::new("rmcp_http", "rmcp 3.11 on axum, JSON, no session", posting(&mut own("rmcp-http"))),
        Row::new("ts2_http", "TypeScript 2.4 on Node", posting(&mut typescript(npm))),
        Row::new("python_http", "Python 2.3 on uvicorn", posting(&mut self::python(python))),
        Row::new("rows", "10 MB of rows over pipes into structs", pipes(Driven::ByTask, Tool::Rows)),
        Row::new("rows_unread", "the same, the rows left as text", pipes(Driven::ByTask, Tool::RowsUnread)),
        Row::new("rows_http", "10 MB of rows over HTTP into structs", http(Tool::Rows)),
        Row::new("rows_http_unread", "the same, the rows left as text", http(Tool::RowsUnread)),
        Row::new("text", "a text of 10 MB over pipes", pipes(Driven::ByTask, Tool::Text)),
        Row::new("text_http", "a text of 10 MB over HTTP", http(Tool::Text)),
        Row::new("rmcp_rows", "rmcp 3.11, 10 MB of rows over pipes into values", Stdio::start(Pipes::Fast, "rows")),
        Row::new("parse_rows", "serde_json alone, the rows into values", big::Parse(big::rows_message())),
        Row::new("parse_rows_typed", "serde_json alone, the rows into structs", big::ParseTyped(big::rows_message())),
        Row::new("parse_text", "serde_json alone, the text into a value", big::Parse(big::text_message())),
        Row::new("session", "an idle legacy session", Sessions::new()).of("bytes"),
    ]
}

fn typescript(npm: &Path) -> Command {
    let mut command = Command::new("node");
    command.arg(peers().join("server.mjs")).arg(npm);
    command
}

fn python(python: &Path) -> Command {
    let mut command = Command::new(python);
    command.arg(peers().join("server.py"));
    command
}

fn peers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers")
}

/// Calls over HTTP, and the server that answers them.
struct Posting {
    load: Load,
    server: Listening,
}

impl Posting {
    fn to(server: Listening) -> Self {
        Self { load: Load::on(server.address, CONNECTIONS), server }
    }
}

impl Subject for Posting {
    fn run(&mut self, time: Duration) -> f64 {
        self.load.run(time)
    }
}

/// What a session costs a server of ours while nobody uses it.
struct Sessions {
    server: Listening,
}

impl Sessions {
    /// A server that has had sessions before, so that what it needs once is there.
    fn new() -> Self {
        let server = Listening::start_telling(&mut own("ours-http"));
        load::open_sessions(server.address, SESSIONS);
        Self { server }
    }
}

impl Subject for Sessions {
    fn run(&mut self, _: Duration) -> f64 {
        let before = self.server.resident();
        load::open_sessions(self.server.address, SESSIONS);
        self.server.resident().saturating_sub(before) as f64 / SESSIONS as f64
    }
}
