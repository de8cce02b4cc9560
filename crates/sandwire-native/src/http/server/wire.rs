//! A socket, with what came and was not used, and what is to go.

use std::{
    io::{self, ErrorKind, IoSlice, Read, Write},
    net::Shutdown,
    task::{Context, Poll, ready},
};

use async_io::Async;

/// A buffer of this size stays with an idle connection.
const KEPT_BYTES: usize = 4 * 1024;

/// Parts of a response that are longer are sent from where they are, not copied.
const COPIED_BYTES: usize = 8 * 1024;

/// A stream socket.
pub(super) trait Socket: Sized + Send + Sync + 'static {
    fn receive(&self, into: &mut [u8]) -> io::Result<usize>;
    fn send(&self, parts: &[IoSlice<'_>]) -> io::Result<usize>;
    /// Tells the peer that nothing follows.
    fn finish(&self) -> io::Result<()>;
}

macro_rules! sockets {
    ($($(#[$attribute:meta])* $socket:ty),*) => {
        $($(#[$attribute])* impl Socket for $socket {
            fn receive(&self, into: &mut [u8]) -> io::Result<usize> {
                (&mut &*self).read(into)
            }

            fn send(&self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
                match parts {
                    [one] => (&mut &*self).write(one),
                    many => (&mut &*self).write_vectored(many),
                }
            }

            fn finish(&self) -> io::Result<()> {
                self.shutdown(Shutdown::Write)
            }
        })*
    };
}

sockets!(
    #[expect(clippy::disallowed_types, reason = "this is where the network enters")]
    std::net::TcpStream,
    #[cfg(unix)]
    std::os::unix::net::UnixStream
);

pub(super) struct Wire<T> {
    socket: Async<T>,
    input: Vec<u8>,
    /// What of the input is there and was not used.
    unused: std::ops::Range<usize>,
    output: Vec<u8>,
    /// A long part of the response, which follows the output, and what follows it.
    long: Vec<u8>,
    after: &'static [u8],
    sent: usize,
}

impl<T: Socket> Wire<T> {
    pub(super) fn new(socket: Async<T>) -> Self {
        Self {
            socket,
            input: vec![0; KEPT_BYTES],
            unused: 0..0,
            output: Vec::with_capacity(KEPT_BYTES),
            long: Vec::new(),
            after: b"",
            sent: 0,
        }
    }

    /// What came and was not used.
    pub(super) fn unused(&self) -> &[u8] {
        self.input.get(self.unused.clone()).unwrap_or_default()
    }

    pub(super) fn use_up(&mut self, bytes: usize) {
        self.unused.start = self.unused.start.saturating_add(bytes).min(self.unused.end);
    }

    /// Receives: ready with the number of bytes, which is 0 where the peer sends no more. Never more than `most` bytes
    /// wait to be used.
    pub(super) fn poll_receive(&mut self, most: usize, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let waiting = self.unused.len();
        if waiting >= most {
            return Poll::Pending;
        }
        loop {
            ready!(self.socket.poll_readable(cx))?;
            self.make_room(most);
            let room = self.input.get_mut(self.unused.end..).unwrap_or_default();
            match self.socket.get_ref().receive(room) {
                Ok(bytes) => {
                    self.unused.end = self.unused.end.saturating_add(bytes);
                    return Poll::Ready(Ok(bytes));
                }
                Err(error) if is_passing(&error) => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    fn make_room(&mut self, most: usize) {
        if self.unused.is_empty() {
            self.unused = 0..0;
        }
        if self.unused.start > 0 {
            self.input.copy_within(self.unused.clone(), 0);
            self.unused = 0..self.unused.len();
        }
        if self.unused.end == self.input.len() {
            self.input.resize(self.input.len().saturating_mul(2).min(most.max(KEPT_BYTES)), 0);
        }
    }

    /// Gives room back before a long wait.
    pub(super) fn rest(&mut self) {
        if self.unused.is_empty() && self.input.len() > KEPT_BYTES {
            self.input = vec![0; KEPT_BYTES];
        }
        if self.output.capacity() > COPIED_BYTES {
            self.output = Vec::with_capacity(KEPT_BYTES);
        }
    }

    /// What is to go; more may be appended while nothing was sent with [`Self::append`].
    pub(super) fn output(&mut self) -> &mut Vec<u8> {
        &mut self.output
    }

    /// Adds a part to what is to go, and a few bytes after it. Nothing may be added before that has gone.
    pub(super) fn append(&mut self, part: Vec<u8>, after: &'static [u8]) {
        if part.len() <= COPIED_BYTES {
            self.output.extend_from_slice(&part);
            self.output.extend_from_slice(after);
        } else {
            (self.long, self.after) = (part, after);
        }
    }

    /// Sends what is to go: ready once it has gone. `progress` is told of every piece.
    pub(super) fn poll_send(&mut self, mut progress: impl FnMut(usize), cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            let total = self.output.len().saturating_add(self.long.len()).saturating_add(self.after.len());
            if self.sent >= total {
                self.output.clear();
                (self.long, self.after, self.sent) = (Vec::new(), b"", 0);
                return Poll::Ready(Ok(()));
            }
            let mut parts = [IoSlice::new(&self.output), IoSlice::new(&self.long), IoSlice::new(self.after)];
            let mut parts = parts.get_mut(..if self.long.is_empty() { 1 } else { 3 }).unwrap_or_default();
            IoSlice::advance_slices(&mut parts, self.sent);
            match self.socket.get_ref().send(parts) {
                Ok(0) => return Poll::Ready(Err(ErrorKind::WriteZero.into())),
                Ok(bytes) => {
                    self.sent = self.sent.saturating_add(bytes);
                    progress(bytes);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => ready!(self.socket.poll_writable(cx))?,
                Err(error) if is_passing(&error) => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    /// Tells the peer that nothing follows.
    pub(super) fn finish(&self) -> io::Result<()> {
        self.socket.get_ref().finish()
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
