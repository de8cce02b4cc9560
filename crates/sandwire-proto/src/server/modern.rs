//! What the machine answers by itself in the modern era.

use std::sync::Arc;

use sandwire_json::{Raw, Writer, find};
use sandwire_types::{Message, Method, Notification, Reply, Request, Stamp};

use super::{
    CallKey, Change, Machine, Output,
    calls::State,
    listen::{Filter, updated},
};
use crate::{PeerInfo, Via, faults::Fault};

impl Machine {
    pub(super) fn discover(&mut self, via: Via, request: &Request, peer: &Arc<PeerInfo>) {
        let mut writer = Writer::new();
        writer.begin_object();
        writer.key("supportedVersions");
        self.config.write_versions(&mut writer);
        writer.key("capabilities");
        writer.raw(self.config.capabilities().as_str());
        if let Some(instructions) = &self.config.instructions {
            writer.key("instructions");
            writer.string(instructions);
        }
        writer.end_object();
        self.answer_value(via, request, peer, writer.into_raw());
    }

    pub(super) fn listen(&mut self, via: Via, request: &Request, peer: &Arc<PeerInfo>) {
        let wanted = request.params.as_ref().and_then(|params| find(params.as_str(), "notifications"));
        let filter = match Filter::read(wanted.unwrap_or_default(), &self.config, peer) {
            Ok(filter) => filter,
            Err(error) => return self.answer(via, request.id.clone(), Err(error)),
        };
        let acknowledgement = filter.acknowledgement();
        if self.begin(via, request, peer, State::Listening(filter)).is_some() {
            let id = Some(request.id.clone());
            self.send_notification(via, Method::SubscriptionsAcknowledged, Some(acknowledgement), id);
        }
    }

    pub(super) fn changed_modern(&mut self, change: &Change) {
        let (method, params) = match change {
            Change::Tools => (Method::ToolsListChanged, None),
            Change::Prompts => (Method::PromptsListChanged, None),
            Change::Resources => (Method::ResourcesListChanged, None),
            Change::Resource(uri) => (Method::ResourcesUpdated, Some(updated(uri))),
            Change::Custom(published) => (published.method.clone(), published.params.clone()),
        };
        let hearers: Vec<_> = self
            .calls
            .iter()
            .filter(|(_, entry)| match &entry.state {
                State::Listening(filter) => {
                    filter.wants(change, &self.config, &entry.peer) || Fault::ServerTellsEverybody.happens()
                }
                _ => false,
            })
            .map(|(key, entry)| (key, entry.via, entry.id.clone()))
            .collect();
        for (key, via, id) in hearers {
            let notification = Notification { method: method.clone(), params: params.clone(), subscription: Some(id) };
            let told = Message::Notification(notification);
            let waits =
                |output: &Output| matches!(output, Output::Send { via: on, message } if *on == via && *message == told);
            if self.outputs.iter().any(waits) {
                continue;
            }
            if self.is_full() {
                // The client looks at everything anew when it subscribes again.
                self.end_subscription(key);
            } else {
                self.outputs.push_back(Output::Send { via, message: told });
            }
        }
    }

    /// Ends the subscriptions of the modern era with their results.
    pub fn end_subscriptions(&mut self) {
        for key in self.calls.keys() {
            if self.calls.get(key).is_some_and(|entry| matches!(entry.state, State::Listening(_))) {
                self.end_subscription(key);
            }
        }
    }

    fn end_subscription(&mut self, key: CallKey) {
        let Some(entry) = self.calls.remove(key) else { return };
        let mut reply = Reply::new(Raw::object());
        reply.stamp = Some(Box::new(Stamp {
            server_info: Some(self.config.info.clone()),
            cache: None,
            subscription: Some(entry.id.clone()),
        }));
        self.answer(entry.via, entry.id, Ok(reply));
    }
}
