//! Our client and a server of others over HTTP with sessions, and over the event stream of 2024-11-05.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use futures::FutureExt;
use native_tests::connection::{call, options, tool_names};
use native_tests::{tools, within};
use sandwire::block_on;
use sandwire_client::{Client, Options};
use sandwire_types::Era;
use sandwire_types::model::{CreateMessageResult, ElicitResult, Role, SamplingMessageContentBlock, TextContent};
use serde_json::json;

const LIMIT: Duration = Duration::from_secs(60);
const PATIENCE: Duration = Duration::from_secs(20);

/// The reference server over HTTP, while this value lives.
struct Everything {
    child: Child,
    port: u16,
    /// What it prints.
    lines: Receiver<String>,
}

impl Everything {
    fn start(transport: &str) -> Self {
        let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
        let script = tools::npm().join("@modelcontextprotocol/server-everything/dist/index.js");
        let mut command = Command::new("node");
        command.arg(script).arg(transport).env("PORT", port.to_string());
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.unwrap();
        let (told, lines) = mpsc::channel();
        tell(child.stdout.take().unwrap(), told.clone());
        tell(child.stderr.take().unwrap(), told);
        let server = Self { child, port, lines };
        server.says(&format!("on port {port}"));
        server
    }

    fn address(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Waits until it has printed a line with `text` in it.
    fn says(&self, text: &str) {
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) if line.contains(text) => break,
                Ok(_) => {}
                Err(error) => panic!("the server did not say {text:?}: {error}"),
            }
        }
    }
}

impl Drop for Everything {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn tell(stream: impl Read + Send + 'static, told: Sender<String>) {
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let _ = told.send(line);
        }
    });
}

/// Answers what the server asks, and tells of its notifications.
fn answering() -> (Options, Receiver<String>) {
    let (told, notifications) = mpsc::channel();
    let options = options()
        .on_notification(move |notification| _ = told.send(notification.method.to_string()))
        .on_sampling(async |_| {
            let content = SamplingMessageContentBlock::Text(TextContent::new("Trees."));
            Ok(CreateMessageResult::new(Role::Assistant, content, "oak"))
        })
        .on_elicitation(async |_| {
            let answer = json!({ "action": "accept", "content": { "name": "Ada" } });
            Ok(serde_json::from_value::<ElicitResult>(answer).expect("an answer"))
        });
    (options, notifications)
}

async fn converse(client: &Client, notifications: &Receiver<String>) {
    let server = client.ready().await.expect("the connection opens");
    assert_eq!(server.era(), Era::Legacy);
    let names = tool_names(client).await;
    assert!(names.iter().any(|name| name == "get-sum"), "{names:?}");
    let sum = call(client, "get-sum", json!({ "a": 2, "b": 40 })).await;
    assert!(sum.contains("42"), "{sum}");

    let (told, steps) = mpsc::channel();
    let long = json!({ "duration": 1, "steps": 4 });
    let response = client.call_tool("trigger-long-running-operation", &long);
    response.on_progress(move |step| _ = told.send(step.progress)).await.expect("the call succeeds");
    assert_eq!(steps.iter().count(), 4);

    let long = json!({ "duration": 60, "steps": 6 });
    let mut given_up = client.call_tool("trigger-long-running-operation", &long).into_future();
    assert!((&mut given_up).now_or_never().is_none());
    drop(given_up);

    let text = call(client, "trigger-sampling-request", json!({ "prompt": "What grows?", "maxTokens": 10 })).await;
    assert!(text.contains("oak") && text.contains("Trees."), "{text}");
    let text = call(client, "trigger-elicitation-request", json!({})).await;
    assert!(text.contains("User provided"), "{text}");

    // What belongs to no call comes on a stream of its own.
    call(client, "toggle-simulated-logging", json!({})).await;
    loop {
        match notifications.recv_timeout(PATIENCE) {
            Ok(method) if method == "notifications/message" => break,
            Ok(_) => {}
            Err(error) => panic!("no log message: {error}"),
        }
    }
    call(client, "toggle-simulated-logging", json!({})).await;
    let echo = call(client, "echo", json!({ "message": "grüße" })).await;
    assert!(echo.contains("grüße"), "{echo}");
}

#[test]
fn everything_over_http_in_a_session_that_is_ended() {
    within(LIMIT, || {
        let server = Everything::start("streamableHttp");
        let (options, notifications) = answering();
        let connect = sandwire::connect(server.address("/mcp")).options(options);
        let (client, driver) = connect.split().unwrap();
        let driving = thread::spawn(|| block_on(driver));
        block_on(converse(&client, &notifications));
        server.says("Establishing new SSE stream");
        client.close();
        driving.join().unwrap();
        server.says("Received session termination request");
    });
}

#[test]
fn everything_over_the_event_stream_of_2024() {
    within(LIMIT, || {
        let server = Everything::start("sse");
        let (options, notifications) = answering();
        let connect = sandwire::connect(server.address("/sse")).options(options);
        let (client, driver) = connect.split().unwrap();
        let driving = thread::spawn(|| block_on(driver));
        block_on(converse(&client, &notifications));
        client.close();
        driving.join().unwrap();
        server.says("Client Disconnected");
    });
}
