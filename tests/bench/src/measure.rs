//! Alternating rounds, and what is said about them.

use std::time::Duration;

/// Something that can make tool calls and tell how long they took.
pub trait Subject {
    /// Makes `calls` calls, each checked, and gives the time all of them took.
    fn run(&mut self, calls: u64) -> Duration;
}

/// One line of the table while it is being measured.
pub struct Row {
    pub key: &'static str,
    pub what: &'static str,
    subject: Box<dyn Subject>,
    rounds: Vec<f64>,
}

impl Row {
    pub fn new(key: &'static str, what: &'static str, subject: impl Subject + 'static) -> Self {
        Self { key, what, subject: Box::new(subject), rounds: Vec::new() }
    }

    /// Nanoseconds a call, one figure per round, in the order they ran.
    pub fn rounds(&self) -> &[f64] {
        &self.rounds
    }
}

/// How much is measured.
pub struct Effort {
    pub rounds: usize,
    pub round: Duration,
}

/// Runs every row once per round, so that a slow moment of the machine meets all of them.
pub fn alternate(rows: &mut [Row], effort: &Effort) {
    let counts: Vec<u64> = rows.iter_mut().map(|row| calls_for(row.subject.as_mut(), effort.round)).collect();
    for _ in 0..effort.rounds {
        for (row, &calls) in rows.iter_mut().zip(&counts) {
            let took = row.subject.run(calls);
            row.rounds.push(took.as_nanos() as f64 / calls as f64);
        }
    }
}

/// Warms the subject up and finds how many calls fill one round.
fn calls_for(subject: &mut dyn Subject, round: Duration) -> u64 {
    let mut calls = 256;
    loop {
        let took = subject.run(calls);
        if took * 4 >= round {
            let wanted = calls as f64 * round.as_secs_f64() / took.as_secs_f64();
            return (wanted as u64).max(64).next_multiple_of(64);
        }
        calls *= 2;
    }
}

/// The text content that every subject has to answer with.
pub fn expected_text(sum: i64) -> String {
    format!("{{\"sum\":{sum}}}")
}
