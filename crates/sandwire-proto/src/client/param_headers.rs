//! Arguments mirrored into header fields, as the tools' input schemas say that a modern server wants them.

use super::{
    Call, CallError, Machine, Output, Warning,
    pending::{Owner, Pending, Stage},
};
use crate::{Time, http::RequestHead};
use sandwire_json::{Kind, Raw, Writer};
use sandwire_types::{ErrorObject, Method, Reply, Request};

/// How many pages of tools are read to learn one tool's header fields.
const MAX_PAGES: u32 = 64;

/// Why a call waits for the tools to be listed again.
#[derive(Debug)]
pub(super) struct Relisting {
    /// What the server said of the header fields that the call had.
    error: ErrorObject,
    pages: u32,
}

impl Machine {
    /// Learns from a page of tools, and leaves out those that must not be used.
    pub(super) fn learn(&mut self, key: u64, reply: &mut Reply) {
        let lists = self.calls.get(key).is_some_and(|call| matches!(call.call.method, Method::ToolsList));
        if !lists || !self.is_http() || !self.is_modern() {
            return;
        }
        let mut dropped = Vec::new();
        if let Some(without_invalid) = self.tools.learn(&reply.value, &mut dropped) {
            reply.value = without_invalid;
        }
        for (tool, fault) in dropped {
            self.outputs.push_back(Output::Warning(Warning::ToolDropped { tool, fault }));
        }
    }

    /// The head of a request with the arguments that are to be mirrored.
    pub(super) fn mirror(&self, request: &Request, mut head: RequestHead) -> RequestHead {
        if let (Method::ToolsCall, Some(params)) = (&request.method, &request.params) {
            self.tools.mirror(params.as_str(), &mut head.headers);
        }
        head
    }

    /// Whether a call whose header fields did not fit may be made again with what `tools/list` says now.
    pub(super) fn may_relist(&self, key: u64) -> bool {
        self.is_http()
            && self.is_modern()
            && self.calls.get(key).is_some_and(|call| {
                call.owner == Owner::Caller && matches!(call.call.method, Method::ToolsCall) && !call.renewed
            })
    }

    pub(super) fn relist(&mut self, now: Time, key: u64, error: ErrorObject) {
        let Some(call) = self.calls.get_mut(key) else { return };
        call.enter(Stage::Relisting);
        call.relisting = Some(Box::new(Relisting { error, pages: 0 }));
        if let Some(exchange) = call.exchange.take() {
            self.settle(now, exchange);
        }
        self.list_page(now, key, None);
    }

    fn list_page(&mut self, now: Time, call: u64, params: Option<Raw>) {
        let page = Call::new(Method::ToolsList, params);
        if let Some(key) = self.insert(Pending::new(Owner::Relist(call), page, &self.config, now)) {
            self.send_call(now, key);
        }
    }

    /// A page of tools was listed again for a call, or could not be.
    pub(super) fn relisted(&mut self, now: Time, key: u64, result: &Result<Reply, CallError>) {
        let Some(relisting) = self.calls.get_mut(key).and_then(|call| call.relisting.as_mut()) else { return };
        relisting.pages += 1;
        let cursor = match result {
            Ok(reply) => reply.value.get("nextCursor").filter(|cursor| cursor.kind() == Kind::String),
            Err(_) => {
                let error = relisting.error.clone();
                return self.conclude(now, key, Err(CallError::Peer(error)));
            }
        };
        match cursor {
            Some(cursor) if relisting.pages <= MAX_PAGES => {
                let mut params = Writer::new();
                params.begin_object();
                params.key("cursor");
                params.raw(cursor.as_str());
                params.end_object();
                self.list_page(now, key, Some(params.into_raw()));
            }
            _ => {
                self.requeue(now, key);
                self.send_queued(now);
            }
        }
    }
}
