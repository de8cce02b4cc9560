//! Latency of a typed `tools/call`, ours beside the peer's, in one process on one thread.

mod measure;
mod rmcp_peer;

use std::time::Duration;

use measure::{Effort, Row};
use rmcp_peer::{Opening, Rmcp};

fn main() {
    let mut rows = vec![
        Row::new("rmcp", "rmcp 3.11 over its duplex, one call at a time", Rmcp::connect(Opening::Legacy, 1)),
        Row::new("rmcp_modern", "the same, opened with server/discover", Rmcp::connect(Opening::Modern, 1)),
        Row::new("rmcp_64", "rmcp, 64 calls in flight", Rmcp::connect(Opening::Legacy, 64)),
    ];
    measure::alternate(&mut rows, &Effort { rounds: 5, round: Duration::from_millis(300) });
    for row in &rows {
        println!("{:24} {:8.0} ns {:?}", row.key, row.median(), row.rounds());
    }
}
