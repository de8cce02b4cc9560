pub mod lines;

use crate::MaybeSend;
use sandwire_proto::TransportError;
use std::task::{Context, Poll};

/// Carries one JSON text at a time in both directions: a message port, or lines over a byte stream.
pub trait TextPort: MaybeSend + 'static {
    /// Sends a text, or keeps it until [`poll`](Self::poll) can.
    fn send(&mut self, text: String);

    /// The next text, or the fault in its place; `None` once the port is closed. Also moves kept texts on.
    ///
    /// An error is about one text: the port lives on until it says `None`.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<String, TransportError>>>;

    /// Closes the port once kept texts are sent.
    fn close(&mut self);
}
