use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    task::{Context, Poll, ready},
};

use async_io::Async;
use futures_io::{AsyncRead, AsyncWrite};
use futures_rustls::client::TlsStream;
use hyper::rt::{Read, ReadBufCursor, Write};

use super::tls;

#[expect(clippy::disallowed_types, reason = "this is where the network enters a native process")]
pub(super) type Socket = Async<std::net::TcpStream>;

/// A socket, with TLS or without.
pub(super) enum Stream {
    Plain(Socket),
    Tls(Box<TlsStream<Socket>>),
}

/// A stream as HTTP reads and writes it.
pub(super) struct Metered {
    stream: Stream,
    /// What a read fills before it is passed on.
    piece: Vec<u8>,
    meter: Arc<Meter>,
}

/// How much a read brings at first, and at most.
const PIECE: (usize, usize) = (8 * 1024, 64 * 1024);

/// How much may still arrive before something of it has to be of use.
///
/// There are responses that never come to anything: a head without end, interim answers one after the other, a chunk
/// whose size has ever more digits. Each of them is read without end and without waiting.
#[derive(Debug)]
pub(super) struct Meter {
    budget: usize,
    left: AtomicUsize,
    arrived: AtomicUsize,
}

impl Meter {
    /// Useful is at the latest what follows `wrapping` bytes.
    pub(super) fn new(wrapping: usize) -> Self {
        let budget = wrapping + 4 * PIECE.1;
        Self { budget, left: AtomicUsize::new(budget), arrived: AtomicUsize::new(0) }
    }

    /// What arrived was of use.
    pub(super) fn reset(&self) {
        self.left.store(self.budget, Relaxed);
    }

    /// How much has arrived so far.
    pub(super) fn arrived(&self) -> usize {
        self.arrived.load(Relaxed)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.left.load(Relaxed) == 0
    }

    fn take(&self, count: usize) -> io::Result<()> {
        self.arrived.fetch_add(count, Relaxed);
        let left = self.left.load(Relaxed).saturating_sub(count);
        self.left.store(left, Relaxed);
        if left == 0 { Err(io::Error::other("nothing of use in what arrives")) } else { Ok(()) }
    }
}

impl Stream {
    /// Whether the other side has chosen HTTP/2.
    pub(super) fn is_http2(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Tls(stream) => stream.get_ref().1.alpn_protocol() == Some(tls::HTTP2),
        }
    }
}

impl Metered {
    pub(super) fn new(stream: Stream, meter: Arc<Meter>) -> Self {
        Self { stream, piece: Vec::new(), meter }
    }

    pub(super) fn into_stream(self) -> Stream {
        self.stream
    }
}

impl Read for Metered {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, mut into: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        let Self { stream, piece, meter } = self.get_mut();
        let size = (piece.len() * 2).clamp(PIECE.0, PIECE.1);
        if piece.is_empty() {
            piece.resize(size, 0);
        }
        let room = into.remaining().min(piece.len());
        let free = piece.get_mut(..room).unwrap_or_default();
        let count = ready!(match stream {
            Stream::Plain(socket) => Pin::new(socket).poll_read(cx, free),
            Stream::Tls(stream) => Pin::new(stream).poll_read(cx, free),
        })?;
        meter.take(count)?;
        into.put_slice(free.get(..count).unwrap_or_default());
        if count == piece.len() {
            piece.resize(size, 0);
        }
        Poll::Ready(Ok(()))
    }
}

impl Write for Metered {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.get_mut().stream {
            Stream::Plain(socket) => Pin::new(socket).poll_write(cx, bytes),
            Stream::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().stream {
            Stream::Plain(_) => Poll::Ready(Ok(())),
            Stream::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().stream {
            Stream::Plain(socket) => Pin::new(socket).poll_close(cx),
            Stream::Tls(stream) => Pin::new(stream).poll_close(cx),
        }
    }
}
