//! The handlers of one connection that are not done yet.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use futures_util::task::AtomicWaker;
use sandwire_proto::server::CallKey;
use sandwire_types::{ErrorObject, Reply};

use crate::{BoxFuture, host::Host};

pub(crate) struct Handler {
    pub(crate) key: CallKey,
    pub(crate) future: BoxFuture<'static, Result<Reply, ErrorObject>>,
}

impl Handler {
    /// Moves the handler on; gives it back if it is not done and may go on.
    pub(crate) fn poll(mut self, host: &Host, waker: &Waker) -> Option<Self> {
        match self.future.as_mut().poll(&mut Context::from_waker(waker)) {
            Poll::Ready(result) => host.reply(self.key, result),
            Poll::Pending if host.is_over(self.key) => {
                let key = self.key;
                drop(self);
                host.end(key);
            }
            Poll::Pending => return Some(self),
        }
        None
    }
}

/// Running handlers, each with a flag of its own that says whether it wants to be polled.
pub(crate) struct Tasks {
    slots: Vec<Slot>,
    /// Wakes whoever polls them.
    driver: Arc<AtomicWaker>,
}

struct Slot {
    handler: Option<Handler>,
    signal: Arc<Signal>,
    waker: Waker,
}

struct Signal {
    ready: AtomicBool,
    driver: Arc<AtomicWaker>,
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.ready.swap(true, Ordering::AcqRel) {
            self.driver.wake();
        }
    }
}

impl Tasks {
    pub(crate) fn new(driver: &Arc<AtomicWaker>) -> Self {
        Self { slots: Vec::new(), driver: Arc::clone(driver) }
    }

    /// Whether all handlers are done.
    #[cfg(feature = "sessions")]
    pub(crate) fn is_empty(&self) -> bool {
        self.slots.iter().all(|slot| slot.handler.is_none())
    }

    /// Takes a handler in and polls it.
    pub(crate) fn push(&mut self, handler: Handler, host: &Host) {
        let free = self.slots.iter().position(|slot| slot.handler.is_none()).unwrap_or_else(|| {
            let signal = Arc::new(Signal { ready: AtomicBool::new(false), driver: Arc::clone(&self.driver) });
            let waker = Waker::from(Arc::clone(&signal));
            self.slots.push(Slot { handler: None, signal, waker });
            self.slots.len() - 1
        });
        if let Some(slot) = self.slots.get_mut(free) {
            slot.signal.ready.store(false, Ordering::Release);
            slot.handler = handler.poll(host, &slot.waker);
        }
    }

    /// Polls every handler that wants it; whether there was one.
    pub(crate) fn poll(&mut self, host: &Host) -> bool {
        let mut polled = false;
        for slot in &mut self.slots {
            if slot.handler.is_some() && slot.signal.ready.swap(false, Ordering::AcqRel) {
                polled = true;
                slot.handler = slot.handler.take().and_then(|handler| handler.poll(host, &slot.waker));
            }
        }
        polled
    }

    /// Drops the handler of a call, if it is here.
    pub(crate) fn drop_handler(&mut self, key: CallKey, host: &Host) {
        for slot in &mut self.slots {
            if slot.handler.as_ref().is_some_and(|handler| handler.key == key) {
                slot.handler = None;
                host.end(key);
            }
        }
    }

    /// Polls once more the handlers that watch for cancellation, then drops all.
    pub(crate) fn finish(&mut self, host: &Host) {
        for slot in self.slots.drain(..) {
            if let Some(handler) = slot.handler {
                let key = handler.key;
                if !host.is_over(key) {
                    drop(handler.poll(host, Waker::noop()));
                }
                host.end(key);
            }
        }
    }
}
