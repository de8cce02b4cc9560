use std::time::Duration;

/// What happens when a server exits that was not asked to.
///
/// A restarted server knows nothing of the connection: calls that were sent to the old one fail, and the client opens
/// the connection and its subscriptions anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Restart {
    /// The connection ends.
    #[default]
    Never,
    /// The server is started again.
    Times {
        /// How often in a row. A server that ran for [`Backoff::stable_after`] may be restarted as often again.
        times: u32,
        /// How long to wait before.
        backoff: Backoff,
    },
}

impl Restart {
    /// Starts the server again, at most so often in a row.
    #[must_use]
    pub fn times(times: u32) -> Self {
        Self::Times { times, backoff: Backoff::default() }
    }
}

/// How long to wait before a server is started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// Before the first restart. Each further wait in a row is twice as long.
    pub first: Duration,
    /// No wait is longer.
    pub longest: Duration,
    /// A server that ran for so long was well: the next wait is the first again.
    pub stable_after: Duration,
}

impl Default for Backoff {
    /// A quarter of a second, at most ten seconds, and a minute.
    fn default() -> Self {
        Self {
            first: Duration::from_millis(250),
            longest: Duration::from_secs(10),
            stable_after: Duration::from_secs(60),
        }
    }
}

/// The restarts of one connection.
#[derive(Debug, Default)]
pub(super) struct Restarts {
    in_a_row: u32,
}

impl Restarts {
    /// How long to wait before a server that ran for `ran` is started again; `None` if it is not.
    pub(super) fn next(&mut self, policy: Restart, ran: Duration) -> Option<Duration> {
        let Restart::Times { times, backoff } = policy else { return None };
        if ran >= backoff.stable_after {
            self.in_a_row = 0;
        }
        if self.in_a_row >= times {
            return None;
        }
        let factor = 1_u32.checked_shl(self.in_a_row).unwrap_or(u32::MAX);
        self.in_a_row += 1;
        Some(backoff.first.saturating_mul(factor).min(backoff.longest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn waits_double_up_to_the_longest_and_begin_again_after_a_stable_run() {
        let backoff = Backoff { first: SECOND, longest: 3 * SECOND, stable_after: 60 * SECOND };
        let policy = Restart::Times { times: 4, backoff };
        let mut restarts = Restarts::default();
        let mut next = |ran| restarts.next(policy, ran);
        assert_eq!(
            [(); 5].map(|()| next(SECOND)),
            [Some(SECOND), Some(2 * SECOND), Some(3 * SECOND), Some(3 * SECOND), None]
        );
        assert_eq!(next(60 * SECOND), Some(SECOND));
        assert_eq!(next(SECOND), Some(2 * SECOND));
    }

    #[test]
    fn endless_restarts_do_not_overflow() {
        let mut restarts = Restarts { in_a_row: u32::MAX - 1 };
        assert_eq!(restarts.next(Restart::times(u32::MAX), SECOND), Some(Backoff::default().longest));
        assert_eq!(restarts.next(Restart::times(u32::MAX), SECOND), None);
        assert_eq!(restarts.next(Restart::Never, SECOND), None);
    }
}
