//! The hot paths.

use std::hint::black_box;
use std::pin::pin;
use std::sync::Arc;

use futures::future::{Either, join, join3, select};
use sandwire_client::{Client, Driver, Options};
use sandwire_io::lines::Lines;
use sandwire_io::{Endpoint, Env, TextLink, Timer, memory, serve};
use sandwire_json::{Raw, Reader, check};
use sandwire_proto::{Limits, Time, http::sse};
use sandwire_server::{Schema, Server, tool};
use sandwire_types::model::{CallToolResult, Described as _, ListToolsResult};
use sandwire_types::wire::{Incoming, Memo, decode, encode};
use sandwire_types::ProtocolVersion;
use serde::Serialize;

use crate::pipe::duplex;

/// What is run, again and again.
pub type Runs = Box<dyn FnMut()>;

/// One path that is counted.
pub struct Path {
    pub name: &'static str,
    /// Makes what the path works on, and gives what is run.
    pub prepare: fn() -> Runs,
}

pub const PATHS: &[Path] = &[
    Path { name: "parse_100_tools", prepare: parse },
    Path { name: "check_100_tools", prepare: check_tools },
    Path { name: "read_100_tools", prepare: read_tools },
    Path { name: "decode_100_tools", prepare: decode_tools },
    Path { name: "decode_and_encode_call", prepare: decode_and_encode },
    Path { name: "decode_100_events", prepare: decode_events },
    Path { name: "call_in_memory", prepare: call_in_memory },
    Path { name: "call_over_memory_link", prepare: call_over_link },
    Path { name: "call_over_pipe", prepare: call_over_pipe },
];

fn parse() -> Runs {
    let text = list();
    Box::new(move || assert!(Raw::parse(black_box(&text)).is_ok()))
}

/// What a page's client does with a result.
fn check_tools() -> Runs {
    let text = list();
    Box::new(move || assert!(check(&ListToolsResult::TYPE, &mut Reader::new(black_box(&text))).is_ok()))
}

fn read_tools() -> Runs {
    let text = list();
    Box::new(move || {
        let list: ListToolsResult = sandwire_json::from_str(black_box(&text)).expect("a list");
        assert_eq!(list.tools.len(), 100);
    })
}

fn decode_tools() -> Runs {
    let text = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{}}}"#, list());
    Box::new(move || assert!(decode(black_box(&text), &mut Memo::new()).is_ok()))
}

/// A modern request: its `_meta` is the same every time, as on a connection.
fn decode_and_encode() -> Runs {
    let text = concat!(
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"_meta":{"#,
        r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
        r#""io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},"#,
        r#""io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}},"#,
        r#""name":"add","arguments":{"a":1,"b":2}}}"#
    );
    let mut memo = Memo::new();
    Box::new(move || match decode(black_box(text), &mut memo) {
        Ok(Incoming::One(message)) => assert!(encode(&message).len() > 200),
        other => panic!("{other:?}"),
    })
}

fn decode_events() -> Runs {
    let event = concat!(
        "event: message\nid: 7\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",",
        "\"params\":{\"progressToken\":1,\"progress\":0.5,\"message\":\"half of it\"}}\n\n"
    );
    let stream = event.repeat(100);
    Box::new(move || {
        let mut decoder = sse::Decoder::new(4096);
        let mut events = 0;
        for chunk in black_box(stream.as_bytes()).chunks(1000) {
            decoder.push(chunk);
            events += std::iter::from_fn(|| decoder.next()).filter(Result::is_ok).count();
        }
        assert_eq!(events, 100);
    })
}

#[derive(Serialize)]
struct Arguments {
    a: i64,
    b: i64,
}

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
    Server::builder("bench", "1.0.0").with(add::tool()).build().expect("the server is built")
}

async fn call(client: &Client) {
    let result: CallToolResult = client.call_tool("add", &Arguments { a: 1, b: 2 }).await.expect("an answer");
    assert_eq!(result.structured_content.as_ref().map(Raw::as_str), Some(r#"{"sum":3}"#));
}

/// One driver for both ends.
fn call_in_memory() -> Runs {
    let (client, driver) = Client::in_memory(&server());
    Box::new(move || {
        let _open: &Driver = &driver;
        futures::executor::block_on(call(&client));
    })
}

/// A driver for each end in one task; opened, called ten times and closed.
fn call_over_link() -> Runs {
    let env: Arc<dyn Env> = Arc::new(Still);
    let server = server();
    Box::new(move || {
        let (mine, theirs) = memory::pair();
        let (client, driver) = Client::connect(mine, env.clone(), Options::new("bench", "1.0.0"));
        let served = serve(Arc::new(server.clone()) as Arc<dyn Endpoint>, env.clone(), Box::new(theirs));
        let calls = async {
            for _ in 0..10 {
                call(&client).await;
            }
            client.close();
        };
        futures::executor::block_on(join3(calls, driver, served));
    })
}

/// A driver for each end in one task, with lines of JSON on a byte pipe between them.
fn call_over_pipe() -> Runs {
    const PIPE_BYTES: usize = 64 * 1024;
    let env: Arc<dyn Env> = Arc::new(Still);
    let [mine, theirs] = duplex(PIPE_BYTES)
        .map(|(reader, writer)| TextLink::new(Lines::new(reader, writer, PIPE_BYTES), Limits::default()));
    let options = Options::new("bench", "1.0.0").version(ProtocolVersion::V2026_07_28);
    let (client, driver) = Client::connect(mine, env.clone(), options);
    let served = serve(Arc::new(server()), env, Box::new(theirs));
    let mut drivers = Box::pin(join(driver, served));
    Box::new(move || match futures::executor::block_on(select(pin!(call(&client)), &mut drivers)) {
        Either::Left(_) => {}
        Either::Right(_) => panic!("the connection ended"),
    })
}

/// A clock that stands still.
struct Still;

impl Env for Still {
    fn now(&self) -> Time {
        Time(0)
    }

    fn timer(&self) -> Box<dyn Timer> {
        struct Never;
        impl Timer for Never {
            fn poll(&mut self, _: Time, _: &mut std::task::Context<'_>) -> std::task::Poll<()> {
                std::task::Poll::Pending
            }
        }
        Box::new(Never)
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        bytes.fill(4);
    }

    fn unix_time(&self) -> Option<u64> {
        None
    }
}

/// The text of a list of 100 tools, about 21 kB.
fn list() -> String {
    let tool = |index: i32| {
        format!(
            concat!(
                r#"{{"name":"tool_{0}","description":"Tool {0}: gives its text back.","#,
                r#""inputSchema":{{"type":"object","properties":{{"text":{{"type":"string","#,
                r#""description":"What to echo"}},"count":{{"type":"integer"}}}},"required":["text"]}}}}"#
            ),
            index
        )
    };
    let tools: Vec<String> = (0..100).map(tool).collect();
    format!(r#"{{"tools":[{}]}}"#, tools.join(","))
}
