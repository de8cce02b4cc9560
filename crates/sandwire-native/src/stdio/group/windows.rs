use async_process::Child;
use std::{
    io,
    os::windows::{io::AsRawHandle, process::CommandExt},
    process::Command,
    sync::{Mutex, PoisonError},
    time::Duration,
};
use win32job::{ExtendedLimitInfo, Job};

/// A console of its own would be a window.
const CREATE_NO_WINDOW: u32 = 0x0800_0000;

/// A job that kills its processes when it is closed, which also happens when this process ends in whatever way.
pub(in crate::stdio) struct Group(Mutex<Option<Job>>);

impl Group {
    pub(in crate::stdio) const LONGEST_CLEARING: Duration = Duration::ZERO;

    pub(in crate::stdio) fn prepare(command: &mut Command, _spares_detached: bool) -> io::Result<Job> {
        command.creation_flags(CREATE_NO_WINDOW);
        let mut limits = ExtendedLimitInfo::new();
        limits.limit_kill_on_job_close();
        Ok(Job::create_with_limit_info(&limits)?)
    }

    /// A child that cannot be spoken to sees the end of its input.
    pub(in crate::stdio) fn abandon(_job: &Job) {}

    /// From here on whatever the child starts is in the job.
    pub(in crate::stdio) fn of(child: &Child, job: Job) -> Self {
        let _ = job.assign_process(child.as_raw_handle() as isize);
        Self(Mutex::new(Some(job)))
    }

    /// The child cannot be watched without waiting for it.
    pub(in crate::stdio) async fn leader_gone(&self) -> bool {
        false
    }

    /// There is no polite way to end a program without a window.
    pub(in crate::stdio) fn terminate(&self) -> bool {
        false
    }

    pub(in crate::stdio) fn kill(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    pub(in crate::stdio) async fn clear(&self) {
        self.kill();
    }
}
