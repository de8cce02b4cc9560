//! A host for tests: time that passes when told to, HTTP whose answers are scripted, ports that are
//! joined, links with faults.

mod chaos;
mod http;
mod text;

pub use chaos::{ChaosLink, Faults};
pub use http::{ScriptedExchange, ScriptedHttp};
pub use text::{QueuePort, text_ports};

use crate::{Env, Timer};
use sandwire_proto::Time;
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

/// Time and randomness under a test's control. Clones share one clock.
///
/// ```
/// use sandwire_io::{Env, testing::SimEnv};
///
/// let env = SimEnv::new(7);
/// env.advance(250);
/// assert_eq!(env.now().0, 250);
/// ```
#[derive(Clone, Debug)]
pub struct SimEnv(Arc<Mutex<Clock>>);

#[derive(Debug)]
struct Clock {
    now: Time,
    seed: u64,
    sleepers: Vec<(u64, Time, Waker)>,
    timers: u64,
}

impl SimEnv {
    /// A clock at zero and a generator that starts from `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(Clock { now: Time(0), seed: seed | 1, sleepers: Vec::new(), timers: 0 })))
    }

    /// Lets time pass and wakes whoever waited for it.
    pub fn advance(&self, milliseconds: u64) {
        let mut due = Vec::new();
        let mut clock = lock(&self.0);
        clock.now = clock.now.after(milliseconds);
        let now = clock.now;
        clock.sleepers.retain(|(_, at, waker)| {
            let sleeps = *at > now;
            if !sleeps {
                due.push(waker.clone());
            }
            sleeps
        });
        drop(clock);
        due.into_iter().for_each(Waker::wake);
    }

    /// When the next timer is due, if one is armed.
    #[must_use]
    pub fn next_timer(&self) -> Option<Time> {
        lock(&self.0).sleepers.iter().map(|(_, at, _)| *at).min()
    }
}

impl Env for SimEnv {
    fn now(&self) -> Time {
        lock(&self.0).now
    }

    fn timer(&self) -> Box<dyn Timer> {
        let mut clock = lock(&self.0);
        clock.timers += 1;
        Box::new(SimTimer { id: clock.timers, clock: Arc::clone(&self.0) })
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        let mut clock = lock(&self.0);
        for byte in bytes {
            *byte = (next_random(&mut clock.seed) >> 32) as u8;
        }
    }

    fn unix_time(&self) -> Option<u64> {
        Some(1_800_000_000 + lock(&self.0).now.0 / 1000)
    }
}

struct SimTimer {
    id: u64,
    clock: Arc<Mutex<Clock>>,
}

impl Timer for SimTimer {
    fn poll(&mut self, at: Time, cx: &mut Context<'_>) -> Poll<()> {
        let mut clock = lock(&self.clock);
        clock.sleepers.retain(|(id, ..)| *id != self.id);
        if at <= clock.now {
            return Poll::Ready(());
        }
        clock.sleepers.push((self.id, at, cx.waker().clone()));
        Poll::Pending
    }
}

impl Drop for SimTimer {
    fn drop(&mut self) {
        lock(&self.clock).sleepers.retain(|(id, ..)| *id != self.id);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn next_random(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    seed.wrapping_mul(0x2545_f491_4f6c_dd1d)
}
