//! One message a line, over any pair of byte streams: standard input and output, a socket, a pipe.

use super::TextPort;
use crate::MaybeSend;
use futures_io::{AsyncRead, AsyncWrite};
use sandwire_proto::{TransportError, TransportErrorKind};
use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll, ready},
};

type Line = Result<String, TransportError>;

/// A port that writes each text as a line, and reads lines.
///
/// Blank lines, carriage returns before the line feed and a byte order mark at the start are skipped. A line that is
/// too long or not UTF-8 is reported, and reading goes on with the next one.
///
/// ```
/// use sandwire_io::{TextLink, lines::Lines};
/// use sandwire_proto::Limits;
///
/// let input: &[u8] = b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
/// let limits = Limits::default();
/// let link = TextLink::new(Lines::new(input, Vec::new(), limits.max_message_bytes), limits);
/// ```
pub struct Lines<R, W> {
    reader: R,
    writer: W,
    input: Splitter,
    chunk: Box<[u8]>,
    output: Vec<u8>,
    written: usize,
    max_waiting: usize,
    unflushed: bool,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// The reader is at its end, which is told after the last line.
    Ended,
    /// The end was told; what is sent is still written.
    Lingering,
    /// More waits for the peer than it is worth.
    Overrun,
    /// Closed by us once what is kept is written.
    Closing,
    Closed,
}

/// How many messages of the greatest length may wait for a peer that does not read.
const WAITING_MESSAGES: usize = 16;
const CHUNK: usize = 64 * 1024;

impl<R, W> Lines<R, W> {
    /// A port over `reader` and `writer` that keeps at most `max_line_bytes` of one line.
    #[must_use]
    pub fn new(reader: R, writer: W, max_line_bytes: usize) -> Self {
        Self {
            reader,
            writer,
            input: Splitter::new(max_line_bytes),
            chunk: vec![0; CHUNK].into_boxed_slice(),
            output: Vec::new(),
            written: 0,
            max_waiting: max_line_bytes.saturating_mul(WAITING_MESSAGES),
            unflushed: false,
            state: State::Open,
        }
    }

    /// The two streams, without what was read of the one and not yet written to the other.
    pub fn into_inner(self) -> (R, W) {
        (self.reader, self.writer)
    }
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Lines<R, W> {
    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        while let Some(rest) = self.output.get(self.written..).filter(|rest| !rest.is_empty()) {
            let count = ready!(Pin::new(&mut self.writer).poll_write(cx, rest))?;
            if count == 0 {
                return Poll::Ready(Err(std::io::ErrorKind::WriteZero.into()));
            }
            self.written += count;
            self.unflushed = true;
        }
        self.output.clear();
        self.written = 0;
        if self.unflushed {
            ready!(Pin::new(&mut self.writer).poll_flush(cx))?;
            self.unflushed = false;
        }
        Poll::Ready(Ok(()))
    }

    fn poll_line(&mut self, cx: &mut Context<'_>) -> Poll<Option<Line>> {
        loop {
            if let Some(line) = self.input.next() {
                return Poll::Ready(Some(line));
            }
            match self.state {
                State::Ended => {
                    self.state = State::Lingering;
                    return Poll::Ready(None);
                }
                State::Lingering => return Poll::Pending,
                State::Open | State::Overrun | State::Closing | State::Closed => {}
            }
            match ready!(Pin::new(&mut self.reader).poll_read(cx, &mut self.chunk)) {
                Ok(0) => {
                    self.state = State::Ended;
                    self.input.end();
                }
                Ok(count) => self.input.push(self.chunk.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.state = State::Ended;
                    return Poll::Ready(Some(Err(failed("reading failed; the connection is over", error))));
                }
            }
        }
    }
}

impl<R, W> TextPort for Lines<R, W>
where
    R: AsyncRead + Unpin + MaybeSend + 'static,
    W: AsyncWrite + Unpin + MaybeSend + 'static,
{
    fn send(&mut self, text: String) {
        if matches!(self.state, State::Overrun | State::Closing | State::Closed) {
            return;
        }
        if self.output.len() - self.written + text.len() > self.max_waiting {
            // A peer that does not read what it asked for is not worth more memory.
            self.state = State::Overrun;
            return;
        }
        // Outside of strings a line end is white space, and inside it cannot stand.
        if text.bytes().fold(false, |found, byte| found | (byte < b' ')) {
            self.output.extend(text.bytes().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { byte }));
        } else {
            self.output.extend_from_slice(text.as_bytes());
        }
        self.output.push(b'\n');
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Line>> {
        match self.state {
            State::Closed => return Poll::Ready(None),
            State::Overrun => {
                self.state = State::Closed;
                return Poll::Ready(Some(Err(TransportError::new(
                    TransportErrorKind::Closed,
                    "the peer does not read what it is sent; send it less at once",
                ))));
            }
            State::Open | State::Ended | State::Lingering | State::Closing => {}
        }
        let written = match self.poll_write(cx) {
            Poll::Ready(Err(error)) => {
                self.state = State::Closed;
                return Poll::Ready(Some(Err(failed("writing failed; the connection is over", error))));
            }
            written => written.is_ready(),
        };
        if self.state == State::Closing {
            if !written || Pin::new(&mut self.writer).poll_close(cx).is_pending() {
                return Poll::Pending;
            }
            self.state = State::Closed;
            return Poll::Ready(None);
        }
        self.poll_line(cx)
    }

    fn close(&mut self) {
        if self.state != State::Closed {
            self.state = State::Closing;
        }
    }

    fn lingers(&self) -> bool {
        self.state == State::Lingering
    }
}

impl<R, W> std::fmt::Debug for Lines<R, W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lines").finish_non_exhaustive()
    }
}

fn failed(message: &'static str, error: std::io::Error) -> TransportError {
    TransportError::new(TransportErrorKind::Closed, message).with_source(std::sync::Arc::new(error))
}

/// Cuts a byte stream into lines.
struct Splitter {
    max_line_bytes: usize,
    line: Vec<u8>,
    skipping: bool,
    at_start: bool,
    lines: VecDeque<Line>,
}

impl Splitter {
    fn new(max_line_bytes: usize) -> Self {
        Self { max_line_bytes, line: Vec::new(), skipping: false, at_start: true, lines: VecDeque::new() }
    }

    fn next(&mut self) -> Option<Line> {
        self.lines.pop_front()
    }

    fn push(&mut self, mut bytes: &[u8]) {
        while let Some(at) = line_feed(bytes) {
            let (head, tail) = bytes.split_at(at);
            self.hold(head);
            self.end();
            bytes = tail.strip_prefix(b"\n").unwrap_or(tail);
        }
        self.hold(bytes);
    }

    fn hold(&mut self, bytes: &[u8]) {
        if self.skipping {
            return;
        }
        if self.line.len() + bytes.len() > self.max_line_bytes {
            self.skipping = true;
            self.line = Vec::new();
            self.lines.push_back(Err(TransportError::new(
                TransportErrorKind::TooLarge,
                "line is over the size limit; raise the limit or send less at once",
            )));
        } else {
            self.line.extend_from_slice(bytes);
        }
    }

    fn end(&mut self) {
        let mut line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.at_start) && line.starts_with(b"\xef\xbb\xbf") {
            line.drain(..3);
        }
        if std::mem::take(&mut self.skipping) || line.trim_ascii().is_empty() {
            return;
        }
        if line.ends_with(b"\r") {
            line.pop();
        }
        let malformed = |_| TransportError::new(TransportErrorKind::Malformed, "line is not UTF-8");
        self.lines.push_back(String::from_utf8(line).map_err(malformed));
    }
}

/// Where the first line feed is. Without a way out of it, the loop over a block looks at many bytes at once.
fn line_feed(bytes: &[u8]) -> Option<usize> {
    const BLOCK: usize = 64;
    let has_line_feed = |block: &[u8]| block.iter().fold(false, |found, byte| found | (*byte == b'\n'));
    let block = bytes.chunks(BLOCK).position(has_line_feed)? * BLOCK;
    let rest = bytes.get(block..)?;
    rest.iter().position(|byte| *byte == b'\n').map(|at| block + at)
}

/// Cuts any bytes into lines, in chunks of any size: every line comes out once, and none is over the limit.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn split(bytes: &[u8], chunk: usize, max_line_bytes: usize) -> Vec<Line> {
    let mut splitter = Splitter::new(max_line_bytes);
    for part in bytes.chunks(chunk.max(1)) {
        splitter.push(part);
    }
    splitter.end();
    std::iter::from_fn(|| splitter.next()).collect()
}
