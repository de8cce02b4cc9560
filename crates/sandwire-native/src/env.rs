use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, LazyLock},
    task::{Context, Poll},
    time::{Duration, Instant, SystemTime},
};

use sandwire_io::{Env, Timer};
use sandwire_proto::Time;

/// The process's monotonic clock, its timers and the system's cryptographic generator.
#[derive(Clone, Copy, Debug, Default)]
pub struct NativeEnv;

/// The moment from which this process counts.
#[expect(clippy::disallowed_methods, reason = "this is where time enters a native process")]
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

impl NativeEnv {
    /// The environment as drivers take it.
    #[must_use]
    pub fn shared() -> Arc<dyn Env> {
        Arc::new(Self)
    }
}

impl Env for NativeEnv {
    fn now(&self) -> Time {
        Time(START.elapsed().as_millis().try_into().unwrap_or(u64::MAX))
    }

    fn timer(&self) -> Box<dyn Timer> {
        Box::new(Alarm { timer: async_io::Timer::never(), at: None })
    }

    /// Fills `bytes` from the system's generator; where it fails, which it does on no system that is supported, the
    /// process ends rather than go on with bytes that can be guessed.
    fn fill_random(&self, bytes: &mut [u8]) {
        if getrandom::fill(bytes).is_err() {
            std::process::abort();
        }
    }

    #[expect(clippy::disallowed_methods, reason = "this is where the date enters a native process")]
    fn unix_time(&self) -> Option<u64> {
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok().map(|since| since.as_secs())
    }
}

struct Alarm {
    timer: async_io::Timer,
    at: Option<Time>,
}

impl Timer for Alarm {
    fn poll(&mut self, at: Time, cx: &mut Context<'_>) -> Poll<()> {
        if self.at != Some(at) {
            self.at = Some(at);
            match START.checked_add(Duration::from_millis(at.0)) {
                Some(moment) => self.timer.set_at(moment),
                None => self.timer = async_io::Timer::never(),
            }
        }
        match Pin::new(&mut self.timer).poll(cx) {
            Poll::Ready(_) => {
                self.at = None;
                Poll::Ready(())
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;

    #[test]
    fn a_timer_wakes_its_task_and_can_be_armed_again() {
        let env = NativeEnv;
        let mut timer = env.timer();
        crate::block_on(async {
            for _ in 0..2 {
                let at = env.now().after(20);
                poll_fn(|cx| {
                    assert!(timer.poll(env.now().after(60_000), cx).is_pending());
                    timer.poll(at, cx)
                })
                .await;
                assert!(env.now() >= at);
            }
        });
    }

    #[test]
    fn randomness_is_not_zero() {
        let mut bytes = [0; 32];
        NativeEnv.fill_random(&mut bytes);
        assert_ne!(bytes, [0; 32]);
    }
}
