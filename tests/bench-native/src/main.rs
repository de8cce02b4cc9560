//! Sandwire between processes, ours beside the peers: over pipes and over HTTP, small calls and large results.
//!
//! `cargo xtask bench native` runs it and puts the ratios beside the figures. As a child of itself it is a server, in the
//! role that its argument names.

mod big;
mod child;
mod floor;
mod load;
mod measure;
mod rmcp_peer;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use child::{Listening, own};
use load::Load;
use measure::{Effort, Row, Subject};
use rmcp_peer::Pipes;
use serde_json::json;

const CONNECTIONS: usize = 64;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let role = arguments.first().map_or("", String::as_str);
    match role {
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
    let mut floor = own("floor-http");
    floor.arg(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"sum\":5}"}],"structuredContent":{"sum":5}}}"#);
    vec![
        Row::new("rmcp_stdio", "rmcp 3.11, a child's pipes", rmcp_peer::Stdio::start(Pipes::Usual, "add")),
        Row::new("rmcp_pipes", "the same, its pipes that do not block, one thread each", rmcp_peer::Stdio::start(Pipes::Fast, "add")),
        Row::new("axum_http", "a handler by hand on axum, the same bytes", Posting::to(&mut floor)),
        Row::new("rmcp_http", "rmcp 3.11 on axum", Posting::to(&mut own("rmcp-http"))),
        Row::new("ts2_http", "TypeScript 2.4 on Node", Posting::to(&mut typescript(npm))),
        Row::new("python_http", "Python 2.3 on uvicorn", Posting::to(&mut self::python(python))),
        Row::new("parse_rows", "serde_json, 10 MB of rows into values", big::Parse(big::rows_message())),
        Row::new("parse_rows_typed", "serde_json, 10 MB of rows into structs", big::ParseTyped(big::rows_message())),
        Row::new("parse_text", "serde_json, a text of 10 MB into a value", big::Parse(big::text_message())),
        Row::new("rmcp_rows", "rmcp 3.11, 10 MB of rows over pipes", rmcp_peer::Stdio::start(Pipes::Fast, "rows")),
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
    _server: Listening,
}

impl Posting {
    fn to(command: &mut Command) -> Self {
        let server = Listening::start(command);
        Self { load: Load::open(server.address, CONNECTIONS), _server: server }
    }
}

impl Subject for Posting {
    fn run(&mut self, time: Duration) -> f64 {
        self.load.run(time)
    }
}
