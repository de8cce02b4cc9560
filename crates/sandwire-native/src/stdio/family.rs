//! A child process and its descendants.

use super::group::Group;
use async_io::Timer;
use async_process::{Child, ChildStderr, ChildStdin, ChildStdout, Stdio};
use futures_io::AsyncWrite;
use futures_util::future::{Either, select};
use std::{
    io,
    pin::{Pin, pin},
    process::ExitStatus,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

/// How a child is ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Farewell {
    /// How long it has to exit once its input is closed.
    pub(super) input_closed: Duration,
    /// How long it has to exit once it was terminated.
    pub(super) terminated: Duration,
    /// Whether descendants that left its group live on.
    pub(super) spares_detached: bool,
}

impl Default for Farewell {
    fn default() -> Self {
        Self { input_closed: Duration::from_secs(2), terminated: Duration::from_secs(2), spares_detached: false }
    }
}

impl Farewell {
    /// How long it takes, bounded so that moments can be computed with it.
    fn longest(self) -> Duration {
        const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
        self.input_closed.saturating_add(self.terminated).min(YEAR)
    }
}

/// How long the system has to end a process that was killed.
const KILLED: Duration = Duration::from_millis(500);

/// How a child ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ended {
    pub(super) status: Option<ExitStatus>,
    /// It did not exit by itself.
    pub(super) forced: bool,
}

/// A child that runs, with whatever it starts. The keeper has it from its start to its end.
pub(super) struct Family {
    group: Group,
    child: Mutex<Child>,
    stdin: Mutex<Option<ChildStdin>>,
    farewell: Farewell,
    ending: AtomicBool,
}

/// What a child writes.
pub(super) struct Outputs {
    pub(super) stdout: ChildStdout,
    pub(super) stderr: ChildStderr,
}

impl Family {
    pub(super) fn start(mut command: std::process::Command, farewell: Farewell) -> io::Result<(Self, Outputs)> {
        let trace = Group::prepare(&mut command, farewell.spares_detached)?;
        let mut command = async_process::Command::from(command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => {
                Group::abandon(&trace);
                return Err(error);
            }
        };
        let group = Group::of(&child, trace);
        let (Some(stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            group.kill();
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let family = Self {
            group,
            child: Mutex::new(child),
            stdin: Mutex::new(Some(stdin)),
            farewell,
            ending: AtomicBool::new(false),
        };
        Ok((family, Outputs { stdout, stderr }))
    }

    /// Whether the end begins now, and did not before.
    pub(super) fn begin_ending(&self) -> bool {
        !self.ending.swap(true, Ordering::Relaxed)
    }

    /// The longest that [`end`](Self::end) takes, but for what the system itself takes.
    pub(super) fn longest_end(&self) -> Duration {
        self.farewell.longest() + KILLED + Group::LONGEST_CLEARING
    }

    /// How long the child is waited for each time that something is asked of it.
    pub(super) fn patience(&self) -> Duration {
        self.farewell.input_closed
    }

    /// Ends all of it.
    pub(super) async fn end(&self) -> Ended {
        self.close_stdin();
        let mut forced = false;
        if !self.gone_within(self.farewell.input_closed).await {
            forced = true;
            if !(self.group.terminate() && self.gone_within(self.farewell.terminated).await) {
                self.group.kill();
                self.gone_within(KILLED).await;
            }
        }
        // As long as the child is not reaped, nobody else can have its number.
        self.group.terminate();
        let status = lock(&self.child).try_status().ok().flatten();
        self.group.clear().await;
        Ended { status, forced }
    }

    /// Kills all of it at once.
    pub(super) fn kill(&self) {
        self.group.kill();
    }

    /// Waits until the child itself is gone. Where the system allows it, it is not reaped yet.
    pub(super) async fn gone(&self) {
        if !self.group.leader_gone().await {
            let status = lock(&self.child).status();
            let _ = status.await;
        }
    }

    async fn gone_within(&self, wait: Duration) -> bool {
        matches!(select(pin!(self.gone()), Timer::after(wait)).await, Either::Left(_))
    }

    pub(super) fn close_stdin(&self) {
        lock(&self.stdin).take();
    }

    pub(super) fn has_stdin(&self) -> bool {
        lock(&self.stdin).is_some()
    }
}

/// A child's standard input.
///
/// A child that does not read any more is no error here: what it wrote before is still to be read, and then it is found
/// to have gone.
pub(super) struct Input(pub(super) Arc<Family>);

impl Input {
    fn with(
        &self,
        done: usize,
        act: impl FnOnce(Pin<&mut ChildStdin>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        let mut stdin = lock(&self.0.stdin);
        let Some(open) = &mut *stdin else { return Poll::Ready(Ok(done)) };
        match act(Pin::new(open)) {
            Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                *stdin = None;
                Poll::Ready(Ok(done))
            }
            other => other,
        }
    }
}

impl AsyncWrite for Input {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.with(bytes.len(), |stdin| stdin.poll_write(cx, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.with(0, |stdin| stdin.poll_flush(cx).map_ok(|()| 0)).map_ok(drop)
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.close_stdin();
        Poll::Ready(Ok(()))
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
