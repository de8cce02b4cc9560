//! A `MessagePort`, or whatever has its members, that the TypeScript side listens to.

use std::{
    cell::RefCell,
    rc::Rc,
    task::{Context, Poll},
};

use sandwire_io::TextPort;
use sandwire_proto::{TransportError, TransportErrorKind};

use crate::{boundary, fault::thrown};

/// What has arrived at a port since its driver ran: texts, and last its end.
pub(crate) type Inbox = Rc<RefCell<Vec<Option<Result<String, TransportError>>>>>;

/// The port of one connection.
pub(crate) struct Port {
    pub(crate) connection: u32,
    pub(crate) inbox: Inbox,
}

impl TextPort for Port {
    /// A port that does not take a text takes none any more, so it is over then.
    fn send(&mut self, text: String) {
        let cause = boundary::send(self.connection, 0, "", &text);
        if let Some(failed) = thrown(TransportErrorKind::Closed, cause) {
            self.inbox.borrow_mut().push(Some(Err(failed)));
        }
    }

    fn poll(&mut self, _: &mut Context<'_>) -> Poll<Option<Result<String, TransportError>>> {
        let mut inbox = self.inbox.borrow_mut();
        if inbox.is_empty() { Poll::Pending } else { Poll::Ready(inbox.remove(0)) }
    }

    fn close(&mut self) {
        boundary::abort(self.connection, 0);
        self.inbox.borrow_mut().push(None);
    }
}
