//! A byte pipe inside the process, as tokio's duplex is one: two ends that read what the other wrote.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures::io::{AsyncRead, AsyncWrite};

/// One direction.
#[derive(Default)]
struct Channel {
    bytes: VecDeque<u8>,
    closed: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

type Shared = Arc<Mutex<Channel>>;

/// The end that is read.
pub struct Reading(Shared);

/// The end that is written; it takes no more than the capacity of the pipe.
pub struct Writing(Shared, usize);

/// Two ends of a pipe that holds `capacity` bytes in each direction.
pub fn duplex(capacity: usize) -> [(Reading, Writing); 2] {
    let (there, back) = (Shared::default(), Shared::default());
    [(Reading(Arc::clone(&back)), Writing(Arc::clone(&there), capacity)), (Reading(there), Writing(back, capacity))]
}

fn lock(channel: &Shared) -> MutexGuard<'_, Channel> {
    channel.lock().unwrap_or_else(PoisonError::into_inner)
}

impl AsyncRead for Reading {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut channel = lock(&self.0);
        if channel.bytes.is_empty() && !channel.closed {
            channel.reader = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let read = io::Read::read(&mut channel.bytes, into);
        if let Some(waker) = channel.writer.take() {
            waker.wake();
        }
        Poll::Ready(read)
    }
}

impl AsyncWrite for Writing {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut channel = lock(&self.0);
        let room = self.1.saturating_sub(channel.bytes.len());
        if room == 0 {
            channel.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let taken = &bytes[..room.min(bytes.len())];
        channel.bytes.extend(taken);
        if let Some(waker) = channel.reader.take() {
            waker.wake();
        }
        Poll::Ready(Ok(taken.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut channel = lock(&self.0);
        channel.closed = true;
        if let Some(waker) = channel.reader.take() {
            waker.wake();
        }
        Poll::Ready(Ok(()))
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        let mut channel = lock(&self.0);
        channel.closed = true;
        if let Some(waker) = channel.writer.take() {
            waker.wake();
        }
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        let mut channel = lock(&self.0);
        channel.closed = true;
        if let Some(waker) = channel.reader.take() {
            waker.wake();
        }
    }
}
