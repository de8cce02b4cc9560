//! Latency of a typed `tools/call`, ours beside the peer's, in one process on one thread.
//!
//! Prints a line of JSON with every row's rounds in nanoseconds a call. `cargo xtask bench` runs
//! this and puts the ratios beside it.

mod measure;
mod pipe;
mod rmcp_peer;

use std::time::Duration;

use measure::{Effort, Row};
use rmcp_peer::{Opening, Rmcp};
use serde_json::json;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |fallback| match arguments.next() {
        Some(text) => text
            .parse()
            .expect("usage: sandwire-bench [rounds [milliseconds]]"),
        None => fallback,
    };
    let effort = Effort {
        rounds: number(5) as usize,
        round: Duration::from_millis(number(500)),
    };
    let mut rows = vec![
        Row::new(
            "rmcp",
            "rmcp 3.11, duplex, initialize",
            Rmcp::connect(Opening::Legacy, 1),
        ),
        Row::new(
            "rmcp_modern",
            "rmcp 3.11, duplex, server/discover",
            Rmcp::connect(Opening::Modern, 1),
        ),
        Row::new(
            "rmcp_64",
            "rmcp 3.11, duplex, 64 calls in flight",
            Rmcp::connect(Opening::Legacy, 64),
        ),
    ];
    measure::alternate(&mut rows, &effort);
    let rows: Vec<_> = rows
        .iter()
        .map(|row| json!({ "key": row.key, "what": row.what, "rounds": row.rounds() }))
        .collect();
    println!("{}", json!({ "rows": rows }));
}
