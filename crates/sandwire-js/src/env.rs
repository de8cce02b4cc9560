//! Time and randomness.

use std::{
    cell::Cell,
    rc::Rc,
    sync::Arc,
    task::{Context, Poll},
};

use sandwire_io::{Env, Timer};
use sandwire_proto::Time;

use crate::boundary;

/// The longest time `setTimeout` takes, in milliseconds. Anything above fires at once.
const LONGEST: u64 = i32::MAX as u64;

/// `getRandomValues` gives at most so many bytes at once.
const MOST_RANDOM_BYTES: usize = 65_536;

thread_local! {
    /// What the clock said when the export was called that runs; it takes less than what anybody times.
    static NOW: Cell<Time> = const { Cell::new(Time(0)) };
}

/// Reads the clock.
pub(crate) fn read_clock() {
    NOW.set(Time(boundary::now() as u64));
}

/// When the timer of a connection fires that JavaScript was asked for; 0 where none is.
pub(crate) type Armed = Rc<Cell<Time>>;

/// What the host gives to one connection.
pub(crate) struct Host {
    connection: u32,
    armed: Armed,
}

impl Host {
    pub(crate) fn shared(connection: u32, armed: Armed) -> Arc<dyn Env> {
        Arc::new(Self { connection, armed })
    }
}

impl Env for Host {
    fn now(&self) -> Time {
        NOW.get()
    }

    fn timer(&self) -> Box<dyn Timer> {
        Box::new(Alarm { connection: self.connection, armed: Rc::clone(&self.armed) })
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        bytes.chunks_mut(MOST_RANDOM_BYTES).for_each(boundary::random);
    }

    fn unix_time(&self) -> Option<u64> {
        None
    }
}

/// The connection's one timer. A later moment does not re-arm it: it fires too early then, and the driver asks again,
/// so a call that is answered in time costs no timer of its own. Hosts let timers fire too early, too.
struct Alarm {
    connection: u32,
    armed: Armed,
}

impl Timer for Alarm {
    fn poll(&mut self, at: Time, _: &mut Context<'_>) -> Poll<()> {
        let now = NOW.get();
        if at <= now {
            return Poll::Ready(());
        }
        let armed = self.armed.get();
        if armed == Time(0) || armed > at {
            let wait = (at.0 - now.0).min(LONGEST);
            self.armed.set(Time(now.0 + wait));
            boundary::arm(self.connection, wait as f64);
        }
        Poll::Pending
    }
}
