use super::{AskKey, OpenError, core::Core};
use crate::MaybeSend;
use sandwire_json::Raw;
use sandwire_proto::{
    PeerInfo, TransportError,
    client::{Output, Warning},
};
use sandwire_types::{ErrorCode, ErrorObject, Method, Notification};
use std::{sync::Arc, task::Context};

/// What the application does about what the server says of its own accord. Called by the driver, in order.
pub trait Hooks: MaybeSend + 'static {
    /// The connection is open.
    fn opened(&mut self, server: &Arc<PeerInfo>) {
        let _ = server;
    }

    /// The connection could not be opened.
    fn failed(&mut self, error: &OpenError) {
        let _ = error;
    }

    /// Something is wrong with the server that ends neither a call nor the connection.
    fn warning(&mut self, warning: &Warning) {
        let _ = warning;
    }

    /// A notification that belongs to no call and no subscription.
    fn notification(&mut self, notification: Notification) {
        let _ = notification;
    }

    /// The server asks something: `sampling/createMessage`, `elicitation/create` or `roots/list`. Only what the
    /// client's capabilities declare arrives here. The answer may come at any later time.
    fn ask(&mut self, method: Method, params: Raw, answer: Answer) {
        let _ = (method, params);
        answer.send(Err(ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, "this client does not answer that")));
    }

    /// The server, or the end of the call that asked, withdrew a question.
    fn withdrawn(&mut self, key: AskKey) {
        let _ = key;
    }

    /// The connection is over; nothing follows.
    fn closed(&mut self, error: Option<&TransportError>) {
        let _ = error;
    }

    /// Moves on whatever the hooks began and have not finished. Called each time the driver runs.
    fn poll(&mut self, cx: &mut Context<'_>) {
        let _ = cx;
    }
}

/// Tells the hooks what a machine said to them.
pub(crate) fn tell(core: &Arc<Core>, hooks: &mut dyn Hooks, output: Output) {
    match output {
        Output::Opened(peer) => hooks.opened(&peer),
        Output::Failed(error) => hooks.failed(&error),
        Output::Warning(warning) => hooks.warning(&warning),
        Output::Notification(notification) => hooks.notification(notification),
        Output::Ask { key, method, params } if cfg!(feature = "asks") => {
            hooks.ask(method, params, Answer { open: Some((Arc::clone(core), key)) });
        }
        Output::Unask(key) if cfg!(feature = "asks") => hooks.withdrawn(key),
        _ => {}
    }
}

/// Hooks that ignore notifications and refuse questions.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHooks;

impl Hooks for NoHooks {}

/// The way to answer one question. Dropped without an answer, it answers with an error.
#[must_use]
pub struct Answer {
    open: Option<(Arc<Core>, AskKey)>,
}

impl Answer {
    /// The question's key, by which [`Hooks::withdrawn`] names it.
    #[must_use]
    pub fn key(&self) -> Option<AskKey> {
        self.open.as_ref().map(|(_, key)| *key)
    }

    /// Answers. If the question was withdrawn meanwhile, nothing happens.
    pub fn send(mut self, answer: Result<Raw, ErrorObject>) {
        self.give(answer);
    }

    fn give(&mut self, answer: Result<Raw, ErrorObject>) {
        if let Some((core, key)) = self.open.take() {
            // A withdrawn question needs no answer.
            let _ = core.command(|machine, now| machine.answer(now, key, answer));
        }
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        if self.open.is_some() {
            self.give(Err(ErrorObject::new(ErrorCode::INTERNAL_ERROR, "the application gave no answer")));
        }
    }
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Answer").field("key", &self.key()).finish()
    }
}
