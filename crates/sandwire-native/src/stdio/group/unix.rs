use super::Left;
#[cfg(target_os = "linux")]
use super::linux::Trace;
#[cfg(not(target_os = "linux"))]
use super::other::Trace;
use crate::NativeEnv;
use async_io::Timer;
use async_process::Child;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use sandwire_io::Env;
use std::{io, os::unix::process::CommandExt, process::Command, time::Duration};

/// How long descendants have once the child itself is gone.
const TERMINATED: Duration = Duration::from_millis(500);
const KILLED: Duration = Duration::from_millis(500);
/// How long a process may take to become another program.
const UNCLEAR: Duration = Duration::from_millis(100);
const FIRST_TICK: Duration = Duration::from_millis(5);
const LAST_TICK: Duration = Duration::from_millis(80);

/// The process group that a child leads, and on Linux those who left it.
pub(in crate::stdio) struct Group {
    leader: Option<Pid>,
    trace: Trace,
}

impl Group {
    pub(in crate::stdio) const LONGEST_CLEARING: Duration = Duration::from_secs(2);

    /// Makes the child that `command` starts the leader of a group.
    pub(in crate::stdio) fn prepare(command: &mut Command, spares_detached: bool) -> io::Result<Trace> {
        command.process_group(0);
        Trace::lay(command, spares_detached)
    }

    /// Ends a child that may run although starting it failed: the system may refuse the descriptors to speak to it.
    pub(in crate::stdio) fn abandon(trace: &Trace) {
        trace.signal(Signal::KILL);
    }

    pub(in crate::stdio) fn of(child: &Child, mut trace: Trace) -> Self {
        let leader = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        if let Some(leader) = leader {
            trace.follow(leader);
        }
        Self { leader, trace }
    }

    /// Waits until the child is gone, without reaping it; or says at once that this system cannot.
    pub(in crate::stdio) async fn leader_gone(&self) -> bool {
        self.trace.leader_gone().await
    }

    /// Asks all to end. Says whether they can be asked.
    pub(in crate::stdio) fn terminate(&self) -> bool {
        self.signal(Signal::TERM);
        true
    }

    /// Ends all at once.
    pub(in crate::stdio) fn kill(&self) {
        self.signal(Signal::KILL);
        self.trace.signal(Signal::KILL);
    }

    /// Ends what is left of a group that was terminated and whose leader is reaped.
    pub(in crate::stdio) async fn clear(&self) {
        if self.left() == Left::Nobody {
            return;
        }
        self.trace.signal(Signal::TERM);
        if !self.empty_within(TERMINATED, || {}).await {
            // What was started just before its parent was killed is found at the next look.
            self.empty_within(KILLED, || self.kill()).await;
        }
    }

    /// Looks until nobody is left, and does something about it each time that somebody is.
    async fn empty_within(&self, wait: Duration, act: impl Fn()) -> bool {
        let began = NativeEnv.now();
        let mut tick = FIRST_TICK;
        loop {
            let waited = Duration::from_millis(NativeEnv.now().0.saturating_sub(began.0));
            match self.left() {
                Left::Nobody => return true,
                Left::Unclear if waited >= UNCLEAR => return true,
                _ if waited >= wait => return false,
                _ => act(),
            }
            Timer::after(tick).await;
            // To look takes long where there are many processes, and one thread looks for all families.
            tick = (tick * 2).min(LAST_TICK);
        }
    }

    fn left(&self) -> Left {
        self.trace.left(self.leader.filter(|leader| test_kill_process_group(*leader).is_ok()))
    }

    fn signal(&self, signal: Signal) {
        if let Some(leader) = self.leader {
            let _ = kill_process_group(leader, signal);
        }
    }
}
