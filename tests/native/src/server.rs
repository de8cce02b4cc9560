//! A server with something of everything, for clients of others.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_io::Timer;
use futures::future::{Either, select};
use sandwire_server::types::model::{
    CreateMessageRequestParams, Role, SamplingMessage, SamplingMessageContentBlock, TextContent,
};
use sandwire_server::{Context, Form, ResourceHandler, Schema, Server, ToolError};
use serde::{Deserialize, Serialize};

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

/// How long to take.
#[derive(Deserialize, Schema)]
struct Steps {
    steps: u32,
    /// Milliseconds.
    pause: u64,
}

/// Who somebody is.
#[derive(Deserialize, Schema)]
struct Person {
    name: String,
}

/// The server.
///
/// # Panics
///
/// Never.
#[must_use]
pub fn server() -> Server {
    let given_up = Arc::new(AtomicU32::new(0));
    let seen = Arc::clone(&given_up);
    Server::builder("native-server", "1.0.0")
        .instructions("A server for tests.")
        .tool("echo", "Returns the message.", |Message { message }| message)
        .tool("add", "Adds two integers.", |Pair { a, b }| Sum { sum: a + b })
        .tool("slow", "Reports progress step by step.", move |steps: Steps, context: Context| {
            slow(steps, context, Arc::clone(&given_up))
        })
        .tool("given_up", "How many slow calls were given up.", move || seen.load(Ordering::SeqCst))
        .tool("panics", "Panics.", || -> String { panic!("as it was asked to") })
        .tool("hello", "Asks who is there.", async |context: &Context| {
            let person = context.elicit("who", Form::<Person>::new("Who are you?")).await?.accepted();
            let name = person.map_or_else(|| "stranger".to_owned(), |person| person.name);
            Ok::<_, ToolError>(format!("Hello, {name}."))
        })
        .tool("ask_model", "Asks the client's model.", async |context: &Context| {
            let question =
                SamplingMessage::new(Role::User, SamplingMessageContentBlock::Text(TextContent::new("What grows?")));
            let answer = context.sample("model", CreateMessageRequestParams::new(vec![question], 100)).await?;
            Ok::<_, ToolError>(format!("The model {} answered.", answer.model))
        })
        .resource("note://today", "Today's note.", || "Water the plants.")
        .with(ResourceHandler::new("day://{name}", "A day.", |day: Day| format!("It is {}.", day.name)).completing(
            "name",
            |given: sandwire_server::Completing| {
                let days = ["monday", "tuesday"].into_iter();
                days.filter(|day| day.starts_with(&given.value)).map(str::to_owned).collect::<Vec<_>>()
            },
        ))
        .prompt("summary", "Summarises.", |topic: Topic| format!("Summarise {}.", topic.topic))
        .build()
        .expect("every part is described")
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

async fn slow(Steps { steps, pause }: Steps, context: Context, given_up: Arc<AtomicU32>) -> String {
    let cancelled = context.cancelled();
    let mut cancelled = std::pin::pin!(cancelled);
    let counted = Counted(given_up, false);
    let mut counted = counted;
    for step in 1..=steps {
        context.progress(f64::from(step), f64::from(steps), format!("step {step}").as_str());
        if let Either::Right(_) = select(Timer::after(Duration::from_millis(pause)), &mut cancelled).await {
            return "given up".to_owned();
        }
    }
    counted.1 = true;
    format!("{steps} steps done")
}

/// Counts a call that did not finish, be it told or dropped.
struct Counted(Arc<AtomicU32>, bool);

impl Drop for Counted {
    fn drop(&mut self) {
        if !self.1 {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
}
