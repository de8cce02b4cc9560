//! The rules of messages that use tools, in what a server has a model sampled with.

use sandwire_json::{Error as JsonError, Kind, Reader, find};

const UNANSWERED: &str = "each tool use must be answered by a tool result in the very next message";
const MIXED: &str = "a message with tool results must hold nothing else";

/// What one message holds of tools: the ids of uses and of the results that answer them, and whether there is more.
#[derive(Default)]
struct Turn<'a> {
    uses: Vec<&'a str>,
    results: Vec<&'a str>,
    others: bool,
}

/// Whether these messages keep to the rules, or what to answer.
pub(super) fn check(messages: &str) -> Result<(), &'static str> {
    let mut turns = Vec::new();
    let read = Reader::new(messages).array(&mut |reader| {
        let message = reader.raw()?;
        turns.push(find(message, "content").map_or_else(|| Ok(Turn::default()), Turn::read)?);
        Ok(())
    });
    if read.is_err() {
        return Err("the messages cannot be read");
    }
    let mut open: &[&str] = &[];
    for turn in &turns {
        if !turn.results.is_empty() && (turn.others || !turn.uses.is_empty()) {
            return Err(MIXED);
        }
        if turn.results.len() != open.len() || !open.iter().all(|id| turn.results.contains(id)) {
            return Err(UNANSWERED);
        }
        open = &turn.uses;
    }
    if open.is_empty() { Ok(()) } else { Err(UNANSWERED) }
}

impl<'a> Turn<'a> {
    fn read(content: &'a str) -> Result<Self, JsonError> {
        let mut turn = Self::default();
        let mut reader = Reader::new(content);
        if reader.peek()? == Kind::Array {
            reader.array(&mut |reader| {
                turn.add(reader.raw()?);
                Ok(())
            })?;
        } else {
            turn.add(content);
        }
        Ok(turn)
    }

    fn add(&mut self, block: &'a str) {
        let id = |key| find(block, key).unwrap_or_default();
        match find(block, "type") {
            Some("\"tool_use\"") => self.uses.push(id("id")),
            Some("\"tool_result\"") => self.results.push(id("toolUseId")),
            _ => self.others = true,
        }
    }
}
