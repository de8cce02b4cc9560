use std::{
    future::poll_fn,
    io,
    sync::Arc,
    task::{Context, Poll},
};

use sandwire_proto::{TransportError, TransportErrorKind};

use super::{
    connection::Connection,
    head::{self, Parsed, malformed},
};

/// How many answers that are not the final one (statuses of 1xx) may come before it.
const INTERIM: usize = 16;

/// How many bytes of empty lines may come before a head.
const EMPTY: usize = 64;

/// What bounds a response's head.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeadLimits {
    pub(super) bytes: usize,
    pub(super) fields: usize,
}

/// Why there is no response.
pub(super) struct Failure {
    pub(super) error: TransportError,
    /// Whether the connection ended before anything of the response came.
    pub(super) unanswered: bool,
}

impl From<TransportError> for Failure {
    fn from(error: TransportError) -> Self {
        Self { error, unanswered: false }
    }
}

/// Sends a request and reads the head of the response, which may come before the request has gone out.
pub(super) async fn exchange(
    connection: &mut Connection,
    head: &str,
    body: &str,
    method: &str,
    limits: HeadLimits,
) -> Result<Parsed, Failure> {
    let mut sending = Sending::new(head, body);
    let mut seen = 0;
    let mut interim = 0;
    let mut empty = 0;
    poll_fn(|cx| {
        loop {
            sending.poll(connection, cx);
            empty += skip_empty_lines(connection);
            if empty > EMPTY {
                return Poll::Ready(Err(malformed("the response is nothing but empty lines").into()));
            }
            let have = connection.buffered();
            if let Some(end) = head::end(have, seen) {
                let mut parsed = head::parse(have.get(..end).unwrap_or_default(), limits.fields, method)?;
                connection.consume(end);
                seen = 0;
                match parsed.head.status {
                    101 => return Poll::Ready(Err(malformed("the server switched protocols unasked").into())),
                    100..=199 if interim < INTERIM => interim += 1,
                    100..=199 => return Poll::Ready(Err(malformed("the response never comes to its head").into())),
                    _ => {
                        parsed.persists &= sending.is_done();
                        return Poll::Ready(Ok(parsed));
                    }
                }
                continue;
            }
            seen = have.len();
            if seen >= limits.bytes {
                let what = "the head of the response is longer than the limit allows";
                return Poll::Ready(Err(TransportError::new(TransportErrorKind::TooLarge, what).into()));
            }
            let ended = match connection.poll_fill(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(0)) => None,
                Poll::Ready(Ok(_)) => continue,
                Poll::Ready(Err(error)) => Some(error),
            };
            let unanswered = seen == 0 && interim == 0;
            let error = closed("before the head of the response was there", ended.or(sending.failed.take()));
            return Poll::Ready(Err(Failure { error, unanswered }));
        }
    })
    .await
}

/// Some servers end a response with more line ends than belong to it.
fn skip_empty_lines(connection: &mut Connection) -> usize {
    let empty = connection.buffered().iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    connection.consume(empty);
    empty
}

/// The connection ended `when` it should not have.
pub(super) fn closed(when: &str, cause: Option<io::Error>) -> TransportError {
    let message = format!("the connection ended {when}; call again if that is safe");
    let error = TransportError::new(TransportErrorKind::Closed, message);
    match cause {
        Some(cause) => error.with_source(Arc::new(cause)),
        None => error,
    }
}

/// A request on its way out.
struct Sending<'a> {
    /// What is left of head and body.
    parts: [&'a [u8]; 2],
    flushed: bool,
    /// Why no more can be sent. The server may have answered nevertheless.
    failed: Option<io::Error>,
}

impl<'a> Sending<'a> {
    fn new(head: &'a str, body: &'a str) -> Self {
        Self { parts: [head.as_bytes(), body.as_bytes()], flushed: false, failed: None }
    }

    fn is_done(&self) -> bool {
        self.flushed && self.failed.is_none()
    }

    /// Sends what the connection takes.
    fn poll(&mut self, connection: &mut Connection, cx: &mut Context<'_>) {
        while !self.flushed && self.failed.is_none() {
            let next = self.parts.iter_mut().find(|part| !part.is_empty());
            let Some(part) = next else {
                match connection.poll_flush(cx) {
                    Poll::Ready(Ok(())) => self.flushed = true,
                    Poll::Ready(Err(error)) => self.failed = Some(error),
                    Poll::Pending => return,
                }
                continue;
            };
            match connection.poll_write(cx, part) {
                Poll::Ready(Ok(0)) => self.failed = Some(io::ErrorKind::WriteZero.into()),
                Poll::Ready(Ok(count)) => *part = part.get(count..).unwrap_or_default(),
                Poll::Ready(Err(error)) => self.failed = Some(error),
                Poll::Pending => return,
            }
        }
    }
}
