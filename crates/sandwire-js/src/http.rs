//! HTTP requests that the TypeScript side makes. It awaits `fetch` and reads bodies, so that no promise crosses the
//! boundary, and tells the connection what comes.

use std::{
    cell::{Cell, RefCell},
    pin::Pin,
    rc::Rc,
    task::{Context, Poll},
};

use sandwire_io::{Body, BoxFuture, HttpClient, HttpRequest, HttpResponse};
use sandwire_json::{Raw, Writer};
use sandwire_proto::{
    TransportError,
    http::{Content, RequestHead, ResponseHead},
};

use crate::boundary;

/// How much of a JSON body may wait before the driver hears of it.
const ENOUGH: usize = 64 * 1024;

/// HTTP for one connection.
pub(crate) struct Http {
    pub(crate) connection: u32,
    pub(crate) arrivals: Rc<Arrivals>,
}

impl HttpClient for Http {
    fn send(&self, request: HttpRequest) -> BoxFuture<'static, Result<HttpResponse, TransportError>> {
        let arrivals = Rc::clone(&self.arrivals);
        let id = arrivals.begin();
        let head = written(&request.head);
        boundary::send(self.connection, id, head.as_str(), request.body.as_deref().unwrap_or_default());
        Box::pin(Sending(Some(Transfer { connection: self.connection, id, arrivals })))
    }
}

fn written(head: &RequestHead) -> Raw {
    let mut json = Writer::new();
    json.begin_object();
    json.key("method");
    json.string(head.method.as_str());
    json.key("headers");
    json.begin_object();
    for (name, value) in head.headers.iter() {
        json.key(name);
        json.string(value);
    }
    json.end_object();
    json.end_object();
    json.into_raw()
}

/// What has arrived of the requests under way.
#[derive(Default)]
pub(crate) struct Arrivals {
    latest: Cell<u32>,
    running: RefCell<Vec<Arrival>>,
}

#[derive(Default)]
struct Arrival {
    id: u32,
    head: Option<ResponseHead>,
    /// JSON is read when it is complete, so the driver need not hear of what comes before.
    json: bool,
    bytes: Vec<u8>,
    /// All has arrived; there is nothing left to abort.
    over: bool,
    failed: Option<TransportError>,
}

impl Arrivals {
    fn begin(&self) -> u32 {
        let id = self.latest.get() + 1;
        self.latest.set(id);
        self.running.borrow_mut().push(Arrival { id, ..Arrival::default() });
        id
    }

    fn with<T>(&self, id: u32, look: impl FnOnce(&mut Arrival) -> T) -> Option<T> {
        self.running.borrow_mut().iter_mut().find(|arrival| arrival.id == id).map(look)
    }

    /// The head of a response. Says whether the driver should hear of it.
    pub(crate) fn head(&self, id: u32, head: ResponseHead) -> bool {
        let json = matches!(Content::of(&head.headers), Content::Json);
        self.with(id, |arrival| {
            arrival.json = json;
            arrival.head = Some(head);
        });
        !json
    }

    /// More of a response's body. Says whether the driver should hear of it.
    pub(crate) fn chunk(&self, id: u32, bytes: &mut Vec<u8>) -> bool {
        let told = self.with(id, |arrival| {
            if arrival.bytes.is_empty() {
                std::mem::swap(&mut arrival.bytes, bytes);
            } else {
                arrival.bytes.append(bytes);
            }
            !arrival.json || arrival.bytes.len() > ENOUGH
        });
        told == Some(true)
    }

    /// The end of a response, or what was thrown instead.
    pub(crate) fn over(&self, id: u32, failed: Option<TransportError>) {
        self.with(id, |arrival| {
            arrival.over = true;
            arrival.failed = failed;
        });
    }
}

/// A request under way: aborted when it is dropped before its end.
struct Transfer {
    connection: u32,
    id: u32,
    arrivals: Rc<Arrivals>,
}

impl Transfer {
    /// What `take` finds, or else how the request failed. `None` is its end.
    fn poll<T>(&self, take: fn(&mut Arrival) -> Option<T>) -> Poll<Option<Result<T, TransportError>>> {
        let polled = self.arrivals.with(self.id, |arrival| match take(arrival) {
            Some(found) => Poll::Ready(Some(Ok(found))),
            None if arrival.over => Poll::Ready(arrival.failed.take().map(Err)),
            None => Poll::Pending,
        });
        polled.unwrap_or(Poll::Ready(None))
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        let mut running = self.arrivals.running.borrow_mut();
        let Some(at) = running.iter().position(|arrival| arrival.id == self.id) else { return };
        let arrival = running.swap_remove(at);
        drop(running);
        if !arrival.over {
            boundary::abort(self.connection, self.id);
        }
    }
}

impl Body for Transfer {
    fn poll_chunk(&mut self, _: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, TransportError>>> {
        self.poll(|arrival| (!arrival.bytes.is_empty()).then(|| std::mem::take(&mut arrival.bytes)))
    }
}

/// Waits for the head of a response.
struct Sending(Option<Transfer>);

impl Future for Sending {
    type Output = Result<HttpResponse, TransportError>;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(transfer) = self.0.take() else { return Poll::Pending };
        match transfer.poll(|arrival| arrival.head.take()) {
            Poll::Ready(Some(Ok(head))) => Poll::Ready(Ok(HttpResponse { head, body: Box::new(transfer) })),
            Poll::Ready(Some(Err(error))) => Poll::Ready(Err(error)),
            _ => {
                self.0 = Some(transfer);
                Poll::Pending
            }
        }
    }
}
