//! Whether what ours said is what the official schema of its version allows.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use wire_check::{Checker, Side};

use crate::row::Row;

/// How the messages of a row were found.
#[derive(Debug, Default)]
pub(crate) struct Judged {
    /// How many of ours there were.
    pub(crate) messages: usize,
    /// What was wrong with which.
    pub(crate) violations: Vec<String>,
}

impl Judged {
    /// Judges what ours kept of a row.
    pub(crate) fn of(row: &Row, record: &str) -> Self {
        let (own, peer) = match row.client.is_ours() {
            true => (Side::Client, Side::Server),
            false => (Side::Server, Side::Client),
        };
        let mut judged = Self::default();
        let mut conversations: HashMap<&str, Checker> = HashMap::new();
        for line in record.lines() {
            let mut words = line.splitn(3, ' ');
            let (Some(conversation), Some(direction), Some(text)) = (words.next(), words.next(), words.next()) else {
                continue;
            };
            let checker = match conversations.entry(conversation) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => match Checker::new() {
                    Some(checker) => new.insert(checker),
                    None => break,
                },
            };
            if direction == "Received" {
                checker.hear(peer, text);
                continue;
            }
            judged.messages += 1;
            judged.violations.extend(checker.watch(own, text).err().map(|violation| violation.to_string()));
        }
        judged
    }
}
