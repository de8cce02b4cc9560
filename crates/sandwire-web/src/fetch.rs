use std::fmt;

use js_sys::{Function, Promise};
use sandwire_io::{BoxFuture, HttpClient, HttpRequest, HttpResponse};
use sandwire_proto::{
    TransportError,
    http::{Headers, ResponseHead, names},
};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, RequestCredentials, RequestInit, Response};

use crate::{
    error::failure,
    stream::{Incoming, Transfer},
};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = fetch, catch)]
    fn global_fetch(url: &str, init: &RequestInit) -> Result<Promise, JsValue>;

    #[wasm_bindgen(extends = js_sys::Object)]
    type Record;

    #[wasm_bindgen(method, indexing_setter)]
    fn set(this: &Record, name: &str, value: &str);
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

    /// A function that takes and returns what `fetch` does. It is called with a URL and a plain object.
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

    fn begin(&self, request: HttpRequest) -> Result<(Promise, Transfer), JsValue> {
        let init = RequestInit::new();
        init.set_method(request.head.method.as_str());
        let headers = js_sys::Object::new().unchecked_into::<Record>();
        for (name, value) in self.headers.iter().chain(request.head.headers.iter()) {
            headers.set(name, value);
        }
        init.set_headers(&headers);
        if let Some(body) = &request.body {
            init.set_body(&JsValue::from_str(body));
        }
        if let Some(credentials) = self.credentials {
            init.set_credentials(credentials);
        }
        let abort = AbortController::new()?;
        init.set_signal(Some(&abort.signal()));
        let promise = match &self.fetch {
            Some(fetch) => {
                let answer = fetch.call2(&JsValue::UNDEFINED, &JsValue::from_str(&request.url), &init)?;
                Promise::resolve(&answer)
            }
            None => global_fetch(&request.url, &init)?,
        };
        Ok((promise, Transfer::new(abort)))
    }
}

impl HttpClient for Fetch {
    fn send(&self, request: HttpRequest) -> BoxFuture<'static, Result<HttpResponse, TransportError>> {
        let begun = self.begin(request);
        Box::pin(async move {
            let (promise, mut transfer) = begun.map_err(failure)?;
            let answer = JsFuture::from(promise).await;
            let response = match answer {
                Ok(response) => response.unchecked_into::<Response>(),
                Err(thrown) => {
                    transfer.end();
                    return Err(failure(thrown));
                }
            };
            let head = head(&response);
            let body = Incoming::new(response.body(), transfer);
            Ok(HttpResponse { head, body: Box::new(body) })
        })
    }
}

fn head(response: &Response) -> ResponseHead {
    let mut head = ResponseHead::new(response.status());
    let fields = response.headers();
    let challenge = (!head.is_success()).then_some(names::WWW_AUTHENTICATE);
    for name in READ.into_iter().chain(challenge) {
        if let Ok(Some(value)) = fields.get(name) {
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
