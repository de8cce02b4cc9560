//! What `/proc` knows about descendants: those that left the group and the session of the child still have its environment.

use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};
use std::{fmt::Write, io, process::Command};

const VARIABLE: &str = "SANDWIRE_CHILD";

/// A value that one child, and whatever it starts, has in its environment.
pub(in crate::stdio) struct Cookie(String);

impl Cookie {
    /// Puts a new one into the environment of what `command` starts.
    ///
    /// It goes behind that of this process, which may be such a child itself: whoever ends it finds its children, too.
    pub(super) fn put(command: &mut Command) -> io::Result<Self> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
        let cookie = random.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        let mut chain = std::env::var_os(VARIABLE).unwrap_or_default();
        if !chain.is_empty() {
            chain.push(":");
        }
        chain.push(&cookie);
        command.env(VARIABLE, chain);
        Ok(Self(cookie))
    }

    /// Whether any process has it.
    pub(super) fn is_carried(&self) -> bool {
        self.carriers().next().is_some()
    }

    /// Signals every process that has it.
    pub(super) fn signal(&self, signal: Signal) {
        for pid in self.carriers() {
            match pidfd_open(pid, PidfdFlags::empty()) {
                // The number may have gone to another process, but from here on it cannot.
                Ok(process) if self.is_carried_by(pid) => drop(pidfd_send_signal(process, signal)),
                Ok(_) => {}
                Err(rustix::io::Errno::NOSYS) => drop(kill_process(pid, signal)),
                Err(_) => {}
            }
        }
    }

    fn carriers(&self) -> impl Iterator<Item = Pid> {
        processes().filter(|pid| self.is_carried_by(*pid))
    }

    /// Processes of other users cannot be read, and those that have ended are empty.
    fn is_carried_by(&self, pid: Pid) -> bool {
        let path = format!("/proc/{}/environ", pid.as_raw_nonzero());
        std::fs::read(path).is_ok_and(|environ| environ.windows(self.0.len()).any(|window| window == self.0.as_bytes()))
    }
}

/// Whether a group has a member that has not ended. Those that have, and whose parent does not care, stay for ever.
pub(super) fn group_lives(group: Pid) -> bool {
    processes().any(|pid| {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
        // The name before may hold anything. Then come the state, the parent and the group.
        let mut fields = stat.rsplit(')').next().unwrap_or_default().split_ascii_whitespace();
        let ended = fields.next().is_none_or(|state| matches!(state, "Z" | "X"));
        !ended && fields.nth(1).and_then(|field| field.parse().ok()) == Some(group.as_raw_nonzero().get())
    })
}

fn processes() -> impl Iterator<Item = Pid> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
}
