use std::{cell::RefCell, collections::VecDeque, fmt};

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
    fn global_fetch(url: &JsValue, init: &RequestInit) -> Result<Promise, JsValue>;

    #[wasm_bindgen(extends = js_sys::Object)]
    type Record;

    #[wasm_bindgen(method, indexing_setter)]
    fn set(this: &Record, name: &JsValue, value: &JsValue);

    type Init;

    #[wasm_bindgen(method, setter)]
    fn set_method(this: &Init, method: &JsValue);

    type Fields;

    #[wasm_bindgen(method)]
    fn get(this: &Fields, name: &JsValue) -> Option<String>;
}

/// How many texts are kept, and how long one may be.
const TEXTS: usize = 24;
const LONGEST_TEXT: usize = 128;

thread_local! {
    /// The texts that requests have in common. Handing one to JavaScript means decoding it, which costs more than
    /// all else about a header field.
    static COMMON: RefCell<VecDeque<(String, JsValue)>> = const { RefCell::new(VecDeque::new()) };
}

/// A text for JavaScript, decoded once while it is among the latest.
fn common(text: &str) -> JsValue {
    COMMON.with_borrow_mut(|texts| {
        if let Some((_, known)) = texts.iter().find(|(known, _)| known == text) {
            return known.clone();
        }
        let value = JsValue::from_str(text);
        if text.len() <= LONGEST_TEXT {
            if texts.len() == TEXTS {
                texts.pop_front();
            }
            texts.push_back((text.to_owned(), value.clone()));
        }
        value
    })
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
        init.unchecked_ref::<Init>().set_method(&common(request.head.method.as_str()));
        let headers = js_sys::Object::new().unchecked_into::<Record>();
        for (name, value) in self.headers.iter() {
            headers.set(&common(name), &JsValue::from_str(value));
        }
        for (name, value) in request.head.headers.iter() {
            headers.set(&common(name), &common(value));
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
                let answer = fetch.call2(&JsValue::UNDEFINED, &common(&request.url), &init)?;
                Promise::resolve(&answer)
            }
            None => global_fetch(&common(&request.url), &init)?,
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
            let body = Incoming::new(response.body(), transfer, failure);
            Ok(HttpResponse { head, body: Box::new(body) })
        })
    }
}

fn head(response: &Response) -> ResponseHead {
    let mut head = ResponseHead::new(response.status());
    let fields = response.headers().unchecked_into::<Fields>();
    let challenge = (!head.is_success()).then_some(names::WWW_AUTHENTICATE);
    for name in READ.into_iter().chain(challenge) {
        if let Some(value) = fields.get(&common(name)) {
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
