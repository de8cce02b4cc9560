//! A socket as hyper takes it, which notes what the client does.

use std::{
    cell::RefCell,
    io::{self, ErrorKind, IoSlice, Read as _, Write as _},
    net::Shutdown,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use async_io::Async;
use hyper::rt::{Read, ReadBufCursor, Write};

use super::{clock, house::House, watch::Watch};

/// How long, and how much, a client may go on sending after the last response: closed at once, a connection could lose
/// the response too.
const LINGER: (Duration, usize) = (Duration::from_secs(2), 16 * 1024 * 1024);

/// A stream socket.
pub(super) trait Socket: Sized + Send + Sync + Unpin + 'static {
    fn receive(&self, into: &mut [u8]) -> io::Result<usize>;
    fn send(&self, parts: &[IoSlice<'_>]) -> io::Result<usize>;
    /// Whether the peer has gone, having sent nothing that was not received.
    fn is_left(&self) -> bool;
    /// Tells the peer that nothing follows.
    fn finish(&self) -> io::Result<()>;
}

macro_rules! sockets {
    ($($(#[$attribute:meta])* $socket:ty, $peek:expr;)*) => {
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

            fn is_left(&self) -> bool {
                let peeked: io::Result<usize> = $peek(self, &mut [0]);
                matches!(peeked, Ok(0))
            }

            fn finish(&self) -> io::Result<()> {
                self.shutdown(Shutdown::Write)
            }
        })*
    };
}

sockets!(
    #[expect(clippy::disallowed_types, reason = "this is where the network enters")]
    std::net::TcpStream, Self::peek;
    #[cfg(unix)]
    std::os::unix::net::UnixStream, |socket, room: &mut [u8; 1]| {
        Ok(rustix::net::recv(socket, room, rustix::net::RecvFlags::PEEK)?.0)
    };
);

thread_local! {
    /// Where sockets read to, since the room that hyper offers is not initialized.
    static DESK: RefCell<Box<[u8]>> = RefCell::new(vec![0; 16 * 1024].into());
}

pub(super) struct Wire<T> {
    socket: Arc<Async<T>>,
    house: Arc<House>,
    watch: Watch,
    /// How much the client may still send once the server has said everything.
    lingers: Option<usize>,
}

impl<T: Socket> Wire<T> {
    pub(super) fn new(socket: Arc<Async<T>>, house: Arc<House>, watch: Watch) -> Self {
        Self { socket, house, watch, lingers: None }
    }

    /// Receives at most `most` bytes and gives them to `take`. It waits for bytes first: a socket that was read before
    /// rarely has more at once.
    fn poll_receive<R>(
        &self,
        most: usize,
        cx: &mut Context<'_>,
        mut take: impl FnMut(&[u8]) -> R,
    ) -> Poll<io::Result<R>> {
        loop {
            ready!(self.socket.poll_readable(cx))?;
            let received = DESK.with_borrow_mut(|desk| {
                let most = most.min(desk.len());
                let room = desk.get_mut(..most).unwrap_or_default();
                let bytes = self.socket.get_ref().receive(room)?;
                Ok(take(room.get(..bytes).unwrap_or_default()))
            });
            match received {
                Err(error) if is_passing(&error) => {}
                received => return Poll::Ready(received),
            }
        }
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

impl<T: Socket> Read for Wire<T> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, mut room: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        let most = room.remaining();
        ready!(self.poll_receive(most, cx, |bytes| room.put_slice(bytes)))?;
        self.watch.received();
        Poll::Ready(Ok(()))
    }
}

impl<T: Socket> Write for Wire<T> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        loop {
            match self.socket.get_ref().send(parts) {
                Ok(bytes) if bytes == parts.iter().map(|part| part.len()).sum::<usize>() => {
                    self.watch.sent();
                    return Poll::Ready(Ok(bytes));
                }
                Ok(bytes) => {
                    self.watch.sends(bytes, &self.house.limits);
                    return Poll::Ready(Ok(bytes));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.watch.sends(0, &self.house.limits);
                    ready!(self.socket.poll_writable(cx))?;
                }
                Err(error) if is_passing(&error) => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Ready once the client has closed its side too, or has sent enough.
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let (patience, most) = LINGER;
        let mut left = match self.lingers {
            Some(left) => left,
            None => {
                self.socket.get_ref().finish()?;
                self.watch.closes(clock::after(patience));
                most
            }
        };
        while left > 0 && !self.house.is_closing() {
            self.lingers = Some(left);
            match ready!(self.poll_receive(usize::MAX, cx, <[u8]>::len)) {
                Ok(bytes @ 1..) => left = left.saturating_sub(bytes),
                Ok(_) | Err(_) => break,
            }
        }
        Poll::Ready(Ok(()))
    }
}
