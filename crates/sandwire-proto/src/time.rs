/// A moment, in milliseconds since the driver began.
///
/// Machines never ask for the time: whoever runs one passes it in, so tests run in virtual time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

impl Time {
    /// No moment at all: the last representable one.
    pub(crate) const NEVER: Self = Self(u64::MAX);

    /// The moment `milliseconds` later; the last representable one if there is none.
    #[must_use]
    pub const fn after(self, milliseconds: u64) -> Self {
        Self(self.0.saturating_add(milliseconds))
    }

    /// Milliseconds from `earlier` to this moment; zero if `earlier` is not earlier.
    #[must_use]
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}
