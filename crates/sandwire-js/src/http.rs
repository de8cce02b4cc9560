//! HTTP requests that the TypeScript side makes. It awaits `fetch` and reads bodies, so that no promise crosses the
//! boundary, and tells the connection what comes.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll, Waker},
};

use sandwire_io::{Body, BoxFuture, HttpClient, HttpRequest, HttpResponse};
use sandwire_proto::{
    TransportError,
    http::{Content, RequestHead, ResponseHead, names},
};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// What makes the requests of one connection.
    #[derive(Clone, Debug)]
    pub type Requests;

    /// Begins a request. What comes is told under `id`, never before this returns.
    #[wasm_bindgen(method)]
    fn send(this: &Requests, id: u32, head: &JsValue, body: Option<&str>) -> Sent;

    #[derive(Debug)]
    type Sent;

    #[wasm_bindgen(method)]
    fn abort(this: &Sent);

    #[wasm_bindgen(js_namespace = JSON, js_name = parse)]
    fn parse(json: &str) -> JsValue;
}

/// How many request heads are kept as JavaScript has them. Most requests of a connection have one of a few.
const HEADS: usize = 8;

/// How much of a JSON body may wait before the driver hears of it.
const ENOUGH: usize = 64 * 1024;

/// HTTP through [`Requests`].
pub(crate) struct Http {
    requests: Requests,
    heads: RefCell<VecDeque<(RequestHead, JsValue)>>,
    arrivals: Rc<Arrivals>,
}

impl Http {
    pub(crate) fn new(requests: Requests, arrivals: Rc<Arrivals>) -> Self {
        Self { requests, heads: RefCell::default(), arrivals }
    }

    fn head(&self, head: RequestHead) -> JsValue {
        let mut heads = self.heads.borrow_mut();
        let known = heads.iter().find(|(known, _)| known.method == head.method && known.headers == head.headers);
        if let Some((_, value)) = known {
            return value.clone();
        }
        let mut json = sandwire_json::Writer::new();
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
        let value = parse(json.into_raw().as_str());
        if heads.len() == HEADS {
            heads.pop_front();
        }
        heads.push_back((head, value.clone()));
        value
    }
}

impl HttpClient for Http {
    fn send(&self, request: HttpRequest) -> BoxFuture<'static, Result<HttpResponse, TransportError>> {
        let head = self.head(request.head);
        let arrivals = Rc::clone(&self.arrivals);
        let id = arrivals.begin();
        let sent = self.requests.send(id, &head, request.body.as_deref());
        Box::pin(Sending(Some(Transfer { id, sent, arrivals })))
    }
}

/// What has arrived of the requests under way.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    latest: Cell<u32>,
    running: RefCell<Vec<Arrival>>,
}

#[derive(Debug, Default)]
struct Arrival {
    id: u32,
    head: Option<ResponseHead>,
    /// JSON is read when it is complete, so what comes before wakes nobody.
    json: bool,
    bytes: Vec<u8>,
    /// All has arrived; there is nothing left to abort.
    over: bool,
    failed: Option<TransportError>,
    waker: Option<Waker>,
}

impl Arrivals {
    fn begin(&self) -> u32 {
        let id = self.latest.get().wrapping_add(1);
        self.latest.set(id);
        self.running.borrow_mut().push(Arrival { id, ..Arrival::default() });
        id
    }

    fn end(&self, id: u32) -> Option<Arrival> {
        let mut running = self.running.borrow_mut();
        let at = running.iter().position(|arrival| arrival.id == id)?;
        Some(running.swap_remove(at))
    }

    /// Adds to what has arrived of one request; `change` says whether its driver should look.
    fn add(&self, id: u32, change: impl FnOnce(&mut Arrival) -> bool) {
        let mut running = self.running.borrow_mut();
        let Some(arrival) = running.iter_mut().find(|arrival| arrival.id == id) else { return };
        let waker = if change(arrival) { arrival.waker.take() } else { None };
        drop(running);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub(crate) fn head(
        &self,
        id: u32,
        status: u16,
        content_type: &str,
        session: Option<&str>,
        challenge: Option<&str>,
    ) {
        let mut head = ResponseHead::new(status);
        head.headers.push(names::CONTENT_TYPE, content_type);
        for (name, value) in [(names::SESSION_ID, session), (names::WWW_AUTHENTICATE, challenge)] {
            if let Some(value) = value {
                head.headers.push(name, value);
            }
        }
        self.add(id, |arrival| {
            arrival.json = matches!(Content::of(&head.headers), Content::Json);
            arrival.head = Some(head);
            !arrival.json
        });
    }

    pub(crate) fn chunk(&self, id: u32, bytes: Vec<u8>) {
        self.add(id, |arrival| {
            if arrival.bytes.is_empty() {
                arrival.bytes = bytes;
            } else {
                arrival.bytes.extend_from_slice(&bytes);
            }
            !arrival.json || arrival.bytes.len() > ENOUGH
        });
    }

    pub(crate) fn over(&self, id: u32, thrown: Option<JsValue>) {
        self.add(id, |arrival| {
            arrival.over = true;
            arrival.failed = thrown.map(sandwire_web::failure);
            true
        });
    }
}

/// A request under way: aborted when it is dropped before its end.
#[derive(Debug)]
struct Transfer {
    id: u32,
    sent: Sent,
    arrivals: Rc<Arrivals>,
}

impl Transfer {
    /// What `take` finds, or else how the request failed. `None` is its end.
    fn poll<T>(
        &self,
        cx: &Context<'_>,
        take: impl FnOnce(&mut Arrival) -> Option<T>,
    ) -> Poll<Option<Result<T, TransportError>>> {
        let mut running = self.arrivals.running.borrow_mut();
        let Some(arrival) = running.iter_mut().find(|arrival| arrival.id == self.id) else {
            return Poll::Ready(None);
        };
        if let Some(found) = take(arrival) {
            return Poll::Ready(Some(Ok(found)));
        }
        if arrival.over {
            return Poll::Ready(arrival.failed.take().map(Err));
        }
        arrival.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        if self.arrivals.end(self.id).is_some_and(|arrival| !arrival.over) {
            self.sent.abort();
        }
    }
}

impl Body for Transfer {
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, TransportError>>> {
        self.poll(cx, |arrival| (!arrival.bytes.is_empty()).then(|| std::mem::take(&mut arrival.bytes)))
    }
}

/// Waits for the head of a response.
struct Sending(Option<Transfer>);

impl Future for Sending {
    type Output = Result<HttpResponse, TransportError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = match &self.0 {
            Some(transfer) => transfer.poll(cx, |arrival| arrival.head.take()),
            None => Poll::Pending,
        };
        match std::task::ready!(polled) {
            Some(Ok(head)) => match self.0.take() {
                Some(transfer) => Poll::Ready(Ok(HttpResponse { head, body: Box::new(transfer) })),
                None => Poll::Pending,
            },
            Some(Err(error)) => Poll::Ready(Err(error)),
            None => Poll::Pending,
        }
    }
}
