use std::{
    io,
    sync::Arc,
    task::{Context, Poll, Waker, ready},
};

use httparse::{Status, parse_chunk_size};
use sandwire_io::Body;
use sandwire_proto::{TransportError, TransportErrorKind};

use super::{
    Shared,
    connect::Route,
    connection::Connection,
    exchange::closed,
    head::{Framing, malformed},
};

/// How much a chunk holds that is passed on as it comes.
const PIECE: usize = 64 * 1024;

/// How much a chunk holds at most that is passed on when it is complete.
const WHOLE: usize = 16 * 1024 * 1024;

/// How long the line before a chunk may be, and all lines after the last one.
const LINE: usize = 8 * 1024;

/// A body on its connection. At its end the connection goes back to the others; dropped before, it is closed.
pub(super) struct Incoming {
    /// Until the end.
    connection: Option<Connection>,
    state: State,
    /// Whether to wait until a chunk is as large as it can be: nobody can do anything with half a JSON text.
    patient: bool,
    /// What a patient read has so far: `filled` bytes of it.
    part: Vec<u8>,
    filled: usize,
    /// What comes after the last chunk.
    error: Option<TransportError>,
    /// Where the connection goes, if it is of use then.
    home: Option<(Arc<Shared>, Route)>,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// So many bytes.
    Length(u64),
    /// All until the connection ends.
    Open,
    /// The line before a chunk.
    Size,
    /// So many bytes of a chunk.
    Chunk(u64),
    /// The end of the line after a chunk.
    AfterChunk,
    /// The lines after the last chunk, so many bytes of which have been read.
    Trailer(usize),
    End,
}

impl Incoming {
    pub(super) fn new(
        connection: Connection,
        framing: Framing,
        patient: bool,
        home: Option<(Arc<Shared>, Route)>,
    ) -> Self {
        let state = match framing {
            Framing::Length(length) => State::Length(length),
            Framing::Chunked => State::Size,
            Framing::Open => State::Open,
        };
        let mut body = Self {
            connection: Some(connection),
            state,
            patient: patient && matches!(framing, Framing::Length(_)),
            part: Vec::new(),
            filled: 0,
            error: None,
            home,
        };
        if matches!(framing, Framing::Length(0)) {
            body.end();
        }
        body
    }

    /// The body has ended: its connection is free.
    fn end(&mut self) {
        self.state = State::End;
        if let (Some(connection), Some((shared, route))) = (self.connection.take(), self.home.take())
            && connection.buffered().is_empty()
        {
            shared.keep(route, connection);
        }
    }

    fn fail(&mut self, error: TransportError) {
        self.state = State::End;
        self.connection = None;
        self.error = Some(error);
    }

    /// Reads a body of known length in as few chunks as possible.
    fn poll_patiently(&mut self, left: u64, cx: &mut Context<'_>) -> Poll<Vec<u8>> {
        let Some(connection) = &mut self.connection else { return Poll::Ready(Vec::new()) };
        if self.part.is_empty() {
            let size = usize::try_from(left).unwrap_or(WHOLE).min(WHOLE);
            self.part = vec![0; size];
        }
        while let Some(free) = self.part.get_mut(self.filled..).filter(|free| !free.is_empty()) {
            match ready!(connection.poll_read(cx, free)) {
                Ok(count) if count > 0 => self.filled += count,
                ended => {
                    self.fail(cut(ended));
                    break;
                }
            }
        }
        let mut chunk = std::mem::take(&mut self.part);
        chunk.truncate(self.filled);
        self.filled = 0;
        if let State::Length(left) = &mut self.state {
            *left = left.saturating_sub(chunk.len() as u64);
            if *left == 0 {
                self.end();
            }
        }
        Poll::Ready(chunk)
    }

    /// Reads what is there.
    fn poll_eagerly(&mut self, cx: &mut Context<'_>) -> Poll<Vec<u8>> {
        let mut chunk = Vec::new();
        while chunk.len() < PIECE
            && let Some(connection) = &mut self.connection
        {
            match self.state.step(connection, &mut chunk, cx) {
                Poll::Pending if chunk.is_empty() => return Poll::Pending,
                Poll::Pending => break,
                Poll::Ready(Ok(())) if matches!(self.state, State::End) => self.end(),
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(error)) => self.fail(error),
            }
        }
        Poll::Ready(chunk)
    }
}

impl State {
    /// Moves on by one part of the framing, and adds what it held to `chunk`.
    fn step(
        &mut self,
        connection: &mut Connection,
        chunk: &mut Vec<u8>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), TransportError>> {
        match self {
            Self::Length(left) | Self::Chunk(left) => {
                let count = match ready!(read(connection, *left, chunk, cx)) {
                    Ok(count) if count > 0 => count,
                    ended => return Poll::Ready(Err(cut(ended))),
                };
                *left = left.saturating_sub(count as u64);
                match *self {
                    Self::Length(0) => *self = Self::End,
                    Self::Chunk(0) => *self = Self::AfterChunk,
                    _ => {}
                }
            }
            Self::Open => match ready!(read(connection, u64::MAX, chunk, cx)) {
                Ok(0) => *self = Self::End,
                Ok(_) => {}
                Err(error) => return Poll::Ready(Err(cut(Err(error)))),
            },
            Self::Size => match parse_chunk_size(connection.buffered()) {
                Ok(Status::Complete((line, size))) if line <= LINE => {
                    connection.consume(line);
                    *self = if size == 0 { Self::Trailer(0) } else { Self::Chunk(size) };
                }
                Ok(Status::Partial) if connection.buffered().len() < LINE => return fill(connection, cx),
                _ => return Poll::Ready(Err(malformed("the response has a chunk whose size cannot be read"))),
            },
            Self::AfterChunk => match connection.buffered() {
                [b'\r', b'\n', ..] => {
                    connection.consume(2);
                    *self = Self::Size;
                }
                [] | [b'\r'] => return fill(connection, cx),
                _ => return Poll::Ready(Err(malformed("the response has a chunk that is longer than its size"))),
            },
            Self::Trailer(seen) => {
                let have = connection.buffered();
                match have.iter().position(|byte| *byte == b'\n') {
                    Some(0) => (connection.consume(1), *self = Self::End).1,
                    Some(1) if have.first() == Some(&b'\r') => (connection.consume(2), *self = Self::End).1,
                    Some(at) if *seen + at < LINE => (connection.consume(at + 1), *seen += at + 1).1,
                    None if *seen + have.len() < LINE => return fill(connection, cx),
                    _ => {
                        let what = "the response has more fields after its body than the limit allows";
                        return Poll::Ready(Err(TransportError::new(TransportErrorKind::TooLarge, what)));
                    }
                }
            }
            Self::End => {}
        }
        Poll::Ready(Ok(()))
    }
}

/// Appends at most `most` bytes to `chunk`.
fn read(connection: &mut Connection, most: u64, chunk: &mut Vec<u8>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
    let most = usize::try_from(most).unwrap_or(PIECE).min(PIECE);
    let have = connection.buffered();
    if let Some(have) = have.get(..most.min(have.len())).filter(|have| !have.is_empty()) {
        let count = have.len();
        chunk.extend_from_slice(have);
        connection.consume(count);
        return Poll::Ready(Ok(count));
    }
    let before = chunk.len();
    chunk.resize(before + most, 0);
    let read = connection.poll_read(cx, chunk.get_mut(before..).unwrap_or_default());
    chunk.truncate(before + if let Poll::Ready(Ok(count)) = &read { *count } else { 0 });
    read
}

/// Buffers more, which has to come.
fn fill(connection: &mut Connection, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
    Poll::Ready(match ready!(connection.poll_fill(cx)) {
        Ok(0) => Err(cut(Ok(0))),
        Ok(_) => Ok(()),
        Err(error) => Err(cut(Err(error))),
    })
}

fn cut(ended: io::Result<usize>) -> TransportError {
    closed("before the end of the response", ended.err())
}

impl Body for Incoming {
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, TransportError>>> {
        let chunk = match self.state {
            State::Length(left) if self.patient => ready!(self.poll_patiently(left, cx)),
            _ => ready!(self.poll_eagerly(cx)),
        };
        Poll::Ready(if chunk.is_empty() { self.error.take().map(Err) } else { Some(Ok(chunk)) })
    }
}

impl Drop for Incoming {
    /// A body whose end is here already, or was all but read, gives its connection back.
    fn drop(&mut self) {
        let cx = &mut Context::from_waker(Waker::noop());
        if self.home.is_some()
            && self.connection.is_some()
            && !matches!(self.state, State::Length(left) if left > PIECE as u64)
        {
            let _ = self.poll_eagerly(cx);
        }
    }
}
