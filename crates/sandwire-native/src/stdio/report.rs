use super::{exited::Exited, family::lock, stderr::Tail};
use sandwire_proto::{TransportError, TransportErrorKind};
use std::sync::{Arc, Mutex};

/// What a child says besides messages. It outlives the port, to explain why a connection did not open.
#[derive(Clone, Debug, Default)]
pub struct Report {
    pub(super) tail: Arc<Tail>,
    garbage: Arc<Mutex<Option<String>>>,
}

const GARBAGE_CHARS: usize = 200;

impl Report {
    /// The last lines on the child's standard error, at most 20 and 8 kB.
    #[must_use]
    pub fn stderr(&self) -> Vec<String> {
        self.tail.lines()
    }

    /// The start of the first line on its standard output that was no message, if it came before there was a second one
    /// that was.
    #[must_use]
    pub fn garbage(&self) -> Option<String> {
        lock(&self.garbage).clone()
    }

    /// For a connection that did not open, perhaps because nothing came in time: an error that quotes what came instead
    /// of messages. The port itself ends with it if it is closed before the child has written any message.
    #[must_use]
    pub fn explain(&self) -> Option<TransportError> {
        let exited = Exited { garbage: Some(self.garbage()?), stderr: self.stderr(), ..Exited::default() };
        let message = format!("no message came from the server; check that its command starts one{}", exited.quotes());
        Some(TransportError::new(TransportErrorKind::Closed, message).with_source(Arc::new(exited)))
    }

    pub(super) fn note_garbage(&self, line: &str) {
        lock(&self.garbage).get_or_insert_with(|| line.chars().take(GARBAGE_CHARS).collect());
    }

    pub(super) fn clear(&self) {
        self.tail.clear();
        lock(&self.garbage).take();
    }
}
