//! Alternating rounds, and what is said about them.

use std::time::{Duration, Instant};

/// Something that can be measured for a while.
pub trait Subject {
    /// Works for about `time`, checks every answer, and gives nanoseconds a call.
    fn run(&mut self, time: Duration) -> f64;
}

/// One line of the table while it is being measured.
pub struct Row {
    pub key: &'static str,
    pub what: &'static str,
    pub unit: &'static str,
    subject: Box<dyn Subject>,
    rounds: Vec<f64>,
}

impl Row {
    pub fn new(key: &'static str, what: &'static str, subject: impl Subject + 'static) -> Self {
        Self { key, what, unit: "ns", subject: Box::new(subject), rounds: Vec::new() }
    }

    /// The same, of something that is not a time.
    pub fn of(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    /// One figure a round, in the order they ran.
    pub fn rounds(&self) -> &[f64] {
        &self.rounds
    }
}

/// How much is measured.
#[derive(Clone, Copy)]
pub struct Effort {
    pub rounds: usize,
    pub round: Duration,
}

/// Runs every row once per round, so that a slow moment of the machine meets all of them. A round that is not counted
/// goes first, to warm up.
pub fn alternate(rows: &mut [Row], effort: Effort) {
    for row in rows.iter_mut() {
        row.subject.run(effort.round / 2);
    }
    for _ in 0..effort.rounds {
        for row in rows.iter_mut() {
            let figure = row.subject.run(effort.round);
            row.rounds.push(figure);
        }
    }
}

/// Repeats `work` until `time` is over, and gives nanoseconds for one.
pub fn repeat(time: Duration, mut work: impl FnMut()) -> f64 {
    let begin = Instant::now();
    let mut done = 0_u32;
    loop {
        work();
        done += 1;
        let took = begin.elapsed();
        if took >= time {
            return took.as_nanos() as f64 / f64::from(done);
        }
    }
}

/// The text content that every subject has to answer with.
pub fn expected_text(sum: i64) -> String {
    format!("{{\"sum\":{sum}}}")
}
