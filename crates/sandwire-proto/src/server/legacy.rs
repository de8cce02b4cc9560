//! What the machine answers by itself in the legacy era.

use std::sync::Arc;

use sandwire_json::{Raw, find};
use sandwire_types::{ErrorCode, LoggingLevel, Method, Request};

use super::{
    Change, Machine, fault,
    listen::{covers, updated},
    opening::Opening,
};
use crate::{PeerInfo, Via, limits::MAX_WATCHED_BYTES};

impl Machine {
    pub(super) fn set_level(&mut self, via: Via, request: &Request, peer: &Arc<PeerInfo>) {
        let level = request.params.as_ref().and_then(|params| find(params.as_str(), "level"));
        let level = level.and_then(|text| sandwire_json::from_str::<LoggingLevel>(text).ok());
        match level {
            Some(level) if level.severity().is_some() => {
                self.level = Some(level);
                self.answer_value(via, request, peer, Raw::object());
            }
            _ => self.refuse(
                via,
                request,
                "level must be debug, info, notice, warning, error, critical, alert or emergency",
            ),
        }
    }

    pub(super) fn subscribe(&mut self, via: Via, request: &Request, peer: &Arc<PeerInfo>) {
        let Some(uri) = string_param(request, "uri") else {
            return self.refuse(via, request, "uri must be a string: the resource to hear of");
        };
        if !self.watched.contains(&uri) {
            let bytes = self.watched.iter().fold(uri.len(), |bytes, watched| bytes + watched.len());
            if self.watched.len() >= self.config.limits.max_queue || bytes > MAX_WATCHED_BYTES {
                let error = fault(
                    ErrorCode::INTERNAL_ERROR,
                    "too many resources are subscribed to; unsubscribe from some first",
                );
                return self.answer(via, request.id.clone(), Err(error));
            }
            self.watched.push(uri);
        }
        self.answer_value(via, request, peer, Raw::object());
    }

    pub(super) fn unsubscribe(&mut self, via: Via, request: &Request, peer: &Arc<PeerInfo>) {
        let Some(uri) = string_param(request, "uri") else {
            return self.refuse(via, request, "uri must be a string: the resource to hear no more of");
        };
        self.watched.retain(|watched| *watched != uri);
        self.answer_value(via, request, peer, Raw::object());
    }

    pub(super) fn changed_legacy(&mut self, change: &Change) {
        let Opening::Legacy { initialized: true, .. } = self.opening else {
            return;
        };
        if self.single || self.is_full() {
            return;
        }
        let (method, params) = match change {
            Change::Tools => (Method::ToolsListChanged, None),
            Change::Prompts => (Method::PromptsListChanged, None),
            Change::Resources => (Method::ResourcesListChanged, None),
            Change::Resource(uri) if covers(&self.watched, uri) => (Method::ResourcesUpdated, Some(updated(uri))),
            Change::Resource(_) | Change::Custom(_) => return,
        };
        if self.config.allows(&method) {
            self.send_notification(Via::Pipe, method, params, None);
        }
    }

    fn refuse(&mut self, via: Via, request: &Request, message: &'static str) {
        self.answer(via, request.id.clone(), Err(fault(ErrorCode::INVALID_PARAMS, message)));
    }
}

fn string_param(request: &Request, key: &str) -> Option<Arc<str>> {
    let text = find(request.params.as_ref()?.as_str(), key)?;
    sandwire_json::from_str::<String>(text).ok().map(Arc::from)
}
