use std::{
    cell::Cell,
    fmt::{self, Display},
    rc::Rc,
    sync::Arc,
};

use js_sys::Promise;
use sandwire_io::{Body, Endpoint, HttpService, TextLink};
use sandwire_proto::{
    Limits,
    http::{RequestHead, ResponseHead, Verb},
};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{future_to_promise, spawn_local};
use web_sys::{Request, Response, ResponseInit};

use crate::{
    WebEnv,
    port::Port,
    stream::{Incoming, Transfer, outgoing},
};

/// Exports a server from a wasm module, for a web worker and for an edge isolate.
///
/// Takes a function that makes the server; it is called once, when the server is first needed, and what it
/// returns when it fails is thrown as an `Error`. The module then exports to JavaScript:
///
/// - `fetch(request)`, which answers a `Request` with a promise of a `Response`;
/// - `serve(port)`, which serves one `MessagePort`; without one, the worker it runs in: whoever speaks to the worker
///   itself, and every port that the worker is sent.
///
/// ```ignore
/// fn server() -> Result<Server, RegistrationError> {
///     Server::builder("adder", "1.0.0").tool("add", "Adds.", |Args { a, b }: Args| a + b).build()
/// }
///
/// sandwire_web::export!(server);
/// ```
///
/// A web worker, which must listen before it waits for its module, or it may miss messages:
///
/// ```js
/// import init, { serve } from "./adder.js";
/// const ready = init();
/// addEventListener("message", async ({ ports: [port] }) => { await ready; serve(port); });
/// ```
///
/// An edge isolate:
///
/// ```js
/// import { initSync, fetch } from "./adder.js";
/// import module from "./adder_bg.wasm";
/// initSync({ module });
/// export default { fetch };
/// ```
#[macro_export]
macro_rules! export {
    ($server:path) => {
        const _: () = {
            use $crate::__export::{Exported, JsValue, Promise, Request, share, wasm_bindgen};

            thread_local! {
                static SERVER: ::std::cell::OnceCell<Exported> = const { ::std::cell::OnceCell::new() };
            }

            fn exported() -> ::std::result::Result<Exported, JsValue> {
                SERVER.with(|server| match server.get() {
                    Some(exported) => Ok(exported.clone()),
                    None => share($server).map(|made| server.get_or_init(|| made).clone()),
                })
            }

            #[wasm_bindgen::prelude::wasm_bindgen(wasm_bindgen = $crate::__export::wasm_bindgen)]
            pub fn fetch(request: Request) -> ::std::result::Result<Promise, JsValue> {
                Ok(exported()?.fetch(request))
            }

            #[wasm_bindgen::prelude::wasm_bindgen(wasm_bindgen = $crate::__export::wasm_bindgen)]
            pub fn serve(port: JsValue) -> ::std::result::Result<(), JsValue> {
                exported()?.serve(port);
                Ok(())
            }
        };
    };
}

/// A server behind the traits that carry it.
#[derive(Clone)]
pub struct Exported {
    endpoint: Arc<dyn Endpoint>,
    service: Arc<dyn HttpService>,
}

/// Makes a server; a failure becomes a JavaScript `Error`.
pub fn share<S: Endpoint + HttpService, E: Display>(make: fn() -> Result<S, E>) -> Result<Exported, JsValue> {
    match make() {
        Ok(server) => {
            let server = Arc::new(server);
            Ok(Exported { endpoint: server.clone(), service: server })
        }
        Err(error) => Err(JsError::new(&error.to_string()).into()),
    }
}

impl fmt::Debug for Exported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Exported")
    }
}

#[wasm_bindgen]
extern "C" {
    type Fields;

    #[wasm_bindgen(method, js_name = forEach)]
    fn for_each(this: &Fields, visit: &mut dyn FnMut(String, String));

    #[wasm_bindgen(extends = js_sys::Object)]
    type Record;

    #[wasm_bindgen(method, indexing_setter)]
    fn set(this: &Record, name: &str, value: &str);

    type Scope;

    #[wasm_bindgen(method, js_name = addEventListener)]
    fn add_event_listener(this: &Scope, name: &str, listener: &JsValue);

    type Event;

    #[wasm_bindgen(method, getter)]
    fn data(this: &Event) -> JsValue;

    #[wasm_bindgen(method, getter)]
    fn ports(this: &Event) -> Option<js_sys::Array>;
}

impl Exported {
    /// Answers a request.
    pub fn fetch(&self, request: Request) -> Promise {
        let body = Incoming::new(request.body(), Transfer::detached());
        let answer = self.service.handle(head(&request), Box::new(body));
        future_to_promise(async move {
            let (head, body) = answer.await;
            response(&head, body).await
        })
    }

    /// Serves a port, or this worker.
    pub fn serve(&self, port: JsValue) {
        let scope: JsValue = js_sys::global().into();
        if port.is_undefined() || port == scope {
            self.serve_scope(scope);
        } else {
            spawn_local(self.clone().run(Port::new(port)));
        }
    }

    async fn run(self, port: Port) {
        let link = TextLink::new(port, Limits::default().max_message_bytes);
        sandwire_io::serve(self.endpoint, WebEnv::shared(), Box::new(link)).await;
    }

    /// The first text begins a connection over the scope itself, which then listens for the others.
    fn serve_scope(&self, scope: JsValue) {
        let server = self.clone();
        let busy = Rc::new(Cell::new(false));
        let own = scope.clone();
        let listener = Closure::<dyn FnMut(Event)>::new(move |event: Event| {
            for port in event.ports().iter().flat_map(js_sys::Array::iter) {
                server.serve(port);
            }
            if let Some(text) = event.data().as_string()
                && !busy.replace(true)
            {
                let port = Port::borrowed(own.clone());
                port.arrived(text);
                let (server, busy) = (server.clone(), Rc::clone(&busy));
                spawn_local(async move {
                    server.run(port).await;
                    busy.set(false);
                });
            }
        });
        let listener = listener.into_js_value();
        let scope = scope.unchecked_into::<Scope>();
        for name in ["message", "connect"] {
            scope.add_event_listener(name, &listener);
        }
    }
}

fn head(request: &Request) -> RequestHead {
    let url = request.url();
    let mut head = RequestHead::new(Verb::from(request.method().as_str()));
    let after_scheme = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
    head.path = after_scheme.find('/').and_then(|at| after_scheme.get(at..)).unwrap_or("/").to_owned();
    let fields = request.headers().unchecked_into::<Fields>();
    fields.for_each(&mut |value: String, name: String| head.headers.push(name, value));
    head
}

async fn response(head: &ResponseHead, mut body: Box<dyn Body>) -> Result<JsValue, JsValue> {
    let init = ResponseInit::new();
    init.set_status(head.status);
    let fields = js_sys::Object::new().unchecked_into::<Record>();
    for (name, value) in head.headers.iter() {
        fields.set(name, value);
    }
    init.set_headers(&fields);
    if head.headers.media_type() == Some("text/event-stream") {
        let stream = outgoing(body).unchecked_into();
        return Response::new_with_opt_readable_stream_and_init(Some(&stream), &init).map(Into::into);
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = std::future::poll_fn(|cx| body.poll_chunk(cx)).await {
        bytes.append(&mut chunk.map_err(|error| JsError::new(error.message()))?);
    }
    if bytes.is_empty() {
        return Response::new_with_opt_str_and_init(None, &init).map(Into::into);
    }
    Response::new_with_opt_u8_array_and_init(Some(&mut bytes), &init).map(Into::into)
}
