//! What ends together: a process group, or a job on Windows.

#[cfg(target_os = "linux")]
mod strays;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(super) use unix::Group;
#[cfg(windows)]
pub(super) use windows::Group;
