//! The Inspector and our server, over standard streams and over HTTP. Other clients of others are in `tests/interop`.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use native_tests::tools;
use serde_json::{Value, json};

const LIMIT: Duration = Duration::from_secs(55);
const SERVER: &str = env!("CARGO_BIN_EXE_native-server");

/// Our server over HTTP, while this value lives.
struct Http {
    child: Child,
    address: String,
}

impl Http {
    fn start() -> Self {
        let child = Command::new(SERVER).arg("http").stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut child = child.unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        Self { child, address: address.trim().to_owned() }
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Gives what a program writes to its standard output; it has to end well, and in time.
fn output(mut command: Command) -> String {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
    let streams = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let stdout = thread::spawn(move || std::io::read_to_string(streams.0).unwrap());
    let stderr = thread::spawn(move || std::io::read_to_string(streams.1).unwrap());
    let end = Instant::now() + LIMIT;
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break Some(status),
            None if Instant::now() > end => {
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
            None => thread::sleep(Duration::from_millis(5)),
        }
    };
    let (stdout, stderr) = (stdout.join().unwrap(), stderr.join().unwrap());
    assert!(status.is_some_and(|status| status.success()), "{command:?}: {status:?}\n{stdout}\n{stderr}");
    stdout
}

/// What the Inspector's command line says of a method.
fn inspect(target: &[&str], method: &[&str]) -> Value {
    let package = tools::named("SANDWIRE_INSPECTOR").join("node_modules/@modelcontextprotocol/inspector");
    let mut command = Command::new(tools::named("SANDWIRE_NODE"));
    command.arg(package.join("clients/launcher/build/index.js")).arg("--cli").args(target);
    command.arg("--method").args(method);
    let said = output(command);
    serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"))
}

fn inspect_everything(target: &[&str]) {
    let tools = inspect(target, &["tools/list"]);
    let names: Vec<_> = tools["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert!(names.contains(&&json!("add")), "{names:?}");
    let sum = inspect(target, &["tools/call", "--tool-name", "add", "--tool-arg", "a=2", "--tool-arg", "b=40"]);
    assert_eq!(sum["structuredContent"], json!({ "sum": 42 }));
    let note = inspect(target, &["resources/read", "--uri", "note://today"]);
    assert_eq!(note["contents"][0]["text"], "Water the plants.");
    let prompt = inspect(target, &["prompts/get", "--prompt-name", "summary", "--prompt-args", "topic=trees"]);
    assert_eq!(prompt["messages"][0]["content"]["text"], "Summarise trees.");
}

#[test]
fn the_inspector_over_standard_streams() {
    inspect_everything(&[SERVER, "stdio"]);
}

#[test]
fn the_inspector_over_http() {
    let server = Http::start();
    inspect_everything(&[&server.address]);
}

#[test]
fn the_inspector_over_the_event_stream_of_2024() {
    let server = Http::start();
    inspect_everything(&[&server.address, "--transport", "sse"]);
}
