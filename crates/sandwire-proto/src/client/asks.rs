//! What the server asks of the application, by a request of its own or by asking a call for input.

use super::{
    AskKey, Machine, Output,
    pending::{Ask, Pending},
};
use crate::Wire;
use sandwire_json::Raw;
use sandwire_types::{ErrorObject, Method, Reply, Request};

impl Machine {
    /// A request of the server. A modern one must not make any, unless it lives in this process.
    pub(super) fn on_request(&mut self, request: Request) {
        if self.is_modern() && self.config.wire != Wire::Memory || self.is_over() {
            return;
        }
        let refusal = match &request.method {
            Method::Ping => return self.respond(request.id, Ok(Reply::empty())),
            method if !cfg!(feature = "asks") => ErrorObject::method_not_found(method),
            method => {
                let params = request.params.unwrap_or_else(Raw::object);
                match self.admit(method, &params) {
                    Ok(()) if self.asks.len() < self.config.limits.max_peer_requests => {
                        self.ask(Ask::Request(request.id), request.method, params);
                        return;
                    }
                    Ok(()) => ErrorObject::internal("too many requests are under way"),
                    Err(error) => error,
                }
            }
        };
        self.respond(request.id, Err(refusal));
    }

    /// Asks the application.
    pub(super) fn ask(&mut self, ask: Ask, method: Method, params: Raw) -> Option<AskKey> {
        let key = AskKey(self.asks.insert(Box::new(ask))?);
        if method == Method::ElicitationCreate {
            self.note_visit(&params);
        }
        self.outputs.push_back(Output::Ask { key, method, params });
        Some(key)
    }

    /// Keeps in mind what the completion of a visit is going to name it by.
    fn note_visit(&mut self, params: &Raw) {
        if let Some(id) = params.get("elicitationId") {
            if self.visits.len() >= self.config.limits.max_peer_requests {
                self.visits.remove(0);
            }
            self.visits.push(id);
        }
    }

    /// The same for the visits that an error asks for.
    pub(super) fn note_visits(&mut self, data: Option<&Raw>) {
        if let Some(visits) = data.and_then(|data| data.get("elicitations")) {
            // What cannot be read has no ids.
            let _ = visits.reader().array(&mut |reader| {
                self.note_visit(&Raw::from_valid(reader.raw()?));
                Ok(())
            });
        }
    }

    /// Whether a notification says that a visit is over which was asked for, and not said so before.
    pub(super) fn ends_visit(&mut self, params: Option<&Raw>) -> bool {
        let id = params.and_then(|params| params.get("elicitationId"));
        let at = id.and_then(|id| self.visits.iter().position(|visit| *visit == id));
        at.map(|at| self.visits.remove(at)).is_some()
    }

    /// Withdraws a question that is still open.
    pub(super) fn unask(&mut self, key: AskKey) {
        if self.asks.remove(key.0).is_some() {
            self.outputs.push_back(Output::Unask(key));
        }
    }

    /// Withdraws what a call that is over still asks.
    pub(super) fn unask_all(&mut self, call: &Pending) {
        for asked in call.rounds.iter().flat_map(|rounds| &rounds.asked) {
            self.unask(asked.ask);
        }
    }
}
