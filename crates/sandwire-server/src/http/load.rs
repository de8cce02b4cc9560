//! How much is under way at once.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use sandwire_io::Body;
use sandwire_proto::{
    TransportError,
    http::{RequestHead, names},
};
use sandwire_types::{ErrorCode, Method};

use super::{
    Refusal,
    gate::{GATE, Gate},
};

/// How much an entry has under way at once.
///
/// ```
/// use sandwire_server::http::{Guard, InFlight};
///
/// let guard = Guard { in_flight: InFlight::at_most(100, 1000), ..Guard::default() };
/// # drop(guard);
/// ```
#[derive(Clone)]
pub struct InFlight(Option<(Arc<Load>, Gate)>);

impl InFlight {
    /// As much as comes: for a server behind a platform that has a limit itself.
    pub const ANY: Self = Self(None);

    /// So many requests that are being answered, and so many subscriptions of the modern era. More are answered 503.
    #[must_use]
    pub fn at_most(requests: usize, subscriptions: usize) -> Self {
        let load = Load { requests: Counter::new(requests), subscriptions: Counter::new(subscriptions) };
        Self(Some((Arc::new(load), GATE)))
    }

    pub(super) fn gate(&self) -> Option<Gate> {
        self.0.as_ref().map(|(_, gate)| *gate)
    }

    /// Leave for another request, if it takes any.
    pub(super) fn permit(&self, head: &RequestHead) -> Result<Option<Held>, Refusal> {
        let Some((load, _)) = &self.0 else { return Ok(None) };
        // A request whose body has another method is refused later.
        let is_subscription = head.headers.get(names::METHOD) == Some(Method::SubscriptionsListen.as_str());
        let held = Held { load: Arc::clone(load), is_subscription };
        let counter = held.counter();
        if counter.now.fetch_add(1, Ordering::Relaxed) < counter.most {
            return Ok(Some(held));
        }
        let message = if is_subscription {
            "as many subscriptions are open as may be; end some, or try again later"
        } else {
            "as many requests are being answered as may be; try again in a moment"
        };
        Err(Refusal::new(503, ErrorCode::INTERNAL_ERROR, message))
    }
}

impl fmt::Debug for InFlight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("InFlight").field(&self.0.as_ref().map(|(load, _)| load)).finish()
    }
}

#[derive(Debug)]
struct Load {
    requests: Counter,
    subscriptions: Counter,
}

#[derive(Debug)]
struct Counter {
    most: usize,
    now: AtomicUsize,
}

impl Counter {
    fn new(most: usize) -> Self {
        Self { most, now: AtomicUsize::new(0) }
    }
}

/// Leave to be under way, counted until it is dropped.
pub(super) struct Held {
    load: Arc<Load>,
    is_subscription: bool,
}

impl Held {
    fn counter(&self) -> &Counter {
        if self.is_subscription { &self.load.subscriptions } else { &self.load.requests }
    }

    /// The same body, which is under way for as long as it is there.
    pub(super) fn over(self, body: Box<dyn Body>) -> Box<dyn Body> {
        Box::new(Counted { body, _held: self })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.counter().now.fetch_sub(1, Ordering::Relaxed);
    }
}

struct Counted {
    body: Box<dyn Body>,
    _held: Held,
}

impl Body for Counted {
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, TransportError>>> {
        self.body.poll_chunk(cx)
    }
}
