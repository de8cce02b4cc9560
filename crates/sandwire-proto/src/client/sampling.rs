//! The rules of messages that use tools, in what a server has a model sampled with.

use sandwire_json::{Error as JsonError, ErrorKind, Kind, Reader, find};

/// Whether each use of a tool is answered by a result in the very next message, which then holds nothing else.
pub(super) fn answers_tools(messages: &str) -> bool {
    let mut open = Vec::new();
    let read = Reader::new(messages).array(&mut |reader| {
        let message = reader.raw()?;
        let mut turn = Turn { open: &mut open, uses: Vec::new(), results: false, others: false };
        if let Some(content) = find(message, "content") {
            turn.read(&mut Reader::new(content))?;
        }
        let Turn { uses, results, others, .. } = turn;
        if !open.is_empty() || results && (others || !uses.is_empty()) {
            return Err(reader.error(ErrorKind::Custom, "tool use without its result"));
        }
        open = uses;
        Ok(())
    });
    read.is_ok() && open.is_empty()
}

/// One message.
struct Turn<'a, 'b> {
    /// The uses of the message before that it has not answered.
    open: &'b mut Vec<&'a str>,
    uses: Vec<&'a str>,
    results: bool,
    others: bool,
}

impl<'a> Turn<'a, '_> {
    /// Reads a block of content, or a list of them.
    fn read(&mut self, reader: &mut Reader<'a>) -> Result<(), JsonError> {
        if reader.peek()? == Kind::Array {
            return reader.array(&mut |reader| self.read(reader));
        }
        let block = reader.raw()?;
        match find(block, "type") {
            Some("\"tool_use\"") => self.uses.extend(find(block, "id")),
            Some("\"tool_result\"") => {
                let used = find(block, "toolUseId").and_then(|id| self.open.iter().position(|open| *open == id));
                let Some(used) = used else { return Err(reader.error(ErrorKind::Custom, "tool result without a use")) };
                self.open.swap_remove(used);
                self.results = true;
            }
            _ => self.others = true,
        }
        Ok(())
    }
}
