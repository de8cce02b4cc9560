//! What a connection waits for, and until when.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use super::{
    Limits,
    clock::{self, Pace},
};

/// Where a connection notes what it waits for. Its socket, its service and its bodies share it.
#[derive(Clone)]
pub(super) struct Watch(Arc<Mutex<State>>);

struct State {
    phase: Phase,
    /// Until when the client has to read on.
    write: Option<(Pace, Instant)>,
    body: Option<Arrival>,
    has_whole_body: bool,
    /// Whether the client sent its body too slowly.
    is_body_late: bool,
    /// Whether what is under way has to end.
    is_over: bool,
}

#[derive(Clone, Copy)]
enum Phase {
    /// For the next request, or the rest of its head; until when is said when it comes to waiting.
    Request { until: Option<Instant>, has_begun: bool },
    /// For the answer. Whether the next request has begun meanwhile.
    Answer { has_next: bool },
    /// For the client to close its side.
    Closing { until: Instant },
}

/// A body that was not there at once.
#[derive(Clone, Copy)]
enum Arrival {
    /// The client has to send on until then.
    Awaited(Pace, Instant),
    /// Since then the service has something to do.
    Paused(Pace, Instant),
}

/// What a connection has waited for too long.
#[derive(Debug, PartialEq)]
pub(super) enum Overdue {
    /// A body: its service hears of it.
    Body,
    /// Anything else: the connection ends.
    Connection,
}

impl Watch {
    pub(super) fn new() -> Self {
        let phase = Phase::Request { until: None, has_begun: true };
        let (write, body) = (None, None);
        let state = State { phase, write, body, has_whole_body: true, is_body_late: false, is_over: false };
        Self(Arc::new(Mutex::new(state)))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes came.
    pub(super) fn received(&self) {
        let mut state = self.lock();
        match &mut state.phase {
            Phase::Request { until, has_begun } if !*has_begun => (*until, *has_begun) = (None, true),
            Phase::Answer { has_next } => *has_next = true,
            Phase::Request { .. } | Phase::Closing { .. } => {}
        }
    }

    /// Bytes went, and nothing waits to go.
    pub(super) fn sent(&self) {
        self.lock().write = None;
    }

    /// So many bytes went, and more wait to go.
    pub(super) fn sends(&self, bytes: usize, limits: &Limits) {
        let mut state = self.lock();
        let mut pace = state.write.map_or_else(Pace::new, |(pace, _)| pace);
        let until = pace.deadline(bytes, limits);
        state.write = Some((pace, until));
    }

    /// The service has a request.
    pub(super) fn asked(&self) {
        self.lock().phase = Phase::Answer { has_next: false };
    }

    /// The response is complete.
    pub(super) fn answered(&self) {
        let mut state = self.lock();
        if let Phase::Answer { has_next } = state.phase {
            state.phase = Phase::Request { until: None, has_begun: has_next };
        }
    }

    /// The server has said everything.
    pub(super) fn closes(&self, until: Instant) {
        self.lock().phase = Phase::Closing { until };
    }

    /// The service waits for more of a body, of which so many bytes came; whether that is pointless.
    pub(super) fn awaits_body(&self, bytes: usize, limits: &Limits) -> bool {
        let mut state = self.lock();
        let mut pace = match state.body {
            None => Pace::new(),
            Some(Arrival::Awaited(pace, _)) => pace,
            Some(Arrival::Paused(pace, since)) => pace.resumed(since),
        };
        let until = pace.deadline(bytes, limits);
        state.body = Some(Arrival::Awaited(pace, until));
        state.is_body_late
    }

    /// The service was given a part of a body.
    pub(super) fn gives_body(&self) {
        let mut state = self.lock();
        if let Some(Arrival::Awaited(pace, _)) = state.body {
            state.body = Some(Arrival::Paused(pace, clock::now()));
        }
    }

    /// A body begins; whether it is empty.
    pub(super) fn begins_body(&self, is_empty: bool) {
        let mut state = self.lock();
        (state.has_whole_body, state.is_body_late) = (is_empty, false);
    }

    /// All of a body was read.
    pub(super) fn ends_body(&self) {
        let mut state = self.lock();
        (state.has_whole_body, state.body) = (true, None);
    }

    /// The service waits for no more of a body.
    pub(super) fn leaves_body(&self) {
        self.lock().body = None;
    }

    /// Whether all of the body was read, so that another request may follow.
    pub(super) fn has_whole_body(&self) -> bool {
        self.lock().has_whole_body
    }

    /// Whether a response is under way.
    pub(super) fn is_answering(&self) -> bool {
        matches!(self.lock().phase, Phase::Answer { .. })
    }

    /// Ends what is under way.
    pub(super) fn end(&self) {
        self.lock().is_over = true;
    }

    pub(super) fn is_over(&self) -> bool {
        self.lock().is_over
    }

    /// When something will be overdue.
    pub(super) fn deadline(&self, limits: &Limits) -> Option<Instant> {
        let mut state = self.lock();
        let phase = match &mut state.phase {
            Phase::Request { until, has_begun } => {
                let patience = if *has_begun { limits.head_time } else { limits.idle_time };
                Some(*until.get_or_insert_with(|| clock::after(patience)))
            }
            Phase::Closing { until } => Some(*until),
            Phase::Answer { .. } => None,
        };
        let body = match state.body {
            Some(Arrival::Awaited(_, until)) => Some(until),
            Some(Arrival::Paused(..)) | None => None,
        };
        [phase, state.write.map(|(_, until)| until), body].into_iter().flatten().min()
    }

    /// What is overdue at a deadline.
    pub(super) fn overdue(&self) -> Overdue {
        let mut state = self.lock();
        match state.body {
            Some(Arrival::Awaited(_, until)) if until <= clock::now() && !state.is_body_late => {
                state.body = None;
                state.is_body_late = true;
                Overdue::Body
            }
            _ => Overdue::Connection,
        }
    }
}
