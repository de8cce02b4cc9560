//! The conversation with one child.

use super::{
    command::Command,
    family::{Ended, Family, Input},
    keeper,
    report::Report,
    stderr::{pause, pump},
};
use crate::NativeEnv;
use async_io::Timer;
use async_process::ChildStdout;
use futures_channel::oneshot;
use futures_util::{AsyncReadExt, FutureExt, StreamExt, future::join, stream::FuturesUnordered};
use sandwire_io::{BoxFuture, Env, TextPort, lines::Lines};
use sandwire_proto::{Time, TransportError, TransportErrorKind};
use std::{
    sync::Arc,
    task::{Context, Poll},
};

pub(super) struct Running {
    pub(super) started: Time,
    /// What was sent first was the probe of a modern client.
    pub(super) probed: bool,
    pub(super) heard: Heard,
    family: Arc<Family>,
    lines: Lines<ChildStdout, Input>,
    /// The pump of standard error, and who waits for the child to go. Each is polled when it was woken.
    background: FuturesUnordered<BoxFuture<'static, Event>>,
    spoken: bool,
    gone: bool,
    /// Closed, and given up on then.
    closing: Option<Timer>,
    fault: Option<TransportError>,
}

enum Event {
    Gone,
    StderrEnded,
}

/// What a child wrote that may be a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Heard {
    Nothing,
    /// It refused what it was asked first.
    Refusal,
    More,
}

/// What is in the first text of a client that finds out what the server speaks.
const PROBE: &str = "\"server/discover\"";
const REFUSAL: &str = "\"error\"";

impl Running {
    pub(super) fn start(command: &Command, max_line_bytes: usize, report: &Report) -> Result<Self, TransportError> {
        let started = keeper::keep(|| Family::start(command.prepare(), command.farewell));
        let (family, outputs) = started.map_err(|error| command.unstartable(error))?;
        let background = FuturesUnordered::<BoxFuture<'static, Event>>::new();
        let read = pump(outputs.stderr, command.stderr.clone(), Arc::clone(&report.tail));
        background.push(Box::pin(read.map(|()| Event::StderrEnded)));
        let watched = Arc::clone(&family);
        background.push(Box::pin(async move {
            watched.gone().await;
            Event::Gone
        }));
        Ok(Self {
            started: NativeEnv.now(),
            probed: false,
            heard: Heard::Nothing,
            lines: Lines::new(outputs.stdout, Input(Arc::clone(&family)), max_line_bytes),
            family,
            background,
            spoken: false,
            gone: false,
            closing: None,
            fault: None,
        })
    }

    pub(super) fn send(&mut self, text: String) {
        if !std::mem::replace(&mut self.spoken, true) {
            self.probed = text.contains(PROBE);
        }
        self.lines.send(text);
    }

    /// The next line, or `None` once there is nothing more to expect.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        report: &Report,
    ) -> Poll<Option<Result<String, TransportError>>> {
        while let Poll::Ready(Some(event)) = self.background.poll_next_unpin(cx) {
            self.gone |= matches!(event, Event::Gone);
        }
        match self.lines.poll(cx) {
            Poll::Ready(Some(Err(error))) if error.kind() == TransportErrorKind::Closed => {
                self.fault = Some(error);
                Poll::Ready(None)
            }
            Poll::Ready(Some(line)) => {
                self.note(&line, report);
                Poll::Ready(Some(line))
            }
            // Whatever a child wrote before it went was there to be read.
            Poll::Pending if self.gone || self.is_given_up(cx) => Poll::Ready(None),
            end => end,
        }
    }

    /// Whether the child has closed its input, or takes too long to read what it is owed before the end.
    fn is_given_up(&mut self, cx: &mut Context<'_>) -> bool {
        match &mut self.closing {
            Some(timer) => timer.poll_unpin(cx).is_ready(),
            None => !self.family.has_stdin(),
        }
    }

    fn note(&mut self, line: &Result<String, TransportError>, report: &Report) {
        if self.heard == Heard::More {
            return;
        }
        match line {
            Ok(line) if line.trim_ascii_start().starts_with(['{', '[']) => {
                let refuses = self.heard == Heard::Nothing && line.contains(REFUSAL);
                self.heard = if refuses { Heard::Refusal } else { Heard::More };
            }
            Ok(line) => report.note_garbage(line),
            Err(error) => report.note_garbage(error.message()),
        }
    }

    pub(super) fn close(&mut self) {
        self.lines.close();
        self.closing.get_or_insert_with(|| Timer::after(self.family.patience()));
    }

    pub(super) fn is_closing(&self) -> bool {
        self.closing.is_some()
    }

    /// Leaves the child to the keeper, which ends it. Also gives the fault in the conversation, if that is the reason.
    pub(super) fn end(self) -> (oneshot::Receiver<Ended>, Option<TransportError>) {
        let Self { family, lines, background, fault, .. } = self;
        let (mut stdout, _) = lines.into_inner();
        let discard = async move {
            let mut rest = vec![0; 16 * 1024];
            while stdout.read(&mut rest).await.is_ok_and(|count| count > 0) {
                pause().await;
            }
        };
        let read = async { join(discard, background.for_each(async |_| ())).await };
        (keeper::end(family, Box::pin(read.map(drop))), fault)
    }
}
