//! Latency of a typed `tools/call`, ours beside the peer's, in one process on one thread.
//!
//! Prints a line of JSON with every row's rounds in nanoseconds a call. `cargo xtask bench` runs
//! this and puts the ratios beside it.

mod clock;
mod measure;
mod ours;
mod pipe;
mod rmcp_peer;

use std::time::Duration;

use measure::{Effort, Row};
use ours::{Ours, Wiring};
use rmcp_peer::{Opening, Rmcp};
use sandwire_types::ProtocolVersion;
use serde_json::json;

const MODERN: ProtocolVersion = ProtocolVersion::V2026_07_28;
const LEGACY: ProtocolVersion = ProtocolVersion::V2025_11_25;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |fallback| match arguments.next() {
        Some(text) => text.parse().expect("usage: sandwire-bench [rounds [milliseconds]]"),
        None => fallback,
    };
    let effort = Effort { rounds: number(5) as usize, round: Duration::from_millis(number(500)) };
    let mut rows = rows();
    measure::alternate(&mut rows, &effort);
    let rows: Vec<_> =
        rows.iter().map(|row| json!({ "key": row.key, "what": row.what, "rounds": row.rounds() })).collect();
    println!("{}", json!({ "rows": rows }));
}

fn rows() -> Vec<Row> {
    let ours = |key, what, wiring, version, in_flight| Row::new(key, what, Ours::connect(wiring, version, in_flight));
    let rmcp = |key, what, opening, in_flight| Row::new(key, what, Rmcp::connect(opening, in_flight));
    vec![
        rmcp("rmcp", "rmcp 3.11, duplex, initialize", Opening::Legacy, 1),
        ours("memory", "ours, Client::in_memory", Wiring::InMemory, MODERN, 1),
        ours("memory_timed", "ours, Client::in_memory_with a clock", Wiring::InMemoryTimed, MODERN, 1),
        ours("memory_legacy", "the same, 2025-11-25", Wiring::InMemoryTimed, LEGACY, 1),
        ours("joined", "ours, two drivers in one task", Wiring::Joined, MODERN, 1),
        ours("joined_legacy", "the same, 2025-11-25", Wiring::Joined, LEGACY, 1),
        ours("pipe", "ours, JSON text on a byte pipe", Wiring::Pipe, MODERN, 1),
        ours("pipe_legacy", "the same, 2025-11-25", Wiring::Pipe, LEGACY, 1),
        rmcp("rmcp_modern", "rmcp 3.11, duplex, server/discover", Opening::Modern, 1),
        rmcp("rmcp_64", "rmcp 3.11, duplex, 64 calls in flight", Opening::Legacy, 64),
        ours("memory_64", "ours, Client::in_memory, 64 calls in flight", Wiring::InMemory, MODERN, 64),
        ours("joined_64", "ours, two drivers, 64 calls in flight", Wiring::Joined, MODERN, 64),
        ours("pipe_64", "ours, byte pipe, 64 calls in flight", Wiring::Pipe, MODERN, 64),
    ]
}
