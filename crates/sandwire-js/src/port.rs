//! A `MessagePort`, or whatever has its members, that the TypeScript side listens to.

use std::{
    cell::RefCell,
    collections::VecDeque,
    rc::Rc,
    task::{Context, Poll},
};

use sandwire_io::TextPort;
use sandwire_proto::{TransportError, TransportErrorKind};

use crate::{boundary, fault::thrown};

/// What has arrived at a port: texts, and last its end.
pub(crate) type Inbox = Rc<RefCell<VecDeque<Option<Result<String, TransportError>>>>>;

/// How a port ended: of itself, or with what was thrown.
pub(crate) fn end(cause: u32) -> Option<Result<String, TransportError>> {
    (cause != 0).then(|| Err(thrown(TransportErrorKind::Closed, cause)))
}

/// The port of one connection.
pub(crate) struct Port {
    pub(crate) connection: u32,
    pub(crate) inbox: Inbox,
}

impl TextPort for Port {
    /// A port that does not take a text takes none any more, so it is over then.
    fn send(&mut self, text: String) {
        let cause = boundary::send(self.connection, 0, "", &text);
        if cause != 0 {
            self.inbox.borrow_mut().push_back(end(cause));
        }
    }

    fn poll(&mut self, _: &mut Context<'_>) -> Poll<Option<Result<String, TransportError>>> {
        self.inbox.borrow_mut().pop_front().map_or(Poll::Pending, Poll::Ready)
    }

    fn close(&mut self) {
        boundary::abort(self.connection, 0);
        self.inbox.borrow_mut().push_back(None);
    }
}
