//! Event streams as WHATWG defines them: an incremental decoder and an encoder.

use crate::decimal;
use std::{error::Error, fmt};

/// One event, or a block that only names an id or a time to wait.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs)]
pub struct Event {
    /// The `event` field; absent means `message`.
    pub name: Option<String>,
    /// The `data` lines joined by line feeds; absent if there was no `data` line, so nothing to dispatch.
    pub data: Option<String>,
    /// The `id` field of this block.
    pub id: Option<String>,
    /// The `retry` field of this block, in milliseconds.
    pub retry_ms: Option<u64>,
}

impl Event {
    /// Whether this is a `message` event with something in it.
    #[must_use]
    pub fn message(&self) -> Option<&str> {
        match (self.name.as_deref(), self.data.as_deref()) {
            (None | Some("message" | ""), Some(data)) if !data.is_empty() => Some(data),
            _ => None,
        }
    }
}

/// Why an event could not be decoded. The stream goes on with the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeError {
    /// The event is longer than the decoder's limit.
    TooLarge,
    /// The event is not UTF-8.
    NotUtf8,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLarge => "an event of the stream is over the size limit",
            Self::NotUtf8 => "an event of the stream is not UTF-8",
        })
    }
}

impl Error for DecodeError {}

/// Decodes an event stream from chunks cut anywhere. An event is there as soon as its last byte was pushed.
///
/// ```
/// use sandwire_proto::http::sse::Decoder;
///
/// let mut decoder = Decoder::new(1024);
/// decoder.push(b"id: 7\ndata: {\"a\"");
/// assert!(decoder.next().is_none());
/// decoder.push(b":1}\n\n");
/// let event = decoder.next().unwrap().unwrap();
/// assert_eq!(event.message(), Some("{\"a\":1}"));
/// assert_eq!(event.id.as_deref(), Some("7"));
/// ```
#[derive(Debug)]
pub struct Decoder {
    max_event_bytes: usize,
    lines: Lines,
    block: Block,
}

impl Decoder {
    /// A decoder at the start of a stream that keeps at most `max_event_bytes` of one event.
    #[must_use]
    pub fn new(max_event_bytes: usize) -> Self {
        Self { max_event_bytes, lines: Lines { first: true, ..Lines::default() }, block: Block::default() }
    }

    /// Takes the next bytes of the stream. What they complete is to be [taken](Self::next) before more is pushed.
    pub fn push(&mut self, bytes: &[u8]) {
        self.lines.push(bytes);
    }

    /// The next event, or the fault in its place, which is there as soon as it is certain.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<Result<Event, DecodeError>> {
        while let Some(line) = self.lines.next() {
            if line.is_empty() {
                if let Some(event) = std::mem::take(&mut self.block).end() {
                    return Some(event);
                }
            } else if !self.block.failed
                && let Err(error) = self.block.take_line(line, self.max_event_bytes)
            {
                self.block.failed = true;
                return Some(Err(error));
            }
        }
        let known = self.block.failed;
        self.block.failed |= self.block.size + self.lines.unended() > self.max_event_bytes;
        if self.block.failed {
            self.lines.forget();
        }
        (self.block.failed && !known).then_some(Err(DecodeError::TooLarge))
    }
}

/// Cuts a stream into lines.
#[derive(Debug, Default)]
struct Lines {
    buffer: Vec<u8>,
    /// Where the next line begins.
    start: usize,
    /// How far its end was looked for.
    seen: usize,
    /// Whether it is the first of the stream, which a mark may precede.
    first: bool,
    /// Whether a carriage return ended the line before it, so that a line feed here ends nothing.
    after_return: bool,
}

const BOM: &[u8] = b"\xef\xbb\xbf";

impl Lines {
    fn push(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.start);
        self.seen -= self.start;
        self.start = 0;
        self.buffer.extend_from_slice(bytes);
    }

    fn next(&mut self) -> Option<&[u8]> {
        if self.after_return && self.seen < self.buffer.len() {
            self.after_return = false;
            if self.buffer.get(self.seen) == Some(&b'\n') {
                self.start += 1;
                self.seen += 1;
            }
        }
        let unseen = self.buffer.get(self.seen..)?;
        let Some(at) = unseen.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
            self.seen = self.buffer.len();
            return None;
        };
        let (start, end) = (self.start, self.seen + at);
        self.after_return = self.buffer.get(end) == Some(&b'\r');
        self.start = end + 1;
        self.seen = self.start;
        let line = self.buffer.get(start..end)?;
        let first = std::mem::take(&mut self.first);
        Some(line.strip_prefix(BOM).filter(|_| first).unwrap_or(line))
    }

    /// How long the line is that has not ended.
    fn unended(&self) -> usize {
        let line = self.buffer.len() - self.start;
        if self.first { line.saturating_sub(BOM.len()) } else { line }
    }

    /// Forgets the line that has not ended, but for one byte: it is not blank.
    fn forget(&mut self) {
        self.buffer.truncate(self.start + 1);
        self.seen = self.buffer.len();
    }
}

/// The lines of one event.
#[derive(Debug, Default)]
struct Block {
    size: usize,
    /// Whether its fault was told; the rest of it is skipped.
    failed: bool,
    /// Whether there was a line that makes an event of it.
    touched: bool,
    data: Option<Vec<u8>>,
    event: Event,
}

impl Block {
    fn take_line(&mut self, line: &[u8], max_bytes: usize) -> Result<(), DecodeError> {
        if self.size + line.len() > max_bytes {
            return Err(DecodeError::TooLarge);
        }
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            None => (line, &b""[..]),
            // A comment.
            Some(0) => return Ok(()),
            Some(at) => {
                let (name, rest) = line.split_at(at);
                let value = rest.strip_prefix(b":").unwrap_or(rest);
                (name, value.strip_prefix(b" ").unwrap_or(value))
            }
        };
        self.size += line.len();
        match name {
            b"data" => {
                match &mut self.data {
                    Some(data) => data.push(b'\n'),
                    None => self.touched = true,
                }
                self.data.get_or_insert_default().extend_from_slice(value);
            }
            b"event" => self.event.name = Some(text(value.into())?),
            b"id" if !value.contains(&0) => {
                self.event.id = Some(text(value.into())?);
                self.touched = true;
            }
            b"retry" => {
                if let Some(milliseconds) = decimal::unsigned(value) {
                    self.event.retry_ms = Some(milliseconds);
                    self.touched = true;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn end(mut self) -> Option<Result<Event, DecodeError>> {
        if self.failed || !self.touched {
            return None;
        }
        self.event.data = match self.data.map(text).transpose() {
            Ok(data) => data,
            Err(error) => return Some(Err(error)),
        };
        Some(Ok(self.event))
    }
}

fn text(bytes: Vec<u8>) -> Result<String, DecodeError> {
    String::from_utf8(bytes).map_err(|_| DecodeError::NotUtf8)
}

/// The text of an event, ended by its blank line.
///
/// ```
/// use sandwire_proto::http::sse::{Event, encode};
///
/// let event = Event { data: Some("{}".into()), ..Default::default() };
/// assert_eq!(encode(&event), "data: {}\n\n");
/// ```
#[must_use]
pub fn encode(event: &Event) -> String {
    let mut text = String::with_capacity(event.data.as_ref().map_or(0, String::len) + 16);
    if let Some(name) = &event.name {
        field(&mut text, "event: ", name);
    }
    if let Some(id) = &event.id {
        field(&mut text, "id: ", id);
    }
    if let Some(milliseconds) = event.retry_ms {
        field(&mut text, "retry: ", &milliseconds.to_string());
    }
    if let Some(data) = &event.data {
        for line in data.split('\n') {
            field(&mut text, "data: ", line);
        }
    }
    text.push('\n');
    text
}

fn field(text: &mut String, name: &str, value: &str) {
    text.push_str(name);
    text.extend(value.chars().filter(|c| !matches!(c, '\n' | '\r')));
    text.push('\n');
}
