//! B107: what a long answer costs. A process of its own, since it looks at all of its memory.
#![allow(missing_docs, unreachable_pub, missing_debug_implementations, dead_code, unused_imports)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

mod stage;

use sandwire_client::{Limits, Options};
use stage::{HttpCaller, MODERN, result};
use std::time::{Duration, Instant};

const CHUNK: usize = 64 * 1024;
const MIB: usize = 1024 * 1024;

/// Answers a call with one event of so many bytes; how long the client took.
fn answer(bytes: usize) -> Duration {
    let limits = Limits { max_message_bytes: 64 * MIB, ..Limits::default() };
    let mut client = HttpCaller::open_with(MODERN, Options::new("c", "1").limits(limits));
    let call = client.start(client.client.call_tool("t", &()));
    let asked = client.next();
    let text = "x".repeat(bytes);
    let message =
        result(asked.id(), &format!(r#"{{"content":[{{"type":"text","text":"{text}"}}],"resultType":"complete"}}"#));
    drop(text);
    let event = format!("data: {message}\n\n");
    drop(message);
    asked.stream();
    let begun = Instant::now();
    for chunk in event.as_bytes().chunks(CHUNK) {
        asked.chunk(chunk);
        client.run();
    }
    let took = begun.elapsed();
    assert_eq!(call.get().unwrap().content[0].as_text().map(str::len), Some(bytes));
    took
}

/// The most memory that this process ever held, in bytes, where the system says so.
fn peak() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(kilobytes.trim().trim_end_matches(" kB").parse::<usize>().ok()? * 1024)
}

#[test]
fn b107_a_long_answer_takes_memory_and_time_in_proportion() {
    let small = answer(6 * MIB);
    let before = peak();
    let large = answer(48 * MIB);
    // Eight times as long may take eight times as long: one that is copied with each chunk would take sixty-four.
    assert!(large < small.max(Duration::from_millis(5)) * 30, "{small:?} and {large:?}");
    if let (Some(before), Some(after)) = (before, peak()) {
        // The test itself holds the text, the message and the event.
        let took = (after - before).div_ceil(48 * MIB);
        assert!(took <= 3 + 3, "{took} times the answer");
    }
}
