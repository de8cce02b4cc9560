//! What ends together: a process group, or a job on Windows.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(all(unix, not(target_os = "linux")))]
mod other;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(super) use unix::Group;
#[cfg(windows)]
pub(super) use windows::Group;

/// What is left of a child's descendants.
#[cfg(unix)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Left {
    Nobody,
    /// A process that may be about to become another program.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux shows processes like that"))]
    Unclear,
    Somebody,
}
