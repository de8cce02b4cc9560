//! What Linux tells about descendants: those that left the group and the session of the child still have its environment.

use super::Left;
use async_io::Async;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};
use std::{fmt::Write, io, os::fd::OwnedFd, process::Command};

const VARIABLE: &str = "SANDWIRE_CHILD";

/// What tells a child and its descendants from other processes.
pub(in crate::stdio) struct Trace {
    /// A random value in the environment of all of them, unless those who left the group are spared.
    cookie: Option<String>,
    /// When the child started, as the system counts.
    since: u64,
    /// Becomes readable when the child is gone. Kernels before 5.3 have no such thing.
    watch: Option<Async<OwnedFd>>,
}

impl Trace {
    /// Marks what `command` starts.
    ///
    /// The mark goes behind that of this process, which may be such a child itself: whoever ends it finds its children, too.
    pub(super) fn lay(command: &mut Command, spares_detached: bool) -> io::Result<Self> {
        let mut cookie = None;
        if !spares_detached {
            let mut chain = std::env::var_os(VARIABLE).unwrap_or_default();
            if !chain.is_empty() {
                chain.push(":");
            }
            let random = random()?;
            chain.push(&random);
            command.env(VARIABLE, chain);
            cookie = Some(random);
        }
        Ok(Self { cookie, since: 0, watch: None })
    }

    pub(super) fn follow(&mut self, leader: Pid) {
        self.since = Stat::read(leader).map_or(0, |stat| stat.started);
        self.watch = pidfd_open(leader, PidfdFlags::empty()).ok().and_then(|process| Async::new(process).ok());
    }

    pub(super) async fn leader_gone(&self) -> bool {
        match &self.watch {
            Some(watch) => watch.readable().await.is_ok(),
            None => false,
        }
    }

    /// What is left, where the system has not forgotten the group.
    pub(super) fn left(&self, group: Option<Pid>) -> Left {
        match (group, &self.cookie) {
            (Some(group), _) if group_lives(group) => Left::Somebody,
            (_, Some(cookie)) => processes().map(|pid| self.left_in(pid, cookie)).max().unwrap_or(Left::Nobody),
            (_, None) => Left::Nobody,
        }
    }

    /// Signals every process that has the mark.
    pub(super) fn signal(&self, signal: Signal) {
        let Some(cookie) = &self.cookie else { return };
        let carries = |pid: Pid| self.left_in(pid, cookie) == Left::Somebody;
        for pid in processes().filter(|pid| carries(*pid)) {
            match pidfd_open(pid, PidfdFlags::empty()) {
                // The number may have gone to another process, but from here on it cannot.
                Ok(process) if carries(pid) => drop(pidfd_send_signal(process, signal)),
                Err(rustix::io::Errno::NOSYS) => drop(kill_process(pid, signal)),
                Ok(_) | Err(_) => {}
            }
        }
    }

    /// Whether a process is one of the child's. Those of other users cannot be read.
    fn left_in(&self, pid: Pid, cookie: &str) -> Left {
        match std::fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())) {
            Ok(environ) if is_marked(&environ, cookie) => Left::Somebody,
            // So it is for a moment while a process becomes another program.
            Ok(environ) if environ.is_empty() => match Stat::read(pid) {
                Some(stat) if stat.is_program_since(self.since) => Left::Unclear,
                _ => Left::Nobody,
            },
            Ok(_) | Err(_) => Left::Nobody,
        }
    }
}

fn is_marked(environ: &[u8], cookie: &str) -> bool {
    let mut variables = environ.split(|byte| *byte == 0);
    let chain = variables.find_map(|variable| variable.strip_prefix(VARIABLE.as_bytes())?.strip_prefix(b"="));
    chain.is_some_and(|chain| chain.split(|byte| *byte == b':').any(|mark| mark == cookie.as_bytes()))
}

fn random() -> io::Result<String> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(random.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

/// Whether a group has a member that has not ended. Those that have, and whose parent does not care, stay for ever.
pub(super) fn group_lives(group: Pid) -> bool {
    let group = group.as_raw_nonzero().get();
    processes().filter_map(Stat::read).any(|stat| stat.group == group && !stat.has_ended)
}

fn processes() -> impl Iterator<Item = Pid> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
}

/// What is told about a process.
struct Stat {
    has_ended: bool,
    group: i32,
    flags: u32,
    started: u64,
}

/// The flag of a thread of the kernel.
const KERNEL_THREAD: u32 = 0x0020_0000;

impl Stat {
    fn read(pid: Pid) -> Option<Self> {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
        // The second field is the name, in brackets, which may hold anything. After it comes the third.
        let mut fields = text.rsplit(')').next()?.split_ascii_whitespace();
        Some(Self {
            has_ended: matches!(fields.next()?, "Z" | "X"),
            group: fields.nth(1)?.parse().ok()?,
            flags: fields.nth(3)?.parse().ok()?,
            started: fields.nth(12)?.parse().ok()?,
        })
    }

    fn is_program_since(&self, started: u64) -> bool {
        !self.has_ended && self.flags & KERNEL_THREAD == 0 && self.started >= started
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_knows_itself() {
        let this = rustix::process::getpid();
        let stat = Stat::read(this).unwrap();
        assert!(stat.is_program_since(1) && !stat.is_program_since(stat.started + 1));
        assert_eq!(stat.group, rustix::process::getpgrp().as_raw_nonzero().get());
        assert!(group_lives(rustix::process::getpgrp()));
        assert!(Stat::read(Pid::from_raw(2).unwrap()).is_none_or(|stat| !stat.is_program_since(0)));
    }

    #[test]
    fn a_mark_is_seen_among_those_of_other_generations() {
        assert!(is_marked(b"A=1\0SANDWIRE_CHILD=aa:bb:cc\0B=2\0", "bb"));
        assert!(is_marked(b"SANDWIRE_CHILD=bb", "bb"));
        assert!(!is_marked(b"SANDWIRE_CHILD=abb\0SANDWIRE_CHILDREN=bb\0X=SANDWIRE_CHILD=bb\0", "bb"));
        assert!(!is_marked(b"", "bb"));
    }

    #[test]
    fn what_was_marked_is_found() {
        let mut command = Command::new("sleep");
        command.arg("1000");
        let trace = Trace::lay(&mut command, false).unwrap();
        assert!(trace.left(None) != Left::Somebody);
        let mut child = command.spawn().unwrap();
        while trace.left(None) != Left::Somebody {}
        trace.signal(Signal::KILL);
        child.wait().unwrap();
        assert!(trace.left(None) != Left::Somebody);
        assert!(Trace::lay(&mut command, true).unwrap().left(None) == Left::Nobody);
    }
}
