use super::{
    command::Command,
    exited::Exited,
    family::Ended,
    report::Report,
    restart::Restarts,
    running::{Heard, Running},
};
use crate::NativeEnv;
use async_io::Timer;
use futures_channel::oneshot;
use futures_util::FutureExt;
use sandwire_io::{Env, TextPort};
use sandwire_proto::{TransportError, TransportErrorKind};
use std::{
    fmt,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

/// A server that runs as a child process: a port that carries a line for each message.
///
/// What is no message on the child's standard output is passed on like one, so that the connection lives on: many a
/// server begins with a banner. When the child exits without having been asked to, the port ends with an error of kind
/// [`Closed`](TransportErrorKind::Closed) whose source is an [`Exited`]. If the server is started anew
/// instead, the error is of kind [`Restarted`](TransportErrorKind::Restarted), and what is sent from then on reaches the
/// new one. A server that exits over the first question of a modern client, `server/discover`, is started anew once in any
/// case: some know nothing but `initialize` at the start.
///
/// The child is the program that was named, and not what it leaves behind: when it exits, the port ends although a
/// descendant may have its output open.
pub struct Process {
    command: Command,
    max_line_bytes: usize,
    state: State,
    restarts: Restarts,
    /// A server that exited over the probe was started anew.
    probed: bool,
    report: Report,
}

enum State {
    Running(Box<Running>),
    /// It is being ended, as the connection was closed.
    Closing(Box<Ending>),
    /// It is being cleared away, after it stopped talking by itself.
    Exiting(Box<Ending>),
    /// The next one starts after a while.
    Waiting(Timer, TransportError),
    Over,
}

/// A child that is being ended, and what the conversation with it came to.
struct Ending {
    ended: oneshot::Receiver<Ended>,
    ran: Duration,
    probed: bool,
    heard: Heard,
    /// Why it is given up, if not because it exited.
    fault: Option<TransportError>,
}

impl Process {
    pub(super) fn start(command: Command, max_line_bytes: usize) -> Result<Self, TransportError> {
        let report = Report::default();
        let running = Running::start(&command, max_line_bytes, &report)?;
        Ok(Self {
            command,
            max_line_bytes,
            state: State::Running(Box::new(running)),
            restarts: Restarts::default(),
            probed: false,
            report,
        })
    }

    /// What the child says besides messages. Ask for it before the port goes into a link.
    #[must_use]
    pub fn report(&self) -> Report {
        self.report.clone()
    }

    /// It is gone by itself: starts the next one, now or later, or ends the port with the reason.
    fn exited(&mut self, ended: Ended, ending: Ending) -> Option<TransportError> {
        let exited = Exited {
            status: ended.status,
            forced: ended.forced,
            stderr: self.report.stderr(),
            garbage: self.report.garbage().filter(|_| ending.heard == Heard::Nothing),
            fault: ending.fault,
        };
        let restarted = exited.clone().error(TransportErrorKind::Restarted);
        if ending.probed && ending.heard < Heard::More && !std::mem::replace(&mut self.probed, true) {
            return self.replace(restarted);
        }
        self.wait_or_end(ending.ran, restarted, || exited.error(TransportErrorKind::Closed))
    }

    /// Starts the next one, and says that it did. One that cannot be started is one that did not run.
    fn replace(&mut self, restarted: TransportError) -> Option<TransportError> {
        self.report.clear();
        match Running::start(&self.command, self.max_line_bytes, &self.report) {
            Ok(running) => {
                self.state = State::Running(Box::new(running));
                Some(restarted)
            }
            Err(error) => self.wait_or_end(Duration::ZERO, restarted, || {
                TransportError::new(TransportErrorKind::Closed, error.message().to_owned()).with_source(Arc::new(error))
            }),
        }
    }

    /// Waits for the next start, if the policy knows one, or ends the port.
    fn wait_or_end(
        &mut self,
        ran: Duration,
        restarted: TransportError,
        end: impl FnOnce() -> TransportError,
    ) -> Option<TransportError> {
        match self.restarts.next(self.command.restart, ran) {
            Some(wait) => {
                self.state = State::Waiting(Timer::after(wait), restarted);
                None
            }
            None => {
                self.state = State::Over;
                Some(end())
            }
        }
    }
}

impl TextPort for Process {
    fn send(&mut self, text: String) {
        // What is sent between two children was meant for the first.
        if let State::Running(running) = &mut self.state {
            running.send(text);
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<String, TransportError>>> {
        loop {
            match &mut self.state {
                State::Running(running) => match ready!(running.poll(cx, &self.report)) {
                    Some(line) => return Poll::Ready(Some(line)),
                    None => self.state = std::mem::replace(&mut self.state, State::Over).ending(),
                },
                State::Closing(ending) => {
                    let _ = ready!(ending.ended.poll_unpin(cx));
                    let silent = ending.heard == Heard::Nothing;
                    self.state = State::Over;
                    return Poll::Ready(self.report.explain().filter(|_| silent).map(Err));
                }
                State::Exiting(ending) => {
                    let ended = ready!(ending.ended.poll_unpin(cx)).unwrap_or_default();
                    if let State::Exiting(ending) = std::mem::replace(&mut self.state, State::Over)
                        && let Some(error) = self.exited(ended, *ending)
                    {
                        return Poll::Ready(Some(Err(error)));
                    }
                }
                State::Waiting(timer, restarted) => {
                    ready!(timer.poll_unpin(cx));
                    let restarted = restarted.clone();
                    if let Some(error) = self.replace(restarted) {
                        return Poll::Ready(Some(Err(error)));
                    }
                }
                State::Over => return Poll::Ready(None),
            }
        }
    }

    fn close(&mut self) {
        self.state = match std::mem::replace(&mut self.state, State::Over) {
            State::Running(mut running) => {
                running.close();
                State::Running(running)
            }
            State::Exiting(ending) | State::Closing(ending) => State::Closing(ending),
            State::Waiting(..) | State::Over => State::Over,
        };
    }
}

impl State {
    /// The child talks no more: it is ended, as far as it is not gone.
    fn ending(self) -> Self {
        let Self::Running(running) = self else { return self };
        let ran = Duration::from_millis(NativeEnv.now().0.saturating_sub(running.started.0));
        let (probed, heard, closing) = (running.probed, running.heard, running.is_closing());
        let (ended, fault) = running.end();
        let ending = Box::new(Ending { ended, ran, probed, heard, fault });
        if closing { Self::Closing(ending) } else { Self::Exiting(ending) }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        std::mem::replace(&mut self.state, State::Over).ending();
    }
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process").field("command", &self.command).finish_non_exhaustive()
    }
}
