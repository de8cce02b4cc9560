//! Ten mistakes that the machines can be told to make, so that a test shows that it would find each. Without the
//! feature `faults`, which nothing that ships may have, they cannot, and the questions below cost nothing.

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, unreachable_pub, clippy::exhaustive_enums)]
pub enum Fault {
    ClientLosesAnswer,
    ClientCancelsAnotherCall,
    ClientForgetsTimeout,
    ClientKeepsCancellationToItself,
    ClientTakesLateAnswer,
    ServerAnswersCancelledCall,
    ServerRepeatsProgress,
    ServerTellsEverybody,
    ServerTakesTooManyCalls,
    ServerMixesAnswersUp,
}

#[cfg(feature = "faults")]
mod seeded {
    use super::Fault;
    use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

    /// How often the occasion comes before the mistake is made.
    const OCCASIONS: u32 = 20;

    static CHOSEN: AtomicUsize = AtomicUsize::new(usize::MAX);
    static SEEN: AtomicU32 = AtomicU32::new(0);

    impl Fault {
        /// Every one.
        pub const ALL: [Self; 10] = [
            Self::ClientLosesAnswer,
            Self::ClientCancelsAnotherCall,
            Self::ClientForgetsTimeout,
            Self::ClientKeepsCancellationToItself,
            Self::ClientTakesLateAnswer,
            Self::ServerAnswersCancelledCall,
            Self::ServerRepeatsProgress,
            Self::ServerTellsEverybody,
            Self::ServerTakesTooManyCalls,
            Self::ServerMixesAnswersUp,
        ];

        /// Has every machine of this process make this mistake now and then, and no other; `None` ends it.
        pub fn seed(fault: Option<Self>) {
            CHOSEN.store(fault.map_or(usize::MAX, |fault| fault as usize), Ordering::Relaxed);
        }

        pub(crate) fn happens(self) -> bool {
            CHOSEN.load(Ordering::Relaxed) == self as usize
                && SEEN.fetch_add(1, Ordering::Relaxed) % OCCASIONS == OCCASIONS - 1
        }
    }
}

#[cfg(not(feature = "faults"))]
impl Fault {
    #[inline(always)]
    pub(crate) const fn happens(self) -> bool {
        false
    }
}
