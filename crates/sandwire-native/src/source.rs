//! Byte streams over descriptors that the reactor watches.

use std::{
    io::{self, Read, Write},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use async_io::Async;
use futures_io::{AsyncRead, AsyncWrite};

/// Reads from a pipe or a socket. Once it has taken all there was, it waits to be told of more instead of trying first:
/// a short message costs one read.
pub(crate) struct Reader<T> {
    source: Arc<Async<T>>,
    emptied: bool,
}

impl<T> Reader<T> {
    pub(crate) fn new(source: Arc<Async<T>>) -> Self {
        Self { source, emptied: false }
    }
}

impl<T> AsyncRead for Reader<T>
where
    for<'a> &'a T: Read,
{
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        loop {
            if self.emptied {
                ready!(self.source.poll_readable(cx))?;
            }
            let read = self.source.get_ref().read(buffer);
            self.emptied = match &read {
                Ok(count) => *count < buffer.len(),
                Err(error) => error.kind() == io::ErrorKind::WouldBlock,
            };
            match read {
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
                read => return Poll::Ready(read),
            }
        }
    }
}

/// Writes to a pipe or a socket.
pub(crate) struct Writer<T> {
    source: Arc<Async<T>>,
    close: fn(&T) -> io::Result<()>,
}

impl<T> Writer<T> {
    /// `close` ends this direction, where the descriptor has another.
    pub(crate) fn new(source: Arc<Async<T>>, close: fn(&T) -> io::Result<()>) -> Self {
        Self { source, close }
    }
}

impl<T> AsyncWrite for Writer<T>
where
    for<'a> &'a T: Write,
{
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            match self.source.get_ref().write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => ready!(self.source.poll_writable(cx))?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                written => return Poll::Ready(written),
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready((self.close)(self.source.get_ref()))
    }
}
