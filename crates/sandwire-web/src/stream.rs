//! Bodies: a `ReadableStream` as chunks, and chunks as a `ReadableStream`.

use std::{
    cell::Cell,
    future::poll_fn,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll, Waker},
};

use js_sys::{Promise, Uint8Array};
use sandwire_io::{Body, BoxFuture};
use sandwire_proto::TransportError;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, future_to_promise};
use web_sys::{AbortController, AbortSignal, ReadableStream, ReadableStreamDefaultReader, ReadableStreamReadResult};

/// A request under way: aborted when it is dropped before its end.
///
/// Aborting one that has ended would still build an exception, which costs about 10 µs.
pub(crate) struct Transfer(Option<AbortController>);

impl Transfer {
    pub(crate) fn new(abort: AbortController) -> Self {
        Self(Some(abort))
    }

    /// A body that nothing need be told about when it is dropped.
    pub(crate) fn detached() -> Self {
        Self(None)
    }

    pub(crate) fn end(&mut self) {
        self.0 = None;
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        if let Some(abort) = &self.0 {
            abort.abort();
        }
    }
}

/// The chunks of a `ReadableStream`.
pub(crate) struct Incoming {
    reader: Option<ReadableStreamDefaultReader>,
    reading: Option<JsFuture>,
    transfer: Transfer,
    failure: fn(JsValue) -> TransportError,
}

impl Incoming {
    /// `None` is a body of no bytes. `failure` makes an error of what reading throws.
    pub(crate) fn new(
        stream: Option<ReadableStream>,
        transfer: Transfer,
        failure: fn(JsValue) -> TransportError,
    ) -> Self {
        let reader = stream.map(|stream| stream.get_reader().unchecked_into());
        Self { reader, reading: None, transfer, failure }
    }

    fn end(&mut self) {
        self.reader = None;
        self.transfer.end();
    }
}

impl Body for Incoming {
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, TransportError>>> {
        let Some(reader) = &self.reader else {
            self.transfer.end();
            return Poll::Ready(None);
        };
        let reading = self.reading.get_or_insert_with(|| JsFuture::from(reader.read()));
        let read = std::task::ready!(Pin::new(reading).poll(cx));
        self.reading = None;
        let read = match read {
            Ok(read) => read.unchecked_into::<ReadableStreamReadResult>(),
            Err(thrown) => {
                self.end();
                return Poll::Ready(Some(Err((self.failure)(thrown))));
            }
        };
        if read.get_done() == Some(true) {
            self.end();
            return Poll::Ready(None);
        }
        match read.get_value().dyn_into::<Uint8Array>() {
            Ok(bytes) => Poll::Ready(Some(Ok(bytes.unchecked_into::<Chunk>().bytes()))),
            Err(other) => {
                self.end();
                Poll::Ready(Some(Err((self.failure)(other))))
            }
        }
    }
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(extends = js_sys::Object)]
    type Source;

    #[wasm_bindgen(method, setter)]
    fn set_pull(this: &Source, pull: &JsValue);

    #[wasm_bindgen(method, setter)]
    fn set_cancel(this: &Source, cancel: &JsValue);

    #[wasm_bindgen(js_name = ReadableStream)]
    type Stream;

    #[wasm_bindgen(constructor, js_class = ReadableStream)]
    fn new(source: &Source) -> Stream;

    /// A `Uint8Array`. The copy that the bindings make of a returned one weighs less than `to_vec`.
    type Chunk;

    #[wasm_bindgen(method, js_name = subarray)]
    fn bytes(this: &Chunk) -> Vec<u8>;

    type Controller;

    #[wasm_bindgen(method)]
    fn enqueue(this: &Controller, chunk: &Uint8Array);

    #[wasm_bindgen(method)]
    fn close(this: &Controller);

    #[wasm_bindgen(method)]
    fn error(this: &Controller, reason: &JsValue);
}

/// A promise of what a future gives. Takes any in a box, so that a module has this once.
pub(crate) fn promise(future: BoxFuture<'static, Result<JsValue, JsValue>>) -> Promise {
    future_to_promise(future)
}

/// What answers one request, for as long as the client is there.
#[derive(Default)]
pub(crate) struct Outgoing {
    gone: Cell<bool>,
    body: Cell<Option<Box<dyn Body>>>,
    waker: Cell<Option<Waker>>,
}

impl Outgoing {
    /// Drops what is under way when `signal` is aborted.
    pub(crate) fn until(signal: &AbortSignal) -> Rc<Self> {
        let outgoing = Rc::new(Self::default());
        let cut = Rc::clone(&outgoing);
        let listener = Closure::<dyn FnMut()>::new(move || cut.cut()).into_js_value();
        signal.set_onabort(Some(listener.unchecked_ref()));
        if signal.aborted() {
            outgoing.cut();
        }
        outgoing
    }

    fn cut(&self) {
        self.gone.set(true);
        self.body.set(None);
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    /// Waits for a future, or for the client to go: then there is nothing.
    pub(crate) async fn wait<T>(&self, mut future: BoxFuture<'static, T>) -> Option<T> {
        poll_fn(|cx| {
            if self.gone.get() {
                return Poll::Ready(None);
            }
            self.waker.set(Some(cx.waker().clone()));
            future.as_mut().poll(cx).map(Some)
        })
        .await
    }

    /// The next chunk. What runs inside may cut the line, so the body is out of its place meanwhile.
    async fn chunk(&self) -> Option<Result<Vec<u8>, TransportError>> {
        poll_fn(|cx| {
            let Some(mut body) = self.body.take() else { return Poll::Ready(None) };
            self.waker.set(Some(cx.waker().clone()));
            let chunk = body.poll_chunk(cx);
            self.body.set((!self.gone.get()).then_some(body));
            chunk
        })
        .await
    }

    /// A `ReadableStream` whose chunks are taken from `body` when they are wanted. Cancelling it drops the body.
    pub(crate) fn stream(self: Rc<Self>, body: Box<dyn Body>) -> JsValue {
        if !self.gone.get() {
            self.body.set(Some(body));
        }
        let source = js_sys::Object::new().unchecked_into::<Source>();
        let outgoing = Rc::clone(&self);
        let pull = move |controller: Controller| -> Promise {
            let outgoing = Rc::clone(&outgoing);
            promise(Box::pin(async move {
                match outgoing.chunk().await {
                    _ if outgoing.gone.get() => {}
                    Some(Ok(bytes)) => controller.enqueue(&Uint8Array::from(bytes.as_slice())),
                    Some(Err(error)) => {
                        outgoing.cut();
                        controller.error(&JsError::new(error.message()).into());
                    }
                    None => {
                        outgoing.cut();
                        controller.close();
                    }
                }
                Ok(JsValue::UNDEFINED)
            }))
        };
        source.set_pull(&Closure::<dyn FnMut(Controller) -> Promise>::new(pull).into_js_value());
        source.set_cancel(&Closure::<dyn FnMut()>::new(move || self.cut()).into_js_value());
        Stream::new(&source).into()
    }
}
