//! What a registered function becomes: something that runs, with the function's type forgotten.

use crate::context::Context;
use sandwire_io::{Answer, MaybeSend, MaybeSync};
use std::fmt;
use std::sync::Arc;

/// Runs a handler on what a request gives it, before that is decoded.
pub(crate) struct Run<G: ?Sized> {
    handler: Arc<dyn Handle<G>>,
    takes_context: bool,
}

trait Handle<G: ?Sized>: MaybeSend + MaybeSync {
    fn handle(&self, given: &G, context: Context) -> Answer;
}

impl<G: ?Sized, F: Fn(&G, Context) -> Answer + MaybeSend + MaybeSync> Handle<G> for F {
    fn handle(&self, given: &G, context: Context) -> Answer {
        self(given, context)
    }
}

impl<G: ?Sized> Run<G> {
    /// `takes_context` is the function's: [`Function::CONTEXT`](crate::Function).
    pub(crate) fn new(
        takes_context: bool,
        handler: impl Fn(&G, Context) -> Answer + MaybeSend + MaybeSync + 'static,
    ) -> Self {
        Self { handler: Arc::new(handler), takes_context }
    }

    pub(crate) fn run(&self, given: &G, context: Context) -> Answer {
        self.handler.handle(given, context)
    }

    /// Whether the function may send log messages.
    pub(crate) fn takes_context(&self) -> bool {
        self.takes_context
    }
}

impl<G: ?Sized> Clone for Run<G> {
    fn clone(&self) -> Self {
        Self { handler: self.handler.clone(), takes_context: self.takes_context }
    }
}

impl<G: ?Sized> fmt::Debug for Run<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Run")
    }
}
