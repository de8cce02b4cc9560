use std::fmt;

use gloo_net::http::{Headers as Fields, Method, Request, RequestBuilder, Response};
use js_sys::{Function, Promise};
use sandwire_io::{BoxFuture, HttpClient, HttpRequest, HttpResponse};
use sandwire_proto::{
    TransportError, TransportErrorKind,
    http::{Headers, ResponseHead, names},
};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, RequestCredentials};

use crate::{
    error::failure,
    stream::{Incoming, Transfer},
};

#[wasm_bindgen]
extern "C" {
    // What gloo-net sends with turns what was thrown into text, and its kind is read from the value.
    #[wasm_bindgen(js_name = fetch, catch)]
    fn global_fetch(request: &JsValue) -> Result<Promise, JsValue>;
}

/// The fields of a response that the protocol reads.
const READ: [&str; 2] = [names::CONTENT_TYPE, names::SESSION_ID];

/// HTTP through the host's `fetch`, or one that is given.
///
/// Bodies arrive as they come. Dropping a request or a body that has not ended aborts it; one that has ended is
/// left alone.
#[derive(Clone, Default)]
pub struct Fetch {
    fetch: Option<Function>,
    credentials: Option<RequestCredentials>,
    headers: Headers,
}

impl Fetch {
    /// The global `fetch`.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A function that takes and returns what `fetch` does. It is called with a `Request`.
    #[must_use]
    pub fn with_function(function: Function) -> Self {
        Self { fetch: Some(function), ..Self::default() }
    }

    /// Whether cookies go with requests to other origins.
    #[must_use]
    pub fn credentials(mut self, credentials: RequestCredentials) -> Self {
        self.credentials = Some(credentials);
        self
    }

    /// Adds a header field to every request. One that the protocol sets itself stays as the protocol sets it.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push(name.into(), value);
        self
    }

    fn begin(&self, request: HttpRequest) -> Result<(Promise, Transfer), TransportError> {
        let abort = AbortController::new().map_err(failure)?;
        let request = self.request(request, &abort)?;
        let request = web_sys::Request::from(request);
        let promise = match &self.fetch {
            Some(fetch) => fetch.call1(&JsValue::UNDEFINED, &request).map(|answer| Promise::resolve(&answer)),
            None => global_fetch(&request),
        };
        Ok((promise.map_err(failure)?, Transfer::new(abort)))
    }

    fn request(&self, request: HttpRequest, abort: &AbortController) -> Result<Request, TransportError> {
        let refused = |reason: &dyn fmt::Display| TransportError::new(TransportErrorKind::Other, reason.to_string());
        let HttpRequest { head, url, body, .. } = request;
        let method = Method::from_bytes(head.method.as_str().as_bytes()).map_err(|error| refused(&error))?;
        let fields = web_sys::Headers::new().map_err(failure)?;
        for (name, value) in self.headers.iter().chain(head.headers.iter()) {
            fields.set(name, value).map_err(failure)?;
        }
        let mut builder = RequestBuilder::new(&url)
            .method(method)
            .headers(Fields::from_raw(fields))
            .abort_signal(Some(&abort.signal()));
        if let Some(credentials) = self.credentials {
            builder = builder.credentials(credentials);
        }
        let request = match body {
            Some(body) => builder.body(body),
            None => builder.build(),
        };
        request.map_err(|error| refused(&error))
    }
}

impl HttpClient for Fetch {
    fn send(&self, request: HttpRequest) -> BoxFuture<'static, Result<HttpResponse, TransportError>> {
        let begun = self.begin(request);
        Box::pin(async move {
            let (promise, mut transfer) = begun?;
            let response = match JsFuture::from(promise).await {
                Ok(response) => Response::from(response.unchecked_into::<web_sys::Response>()),
                Err(thrown) => {
                    transfer.end();
                    return Err(failure(thrown));
                }
            };
            let head = head(&response);
            let body = Incoming::new(response.body(), transfer, failure);
            Ok(HttpResponse { head, body: Box::new(body) })
        })
    }
}

fn head(response: &Response) -> ResponseHead {
    let mut head = ResponseHead::new(response.status());
    let fields = response.headers();
    let challenge = (!head.is_success()).then_some(names::WWW_AUTHENTICATE);
    for name in READ.into_iter().chain(challenge) {
        if let Some(value) = fields.get(name) {
            head.headers.push(name, value);
        }
    }
    head
}

impl fmt::Debug for Fetch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Header values may be secrets.
        f.debug_struct("Fetch").finish_non_exhaustive()
    }
}
