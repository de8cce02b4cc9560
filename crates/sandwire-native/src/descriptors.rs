//! How many files, sockets and pipes this process may have open at once.

/// As many descriptors as a program that serves others may need: raises the limit that systems set low for the sake of
/// old programs to the one that they mean.
pub fn raise_descriptor_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};

        let mut limit = getrlimit(Resource::Nofile);
        limit.current = limit.maximum;
        // Where it may not be, the limit stays what it was.
        let _ = setrlimit(Resource::Nofile, limit);
    }
}

/// How many a server's connections may take, so that its program can open some more.
#[cfg(feature = "http")]
pub(crate) fn spare() -> usize {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit};

        /// For standard streams, listeners, wakers and what handlers open.
        const KEPT: u64 = 24;

        if let Some(limit) = getrlimit(Resource::Nofile).current {
            return limit.saturating_sub(KEPT).max(1).try_into().unwrap_or(usize::MAX);
        }
    }
    usize::MAX
}
