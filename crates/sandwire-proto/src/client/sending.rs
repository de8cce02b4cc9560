//! What goes to the server: a call's request, notifications, answers.

use super::{
    CallError, Machine, Output, Phase, Queued,
    pending::{Purpose, Stage},
};
use crate::Time;
use crate::{ApiMisuse, ExchangeId, PeerIncompatible, Via, http::outgoing};
use sandwire_types::{ErrorObject, Message, Notification, Reply, Request, RequestId, RequestMeta, Response, Side};

impl Machine {
    /// Sends a call's request for the first time or again.
    pub(super) fn send_call(&mut self, now: Time, key: u64) {
        let version = self.version();
        let Some(pending) = self.calls.get_mut(key) else { return };
        let call = &pending.call;
        if version.is_some_and(|version| !call.method.may_send(Side::Client, version)) {
            let error = CallError::Incompatible(PeerIncompatible::MethodNotInVersion);
            return self.conclude(now, key, Err(error));
        }
        let id = RequestId::Number(key as i64);
        let request = Request {
            id: id.clone(),
            method: call.method.clone(),
            params: pending.current_params(),
            meta: RequestMeta {
                envelope: self.envelope.clone(),
                progress_token: call.progress.then_some(id),
                log_level: call.log_level.clone(),
                extra: call.meta.clone(),
            },
        };
        pending.enter(Stage::Sent);
        pending.told = None;
        if !self.is_http() {
            return self.send(Message::Request(request));
        }
        let exchange = self.send_in_exchange(Purpose::Call(key), Message::Request(request));
        if exchange.is_none() {
            return self.conclude(now, key, Err(CallError::Misuse(ApiMisuse::TooManyInFlight)));
        }
        if let Some(pending) = self.calls.get_mut(key) {
            pending.exchange = exchange;
        }
    }

    /// Readies a call to be made again under a new id, once.
    pub(super) fn requeue(&mut self, now: Time, key: u64) {
        let Some(call) = self.calls.rekey(key).and_then(|key| self.calls.get_mut(key)) else { return };
        call.renewed = true;
        call.enter(Stage::Queued);
        self.queue.push(Queued::Call(call.key));
        if let Some(exchange) = call.exchange.take() {
            self.settle(now, exchange);
        }
    }

    /// Sends a notification, if the server's version has it.
    pub(super) fn send_notification(&mut self, notification: Notification, purpose: Purpose) {
        if self.version().is_some_and(|version| notification.method.may_send(Side::Client, version)) {
            self.post(Message::Notification(notification), purpose);
        }
    }

    pub(super) fn respond(&mut self, id: RequestId, result: Result<Reply, ErrorObject>) {
        self.post(Message::Response(Response::new(id, result)), Purpose::Post);
    }

    /// Sends a message that expects no answer.
    fn post(&mut self, message: Message, purpose: Purpose) {
        if !matches!(self.phase, Phase::Opening | Phase::Open) {
            return;
        }
        if self.is_http() {
            self.send_in_exchange(purpose, message);
        } else {
            self.send(message);
        }
    }

    fn send(&mut self, message: Message) {
        self.outputs.push_back(Output::Send { via: Via::Pipe, message, head: None });
    }

    /// Sends a message over HTTP.
    fn send_in_exchange(&mut self, purpose: Purpose, message: Message) -> Option<u64> {
        let head = match (&self.envelope, &message) {
            (Some(envelope), Message::Request(request)) => {
                let head =
                    outgoing::modern_request(envelope.version(), request, self.config.name_source(&request.method));
                #[cfg(feature = "param-headers")]
                let head = self.mirror(request, head);
                head
            }
            (Some(envelope), _) if self.is_modern() => outgoing::modern_notification(envelope.version()),
            _ => outgoing::legacy_message(self.version(), self.session.as_deref()),
        };
        let exchange = self.begin_exchange(purpose)?;
        let via = Via::Exchange(ExchangeId(exchange));
        self.outputs.push_back(Output::Send { via, message, head: Some(Box::new(head)) });
        Some(exchange)
    }
}
