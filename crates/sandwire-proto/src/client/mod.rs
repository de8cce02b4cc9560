//! The client's machine.
//!
//! One connection goes through an opening, in which the server's era is found out, and is then legacy or modern.
//! What the eras share stands in this file; `opening`, `legacy` and `modern` hold what they do not.

mod config;
mod declared;
mod event;
mod exchanges;
mod legacy;
mod modern;
mod notifications;
mod opening;
#[cfg(feature = "param-headers")]
mod param_headers;
mod pending;
mod slab;
mod timers;

pub use crate::input::{Ended, Input};
pub use config::{Config, Mode};
pub use event::{AskKey, Call, CallError, CallKey, OpenError, Output, Timeout};

use crate::{
    ApiMisuse, PeerIncompatible, PeerInfo, PeerMisbehaved, Time, TransportError, Via, Wire,
    http::{RequestHead, outgoing},
};
use declared::Declared;
use opening::Opening;
use pending::{Ask, Exchange, Owner, Pending, Purpose, Stage};
use sandwire_json::Raw;
use sandwire_types::{
    Envelope, ErrorCode, ErrorObject, Message, Method, Notification, Reply, Request, RequestId, RequestMeta, Response,
    ResultKind, Side,
};
use slab::Slab;
use std::{collections::VecDeque, sync::Arc};

/// One connection's client, from the first message to the last.
///
/// Commands and inputs may follow each other in any order; what they lead to queues inside until it is polled.
///
/// ```
/// use sandwire_proto::{Time, client::{Call, Config, Input, Machine, Output}};
/// use sandwire_types::Method;
///
/// let mut client = Machine::new(Config::new("example", "1.0"));
/// let call = client.request(Time(0), Call::new(Method::ToolsList, None));
/// assert!(call.is_ok());
/// // The call waits; first the client finds out what it is talking to.
/// assert!(matches!(client.poll(), Some(Output::Send { .. })));
/// assert!(client.poll().is_none());
/// ```
#[derive(Debug)]
pub struct Machine {
    config: Config,
    declared: Declared,
    phase: Phase,
    calls: Slab<Box<Pending>>,
    asks: Slab<Ask>,
    exchanges: Slab<Exchange>,
    queue: VecDeque<Queued>,
    outputs: VecDeque<Output>,
    /// No later than the next moment at which something is due.
    wake_at: Option<Time>,
    /// The legacy session, over HTTP.
    session: Option<String>,
    /// Counts the sessions.
    epoch: u32,
    /// When to take up the stream of messages that belong to no call, and how (legacy, HTTP).
    listen_again: Option<legacy::ListenAgain>,
    #[cfg(feature = "param-headers")]
    tools: crate::http::ParamHeaders,
}

#[derive(Debug)]
enum Phase {
    New,
    Opening(Box<Opening>),
    Open(Open),
    /// The session is being ended; then the link closes.
    Ending(Time),
    Failed(Arc<OpenError>),
    Closed,
}

#[derive(Clone, Debug)]
struct Open {
    peer: Arc<PeerInfo>,
    /// What every request carries (modern).
    envelope: Option<Arc<Envelope>>,
    /// Whether nothing has confirmed yet that a remembered server is still what it was.
    remembered: bool,
}

#[derive(Debug)]
enum Queued {
    Call(CallKey),
    Notification(Notification),
}

impl Machine {
    /// A client that has sent nothing yet. It begins with the first input or call.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self {
            declared: Declared::of(&config.capabilities),
            config,
            phase: Phase::New,
            calls: Slab::new(),
            asks: Slab::new(),
            exchanges: Slab::new(),
            queue: VecDeque::new(),
            outputs: VecDeque::new(),
            wake_at: None,
            session: None,
            epoch: 0,
            listen_again: None,
            #[cfg(feature = "param-headers")]
            tools: crate::http::ParamHeaders::new(),
        }
    }

    /// Makes a call. It waits inside until the connection is open.
    ///
    /// # Errors
    /// If the connection is closed or could not be opened, the call is over a limit, or its parameters are no object.
    pub fn request(&mut self, now: Time, call: Call) -> Result<CallKey, CallError> {
        self.begin(now);
        match &self.phase {
            Phase::Failed(error) => return Err(CallError::Open(Arc::clone(error))),
            Phase::Closed | Phase::Ending(_) => return Err(CallError::Misuse(ApiMisuse::Closed)),
            _ => {}
        }
        if matches!(call.method, Method::Initialize) {
            return Err(CallError::Misuse(ApiMisuse::ReservedMethod));
        }
        self.check_params(call.params.as_ref()).map_err(CallError::Misuse)?;
        if self.calls.len() >= self.config.limits.max_in_flight {
            return Err(CallError::Misuse(ApiMisuse::TooManyInFlight));
        }
        let pending = Pending::of_caller(call, &self.config, now);
        let key = self.insert(pending).ok_or(CallError::Misuse(ApiMisuse::TooManyInFlight))?;
        if matches!(self.phase, Phase::Open(_)) {
            self.send_call(now, key);
        } else {
            self.queue.push_back(Queued::Call(CallKey(key)));
        }
        Ok(CallKey(key))
    }

    /// Cancels a call, which ends with [`CallError::Cancelled`] unless it has ended already.
    pub fn cancel(&mut self, now: Time, key: CallKey, reason: Option<&str>) {
        if let Some(current) = self.find(key) {
            self.give_up(now, current, CallError::Cancelled, reason);
        }
    }

    /// Sends a notification, once the connection is open. One that the negotiated version lacks is dropped.
    ///
    /// # Errors
    /// If the connection is closed, the notification is over a limit, or it is one the machine sends itself.
    pub fn notify(&mut self, now: Time, notification: Notification) -> Result<(), ApiMisuse> {
        self.begin(now);
        if matches!(notification.method, Method::Initialized | Method::Cancelled) {
            return Err(ApiMisuse::ReservedMethod);
        }
        self.check_params(notification.params.as_ref())?;
        match &self.phase {
            Phase::Failed(_) | Phase::Closed | Phase::Ending(_) => return Err(ApiMisuse::Closed),
            Phase::Open(_) => self.send_notification(notification, Purpose::Post),
            _ if self.queue.len() >= self.config.limits.max_queue + self.calls.len() => {
                return Err(ApiMisuse::TooManyInFlight);
            }
            _ => self.queue.push_back(Queued::Notification(notification)),
        }
        Ok(())
    }

    /// Answers a question of the server.
    ///
    /// # Errors
    /// If the question was answered or withdrawn before.
    pub fn answer(&mut self, now: Time, key: AskKey, answer: Result<Raw, ErrorObject>) -> Result<(), ApiMisuse> {
        match self.asks.remove(key.0) {
            None => Err(ApiMisuse::UnknownAsk),
            Some(Ask::Request(id)) => {
                self.respond(id, answer.map(Reply::new));
                Ok(())
            }
            Some(Ask::Round { call }) => {
                self.round_answered(now, call, key, answer);
                Ok(())
            }
        }
    }

    /// Closes the connection. Calls under way end with [`CallError::Closed`].
    pub fn close(&mut self, now: Time) {
        if matches!(self.phase, Phase::Closed | Phase::Failed(_) | Phase::Ending(_)) {
            return;
        }
        let opened = matches!(self.phase, Phase::Open(_));
        let version = self.version();
        let listening = self.exchanges.keys();
        self.end_everything(&CallError::Closed(None));
        for exchange in listening {
            self.abandon(exchange);
        }
        if !opened {
            self.outputs.push_back(Output::Failed(OpenError::Closed));
        }
        match (version, self.session.take()) {
            (Some(version), Some(session)) => {
                self.open_exchange(Purpose::End, outgoing::legacy_end(version, &session));
                let until = now.after(legacy::END_PATIENCE_MS);
                self.phase = Phase::Ending(until);
                self.arm(Some(until));
            }
            _ => {
                self.phase = Phase::Closed;
                self.outputs.push_back(Output::Close);
            }
        }
    }

    /// Takes an input.
    pub fn handle(&mut self, now: Time, input: Input) {
        self.begin(now);
        match input {
            Input::Message { via, message } => self.on_message(now, via, message),
            Input::Garbage { via, error } => self.on_garbage(now, via, error),
            Input::Batch { via, items } => {
                for item in items {
                    match item {
                        Ok(message) => self.on_message(now, via, message),
                        Err(error) => self.on_garbage(now, via, error),
                    }
                }
            }
            Input::Head { exchange, head } => self.on_head(now, exchange.0, &head),
            Input::Mark { exchange, event_id, retry_ms } => self.on_mark(exchange.0, event_id, retry_ms),
            Input::Ended { exchange, how } => self.on_ended(now, exchange.0, how),
            Input::Unsent { id, error } => self.on_unsent(now, &id, error),
            Input::Closed(error) => self.on_closed(error),
            Input::Tick => self.on_tick(now),
        }
    }

    /// The next thing to do.
    pub fn poll(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// Whether there is something to do.
    #[must_use]
    pub fn has_output(&self) -> bool {
        !self.outputs.is_empty()
    }

    /// When to come back with [`Input::Tick`] if nothing happens before. It may turn out that nothing is due then.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        self.wake_at
    }

    /// The server, while the connection is open.
    #[must_use]
    pub fn peer(&self) -> Option<&Arc<PeerInfo>> {
        match &self.phase {
            Phase::Open(open) => Some(&open.peer),
            _ => None,
        }
    }

    /// How many calls have not ended.
    #[must_use]
    pub fn calls_under_way(&self) -> usize {
        self.calls.iter().filter(|(_, pending)| pending.owner == Owner::Caller).count()
    }

    fn check_params(&self, params: Option<&Raw>) -> Result<(), ApiMisuse> {
        let Some(params) = params else { return Ok(()) };
        if params.as_str().len() > self.config.limits.max_message_bytes {
            return Err(ApiMisuse::MessageTooLarge);
        }
        if params.is_object() { Ok(()) } else { Err(ApiMisuse::ParamsNotObject) }
    }

    fn insert(&mut self, pending: Pending) -> Option<u64> {
        self.arm(pending.due());
        let key = self.calls.insert(Box::new(pending))?;
        if let Some(pending) = self.calls.get_mut(key) {
            pending.key = CallKey(key);
        }
        Some(key)
    }

    /// The key that a caller's call has now.
    fn find(&self, key: CallKey) -> Option<u64> {
        let (current, pending) = self.calls.in_slot(key.0)?;
        (pending.key == key && pending.owner == Owner::Caller).then_some(current)
    }

    fn version(&self) -> Option<sandwire_types::ProtocolVersion> {
        self.peer().map(|peer| peer.version)
    }

    /// Whether the connection is open and modern.
    fn is_modern(&self) -> bool {
        matches!(&self.phase, Phase::Open(Open { envelope: Some(_), .. }))
    }

    fn is_http(&self) -> bool {
        self.config.wire == Wire::Http
    }

    /// Sends a call's request for the first time or again.
    fn send_call(&mut self, now: Time, key: u64) {
        let Some(pending) = self.calls.get_mut(key) else { return };
        let envelope = match (&pending.owner, &self.phase) {
            (Owner::Discover, Phase::Opening(opening)) => opening.envelope.clone(),
            (_, Phase::Open(open)) => {
                if !pending.method.may_send(Side::Client, open.peer.version) {
                    let error = CallError::Incompatible(PeerIncompatible::MethodNotInVersion);
                    return self.conclude(now, key, Err(error));
                }
                open.envelope.clone()
            }
            _ => None,
        };
        let id = RequestId::Number(key as i64);
        let request = Request {
            id: id.clone(),
            method: pending.method.clone(),
            params: pending.current_params(),
            meta: RequestMeta {
                envelope,
                progress_token: pending.progress.then_some(id),
                log_level: pending.log_level.clone(),
                extra: pending.meta.clone(),
            },
        };
        pending.stage = Stage::Sent;
        pending.told = None;
        if self.config.wire == Wire::Pipe {
            return self.outputs.push_back(Output::Send {
                via: Via::Pipe,
                message: Message::Request(request),
                head: None,
            });
        }
        let head = match &request.meta.envelope {
            Some(envelope) => {
                let head = outgoing::modern_request(&envelope.version, &request);
                #[cfg(feature = "param-headers")]
                let head = self.mirror(&request, head);
                head
            }
            None => outgoing::legacy_message(self.version(), self.session.as_deref()),
        };
        let exchange = self.begin_exchange(Purpose::Call(key));
        if exchange.is_none() {
            return self.conclude(now, key, Err(CallError::Misuse(ApiMisuse::TooManyInFlight)));
        }
        if let Some(pending) = self.calls.get_mut(key) {
            pending.exchange = exchange;
        }
        self.push_exchange(exchange, Message::Request(request), head);
    }

    fn send_notification(&mut self, notification: Notification, purpose: Purpose) {
        let Some(version) = self.version().or_else(|| self.opening_version()) else { return };
        if notification.method.may_send(Side::Client, version) {
            self.post(Message::Notification(notification), purpose);
        }
    }

    fn respond(&mut self, id: RequestId, result: Result<Reply, ErrorObject>) {
        self.post(Message::Response(Response::new(id, result)), Purpose::Post);
    }

    /// Sends a message that expects no answer.
    fn post(&mut self, message: Message, purpose: Purpose) {
        if !matches!(self.phase, Phase::Opening(_) | Phase::Open(_)) {
            return;
        }
        if !self.is_http() {
            return self.outputs.push_back(Output::Send { via: Via::Pipe, message, head: None });
        }
        let head = match &self.phase {
            Phase::Open(Open { envelope: Some(envelope), .. }) => outgoing::modern_notification(&envelope.version),
            _ => {
                let version = self.version().or_else(|| self.opening_version());
                outgoing::legacy_message(version, self.session.as_deref())
            }
        };
        let exchange = self.begin_exchange(purpose);
        self.push_exchange(exchange, message, head);
    }

    fn push_exchange(&mut self, exchange: Option<u64>, message: Message, head: RequestHead) {
        if let Some(exchange) = exchange {
            let via = Via::Exchange(crate::ExchangeId(exchange));
            self.outputs.push_back(Output::Send { via, message, head: Some(Box::new(head)) });
        }
    }

    fn on_message(&mut self, now: Time, via: Via, message: Message) {
        if let Via::Exchange(exchange) = via
            && let Some(exchange) = self.exchanges.get_mut(exchange.0)
        {
            exchange.attempts = 0;
        }
        match message {
            Message::Response(response) => self.on_response(now, via, response),
            Message::Notification(notification) => self.on_notification(now, notification),
            Message::Request(request) => self.on_request(request),
        }
    }

    fn on_response(&mut self, now: Time, via: Via, response: Response) {
        let key = match (&response.id, via) {
            (Some(RequestId::Number(id)), _) => u64::try_from(*id).ok(),
            (Some(RequestId::String(_)), _) | (None, Via::Pipe) => None,
            (None, Via::Exchange(exchange)) => match self.exchanges.get(exchange.0).map(|exchange| exchange.purpose) {
                Some(Purpose::Call(key)) => Some(key),
                _ => None,
            },
        };
        // An answer to a call that is over, or was never made, is late or lost: nobody waits for it.
        let Some(key) = key else { return };
        let Some(pending) = self.calls.get(key) else { return };
        if !matches!(pending.stage, Stage::Sent | Stage::Resuming(_)) {
            return;
        }
        match (&pending.owner, response.result) {
            (Owner::Discover | Owner::Initialize, result) => {
                self.conclude(now, key, result.map_err(CallError::Peer));
            }
            (_, Err(error)) => self.on_error(now, key, error),
            (_, Ok(reply)) => self.on_reply(now, key, reply),
        }
    }

    fn on_unsent(&mut self, now: Time, id: &RequestId, error: TransportError) {
        let RequestId::Number(id) = id else { return };
        let key = u64::try_from(*id).ok().filter(|key| self.calls.get(*key).is_some());
        if let Some(key) = key {
            self.conclude(now, key, Err(CallError::Transport(error)));
        }
    }

    fn on_reply(&mut self, now: Time, key: u64, mut reply: Reply) {
        if let Phase::Open(open) = &mut self.phase {
            open.remembered = false;
        }
        if !self.is_modern() {
            reply.kind = ResultKind::Complete;
            return self.conclude(now, key, Ok(reply));
        }
        match &reply.kind {
            ResultKind::Complete => {
                #[cfg(feature = "param-headers")]
                self.learn(key, &mut reply);
                self.conclude(now, key, Ok(reply));
            }
            ResultKind::InputRequired => self.input_required(now, key, &reply.value),
            ResultKind::Other(kind) if self.declared.extends_result(kind) => self.conclude(now, key, Ok(reply)),
            ResultKind::Other(_) => {
                self.conclude(now, key, Err(CallError::Misbehaved(PeerMisbehaved::UnknownResultType)));
            }
        }
    }

    fn on_error(&mut self, now: Time, key: u64, error: ErrorObject) {
        let exchange = self.calls.get(key).and_then(|call| self.exchanges.get(call.exchange?));
        if let Some(exchange) = exchange
            && self.is_stale(exchange)
        {
            let epoch = exchange.epoch;
            if self.renew(now, key, epoch) {
                return;
            }
        }
        match error.code {
            #[cfg(feature = "param-headers")]
            ErrorCode::HEADER_MISMATCH if self.may_relist(key) => self.relist(now, key, error),
            ErrorCode::UNSUPPORTED_PROTOCOL_VERSION if self.may_reopen(key) => self.reopen(now, key),
            _ => self.conclude(now, key, Err(CallError::Peer(error))),
        }
    }

    /// Ends a call, or what the machine asked for itself.
    fn conclude(&mut self, now: Time, key: u64, result: Result<Reply, CallError>) {
        let exchange = self.calls.get_mut(key).and_then(|call| call.exchange.take());
        let failure = exchange.and_then(|exchange| {
            self.settle(now, exchange);
            self.exchanges.get(exchange)?.failure.clone()
        });
        self.conclude_after(now, key, result, failure);
    }

    /// Ends a call whose exchange failed, or did not.
    fn conclude_after(
        &mut self,
        now: Time,
        key: u64,
        result: Result<Reply, CallError>,
        failure: Option<TransportError>,
    ) {
        let Some(mut pending) = self.calls.remove(key) else { return };
        if let Some(rounds) = pending.rounds.take().filter(|_| cfg!(feature = "asks")) {
            for asked in rounds.asked {
                if asked.answer.is_none() && self.asks.remove(asked.ask.0).is_some() {
                    self.outputs.push_back(Output::Unask(asked.ask));
                }
            }
        }
        match pending.owner {
            Owner::Caller => self.outputs.push_back(Output::Done { key: pending.key, result }),
            Owner::Discover => self.discovered(now, result, failure),
            Owner::Initialize => self.initialized(now, result, failure),
            #[cfg(feature = "param-headers")]
            Owner::Relist(call) => self.relisted(now, call, &result),
        }
    }

    /// Ends a call before its answer came, and tells the server so where it may be told.
    fn give_up(&mut self, now: Time, key: u64, error: CallError, reason: Option<&str>) {
        let Some(pending) = self.calls.get(key) else { return };
        let sent = matches!(pending.stage, Stage::Sent | Stage::Resuming(_));
        let tell = sent
            && !matches!(pending.owner, Owner::Discover | Owner::Initialize)
            && pending.method != Method::ServerDiscover;
        if tell && self.is_http() && self.is_modern() {
            if let Some(exchange) = pending.exchange {
                self.abandon(exchange);
            }
        } else if tell {
            let notification = Notification::new(Method::Cancelled, Some(notifications::cancelled_params(key, reason)));
            self.send_notification(notification, Purpose::Post);
        }
        self.conclude(now, key, Err(error));
    }

    fn on_closed(&mut self, error: Option<TransportError>) {
        match std::mem::replace(&mut self.phase, Phase::Closed) {
            Phase::New | Phase::Opening(_) => {
                let error = error.map_or(OpenError::Closed, OpenError::Transport);
                self.phase = Phase::Opening(Box::default());
                self.fail_opening(error);
            }
            Phase::Failed(error) => self.phase = Phase::Failed(error),
            Phase::Open(_) => self.end_everything(&CallError::Closed(error)),
            Phase::Ending(_) | Phase::Closed => {}
        }
        for exchange in self.exchanges.keys() {
            self.exchanges.remove(exchange);
        }
        self.wake_at = None;
    }

    /// Ends every call and question.
    fn end_everything(&mut self, error: &CallError) {
        self.queue.clear();
        self.listen_again = None;
        if cfg!(feature = "asks") {
            for key in self.asks.keys() {
                self.asks.remove(key);
                self.outputs.push_back(Output::Unask(AskKey(key)));
            }
        }
        for key in self.calls.keys() {
            if let Some(pending) = self.calls.remove(key)
                && pending.owner == Owner::Caller
            {
                self.outputs.push_back(Output::Done { key: pending.key, result: Err(error.clone()) });
            }
        }
    }
}
