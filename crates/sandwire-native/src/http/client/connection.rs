use std::{
    io,
    pin::Pin,
    task::{Context, Poll, Waker, ready},
};

use async_io::Async;
use futures_io::{AsyncRead, AsyncWrite};
use futures_rustls::client::TlsStream;

#[expect(clippy::disallowed_types, reason = "this is where the network enters a native process")]
pub(super) type Socket = Async<std::net::TcpStream>;

/// A socket, with TLS or without.
pub(super) enum Stream {
    Plain(Socket),
    Tls(Box<TlsStream<Socket>>),
}

/// A connection, and what was read from it and not yet used.
pub(super) struct Connection {
    stream: Stream,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

/// How much is read at once.
const READ: usize = 16 * 1024;

impl Connection {
    pub(super) fn new(stream: Stream) -> Self {
        Self { stream, buffer: Vec::new(), start: 0, end: 0 }
    }

    /// The bare socket, for what is to speak another protocol over it. `None` where TLS is spoken, or something was
    /// read already.
    pub(super) fn into_socket(self) -> Option<Socket> {
        match self.stream {
            Stream::Plain(socket) if self.start == self.end => Some(socket),
            _ => None,
        }
    }

    /// What was read and not used.
    pub(super) fn buffered(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    /// Marks the next `count` bytes as used.
    pub(super) fn consume(&mut self, count: usize) {
        self.start = self.end.min(self.start + count);
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
    }

    /// Reads what comes next behind what is buffered, and says how much it was: zero at the end.
    pub(super) fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if self.start > 0 && self.buffer.len() - self.end < READ {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.buffer.len() < self.end + READ {
            self.buffer.resize(self.end + READ, 0);
        }
        let free = self.buffer.get_mut(self.end..).unwrap_or_default();
        let count = ready!(self.stream.poll_read(cx, free))?;
        self.end += count;
        Poll::Ready(Ok(count))
    }

    /// Reads into `into`, first what is buffered, and says how much it was: zero at the end.
    pub(super) fn poll_read(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<usize>> {
        let have = self.buffered();
        if have.is_empty() {
            return self.stream.poll_read(cx, into);
        }
        let count = have.len().min(into.len());
        for (to, from) in into.iter_mut().zip(have) {
            *to = *from;
        }
        self.consume(count);
        Poll::Ready(Ok(count))
    }

    pub(super) fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.stream {
            Stream::Plain(socket) => Pin::new(socket).poll_write(cx, bytes),
            Stream::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    pub(super) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(_) => Poll::Ready(Ok(())),
            Stream::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    /// Whether the other side keeps the connection open and has said nothing.
    pub(super) fn is_quiet(&mut self) -> bool {
        self.start == self.end && self.poll_fill(&mut Context::from_waker(Waker::noop())).is_pending()
    }

    /// Gives back the memory that an idle connection does not need.
    pub(super) fn rest(&mut self) {
        self.buffer = Vec::new();
    }
}

impl Stream {
    fn poll_read(&mut self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<usize>> {
        match self {
            Self::Plain(socket) => Pin::new(socket).poll_read(cx, into),
            Self::Tls(stream) => Pin::new(stream).poll_read(cx, into),
        }
    }
}
