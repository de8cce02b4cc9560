use crate::{MaybeSend, MaybeSync};
use sandwire_proto::Time;
use std::task::{Context, Poll};

/// What a host gives: time and randomness.
pub trait Env: MaybeSend + MaybeSync + 'static {
    /// Milliseconds since some fixed moment, never going back.
    fn now(&self) -> Time;

    /// A timer on the same clock.
    fn timer(&self) -> Box<dyn Timer>;

    /// Fills `bytes` from the host's cryptographic generator.
    fn fill_random(&self, bytes: &mut [u8]);

    /// Seconds since 1970, where the host knows.
    fn unix_time(&self) -> Option<u64>;
}

/// Wakes a task at a moment.
pub trait Timer: MaybeSend {
    /// Ready from `at` on; before that, wakes the task then. Polling with another moment re-arms it.
    fn poll(&mut self, at: Time, cx: &mut Context<'_>) -> Poll<()>;
}
