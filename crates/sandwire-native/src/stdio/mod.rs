//! Standard streams: those of servers that are child processes, and this process's own where it is a server itself
//! ([`Stdio`]).
//!
//! # Child processes
//!
//! [`Command`] says which program to start and how. [`Command::spawn`] starts it and gives a [`Process`], a
//! [`TextPort`](sandwire_io::TextPort) that is wrapped in a [`TextLink`](sandwire_io::TextLink) and given to a client:
//!
//! ```no_run
//! use sandwire_io::TextLink;
//! use sandwire_native::stdio::{Command, Restart};
//! use sandwire_proto::Limits;
//!
//! # fn main() -> Result<(), sandwire_proto::TransportError> {
//! let limits = Limits::default();
//! let process = Command::new("npx")
//!     .args(["-y", "@modelcontextprotocol/server-filesystem", "/data"])
//!     .env("LOG_LEVEL", "debug")
//!     .stderr(|line| eprintln!("server: {line}"))
//!     .restart(Restart::times(3))
//!     .spawn(&limits)?;
//! let link = TextLink::new(process, limits);
//! # drop(link);
//! # Ok(())
//! # }
//! ```
//!
//! # How a child ends
//!
//! Nobody has to see to it. When the connection is closed, or the port is dropped in any way (the driver was cancelled,
//! its executor dropped, a panic unwinds), or this process exits (`main` returns or panics, [`std::process::exit`]), a
//! thread named `sandwire-keeper` closes the child's standard input, waits two seconds, terminates the child's process
//! group, waits two seconds, kills the group and reaps the child. [`Command::shutdown_waits`] sets the two waits. A
//! driver whose client was closed ends once all of that is done. When this process exits, the exit is held up until then,
//! which no child can make longer than the waits and a second.
//!
//! Whatever the child has left in its process group once it is gone is terminated, and after half a second killed. On
//! Linux so is what left the group with `setsid` or by forking twice: such processes are known by a random value in
//! their environment, the variable `SANDWIRE_CHILD`. [`Command::spare_detached`] lets these live.
//!
//! What this cannot reach:
//!
//! - If this process is ended by a signal (`SIGKILL`, and unless it handles them Ctrl-C and `SIGTERM` too), or aborts,
//!   nothing of it runs any more. Children see the end of their standard input then, on which a server should exit. A
//!   program that wants more handles the signals, and returns from `main` or exits. (Linux could signal the children, but
//!   does so when the *thread* that started them ends, which would end servers that are in use.)
//! - A descendant that leaves the process group and clears or overwrites its environment, and on systems other than
//!   Linux any that leaves the group.
//! - On systems other than Linux the child is reaped before its group is terminated. Between the two its number might,
//!   in theory, be given to another process.
//! - On Windows children are in a job, which is closed instead of terminating a group, and which Windows closes when
//!   this process ends, however that happens. A grandchild that is started in the moment before the child is assigned to
//!   the job is not in it.

mod command;
mod exit;
mod exited;
mod family;
mod group;
mod keeper;
mod process;
mod report;
mod restart;
mod running;
mod server;
mod stderr;

pub use command::Command;
pub use exited::Exited;
pub use process::Process;
pub use report::Report;
pub use restart::{Backoff, Restart};
pub use server::Stdio;
