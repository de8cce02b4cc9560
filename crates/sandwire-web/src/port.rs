use std::{
    cell::RefCell,
    collections::VecDeque,
    fmt,
    rc::Rc,
    task::{Context, Poll, Waker},
};

use js_sys::Function;
use sandwire_io::TextPort;
use sandwire_proto::{TransportError, TransportErrorKind};
use wasm_bindgen::prelude::*;

use crate::error::failure;

#[wasm_bindgen]
extern "C" {
    /// Whatever has the members of a `MessagePort` that are used here.
    type Target;

    #[wasm_bindgen(method, catch, js_name = postMessage)]
    fn post_message(this: &Target, message: &JsValue) -> Result<(), JsValue>;

    #[wasm_bindgen(method, js_name = addEventListener)]
    fn add_event_listener(this: &Target, name: &str, listener: &JsValue);

    #[wasm_bindgen(method, js_name = removeEventListener)]
    fn remove_event_listener(this: &Target, name: &str, listener: &JsValue);

    #[wasm_bindgen(method, getter)]
    fn start(this: &Target) -> Option<Function>;

    #[wasm_bindgen(method, getter)]
    fn close(this: &Target) -> Option<Function>;

    type Event;

    #[wasm_bindgen(method, getter, js_name = type)]
    fn kind(this: &Event) -> String;

    #[wasm_bindgen(method, getter)]
    fn data(this: &Event) -> JsValue;
}

const EVENTS: [&str; 4] = ["message", "messageerror", "error", "close"];

/// A `MessagePort`, a `Worker`, or a worker's own global scope: one JSON text per message.
///
/// Not every host tells a port that its other end was closed, so a port that closes sends `null` first. Messages
/// that are neither text nor `null` are not for us and are left to other listeners.
pub struct Port {
    target: Target,
    listener: Closure<dyn FnMut(Event)>,
    shared: Rc<RefCell<Shared>>,
    owned: bool,
}

#[derive(Default)]
struct Shared {
    arrived: VecDeque<Result<String, TransportError>>,
    closed: bool,
    waker: Option<Waker>,
}

impl Port {
    /// Takes a port over: closing it closes the `MessagePort`.
    #[must_use]
    pub fn new(port: JsValue) -> Self {
        Self::listen(port, true)
    }

    /// Speaks through a `Worker` or a worker's scope, which live on when this closes.
    #[must_use]
    pub fn borrowed(scope: JsValue) -> Self {
        Self::listen(scope, false)
    }

    fn listen(target: JsValue, owned: bool) -> Self {
        let target = target.unchecked_into::<Target>();
        let shared = Rc::new(RefCell::new(Shared::default()));
        let listener = {
            let shared = Rc::clone(&shared);
            Closure::new(move |event: Event| {
                let waker = shared.borrow_mut().take(&event);
                waker.iter().for_each(Waker::wake_by_ref);
            })
        };
        for name in EVENTS {
            target.add_event_listener(name, listener.as_ref());
        }
        if let Some(start) = target.start() {
            let _ = start.call0(&target);
        }
        Self { target, listener, shared, owned }
    }

    /// A text that arrived before the port was there.
    pub(crate) fn arrived(&self, text: String) {
        self.shared.borrow_mut().arrived.push_back(Ok(text));
    }

    fn end(&mut self) {
        for name in EVENTS {
            self.target.remove_event_listener(name, self.listener.as_ref());
        }
        self.shared.borrow_mut().closed = true;
        if self.owned
            && let Some(close) = self.target.close()
        {
            let _ = close.call0(&self.target);
        }
    }
}

impl Shared {
    fn take(&mut self, event: &Event) -> Option<Waker> {
        match event.kind().as_str() {
            "message" => {
                let data = event.data();
                match data.as_string() {
                    Some(text) => self.arrived.push_back(Ok(text)),
                    None if data.is_null() => self.closed = true,
                    None => return None,
                }
            }
            "messageerror" => {
                const UNREADABLE: &str = "a message could not be read by this host; send JSON text";
                self.arrived.push_back(Err(TransportError::new(TransportErrorKind::Malformed, UNREADABLE)));
            }
            "error" => {
                self.arrived.push_back(Err(failure(event.into())));
                self.closed = true;
            }
            _ => self.closed = true,
        }
        self.waker.take()
    }
}

impl TextPort for Port {
    fn send(&mut self, text: String) {
        let closed = self.shared.borrow().closed;
        if !closed && let Err(thrown) = self.target.post_message(&JsValue::from_str(&text)) {
            self.shared.borrow_mut().arrived.push_back(Err(failure(thrown)));
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<String, TransportError>>> {
        let mut shared = self.shared.borrow_mut();
        if let Some(arrived) = shared.arrived.pop_front() {
            return Poll::Ready(Some(arrived));
        }
        if shared.closed {
            return Poll::Ready(None);
        }
        if !shared.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            shared.waker = Some(cx.waker().clone());
        }
        Poll::Pending
    }

    fn close(&mut self) {
        let closed = self.shared.borrow().closed;
        if !closed {
            let _ = self.target.post_message(&JsValue::NULL);
            self.end();
        }
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        self.close();
        self.end();
    }
}

impl fmt::Debug for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Port").field("owned", &self.owned).finish_non_exhaustive()
    }
}
