use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use hyper::{
    Request, Response,
    body::{Body as _, Bytes, Frame, Incoming},
};
use sandwire_proto::TransportError;

use super::{
    connection::{Connection, Failure},
    h2::Multiplex,
    request::Payload,
};

/// What carries an exchange: a connection that has no other, or one that has many.
pub(super) enum Carrier {
    Alone(Box<Connection>),
    Shared(Arc<Multiplex>),
}

impl Carrier {
    pub(super) async fn exchange(&mut self, request: Request<Payload>) -> Result<Response<Incoming>, Failure> {
        match self {
            Self::Alone(connection) => connection.exchange(request).await,
            Self::Shared(multiplex) => multiplex.exchange(request).await,
        }
    }

    /// Reads on in the body of a response.
    pub(super) fn poll_frame(
        &mut self,
        body: &mut Incoming,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, TransportError>>> {
        let connection = match self {
            Self::Alone(connection) => connection,
            Self::Shared(multiplex) => return multiplex.poll_frame(body, cx),
        };
        // What is asked for is read, and what was read is here.
        let mut next = Pin::new(&mut *body).poll_frame(cx);
        if next.is_pending() {
            connection.drive(cx);
            next = Pin::new(body).poll_frame(cx);
        }
        if let Poll::Ready(Some(Ok(_))) = next {
            connection.mark_useful();
        }
        next.map_err(|error| connection.failure(error))
    }

    /// Lets go of a body. Where it has a connection to itself that is of use only after its end.
    pub(super) fn release(&self, body: Incoming) {
        match self {
            Self::Alone(_) => drop(body),
            Self::Shared(multiplex) => multiplex.release(body),
        }
    }

    pub(super) fn is_shared(&self) -> bool {
        matches!(self, Self::Shared(_))
    }

    /// Whether somebody else has it as well.
    pub(super) fn is_used(&self) -> bool {
        matches!(self, Self::Shared(multiplex) if Arc::strong_count(multiplex) > 1)
    }

    /// Whether another request can be sent.
    pub(super) fn is_free(&mut self) -> bool {
        match self {
            Self::Alone(connection) => connection.is_free(),
            Self::Shared(multiplex) => multiplex.is_open(),
        }
    }
}
