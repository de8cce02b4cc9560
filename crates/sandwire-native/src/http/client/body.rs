use std::{
    sync::Arc,
    task::{Context, Poll, Waker, ready},
};

use hyper::body::{self, Body as _, Bytes};
use sandwire_io::Body;
use sandwire_proto::TransportError;

use super::{Shared, carrier::Carrier, connect::Route, connection::AHEAD};

/// How much a chunk holds at most that is passed on when it is complete.
const WHOLE: usize = 16 * 1024 * 1024;

/// How much is read to save the connection of a body that nobody wants.
const SCRAP: usize = 64 * 1024;

/// A body on its connection. At its end the connection goes back to the others; dropped before, it is closed, or goes on
/// without this exchange if it carries others.
pub(super) struct Incoming {
    /// Until the end.
    open: Option<(body::Incoming, Carrier)>,
    /// Whether to wait until a chunk is as large as it can be: nobody can do anything with half a JSON text.
    patient: bool,
    /// What a patient read has so far.
    part: Vec<u8>,
    /// What comes after the last chunk.
    error: Option<TransportError>,
    home: Arc<Shared>,
    route: Route,
}

impl Incoming {
    pub(super) fn new(body: body::Incoming, carrier: Carrier, patient: bool, home: Arc<Shared>, route: Route) -> Self {
        let length = body.size_hint().exact();
        let part = match length {
            Some(length) if patient => Vec::with_capacity(usize::try_from(length).unwrap_or(WHOLE).min(WHOLE)),
            _ => Vec::new(),
        };
        let patient = patient && length.is_some();
        let mut incoming = Self { open: Some((body, carrier)), patient, part, error: None, home, route };
        incoming.end_if_over();
        incoming
    }

    /// The next bytes; `None` at the end, after which the connection is gone.
    fn poll_bytes(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, TransportError>>> {
        loop {
            let Some((body, carrier)) = &mut self.open else { return Poll::Ready(None) };
            match ready!(carrier.poll_frame(body, cx)) {
                Some(Ok(frame)) => {
                    self.end_if_over();
                    if let Ok(bytes) = frame.into_data()
                        && !bytes.is_empty()
                    {
                        return Poll::Ready(Some(Ok(bytes)));
                    }
                }
                Some(Err(error)) => {
                    self.open = None;
                    return Poll::Ready(Some(Err(error)));
                }
                None => self.end(),
            }
        }
    }

    fn end_if_over(&mut self) {
        if self.open.as_ref().is_some_and(|(body, _)| body.is_end_stream()) {
            self.end();
        }
    }

    /// The body is over, and its connection is free.
    fn end(&mut self) {
        if let Some((body, mut carrier)) = self.open.take() {
            carrier.release(body);
            if carrier.is_free() {
                self.home.keep(self.route.clone(), carrier);
            }
        }
    }
}

impl Body for Incoming {
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, TransportError>>> {
        if let Some(error) = self.error.take() {
            return Poll::Ready(Some(Err(error)));
        }
        if !self.patient {
            return self.poll_bytes(cx).map_ok(Vec::from);
        }
        while self.part.len() + AHEAD <= WHOLE {
            match ready!(self.poll_bytes(cx)) {
                Some(Ok(bytes)) => self.part.extend_from_slice(&bytes),
                Some(Err(error)) if self.part.is_empty() => return Poll::Ready(Some(Err(error))),
                Some(Err(error)) => {
                    self.error = Some(error);
                    break;
                }
                None => break,
            }
        }
        let part = std::mem::take(&mut self.part);
        Poll::Ready((!part.is_empty()).then_some(Ok(part)))
    }
}

impl Drop for Incoming {
    /// A body whose end is here already gives its connection back.
    fn drop(&mut self) {
        if self.open.as_ref().is_some_and(|(_, carrier)| carrier.is_shared()) {
            return self.end();
        }
        let cx = &mut Context::from_waker(Waker::noop());
        let mut read = 0;
        while read < SCRAP
            && let Poll::Ready(Some(Ok(bytes))) = self.poll_bytes(cx)
        {
            read += bytes.len();
        }
    }
}
