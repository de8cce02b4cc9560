//! Bodies: a `ReadableStream` as chunks, and chunks as a `ReadableStream`.

use std::{
    cell::Cell,
    future::poll_fn,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll},
};

use js_sys::{Promise, Uint8Array};
use sandwire_io::Body;
use sandwire_proto::TransportError;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, future_to_promise};
use web_sys::{AbortController, ReadableStream, ReadableStreamDefaultReader, ReadableStreamReadResult};

use crate::error::failure;

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
}

impl Incoming {
    /// `None` is a body of no bytes.
    pub(crate) fn new(stream: Option<ReadableStream>, transfer: Transfer) -> Self {
        let reader = stream.map(|stream| stream.get_reader().unchecked_into());
        Self { reader, reading: None, transfer }
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
                return Poll::Ready(Some(Err(failure(thrown))));
            }
        };
        if read.get_done() == Some(true) {
            self.end();
            return Poll::Ready(None);
        }
        match read.get_value().dyn_into::<Uint8Array>() {
            Ok(bytes) => Poll::Ready(Some(Ok(bytes.to_vec()))),
            Err(other) => {
                self.end();
                Poll::Ready(Some(Err(failure(other))))
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

    type Controller;

    #[wasm_bindgen(method)]
    fn enqueue(this: &Controller, chunk: &Uint8Array);

    #[wasm_bindgen(method)]
    fn close(this: &Controller);

    #[wasm_bindgen(method)]
    fn error(this: &Controller, reason: &JsValue);
}

/// A stream whose chunks are taken from `body` when they are wanted. Cancelling it drops the body.
pub(crate) fn outgoing(body: Box<dyn Body>) -> JsValue {
    let open = Rc::new(Cell::new(true));
    let body = Rc::new(Cell::new(Some(body)));
    let source = js_sys::Object::new().unchecked_into::<Source>();

    let pull = {
        let (open, body) = (Rc::clone(&open), Rc::clone(&body));
        move |controller: Controller| -> Promise {
            let (open, body) = (Rc::clone(&open), Rc::clone(&body));
            future_to_promise(async move {
                let chunk = poll_fn(|cx| {
                    // What runs inside may cancel the stream, so the body is out of its place meanwhile.
                    let Some(mut taken) = body.take() else { return Poll::Ready(None) };
                    let chunk = taken.poll_chunk(cx);
                    body.set(open.get().then_some(taken));
                    chunk
                });
                match chunk.await {
                    _ if !open.get() => {}
                    Some(Ok(bytes)) => controller.enqueue(&Uint8Array::from(bytes.as_slice())),
                    Some(Err(error)) => {
                        body.set(None);
                        controller.error(&JsError::new(error.message()).into());
                    }
                    None => {
                        body.set(None);
                        controller.close();
                    }
                }
                Ok(JsValue::UNDEFINED)
            })
        }
    };
    let cancel = move || {
        open.set(false);
        body.set(None);
    };
    source.set_pull(&Closure::<dyn FnMut(Controller) -> Promise>::new(pull).into_js_value());
    source.set_cancel(&Closure::<dyn FnMut()>::new(cancel).into_js_value());
    Stream::new(&source).into()
}
