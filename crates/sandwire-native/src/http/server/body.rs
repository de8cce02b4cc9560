//! The body of a request that is still arriving: the connection reads it as far as the service asks.

use std::{
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, Waker},
};

use sandwire_io::Body;
use sandwire_proto::{TransportError, TransportErrorKind};

use super::request::Framing;

/// The longest line before a chunk.
const MAX_CHUNK_LINE: usize = 1024;

/// The longest trailers, together; nobody reads them.
const MAX_TRAILERS: usize = 4096;

/// Finds a body among the bytes of a connection.
#[derive(Debug, PartialEq)]
pub(super) struct Decoder(State);

#[derive(Debug, PartialEq)]
enum State {
    /// Within a body, or a chunk of one, that has so many bytes to come.
    Within {
        left: u64,
        chunked: bool,
    },
    /// Behind the bytes of a chunk, where its line ends.
    AfterChunk,
    /// Before the line with the length of a chunk.
    BeforeChunk,
    /// Among the fields that follow the last chunk, of which so many bytes are still allowed.
    Trailers(usize),
    Ended,
}

/// What a decoder makes of the bytes that are there.
#[derive(Debug, PartialEq)]
pub(super) enum Decoded {
    /// The first so many belong to the body.
    Data(usize),
    /// The first so many hold the body together.
    Skip(usize),
    /// More are needed.
    Starved,
    /// The body is over.
    Ended,
    /// They are no body.
    Broken,
}

impl Decoder {
    pub(super) fn new(framing: Framing) -> Self {
        Self(match framing {
            Framing::Length(0) => State::Ended,
            Framing::Length(left) => State::Within { left, chunked: false },
            Framing::Chunked => State::BeforeChunk,
        })
    }

    pub(super) fn has_ended(&self) -> bool {
        self.0 == State::Ended
    }

    /// How many bytes are still to come, where that is known.
    pub(super) fn left(&self) -> Option<u64> {
        match self.0 {
            State::Within { left, chunked: false } => Some(left),
            State::Ended => Some(0),
            _ => None,
        }
    }

    /// Reads on; of `bytes`, the caller takes as many away as the answer says.
    pub(super) fn decode(&mut self, bytes: &[u8]) -> Decoded {
        match self.0 {
            State::Ended => Decoded::Ended,
            _ if bytes.is_empty() => Decoded::Starved,
            State::Within { left, chunked } => {
                let taken = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
                let left = left.saturating_sub(taken as u64);
                self.0 = match (left, chunked) {
                    (0, true) => State::AfterChunk,
                    (0, false) => State::Ended,
                    _ => State::Within { left, chunked },
                };
                Decoded::Data(taken)
            }
            State::AfterChunk => match bytes {
                [b'\r', b'\n', ..] => {
                    self.0 = State::BeforeChunk;
                    Decoded::Skip(2)
                }
                [b'\r'] => Decoded::Starved,
                _ => Decoded::Broken,
            },
            State::BeforeChunk => match httparse::parse_chunk_size(bytes) {
                Ok(httparse::Status::Complete((taken, 0))) => {
                    self.0 = State::Trailers(MAX_TRAILERS);
                    Decoded::Skip(taken)
                }
                Ok(httparse::Status::Complete((taken, left))) => {
                    self.0 = State::Within { left, chunked: true };
                    Decoded::Skip(taken)
                }
                Ok(httparse::Status::Partial) if bytes.len() < MAX_CHUNK_LINE => Decoded::Starved,
                _ => Decoded::Broken,
            },
            State::Trailers(allowed) => match bytes.iter().position(|byte| *byte == b'\n') {
                Some(end) if end < allowed => {
                    let is_last = bytes.get(..end).is_some_and(|line| matches!(line, b"" | b"\r"));
                    self.0 = if is_last { State::Ended } else { State::Trailers(allowed - end) };
                    Decoded::Skip(end.saturating_add(1))
                }
                None if bytes.len() < allowed => Decoded::Starved,
                _ => Decoded::Broken,
            },
        }
    }
}

/// Where a connection leaves a body for its service.
#[derive(Clone, Debug, Default)]
pub(super) struct Inbox(Arc<Mutex<Slot>>);

#[derive(Debug, Default)]
struct Slot {
    chunk: Option<Vec<u8>>,
    end: Option<End>,
    /// Who waits for a chunk.
    waiting: Option<Waker>,
}

/// How a body ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum End {
    Whole,
    /// The client sent less than it announced, or no chunks.
    Broken,
    /// The client sent too slowly.
    Late,
}

impl Inbox {
    /// Whether the service asked for what is not there yet.
    pub(super) fn wants_more(&self) -> bool {
        self.lock().waiting.is_some()
    }

    pub(super) fn give(&self, chunk: Vec<u8>) {
        self.change(|slot| slot.chunk = Some(chunk));
    }

    /// Ends the body, if it has not ended yet.
    pub(super) fn end(&self, end: End) {
        self.change(|slot| slot.end = slot.end.or(Some(end)));
    }

    fn change(&self, change: impl FnOnce(&mut Slot)) {
        let waiting = {
            let mut slot = self.lock();
            change(&mut slot);
            slot.waiting.take()
        };
        if let Some(waiting) = waiting {
            waiting.wake();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Slot> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Body for Inbox {
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, TransportError>>> {
        let mut slot = self.lock();
        if let Some(chunk) = slot.chunk.take() {
            return Poll::Ready(Some(Ok(chunk)));
        }
        match slot.end {
            Some(End::Whole) => Poll::Ready(None),
            Some(End::Broken) => Poll::Ready(Some(Err(failure("the client ended the body early")))),
            Some(End::Late) => Poll::Ready(Some(Err(failure("the client sends the body too slowly")))),
            None => {
                slot.waiting = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

fn failure(message: &'static str) -> TransportError {
    TransportError::new(TransportErrorKind::Closed, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The body that `text` begins with and what follows it, given `step` bytes at a time.
    fn decoded(framing: Framing, text: &[u8], step: usize) -> Option<(Vec<u8>, Vec<u8>)> {
        let (mut decoder, mut body, mut there) = (Decoder::new(framing), Vec::new(), Vec::new());
        let mut pieces = text.chunks(step);
        loop {
            match decoder.decode(&there) {
                Decoded::Data(taken) => body.extend(there.drain(..taken)),
                Decoded::Skip(taken) => drop(there.drain(..taken)),
                Decoded::Starved => there.extend(pieces.next()?),
                Decoded::Ended => return Some((body, [there, pieces.flatten().copied().collect()].concat())),
                Decoded::Broken => return None,
            }
        }
    }

    #[test]
    fn bodies_end_where_they_say() {
        let chunks = b"5;ext=1\r\nhello\r\n1\r\n!\r\n000\r\nTrailer: x\r\n\r\nGET /";
        for step in 1..chunks.len() {
            let expected = (b"hello!".to_vec(), b"GET /".to_vec());
            assert_eq!(decoded(Framing::Chunked, chunks, step), Some(expected), "{step}");
            let expected = (b"hello".to_vec(), b"GET /".to_vec());
            assert_eq!(decoded(Framing::Length(5), b"helloGET /", step), Some(expected), "{step}");
        }
        assert_eq!(decoded(Framing::Length(0), b"", 1), Some((Vec::new(), Vec::new())));
    }

    #[test]
    fn what_is_no_chunk_is_refused() {
        for text in ["x\r\n", "5\r\nhelloX", "5\r\nhello\rX", "-1\r\n", "\r\n", "11111111111111111\r\n"] {
            assert_eq!(decoded(Framing::Chunked, text.as_bytes(), text.len()), None, "{text}");
        }
        let long = format!("5;{}", "x".repeat(MAX_CHUNK_LINE));
        assert_eq!(Decoder::new(Framing::Chunked).decode(long.as_bytes()), Decoded::Broken);
        let trailer = format!("0\r\n{}", "x: y\r\n".repeat(MAX_TRAILERS));
        assert_eq!(decoded(Framing::Chunked, trailer.as_bytes(), 512), None);
    }
}
