//! Our server: `interop-server stdio <record>`; with `http` or `sse`, as the transport of 2024 is called here, it prints its
//! address.
#![allow(clippy::expect_used, clippy::panic)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_io::Timer;
use futures::future::{Either, select};
use interop_record::{Record, Recorded};
use sandwire::io::{Link, TextLink, serve};
use sandwire::server::http::{Guard, HttpEntry, Sessions};
use sandwire::server::{Completing, Elicited, Form, ResourceHandler, ToolError};
use sandwire::types::model::{
    CreateMessageRequestParams, OneOrMany, Role, SamplingMessage, SamplingMessageContentBlock, TextContent,
};
use sandwire::{Context, NativeEnv, Schema, Server, block_on, http, stdio::Stdio};
use serde::{Deserialize, Serialize};

const NOTE: &str = "note://today";

/// A text.
#[derive(Deserialize, Schema)]
struct Message {
    message: String,
}

/// Two numbers.
#[derive(Deserialize, Schema)]
struct Pair {
    a: i64,
    b: i64,
}

/// Their sum.
#[derive(Serialize, Schema)]
struct Sum {
    sum: i64,
}

/// How far to count.
#[derive(Deserialize, Schema)]
struct Steps {
    steps: u32,
}

/// What to ask.
#[derive(Deserialize, Schema)]
struct Question {
    question: String,
}

/// Who somebody is.
#[derive(Deserialize, Schema)]
struct Person {
    name: String,
}

/// A day's name.
#[derive(Deserialize, Schema)]
struct Day {
    name: String,
}

/// What to summarise.
#[derive(Deserialize, Schema)]
struct Topic {
    topic: String,
}

fn server() -> Server {
    let given_up = Arc::new(AtomicU32::new(0));
    let seen = Arc::clone(&given_up);
    Server::builder("interop", "1.0.0")
        .instructions("A server for tests.")
        .tool("echo", "Returns the message.", |Message { message }| message)
        .tool("add", "Adds two integers.", |Pair { a, b }| Sum { sum: a + b })
        .tool("fail", "Fails.", || Err::<String, _>(ToolError::new("as it was asked to")))
        .tool("count", "Counts, and reports each step.", count)
        .tool("wait", "Reports one step, and waits until it is given up.", move |context: Context| {
            wait(context, Counted(Arc::clone(&given_up)))
        })
        .tool("waited", "How many waits were given up.", move || seen.load(Ordering::SeqCst))
        .tool("greet", "Asks who is there.", greet)
        .tool("ask_model", "Asks the client's model.", ask_model)
        .tool("touch", "Changes today's note.", |context: &Context| {
            context.server().resources().updated(NOTE);
            "touched".to_owned()
        })
        .resource(NOTE, "Today's note.", || "Water the plants.")
        .with(ResourceHandler::new("day://{name}", "A day.", |day: Day| format!("It is {}.", day.name)).completing(
            "name",
            |typed: Completing| {
                let days = ["monday", "tuesday"].into_iter();
                days.filter(|day| day.starts_with(&typed.value)).collect::<Vec<_>>()
            },
        ))
        .prompt("summary", "Summarises.", |topic: Topic| format!("Summarise {}.", topic.topic))
        .build()
        .expect("every part is described")
}

async fn count(Steps { steps }: Steps, context: Context) -> String {
    for step in 1..=steps {
        context.progress(f64::from(step), f64::from(steps), format!("step {step}").as_str());
        Timer::after(Duration::from_millis(30)).await;
    }
    format!("counted to {steps}")
}

async fn wait(context: Context, counted: Counted) -> &'static str {
    context.progress(1.0, None, "waiting");
    context.cancelled().await;
    drop(counted);
    "given up"
}

/// Counts a wait that ends, be it told or dropped.
struct Counted(Arc<AtomicU32>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

async fn greet(Question { question }: Question, context: Context) -> Result<String, ToolError> {
    Ok(match context.elicit("who", Form::<Person>::new(question)).await? {
        Elicited::Accepted(person) => format!("Hello, {}.", person.name),
        Elicited::Declined => "Hello, stranger.".to_owned(),
        Elicited::Cancelled => "Hello?".to_owned(),
    })
}

async fn ask_model(context: Context) -> Result<String, ToolError> {
    let question = SamplingMessageContentBlock::Text(TextContent::new("What grows?"));
    let question = SamplingMessage::new(Role::User, question);
    let answer = context.sample("model", CreateMessageRequestParams::new(vec![question], 100)).await?;
    let said = match answer.content {
        OneOrMany::One(SamplingMessageContentBlock::Text(said)) => said.text.to_string(),
        other => format!("{other:?}"),
    };
    Ok(format!("The model {} says: {said}", answer.model))
}

fn main() {
    let (how, record) = (std::env::args().nth(1), std::env::args().nth(2));
    let record = Record::at(record.expect("where to keep the record"));
    let endpoint = Arc::new(server());
    match how.as_deref() {
        Some("stdio") => {
            let limits = endpoint.config().limits.clone();
            let port = Stdio::take(limits.max_message_bytes).expect("the standard streams");
            let mut link = TextLink::new(port, limits);
            link.observe(Arc::new(record.observer()));
            block_on(serve(endpoint, NativeEnv::shared(), Box::new(link)));
        }
        Some(transport @ ("http" | "sse")) => {
            let sessions = Sessions { sse: transport == "sse", ..Sessions::default() };
            let one = sessions.sse;
            let (entry, sessions) = HttpEntry::with_sessions(endpoint, NativeEnv::shared(), Guard::default(), sessions);
            let listening = http::Server::local(0).expect("a free port");
            println!("http://{}/mcp", listening.local_addr().expect("its address"));
            let serving = std::pin::pin!(listening.serve(Recorded::new(entry, record, one)));
            match block_on(select(serving, sessions)) {
                Either::Left((ended, _)) => ended.expect("the server serves"),
                Either::Right(_) => panic!("the sessions ended"),
            }
        }
        _ => panic!("usage: interop-server stdio | http | sse, and where to keep the record"),
    }
}
