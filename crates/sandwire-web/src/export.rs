use std::{
    cell::Cell,
    fmt::{self, Display},
    rc::Rc,
    sync::Arc,
};

use js_sys::Promise;
use sandwire_io::{Body, Endpoint, Env, HttpService, TextLink};
use sandwire_proto::{
    TransportError, TransportErrorKind,
    http::{RequestHead, ResponseHead, Verb},
};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;
use web_sys::{Request, Response, ResponseInit};

use crate::{
    WebEnv,
    port::Port,
    stream::{Incoming, Outgoing, Transfer, promise},
};

/// Exports a server from a wasm module, for a web worker and for an edge isolate.
///
/// The first argument is a function that makes the server; it is called once, when the server is first needed, and
/// the error it may return is thrown as an `Error`. The module then exports to JavaScript `serve(port)`, which
/// serves one `MessagePort`; without a port, it serves the worker that it runs in: whoever speaks to the worker
/// itself, and every port that the worker is sent.
///
/// The second argument, if there is one, makes an [`HttpService`] of the server. The module then exports
/// `fetch(request)` too, which answers a `Request` with a promise of a `Response`. An edge isolate needs nothing else:
/// with `only` before the second argument, `serve` is left out, and weighs nothing.
///
/// ```ignore
/// use sandwire_server::{RegistrationError, Server, http::{Guard, HttpEntry}};
///
/// fn server() -> Result<Server, RegistrationError> {
///     Server::builder("adder", "1.0.0").tool("add", "Adds.", |Args { a, b }: Args| a + b).build()
/// }
///
/// sandwire_web::export!(server, only |server, env| HttpEntry::guarded(server, env, Guard::open()));
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
        $crate::export!(@server $server);
        $crate::export!(@serve);
    };
    ($server:path, only $http:expr) => {
        $crate::export!(@server $server);
        $crate::export!(@fetch $http);
    };
    ($server:path, $http:expr) => {
        $crate::export!(@server $server);
        $crate::export!(@serve);
        $crate::export!(@fetch $http);
    };
    (@fetch $http:expr) => {
        const _: () = {
            use $crate::__export::{JsValue, Promise, Request, Service, wasm_bindgen};

            thread_local! {
                static SERVICE: ::std::cell::OnceCell<Service> = const { ::std::cell::OnceCell::new() };
            }

            #[wasm_bindgen::prelude::wasm_bindgen(wasm_bindgen = $crate::__export::wasm_bindgen)]
            pub fn fetch(request: Request) -> ::std::result::Result<Promise, JsValue> {
                let exported = exported()?;
                Ok(SERVICE.with(|service| service.get_or_init(|| exported.service($http)).fetch(request)))
            }
        };
    };
    (@server $server:path) => {
        fn exported() -> ::std::result::Result<$crate::__export::Exported, $crate::__export::JsValue> {
            use ::std::cell::OnceCell;
            thread_local! {
                static SERVER: OnceCell<$crate::__export::Exported> = const { OnceCell::new() };
            }
            SERVER.with(|server| match server.get() {
                Some(exported) => Ok(exported.clone()),
                None => $crate::__export::share($server).map(|made| server.get_or_init(|| made).clone()),
            })
        }
    };
    (@serve) => {
        const _: () = {
            use $crate::__export::{JsValue, wasm_bindgen};

            #[wasm_bindgen::prelude::wasm_bindgen(wasm_bindgen = $crate::__export::wasm_bindgen)]
            pub fn serve(port: JsValue) -> ::std::result::Result<(), JsValue> {
                exported()?.serve(port);
                Ok(())
            }
        };
    };
}

/// A server that is there once for its module.
#[derive(Clone)]
pub struct Exported(Arc<dyn Endpoint>);

/// Makes a server; a failure becomes a JavaScript `Error`.
pub fn share<S: Endpoint, E: Display>(make: fn() -> Result<S, E>) -> Result<Exported, JsValue> {
    match make() {
        Ok(server) => Ok(Exported(Arc::new(server))),
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

/// Answers a web `Request` with a promise of a `Response`. When the request is aborted, what it began is dropped.
pub fn fetch(service: &dyn HttpService, request: Request) -> Promise {
    let outgoing = Outgoing::until(&request.signal());
    let body = Incoming::new(request.body(), Transfer::detached(), |_| {
        TransportError::new(TransportErrorKind::Other, "the request's body could not be read")
    });
    let answer = service.handle(head(&request), Box::new(body));
    promise(Box::pin(async move {
        match outgoing.wait(answer).await {
            Some((head, body)) => response(&head, body, outgoing).await,
            None => Err(JsError::new("the request was aborted").into()),
        }
    }))
}

/// Serves a `MessagePort`, or whatever has its members, until it closes.
pub async fn serve(endpoint: Arc<dyn Endpoint>, port: Port) {
    let link = TextLink::new(port, endpoint.config().limits.clone());
    sandwire_io::serve(endpoint, WebEnv::shared(), Box::new(link)).await;
}

/// The HTTP side of an exported server.
pub struct Service(Box<dyn HttpService>);

impl Service {
    /// Answers a request.
    pub fn fetch(&self, request: Request) -> Promise {
        fetch(&*self.0, request)
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Service")
    }
}

impl Exported {
    /// What answers the server's HTTP requests.
    pub fn service<H: HttpService>(&self, make: impl FnOnce(Arc<dyn Endpoint>, Arc<dyn Env>) -> H) -> Service {
        Service(Box::new(make(Arc::clone(&self.0), WebEnv::shared())))
    }

    /// Serves a port, or this worker.
    pub fn serve(&self, port: JsValue) {
        let scope: JsValue = js_sys::global().into();
        if port.is_undefined() || port == scope {
            self.serve_scope(scope);
        } else {
            spawn_local(serve(Arc::clone(&self.0), Port::new(port)));
        }
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
                    serve(server.0, port).await;
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
    // What follows the third slash.
    let slash = url.bytes().enumerate().filter(|(_, byte)| *byte == b'/').nth(2);
    head.path = slash.and_then(|(at, _)| url.get(at..)).unwrap_or("/").to_owned();
    let fields = request.headers().unchecked_into::<Fields>();
    fields.for_each(&mut |value: String, name: String| head.headers.push(name, value));
    head
}

async fn response(head: &ResponseHead, mut body: Box<dyn Body>, outgoing: Rc<Outgoing>) -> Result<JsValue, JsValue> {
    let init = ResponseInit::new();
    init.set_status(head.status);
    let fields = js_sys::Object::new().unchecked_into::<Record>();
    for (name, value) in head.headers.iter() {
        fields.set(name, value);
    }
    init.set_headers(&fields);
    if head.headers.media_type() == Some("text/event-stream") {
        let stream = outgoing.stream(body).unchecked_into();
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
