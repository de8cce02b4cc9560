//! A server with a tool, a resource and a prompt, for clients of others.

use sandwire_server::{Schema, Server};
use serde::{Deserialize, Serialize};

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

/// What to summarise.
#[derive(Deserialize, Schema)]
struct Topic {
    topic: String,
}

/// The server.
///
/// # Panics
///
/// Never.
#[must_use]
pub fn server() -> Server {
    Server::builder("native-server", "1.0.0")
        .tool("add", "Adds two integers.", |Pair { a, b }| Sum { sum: a + b })
        .resource("note://today", "Today's note.", || "Water the plants.")
        .prompt("summary", "Summarises.", |topic: Topic| format!("Summarise {}.", topic.topic))
        .build()
        .expect("every part is described")
}
