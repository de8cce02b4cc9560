use std::{
    cell::RefCell,
    collections::VecDeque,
    fmt,
    rc::Rc,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use js_sys::Function;
use sandwire_io::TextPort;
use sandwire_proto::{TransportError, TransportErrorKind};
use wasm_bindgen::prelude::*;

use crate::error::{Thrown, failure};

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

    #[wasm_bindgen(method, getter, catch, js_name = type)]
    fn kind(this: &Event) -> Result<String, JsValue>;

    #[wasm_bindgen(method, getter, catch)]
    fn data(this: &Event) -> Result<JsValue, JsValue>;
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
                // Nothing is borrowed while the event's own code runs, which may throw.
                if let Some(arrival) = Arrival::of(event) {
                    let waker = shared.borrow_mut().take(arrival);
                    waker.iter().for_each(Waker::wake_by_ref);
                }
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

/// What an event says.
enum Arrival {
    Text(Result<String, TransportError>),
    End(Option<TransportError>),
}

impl Arrival {
    fn of(event: Event) -> Option<Self> {
        Some(match event.kind().ok()?.as_str() {
            "message" => {
                let data = event.data().ok()?;
                match data.as_string() {
                    Some(text) => Self::Text(Ok(text)),
                    None if data.is_null() => Self::End(None),
                    None => return None,
                }
            }
            "messageerror" => {
                const UNREADABLE: &str = "a message could not be read by this host; send JSON text";
                Self::Text(Err(TransportError::new(TransportErrorKind::Malformed, UNREADABLE)))
            }
            "error" => Self::End(Some(failure(event.into()))),
            _ => Self::End(None),
        })
    }
}

impl Shared {
    fn take(&mut self, arrival: Arrival) -> Option<Waker> {
        match arrival {
            Arrival::Text(text) => self.arrived.push_back(text),
            Arrival::End(error) => {
                self.arrived.extend(error.map(Err));
                self.closed = true;
            }
        }
        self.waker.take()
    }
}

impl TextPort for Port {
    fn send(&mut self, text: String) {
        let closed = self.shared.borrow().closed;
        if !closed && let Err(thrown) = self.target.post_message(&JsValue::from_str(&text)) {
            // A port that does not take a text takes none any more.
            let broken = TransportError::new(TransportErrorKind::Closed, "the port took no message; connect again");
            self.shared.borrow_mut().arrived.push_back(Err(broken.with_source(Arc::new(Thrown::new(thrown)))));
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
