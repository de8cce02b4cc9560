use super::{
    command::Command,
    exited::Exited,
    family::{Ended, Family, Input},
    keeper,
    restart::Restarts,
    stderr::{Tail, pump},
};
use crate::NativeEnv;
use async_io::Timer;
use async_process::ChildStdout;
use futures_channel::oneshot;
use futures_util::{AsyncReadExt, FutureExt, StreamExt, stream::FuturesUnordered};
use sandwire_io::{BoxFuture, Env, TextPort, lines::Lines};
use sandwire_proto::{Time, TransportError, TransportErrorKind};
use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

/// A server that runs as a child process: a port that carries a line for each message.
///
/// What is no message on the child's standard output is passed on like one, so that the connection lives on: many a
/// server begins with a banner. When the child exits without having been asked to, the port ends with an error of kind
/// [`Closed`](TransportErrorKind::Closed) whose source is an [`Exited`]. If the server is started anew instead, the error
/// is of kind [`Restarted`](TransportErrorKind::Restarted), and what is sent from then on reaches the new one. A server
/// that exits on the first question of a modern client, `server/discover`, is started anew once in any case: some know
/// nothing but `initialize` at the start.
pub struct Process {
    command: Arc<Command>,
    max_line_bytes: usize,
    state: State,
    restarts: Restarts,
    /// A server that exited on the probe was started anew.
    probed: bool,
    report: Report,
}

enum State {
    Running(Box<Running>),
    /// It is being ended, as the connection was closed.
    Closing(oneshot::Receiver<Ended>),
    /// It is being cleared away, after it stopped talking by itself.
    Exiting(Box<Exiting>),
    /// The next one starts after a while.
    Waiting(Timer, TransportError),
    Over,
}

struct Exiting {
    ended: oneshot::Receiver<Ended>,
    ran: Duration,
    probing: bool,
}

struct Running {
    family: Arc<Family>,
    lines: Lines<ChildStdout, Input>,
    /// The pump of standard error, and who waits for the child to go.
    background: FuturesUnordered<BoxFuture<'static, Event>>,
    started: Time,
    gone: bool,
    said: Said,
    /// Closed, and given up on then.
    closing: Option<Timer>,
}

enum Event {
    Gone,
    Silent,
}

/// How far the conversation with one child went.
#[derive(Default)]
struct Said {
    /// The first text was the probe of a modern client.
    probe: bool,
    any: bool,
    /// The child wrote something that may be a message.
    heard: bool,
}

/// What a child wrote that was no message. It outlives the port, to explain why a connection did not open.
#[derive(Clone, Debug, Default)]
pub struct Report {
    tail: Arc<Tail>,
    garbage: Arc<Mutex<Option<String>>>,
}

impl Process {
    pub(super) fn start(command: Command, max_line_bytes: usize) -> Result<Self, TransportError> {
        let report = Report::default();
        let running = Running::start(&command, max_line_bytes, &report)?;
        Ok(Self {
            command: Arc::new(command),
            max_line_bytes,
            state: State::Running(running),
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

    /// The child talks no more: clears away what is left of it.
    fn exits(&mut self) {
        if let State::Running(running) = std::mem::replace(&mut self.state, State::Over) {
            let ran = Duration::from_millis(NativeEnv.now().0.saturating_sub(running.started.0));
            let probing = running.said.probe && !running.said.heard;
            self.state = match running.closing {
                Some(_) => State::Closing(running.end()),
                None => State::Exiting(Box::new(Exiting { ended: running.end(), ran, probing })),
            };
        }
    }

    /// It is gone: starts the next one, now or later, or ends the port with the reason.
    fn exited(&mut self, ended: Ended, ran: Duration, probing: bool) -> Option<TransportError> {
        let exited = self.report.exited(ended);
        let restarted = exited.clone().error(TransportErrorKind::Restarted);
        if probing && !std::mem::replace(&mut self.probed, true) {
            return Some(self.replace(restarted));
        }
        match self.restarts.next(self.command.restart, ran) {
            Some(wait) => {
                self.state = State::Waiting(Timer::after(wait), restarted);
                None
            }
            None => {
                self.state = State::Over;
                Some(exited.error(TransportErrorKind::Closed))
            }
        }
    }

    /// Starts the next one, and says that it did, or why it could not.
    fn replace(&mut self, restarted: TransportError) -> TransportError {
        self.report.clear();
        match Running::start(&self.command, self.max_line_bytes, &self.report) {
            Ok(running) => {
                self.state = State::Running(running);
                restarted
            }
            Err(error) => {
                self.state = State::Over;
                TransportError::new(TransportErrorKind::Closed, error.message().to_owned()).with_source(Arc::new(error))
            }
        }
    }
}

impl TextPort for Process {
    fn send(&mut self, text: String) {
        // What is sent between two children was meant for the first.
        if let State::Running(running) = &mut self.state {
            let first = !std::mem::replace(&mut running.said.any, true);
            running.said.probe |= first && text.contains(PROBE);
            running.lines.send(text);
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<String, TransportError>>> {
        loop {
            match &mut self.state {
                State::Running(running) => match ready!(running.poll(cx)) {
                    Some(line) => {
                        running.note(&line, &self.report);
                        return Poll::Ready(Some(line));
                    }
                    None => self.exits(),
                },
                State::Closing(ended) => {
                    let _ = ready!(ended.poll_unpin(cx));
                    self.state = State::Over;
                }
                State::Exiting(exiting) => {
                    let ended = ready!(exiting.ended.poll_unpin(cx)).unwrap_or_default();
                    let (ran, probing) = (exiting.ran, exiting.probing);
                    if let Some(error) = self.exited(ended, ran, probing) {
                        return Poll::Ready(Some(Err(error)));
                    }
                }
                State::Waiting(timer, restarted) => {
                    ready!(timer.poll_unpin(cx));
                    let restarted = restarted.clone();
                    return Poll::Ready(Some(Err(self.replace(restarted))));
                }
                State::Over => return Poll::Ready(None),
            }
        }
    }

    fn close(&mut self) {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Running(mut running) => {
                running.lines.close();
                running.closing.get_or_insert_with(|| Timer::after(running.family.patience()));
                self.state = State::Running(running);
            }
            State::Exiting(exiting) => self.state = State::Closing(exiting.ended),
            State::Closing(ended) => self.state = State::Closing(ended),
            State::Waiting(..) | State::Over => {}
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let State::Running(running) = std::mem::replace(&mut self.state, State::Over) {
            drop(running.end());
        }
    }
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process").field("command", &self.command).finish_non_exhaustive()
    }
}

/// What is in the first text of a client that finds out what the server speaks.
const PROBE: &str = "\"server/discover\"";

impl Running {
    fn start(command: &Command, max_line_bytes: usize, report: &Report) -> Result<Box<Self>, TransportError> {
        let started = keeper::keep(|| Family::start(command.prepare(), command.waits));
        let (family, outputs) = started.map_err(|error| command.unstartable(error))?;
        let background = FuturesUnordered::<BoxFuture<'static, Event>>::new();
        let read = pump(outputs.stderr, command.stderr.clone(), Arc::clone(&report.tail));
        background.push(Box::pin(read.map(|()| Event::Silent)));
        let watched = Arc::clone(&family);
        background.push(Box::pin(async move {
            watched.gone().await;
            Event::Gone
        }));
        Ok(Box::new(Self {
            lines: Lines::new(outputs.stdout, Input(Arc::clone(&family)), max_line_bytes),
            family,
            background,
            started: NativeEnv.now(),
            gone: false,
            said: Said::default(),
            closing: None,
        }))
    }

    /// The next line, or `None` once there is nothing more to expect.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<String, TransportError>>> {
        while let Poll::Ready(Some(event)) = self.background.poll_next_unpin(cx) {
            self.gone |= matches!(event, Event::Gone);
        }
        match self.lines.poll(cx) {
            Poll::Ready(Some(Err(error))) if error.kind() == TransportErrorKind::Closed => Poll::Ready(None),
            Poll::Pending if self.gone || self.is_given_up(cx) => Poll::Ready(None),
            polled => polled,
        }
    }

    /// Whether the child has closed its input, or does not take what it is owed before the end.
    fn is_given_up(&mut self, cx: &mut Context<'_>) -> bool {
        match &mut self.closing {
            Some(timer) => timer.poll_unpin(cx).is_ready(),
            None => !self.family.has_stdin(),
        }
    }

    fn note(&mut self, line: &Result<String, TransportError>, report: &Report) {
        if self.said.heard {
            return;
        }
        match line {
            Ok(line) if line.trim_ascii_start().starts_with(['{', '[']) => self.said.heard = true,
            Ok(line) => report.garbage(line),
            Err(error) => report.garbage(error.message()),
        }
    }

    fn end(self) -> oneshot::Receiver<Ended> {
        let Self { family, lines, background, .. } = self;
        let (mut stdout, _) = lines.into_inner();
        keeper::end(
            family,
            Box::pin(async move {
                let mut rest = [0; 4096];
                let discard = async { while stdout.read(&mut rest).await.is_ok_and(|count| count > 0) {} };
                futures_util::join!(discard, background.for_each(async |_| ()));
            }),
        )
    }
}

impl Report {
    /// The last lines on the child's standard error, at most 20 and 8 kB.
    #[must_use]
    pub fn stderr(&self) -> Vec<String> {
        self.tail.lines()
    }

    /// The start of the first line on its standard output that was no message.
    #[must_use]
    pub fn first_garbage(&self) -> Option<String> {
        self.garbage.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn garbage(&self, line: &str) {
        let mut garbage = self.garbage.lock().unwrap_or_else(PoisonError::into_inner);
        garbage.get_or_insert_with(|| line.chars().take(GARBAGE_CHARS).collect());
    }

    fn clear(&mut self) {
        self.tail.clear();
        self.garbage.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn exited(&self, ended: Ended) -> Exited {
        Exited { status: ended.status, ended_by_us: ended.forced, stderr: self.stderr(), garbage: self.first_garbage() }
    }
}

const GARBAGE_CHARS: usize = 200;
