//! A task that runs in this process.

use super::{Shared, lock};
use futures_util::task::AtomicWaker;
use sandwire_io::client::{Answer, AskKey, Hooks};
use sandwire_json::Raw;
use sandwire_proto::Principal;
use sandwire_types::model::TaskStatus;
use sandwire_types::{ErrorObject, Method};
use std::sync::{Arc, Mutex};

pub(super) struct Live {
    pub(super) id: Arc<str>,
    /// Who may know of it; everybody who knows its name, where nobody is authenticated.
    pub(super) owner: Option<Box<str>>,
    /// In seconds since 1970.
    pub(super) created: u64,
    pub(super) state: Mutex<State>,
    /// What runs it.
    pub(super) runner: AtomicWaker,
}

pub(super) struct State {
    pub(super) updated: u64,
    pub(super) questions: Vec<Question>,
    pub(super) outcome: Option<Outcome>,
    /// Whether the client does not want it any more.
    pub(super) is_cancelled: bool,
    /// Whether something changed that is neither kept nor told.
    has_changed: bool,
    asked: u64,
}

/// What it asks, under a key that no other question of it ever has.
pub(super) struct Question {
    pub(super) key: String,
    pub(super) method: Method,
    pub(super) params: Raw,
    answer: Answer,
}

pub(super) enum Outcome {
    /// With a result, which may say that the tool failed.
    Completed(Raw),
    Failed(ErrorObject),
    /// And why.
    Cancelled(&'static str),
}

impl Live {
    pub(super) fn new(id: Arc<str>, owner: Option<Box<str>>, now: u64) -> Self {
        let state = State {
            updated: now,
            questions: Vec::new(),
            outcome: None,
            is_cancelled: false,
            has_changed: false,
            asked: 0,
        };
        Self { id, owner, created: now, state: Mutex::new(state), runner: AtomicWaker::new() }
    }

    /// Has the questions under these keys answered. Others were answered before, or never asked.
    pub(super) fn answer(&self, responses: Vec<(String, Raw)>, now: u64) {
        let mut answered = Vec::new();
        {
            let mut state = lock(&self.state);
            for (key, response) in responses {
                if let Some(at) = state.questions.iter().position(|question| question.key == key) {
                    answered.push((state.questions.remove(at).answer, response));
                }
            }
            if answered.is_empty() {
                return;
            }
            state.change(now);
        }
        for (answer, response) in answered {
            answer.send(Ok(response));
        }
        self.runner.wake();
    }

    pub(super) fn cancel(&self) {
        lock(&self.state).is_cancelled = true;
        self.runner.wake();
    }

    /// Whether something changed since this was asked last.
    pub(super) fn has_changed(&self) -> bool {
        std::mem::take(&mut lock(&self.state).has_changed)
    }

    pub(super) fn is_owned_by(&self, principal: Option<&Principal>) -> bool {
        self.owner.as_deref() == principal.map(|principal| &*principal.id)
    }
}

impl State {
    pub(super) fn status(&self) -> TaskStatus {
        match &self.outcome {
            None if self.questions.is_empty() => TaskStatus::Working,
            None => TaskStatus::InputRequired,
            Some(Outcome::Completed(_)) => TaskStatus::Completed,
            Some(Outcome::Failed(_)) => TaskStatus::Failed,
            Some(Outcome::Cancelled(_)) => TaskStatus::Cancelled,
        }
    }

    fn change(&mut self, now: u64) {
        self.updated = now;
        self.has_changed = true;
    }

    /// Ends it. Nobody can answer what it asked.
    pub(super) fn end(&mut self, outcome: Outcome, now: u64) -> Vec<Question> {
        self.outcome = Some(outcome);
        self.updated = now;
        std::mem::take(&mut self.questions)
    }
}

/// Takes what a task asks.
pub(super) struct Questions {
    pub(super) live: Arc<Live>,
    pub(super) tasks: Arc<Shared>,
}

impl Hooks for Questions {
    fn ask(&mut self, method: Method, params: Raw, answer: Answer) {
        if params.as_str().len() > self.tasks.options.max_bytes {
            return answer.send(Err(ErrorObject::internal("the question is over the size that is kept of a task")));
        }
        let now = self.tasks.seconds();
        let mut state = lock(&self.live.state);
        state.asked += 1;
        let key = state.asked.to_string();
        state.questions.push(Question { key, method, params, answer });
        state.change(now);
    }

    fn withdrawn(&mut self, key: AskKey) {
        let now = self.tasks.seconds();
        let mut state = lock(&self.live.state);
        let withdrawn = state.questions.iter().position(|question| question.answer.key() == Some(key));
        let withdrawn = withdrawn.map(|at| {
            state.change(now);
            state.questions.remove(at)
        });
        drop(state);
        drop(withdrawn);
    }
}
