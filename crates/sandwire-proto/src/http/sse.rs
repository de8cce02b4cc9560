//! Event streams as WHATWG defines them: an incremental decoder and an encoder.

use crate::decimal;
use std::{collections::VecDeque, error::Error, fmt};

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
    line: Vec<u8>,
    after_return: bool,
    first_line: bool,
    size: usize,
    /// Whether the fault of this event was told; the rest of it is skipped.
    failed: bool,
    touched: bool,
    data: Vec<u8>,
    has_data: bool,
    event: Event,
    ready: VecDeque<Result<Event, DecodeError>>,
}

const BOM: &[u8] = b"\xef\xbb\xbf";

impl Decoder {
    /// A decoder at the start of a stream that keeps at most `max_event_bytes` of one event.
    #[must_use]
    pub fn new(max_event_bytes: usize) -> Self {
        Self {
            max_event_bytes,
            line: Vec::new(),
            after_return: false,
            first_line: true,
            size: 0,
            failed: false,
            touched: false,
            data: Vec::new(),
            has_data: false,
            event: Event::default(),
            ready: VecDeque::new(),
        }
    }

    /// Takes the next bytes of the stream.
    pub fn push(&mut self, mut bytes: &[u8]) {
        if self.after_return && !bytes.is_empty() {
            self.after_return = false;
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(at) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (head, tail) = bytes.split_at(at);
            if self.line.is_empty() {
                self.take_line(head);
            } else {
                self.hold(head);
                let line = std::mem::take(&mut self.line);
                self.take_line(&line);
            }
            let Some((end, rest)) = tail.split_first() else {
                return;
            };
            bytes = rest;
            if *end == b'\r' {
                match bytes.strip_prefix(b"\n") {
                    Some(rest) => bytes = rest,
                    None => self.after_return = bytes.is_empty(),
                }
            }
        }
        self.hold(bytes);
    }

    /// The next event, or the fault in its place, which is there as soon as it is certain.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<Result<Event, DecodeError>> {
        self.ready.pop_front()
    }

    fn hold(&mut self, bytes: &[u8]) {
        if self.failed {
            // The rest of this event is skipped; one byte is enough to know that the line is not blank.
            if self.line.is_empty() {
                self.line.extend(bytes.first());
            }
        } else if self.size + self.line.len() + bytes.len() > self.max_event_bytes + self.mark() {
            self.fail(DecodeError::TooLarge);
            self.line.clear();
            self.line.push(b':');
        } else {
            self.line.extend_from_slice(bytes);
        }
    }

    /// The bytes that may stand before the first line and do not count.
    fn mark(&self) -> usize {
        if self.first_line { BOM.len() } else { 0 }
    }

    fn fail(&mut self, error: DecodeError) {
        self.failed = true;
        self.ready.push_back(Err(error));
        self.data = Vec::new();
        self.event = Event::default();
    }

    fn take_line(&mut self, mut line: &[u8]) {
        if std::mem::take(&mut self.first_line) {
            line = line.strip_prefix(BOM).unwrap_or(line);
        }
        if line.is_empty() {
            return self.dispatch();
        }
        if self.failed {
            return;
        }
        self.size += line.len();
        if self.size > self.max_event_bytes {
            return self.fail(DecodeError::TooLarge);
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (name, value) = match colon {
            None => (line, &b""[..]),
            Some(at) => {
                let (name, rest) = line.split_at(at);
                let value = rest.strip_prefix(b":").unwrap_or(rest);
                (name, value.strip_prefix(b" ").unwrap_or(value))
            }
        };
        match name {
            b"" => self.size = self.size.saturating_sub(line.len()),
            b"data" => {
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.has_data = true;
                self.touched = true;
                self.data.extend_from_slice(value);
            }
            b"event" => match std::str::from_utf8(value) {
                Ok(text) => self.event.name = Some(text.into()),
                Err(_) => self.fail(DecodeError::NotUtf8),
            },
            b"id" if !value.contains(&0) => match std::str::from_utf8(value) {
                Ok(text) => {
                    self.event.id = Some(text.into());
                    self.touched = true;
                }
                Err(_) => self.fail(DecodeError::NotUtf8),
            },
            b"retry" => {
                if let Some(milliseconds) = std::str::from_utf8(value).ok().and_then(decimal::unsigned) {
                    self.event.retry_ms = Some(milliseconds);
                    self.touched = true;
                }
            }
            _ => {}
        }
    }

    fn dispatch(&mut self) {
        self.size = 0;
        let data = std::mem::take(&mut self.data);
        let mut event = std::mem::take(&mut self.event);
        let has_data = std::mem::take(&mut self.has_data);
        let touched = std::mem::take(&mut self.touched);
        let failed = std::mem::take(&mut self.failed);
        if touched && !failed {
            if has_data {
                match String::from_utf8(data) {
                    Ok(text) => event.data = Some(text),
                    Err(_) => return self.ready.push_back(Err(DecodeError::NotUtf8)),
                }
            }
            self.ready.push_back(Ok(event));
        }
    }
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
