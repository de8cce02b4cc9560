pub mod lines;

use crate::MaybeSend;
use sandwire_proto::TransportError;
use std::task::{Context, Poll};

/// Carries one JSON text at a time in both directions: a message port, or lines over a byte stream.
///
/// Like a channel, a port wakes who waits: [`poll`](Self::poll) keeps the waker of its last call, and whatever brings
/// a text or the end wakes it. Where both ends are in one program, that is the peer's `send` and `close`.
pub trait TextPort: MaybeSend + 'static {
    /// Sends a text, or keeps it until [`poll`](Self::poll) can.
    fn send(&mut self, text: String);

    /// The next text. Also moves kept texts on.
    ///
    /// `None` says that the port is closed, as one side wanted. An error is about the one text in whose place it
    /// comes, such as one that is too long, and the port lives on, but for two kinds:
    /// - [`Closed`](sandwire_proto::TransportErrorKind::Closed) says which fault ended the port. After it, and after
    ///   `None`, the port is not polled again, unless it [lingers](Self::lingers).
    /// - [`Restarted`](sandwire_proto::TransportErrorKind::Restarted) says that the peer was replaced by a new one that
    ///   knows nothing of this connection. The port lives on. Texts of the old peer come before it; texts sent after it,
    ///   and none before, reach the new one.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<String, TransportError>>>;

    /// Closes the port once kept texts are sent.
    fn close(&mut self);

    /// After `None`: whether only the peer's side is closed, which sends no more and still reads. Then polling goes on to
    /// move kept texts, is pending until [`close`](Self::close), and ends with a second `None`.
    fn lingers(&self) -> bool {
        false
    }
}
