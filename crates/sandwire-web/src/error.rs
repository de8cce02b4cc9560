use std::{cell::RefCell, error::Error, fmt, sync::Arc};

use js_sys::Reflect;
use sandwire_proto::{TransportError, TransportErrorKind};
use wasm_bindgen::prelude::*;

thread_local! {
    static VALUES: RefCell<Vec<Option<JsValue>>> = const { RefCell::new(Vec::new()) };
}

/// What JavaScript threw, as the source of a [`TransportError`]. It need not be an `Error`.
///
/// The value itself stays with the thread that caught it, so this type is `Send`.
pub struct Thrown(usize);

impl Thrown {
    /// Keeps a thrown value.
    #[must_use]
    pub fn new(value: JsValue) -> Self {
        VALUES.with_borrow_mut(|values| {
            let index = values.iter().position(Option::is_none).unwrap_or(values.len());
            match values.get_mut(index) {
                Some(slot) => *slot = Some(value),
                None => values.push(Some(value)),
            }
            Self(index)
        })
    }

    /// The value, on the thread that caught it.
    #[must_use]
    pub fn value(&self) -> Option<JsValue> {
        VALUES.with_borrow(|values| values.get(self.0).cloned().flatten())
    }

    /// The value behind a failure of this crate.
    #[must_use]
    pub fn behind(error: &TransportError) -> Option<JsValue> {
        error.source()?.downcast_ref::<Self>()?.value()
    }
}

impl Drop for Thrown {
    fn drop(&mut self) {
        VALUES.with_borrow_mut(|values| {
            if let Some(slot) = values.get_mut(self.0) {
                *slot = None;
            }
        });
    }
}

impl fmt::Display for Thrown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.value().as_ref().and_then(text);
        f.write_str(text.as_deref().unwrap_or("JavaScript threw a value that is not an Error"))
    }
}

impl fmt::Debug for Thrown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Thrown")
    }
}

impl Error for Thrown {}

/// The failure that a thrown value stands for.
///
/// `fetch` throws a bare `TypeError` for everything from a refused connection to a CORS answer that lacks a header;
/// Node's has a `cause` with a system code, a browser's says nothing more.
#[must_use]
pub fn failure(thrown: JsValue) -> TransportError {
    const OPAQUE: &str = "fetch failed and does not say why; check the address, and that the server's CORS answer \
                          allows this origin and the headers content-type, mcp-protocol-version, mcp-method, mcp-name";
    let kind = match member(&thrown, "name").as_string().as_deref() {
        Some("TypeError") if member(&member(&thrown, "cause"), "code").is_string() => TransportErrorKind::Unreachable,
        Some("TypeError") => TransportErrorKind::Opaque,
        Some("TimeoutError") => TransportErrorKind::Timeout,
        _ => TransportErrorKind::Other,
    };
    let error = match text(&thrown) {
        Some(text) if kind != TransportErrorKind::Opaque => TransportError::new(kind, text),
        _ => TransportError::new(kind, OPAQUE),
    };
    error.with_source(Arc::new(Thrown::new(thrown)))
}

fn text(thrown: &JsValue) -> Option<String> {
    thrown.as_string().or_else(|| member(thrown, "message").as_string())
}

fn member(value: &JsValue, name: &str) -> JsValue {
    // Reading a member of a primitive throws.
    Reflect::get(value, &name.into()).unwrap_or(JsValue::UNDEFINED)
}
