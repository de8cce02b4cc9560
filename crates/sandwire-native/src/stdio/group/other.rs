//! Where the system tells less than Linux, only the group is known.

use super::Left;
use rustix::process::{Pid, Signal};
use std::{io, process::Command};

pub(in crate::stdio) struct Trace;

impl Trace {
    pub(super) fn lay(_command: &mut Command, _spares_detached: bool) -> io::Result<Self> {
        Ok(Self)
    }

    pub(super) fn follow(&mut self, _leader: Pid) {}

    pub(super) async fn leader_gone(&self) -> bool {
        false
    }

    pub(super) fn left(&self, group: Option<Pid>) -> Left {
        if group.is_some() { Left::Somebody } else { Left::Nobody }
    }

    pub(super) fn signal(&self, _signal: Signal) {}
}
