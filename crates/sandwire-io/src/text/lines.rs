//! One message a line, over any pair of byte streams: standard input and output, a socket, a pipe.

use super::TextPort;
use crate::MaybeSend;
use futures_io::{AsyncRead, AsyncWrite};
use sandwire_proto::TransportError;
use std::task::{Context, Poll};

/// A port that writes each text as a line, and reads lines.
pub struct Lines<R, W> {
    reader: R,
    writer: W,
    max_line_bytes: usize,
}

impl<R, W> Lines<R, W> {
    /// A port over `reader` and `writer` that keeps at most `max_line_bytes` of one line.
    #[must_use]
    pub fn new(reader: R, writer: W, max_line_bytes: usize) -> Self {
        Self {
            reader,
            writer,
            max_line_bytes,
        }
    }
}

impl<R: AsyncRead + Unpin + MaybeSend + 'static, W: AsyncWrite + Unpin + MaybeSend + 'static>
    TextPort for Lines<R, W>
{
    fn send(&mut self, _text: String) {
        let _ = (&self.reader, &self.writer, self.max_line_bytes);
    }

    fn poll(&mut self, _cx: &mut Context<'_>) -> Poll<Option<Result<String, TransportError>>> {
        Poll::Pending
    }

    fn close(&mut self) {}
}
