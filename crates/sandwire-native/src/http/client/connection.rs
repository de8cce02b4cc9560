use std::{
    error::Error,
    future::{Future, poll_fn},
    io,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, Waker},
};

use hyper::{
    Request, Response,
    body::Incoming,
    client::conn::http1::{self, SendRequest},
};
use sandwire_proto::{TransportError, TransportErrorKind};

use super::{
    request::Payload,
    socket::{Meter, Metered, Socket, Stream},
};

/// What bounds a response's head.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeadLimits {
    pub(super) bytes: usize,
    pub(super) fields: usize,
}

/// A connection and what moves it on, which is polled by whoever waits for a response.
pub(super) struct Connection {
    sender: SendRequest<Payload>,
    driver: http1::Connection<Metered, Payload>,
    /// Whether the driver is done, and how it failed.
    ended: Option<Result<(), hyper::Error>>,
    meter: Arc<Meter>,
}

/// Why there is no response.
pub(super) struct Failure {
    pub(super) error: TransportError,
    /// Whether the connection ended before anything of the response came.
    pub(super) unanswered: bool,
}

/// How many fields a head may have for which hyper needs no memory of its own.
pub(super) const FIELDS: usize = 100;

/// How much is read ahead of what is used.
pub(super) const AHEAD: usize = 128 * 1024;

impl Connection {
    pub(super) async fn new(stream: Stream, limits: HeadLimits) -> Result<Self, TransportError> {
        let meter = Arc::new(Meter::new(limits.bytes));
        let metered = Metered::new(stream, meter.clone());
        let mut builder = http1::Builder::new();
        builder.max_header_size(limits.bytes).max_buf_size(AHEAD.max(limits.bytes));
        if limits.fields != FIELDS {
            builder.max_headers(limits.fields);
        }
        let (sender, driver) = builder.handshake(metered).await.map_err(|error| failure(error, &meter))?;
        Ok(Self { sender, driver, ended: None, meter })
    }

    /// Sends a request and reads the head of the response, which may come before the request has gone out.
    pub(super) async fn exchange(&mut self, request: Request<Payload>) -> Result<Response<Incoming>, Failure> {
        self.meter.reset();
        let before = self.meter.arrived();
        let mut response = pin!(self.sender.try_send_request(request));
        let (driver, ended) = (&mut self.driver, &mut self.ended);
        let answer = poll_fn(|cx| {
            drive(driver, ended, cx);
            response.as_mut().poll(cx)
        })
        .await;
        match answer {
            Ok(response) => {
                self.meter.reset();
                Ok(response)
            }
            Err(error) => {
                let unanswered = self.meter.arrived() == before;
                let error = error.into_error();
                let cause = match self.ended.take() {
                    Some(Err(cause)) if error.is_canceled() => cause,
                    _ => error,
                };
                Err(Failure { error: failure(cause, &self.meter), unanswered })
            }
        }
    }

    /// Moves the connection on.
    pub(super) fn drive(&mut self, cx: &mut Context<'_>) {
        drive(&mut self.driver, &mut self.ended, cx);
    }

    /// What arrived was of use.
    pub(super) fn mark_useful(&self) {
        self.meter.reset();
    }

    /// Why the body of a response failed.
    pub(super) fn failure(&self, error: hyper::Error) -> TransportError {
        failure(error, &self.meter)
    }

    /// Whether another request can be sent: the other side keeps the connection open, and has said nothing unasked.
    pub(super) fn is_free(&mut self) -> bool {
        self.drive(&mut Context::from_waker(Waker::noop()));
        self.ended.is_none() && self.sender.is_ready()
    }

    /// The bare socket, for what is to speak another protocol over it. `None` where more was read than a head.
    pub(super) fn into_socket(self) -> Option<Socket> {
        let parts = self.driver.into_parts();
        match parts.io.into_stream() {
            Stream::Plain(socket) if parts.read_buf.is_empty() => Some(socket),
            _ => None,
        }
    }
}

fn drive(
    driver: &mut http1::Connection<Metered, Payload>,
    ended: &mut Option<Result<(), hyper::Error>>,
    cx: &mut Context<'_>,
) {
    if ended.is_none()
        && let Poll::Ready(how) = Pin::new(driver).poll(cx)
    {
        *ended = Some(how);
    }
}

/// What a failure of HTTP is to whoever made the call.
pub(super) fn failure(error: hyper::Error, meter: &Meter) -> TransportError {
    let cause = error.source().and_then(|source| source.downcast_ref::<io::Error>()).map(io::Error::kind);
    let (kind, message) = match cause {
        _ if error.is_parse_too_large() || meter.is_empty() => {
            (TransportErrorKind::TooLarge, "the response has more around its body than the limit allows")
        }
        _ if error.is_parse() => {
            (TransportErrorKind::Malformed, "the response is not HTTP; check that the address is that of an MCP server")
        }
        Some(io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData) => (
            TransportErrorKind::Malformed,
            "the response's body breaks the rules of HTTP; report this to the server's author",
        ),
        _ if error.source().is_some_and(is_against_http2) => {
            (TransportErrorKind::Malformed, "the server breaks the rules of HTTP/2; report this to the server's author")
        }
        _ if error.is_user() => (TransportErrorKind::Other, "the request cannot be sent"),
        _ => (
            TransportErrorKind::Closed,
            "the connection ended before the end of the response; call again if that is safe",
        ),
    };
    TransportError::new(kind, message).with_source(Arc::new(error))
}

fn is_against_http2(cause: &(dyn Error + 'static)) -> bool {
    cause.downcast_ref::<h2::Error>().is_some_and(h2::Error::is_library)
}
