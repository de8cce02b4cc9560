#[cfg(target_os = "linux")]
use super::strays::{self, Cookie};
use async_io::Timer;
use async_process::Child;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use std::{io, os::unix::process::CommandExt, process::Command, time::Duration};

/// How long descendants have once the child itself is gone.
const TERMINATED: Duration = Duration::from_millis(500);
const KILLED: Duration = Duration::from_millis(500);
const TICK: Duration = Duration::from_millis(5);

/// The process group that a child leads, and on Linux those who left it.
pub(in crate::stdio) struct Group {
    leader: Option<Pid>,
    #[cfg(target_os = "linux")]
    watch: Option<async_io::Async<std::os::fd::OwnedFd>>,
    #[cfg(target_os = "linux")]
    cookie: Cookie,
}

#[cfg(target_os = "linux")]
type Seed = Cookie;
#[cfg(not(target_os = "linux"))]
type Seed = ();

impl Group {
    pub(in crate::stdio) const LONGEST_CLEARING: Duration = Duration::from_secs(2);

    /// Makes the child that `command` starts the leader of a group.
    pub(in crate::stdio) fn prepare(command: &mut Command) -> io::Result<Seed> {
        command.process_group(0);
        #[cfg(target_os = "linux")]
        return Cookie::put(command);
        #[cfg(not(target_os = "linux"))]
        return Ok(());
    }

    pub(in crate::stdio) fn of(child: &Child, _seed: Seed) -> Self {
        let leader = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        Self {
            leader,
            #[cfg(target_os = "linux")]
            watch: leader.and_then(watch),
            #[cfg(target_os = "linux")]
            cookie: _seed,
        }
    }

    /// Waits until the child is gone, without reaping it; or says at once that this system cannot.
    pub(in crate::stdio) async fn leader_gone(&self) -> bool {
        #[cfg(target_os = "linux")]
        if let Some(watch) = &self.watch {
            return watch.readable().await.is_ok();
        }
        false
    }

    /// Asks all to end. Says whether they can be asked.
    pub(in crate::stdio) fn terminate(&self) -> bool {
        self.signal(Signal::TERM);
        true
    }

    /// Ends all at once.
    pub(in crate::stdio) fn kill(&self) {
        self.signal(Signal::KILL);
        #[cfg(target_os = "linux")]
        self.cookie.signal(Signal::KILL);
    }

    /// Ends what is left of a group that was terminated and whose leader is reaped.
    pub(in crate::stdio) async fn clear(&self) {
        #[cfg(target_os = "linux")]
        self.cookie.signal(Signal::TERM);
        if !self.empty_within(TERMINATED).await {
            self.kill();
            self.empty_within(KILLED).await;
        }
    }

    async fn empty_within(&self, wait: Duration) -> bool {
        let mut waited = Duration::ZERO;
        while !self.is_empty() {
            if waited >= wait {
                return false;
            }
            Timer::after(TICK).await;
            waited += TICK;
        }
        true
    }

    fn is_empty(&self) -> bool {
        let grouped = self.leader.filter(|leader| test_kill_process_group(*leader).is_ok());
        #[cfg(target_os = "linux")]
        return !grouped.is_some_and(strays::group_lives) && !self.cookie.is_carried();
        #[cfg(not(target_os = "linux"))]
        return grouped.is_none();
    }

    fn signal(&self, signal: Signal) {
        if let Some(leader) = self.leader {
            let _ = kill_process_group(leader, signal);
        }
    }
}

/// A descriptor of a process that becomes readable when it ends. Kernels before 5.3 have none.
#[cfg(target_os = "linux")]
fn watch(leader: Pid) -> Option<async_io::Async<std::os::fd::OwnedFd>> {
    use rustix::process::{PidfdFlags, pidfd_open};
    async_io::Async::new(pidfd_open(leader, PidfdFlags::empty()).ok()?).ok()
}
