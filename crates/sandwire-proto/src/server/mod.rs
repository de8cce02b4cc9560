//! The server's side of a connection as a value.
//!
//! [`Machine`] is told what arrives ([`Input`]) and says what to do ([`Output`]): send a message, call the endpoint,
//! cancel a call. What the endpoint has to say comes back through the machine's methods. One machine serves one pipe
//! for its whole life, or one HTTP exchange.
//!
//! It answers by itself what concerns the connection: the opening in both eras, `ping`, `server/discover`, log levels
//! and subscriptions. It checks every request against the negotiated version and the declared capabilities before the
//! endpoint sees it, and every answer on its way out.
//!
//! Reading order: [`Config`], this file, `opening` (which era), `legacy` and `modern` (what each answers by itself),
//! `calls`, `say` (progress and logs), `ask` (questions to the client), `listen` (subscriptions).

mod ask;
mod calls;
mod change;
mod config;
mod extensions;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod legacy;
mod listen;
mod modern;
mod number;
mod opening;
mod replies;
mod saved;
mod say;
mod seal;

use std::{collections::VecDeque, sync::Arc};

use sandwire_json::Raw;
use sandwire_types::{
    Envelope, ErrorCode, ErrorObject, LoggingLevel, Message, Method, Notification, ProgressToken, Reply, Request,
    RequestId, Response, Side, WireError,
};

pub use self::{
    ask::{AskError, AskKey, AskStep, Clock, Learned},
    calls::CallKey,
    config::Config,
    extensions::{Extensions, Published, undeclared},
    listen::Change,
    saved::Saved,
    say::Progress,
    seal::{HmacSealer, Sealer},
};
use self::{
    ask::{Asking, OpenAsk},
    calls::{Calls, Entry, State},
    opening::Opening,
};
use crate::{Input, PeerInfo, Principal, Time, Via, faults::Fault, limits::MAX_TOKEN_BYTES};

/// What a machine wants done.
#[derive(Debug)]
#[non_exhaustive]
pub enum Output {
    /// Send a message.
    Send {
        /// The stream it belongs on.
        via: Via,
        /// The message.
        message: Message,
    },
    /// Have the endpoint answer a request, then call [`Machine::reply`].
    Call {
        /// The call's name.
        key: CallKey,
        /// The request.
        request: Request,
        /// Who asks.
        peer: Arc<PeerInfo>,
    },
    /// The client gave up on a call. Nothing it says is sent any more; call [`Machine::end`] when its handler is gone.
    Cancel {
        /// The call's name.
        key: CallKey,
    },
    /// The client answered a question, or can no longer do so.
    Answer {
        /// The question's name.
        ask: AskKey,
        /// The answer.
        result: Result<Raw, AskError>,
    },
    /// Have the endpoint hear of a notification.
    Notification {
        /// The notification.
        notification: Notification,
        /// Who sent it.
        peer: Arc<PeerInfo>,
    },
    /// Close the link once everything before this has been sent.
    Close,
}

/// One connection of a server, or one HTTP exchange.
#[derive(Debug)]
pub struct Machine {
    config: Arc<Config>,
    opening: Opening,
    /// Whether this machine lives for one exchange only and cannot send requests.
    single: bool,
    in_process: bool,
    /// Who the client is, where its requests are authenticated.
    principal: Option<Arc<Principal>>,
    calls: Calls,
    outputs: VecDeque<Output>,
    /// The client's last envelope and what was made of it: a stream of requests brings the same one.
    known: Option<(Arc<Envelope>, Arc<PeerInfo>)>,
    level: Option<LoggingLevel>,
    watched: Vec<Arc<str>>,
    asks: Vec<OpenAsk>,
    asking: Option<Asking>,
    next_ask: i64,
    /// Questions that wait until the client is initialized.
    held: Vec<(AskKey, Via, Message)>,
    /// The ids under which a legacy client was asked to visit an address.
    visits: Vec<Box<str>>,
    /// Whether every exchange is answered on a stream of its own, so that ids may be the same on two of them.
    apart: bool,
    closed: bool,
}

impl Machine {
    /// A machine for a connection that begins now, whose first request decides the era.
    #[must_use]
    pub fn new(config: Arc<Config>) -> Self {
        Self::with(config, Opening::Undecided, false)
    }

    /// A machine for one exchange: a request in a modern version, or a legacy one without a session.
    ///
    /// For a legacy exchange `legacy` is what is known of the client, at least its version; the handshake counts as
    /// done, and questions to the client are refused, since no answer could come back. `from` is the party that sends
    /// the request, where it is authenticated.
    #[must_use]
    pub fn for_exchange(config: Arc<Config>, legacy: Option<Arc<PeerInfo>>, from: Option<Arc<Principal>>) -> Self {
        let opening = match legacy {
            Some(peer) => Opening::Legacy { peer, initialized: true },
            None => Opening::Modern,
        };
        let mut machine = Self::with(config, opening, true);
        machine.principal = from;
        machine
    }

    /// Says whether every exchange is answered on a stream of its own. Then the ids of requests may be the same on two.
    pub fn answer_apart(&mut self, apart: bool) {
        self.apart = apart;
    }

    /// The same machine for a client in the same process: a call waits for the client's answers in every era.
    #[must_use]
    pub fn in_process(mut self) -> Self {
        self.in_process = true;
        self
    }

    /// Takes note of who sends what arrives from now on.
    pub fn identify(&mut self, principal: Option<Arc<Principal>>) {
        if self.principal == principal {
            return;
        }
        if let Opening::Legacy { peer, .. } = &mut self.opening {
            Arc::make_mut(peer).principal = principal.clone();
        }
        self.known = None;
        self.principal = principal;
    }

    fn with(config: Arc<Config>, opening: Opening, single: bool) -> Self {
        Self {
            config,
            opening,
            single,
            in_process: false,
            principal: None,
            calls: Calls::default(),
            outputs: VecDeque::new(),
            known: None,
            level: None,
            watched: Vec::new(),
            asks: Vec::new(),
            asking: None,
            next_ask: 1,
            held: Vec::new(),
            visits: Vec::new(),
            apart: false,
            closed: false,
        }
    }

    /// What the server declares.
    #[must_use]
    pub fn config(&self) -> &Arc<Config> {
        &self.config
    }

    /// Takes what arrived.
    pub fn handle(&mut self, _now: Time, input: Input) {
        if self.closed {
            return;
        }
        match input {
            Input::Message { via, message } => self.message(via, message),
            Input::Garbage { via, error } => self.garbage(via, error),
            Input::Batch { via, items } => self.batch(via, items),
            Input::Ended { exchange, .. } => self.abandon(Via::Exchange(exchange)),
            Input::Unsent { id, error } => {
                let error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, error.message());
                self.response(Response::new(id, Err(error)));
            }
            Input::Closed(_) | Input::Restarted(_) => self.shut(),
            _ => {}
        }
    }

    /// The next thing to do.
    pub fn poll(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// What [`poll`](Self::poll) is going to give.
    #[must_use]
    pub fn peek(&self) -> Option<&Output> {
        self.outputs.front()
    }

    /// When to be told of the time next. A server's machine has no timers of its own.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        None
    }

    /// How many calls and subscriptions are under way.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.calls.len()
    }

    /// Whether the client wants its answer.
    #[must_use]
    pub fn is_running(&self, key: CallKey) -> bool {
        self.calls.get(key).is_some_and(Entry::is_running)
    }

    /// Which stream a call is answered on, for as long as the call is under way.
    #[must_use]
    pub fn via(&self, key: CallKey) -> Option<Via> {
        self.calls.get(key).map(|entry| entry.via)
    }

    /// Whether a client waits for an answer on this stream.
    #[must_use]
    pub fn owes(&self, via: Via) -> bool {
        self.calls.iter().any(|(_, entry)| entry.via == via && entry.is_running())
    }

    /// Answers a call. Nothing happens if the client gave up on it.
    pub fn reply(&mut self, key: CallKey, result: Result<Reply, ErrorObject>) {
        let Some(entry) = self.calls.remove(key) else {
            return;
        };
        self.withdraw_asks(key);
        if entry.is_running() || Fault::ServerAnswersCancelledCall.happens() {
            let result = self.finish(&entry, result);
            self.answer(entry.via, entry.id, result);
        }
    }

    /// Ends a call without an answer, for a handler that was dropped because the client gave up on it.
    pub fn end(&mut self, key: CallKey) {
        self.calls.remove(key);
        self.withdraw_asks(key);
    }

    /// Tells the client of a change, if it wants to hear of it.
    pub fn changed(&mut self, change: &Change) {
        if !self.closed {
            self.changed_legacy(change);
            self.changed_modern(change);
        }
    }

    /// Whether the client may want to hear of changes.
    #[must_use]
    pub fn wants_changes(&self) -> bool {
        match &self.opening {
            Opening::Legacy { .. } => !self.single,
            _ => self.calls.iter().any(|(_, entry)| matches!(entry.state, State::Listening(_))),
        }
    }

    /// Takes note that the client sends no more and still reads: subscriptions end with their result and questions have
    /// no answer, while calls under way may still be answered.
    pub fn wind_down(&mut self) {
        self.end_subscriptions();
        for key in self.calls.keys() {
            self.withdraw_asks(key);
        }
    }

    /// Ends the connection from this side: subscriptions end with their result, calls are cancelled.
    pub fn close(&mut self) {
        if self.closed {
            return;
        }
        self.end_subscriptions();
        self.shut();
        self.outputs.push_back(Output::Close);
    }

    /// Sends a log message that belongs to no call, to a legacy client that wants messages of this level. In the modern
    /// era there are none.
    pub fn log_beside(&mut self, level: &LoggingLevel, logger: Option<&str>, data: &Raw) {
        let least = self.level.as_ref().unwrap_or(&LoggingLevel::Info);
        if self.is_followed() && self.config.allows(&Method::LogMessage) && level.severity() >= least.severity() {
            self.send_notification(Via::Pipe, Method::LogMessage, Some(say::logged(level, logger, data)), None);
        }
    }

    /// Tells a legacy client that what it was asked to do at an address is done, if it was this client.
    pub fn elicited(&mut self, id: &str) {
        let Some(at) = self.visits.iter().position(|asked| **asked == *id) else { return };
        self.visits.swap_remove(at);
        if self.is_followed() {
            let mut params = sandwire_json::Writer::new();
            params.begin_object();
            params.key("elicitationId");
            params.string(id);
            params.end_object();
            self.send_notification(Via::Pipe, Method::ElicitationComplete, Some(params.into_raw()), None);
        }
    }

    /// Whether a legacy client hears of what belongs to no request.
    fn is_followed(&self) -> bool {
        let is_legacy = matches!(self.opening, Opening::Legacy { initialized: true, .. });
        is_legacy && !self.single && !self.closed && !self.is_full()
    }

    fn message(&mut self, via: Via, message: Message) {
        match message {
            Message::Request(request) => self.request(via, request),
            Message::Notification(notification) => self.notification(notification),
            Message::Response(response) => self.response(response),
        }
    }

    fn request(&mut self, via: Via, request: Request) {
        if self.calls.find(&request.id, Some(via).filter(|_| self.apart)).is_some() {
            let error = invalid("a request with this id is still under way; give every request an id of its own");
            return self.answer(via, request.id, Err(error));
        }
        if request.params.as_ref().is_some_and(|params| params.as_str().len() > self.config.limits.max_message_bytes) {
            let error = invalid("the request is over the server's size limit; send less at once");
            return self.answer(via, request.id, Err(error));
        }
        let peer = match self.admit(&request) {
            Ok(Some(peer)) => peer,
            Ok(None) => return self.open(via, request),
            Err(error) => return self.answer(via, request.id, Err(error)),
        };
        if request.meta.log_level.as_ref().is_some_and(|level| level.severity().is_none()) {
            let error = fault(ErrorCode::INVALID_PARAMS, "logLevel must be one of the eight levels of RFC 5424");
            return self.answer(via, request.id, Err(error));
        }
        if matches!(&request.meta.progress_token, Some(ProgressToken::String(token)) if token.len() > MAX_TOKEN_BYTES) {
            let message = "progressToken is over 1024 bytes, and every progress repeats it; send a shorter one";
            return self.answer(via, request.id, Err(fault(ErrorCode::INVALID_PARAMS, message)));
        }
        if let Err(error) = self.check_method(&request.method, &peer) {
            return self.answer(via, request.id, Err(error));
        }
        if self.answer_by_itself(via, &request, &peer) {
            return;
        }
        if let Some(key) = self.begin(via, &request, &peer, State::Running) {
            self.outputs.push_back(Output::Call { key, request, peer });
        }
    }

    fn check_method(&self, method: &Method, peer: &PeerInfo) -> Result<(), ErrorObject> {
        let custom = matches!(method, Method::Other(_)) && self.config.custom_methods;
        let known = method.is_request() && method.may_send(Side::Client, peer.version);
        if !custom && !known {
            return Err(fault(
                ErrorCode::METHOD_NOT_FOUND,
                "the method does not exist in this protocol version; see the capabilities for what this server offers",
            ));
        }
        if self.single && matches!(method, Method::ResourcesSubscribe | Method::ResourcesUnsubscribe) {
            return Err(fault(
                ErrorCode::METHOD_NOT_FOUND,
                "nothing can follow here: no session outlives a request; use subscriptions/listen of protocol version \
                 2026-07-28, another transport, or read the resource again",
            ));
        }
        if !self.config.allows(method) {
            return Err(fault(
                ErrorCode::METHOD_NOT_FOUND,
                "this server does not offer the method; see its capabilities for what it offers",
            ));
        }
        self.config.rules().map_or(Ok(()), |rules| rules.admit(method, peer))
    }

    fn answer_by_itself(&mut self, via: Via, request: &Request, peer: &Arc<PeerInfo>) -> bool {
        match &request.method {
            Method::Ping => self.answer_value(via, request, peer, Raw::object()),
            Method::LoggingSetLevel => self.set_level(via, request, peer),
            Method::ResourcesSubscribe => self.subscribe(via, request, peer),
            Method::ResourcesUnsubscribe => self.unsubscribe(via, request, peer),
            Method::ServerDiscover => self.discover(via, request, peer),
            Method::SubscriptionsListen => self.listen(via, request, peer),
            _ => return false,
        }
        true
    }

    fn begin(&mut self, via: Via, request: &Request, peer: &Arc<PeerInfo>, state: State) -> Option<CallKey> {
        let is_full = self.calls.len() >= self.config.limits.max_peer_requests;
        if is_full && !Fault::ServerTakesTooManyCalls.happens() {
            let error = fault(
                ErrorCode::INTERNAL_ERROR,
                "too many requests are under way; wait for answers or cancel some before sending more",
            );
            self.answer(via, request.id.clone(), Err(error));
            return None;
        }
        Some(self.calls.insert(Entry {
            id: request.id.clone(),
            via,
            method: request.method.clone(),
            params: request.params.clone(),
            peer: peer.clone(),
            token: request.meta.progress_token.clone(),
            level: request.meta.log_level.clone(),
            progress: None,
            state,
            asks: None,
        }))
    }

    fn notification(&mut self, notification: Notification) {
        match &notification.method {
            Method::Cancelled => {
                let id = notification.params.as_ref().and_then(request_id);
                if let Some(key) = id.and_then(|id| self.calls.find_only(&id)) {
                    self.cancel(key);
                }
            }
            Method::Initialized => {
                if let Opening::Legacy { initialized, .. } = &mut self.opening {
                    *initialized = true;
                    if let Some(asking) = self.asking {
                        asking.ready(self);
                    }
                    self.pass_on(notification);
                }
            }
            Method::Progress => {}
            Method::Other(_) if !self.config.custom_methods => {}
            _ => self.pass_on(notification),
        }
    }

    fn pass_on(&mut self, notification: Notification) {
        let peer = match &self.opening {
            Opening::Legacy { peer, .. } => peer.clone(),
            _ => match &self.known {
                Some((_, peer)) => peer.clone(),
                None => return,
            },
        };
        self.outputs.push_back(Output::Notification { notification, peer });
    }

    fn cancel(&mut self, key: CallKey) {
        let Some(entry) = self.calls.get_mut(key) else {
            return;
        };
        match entry.state {
            State::Cancelled => {}
            State::Listening(_) => {
                self.calls.remove(key);
            }
            State::Running => {
                entry.state = State::Cancelled;
                self.calls.forget_id(key);
                self.withdraw_asks(key);
                self.outputs.push_back(Output::Cancel { key });
            }
        }
    }

    fn abandon(&mut self, via: Via) {
        for key in self.calls.keys() {
            if self.calls.get(key).is_some_and(|entry| entry.via == via) {
                self.cancel(key);
            }
        }
    }

    fn shut(&mut self) {
        for key in self.calls.keys() {
            self.cancel(key);
        }
        self.closed = true;
    }

    fn batch(&mut self, via: Via, items: Vec<Result<Message, WireError>>) {
        if !matches!(&self.opening, Opening::Legacy { peer, .. } if peer.version.allows_batch()) {
            let message = "batches exist in protocol version 2025-03-26 only; send the messages one by one";
            return self.garbage(via, WireError::new(ErrorCode::INVALID_REQUEST, message));
        }
        for item in items {
            match item {
                Ok(Message::Request(request)) if request.method == Method::Initialize => {
                    let error = invalid("initialize must not be part of a batch; send it alone");
                    self.answer(via, request.id, Err(error));
                }
                Ok(message) => self.message(via, message),
                Err(error) => self.garbage(via, error),
            }
        }
    }

    fn garbage(&mut self, via: Via, error: WireError) {
        if error.is_response || error.is_notification || error.is_noise && !self.config.answers_noise {
            return;
        }
        let version = match &self.opening {
            Opening::Legacy { peer, .. } => Some(peer.version),
            _ => None,
        };
        self.outputs.push_back(Output::Send { via, message: Message::Response(error.into_response(version)) });
    }

    fn answer(&mut self, via: Via, id: RequestId, result: Result<Reply, ErrorObject>) {
        let message = Message::Response(Response::new(id, result));
        self.outputs.push_back(Output::Send { via, message });
    }
}

fn invalid(message: &'static str) -> ErrorObject {
    fault(ErrorCode::INVALID_REQUEST, message)
}

/// An error in words of our own. Not inlined: there are dozens.
#[cold]
#[inline(never)]
fn fault(code: ErrorCode, message: &'static str) -> ErrorObject {
    ErrorObject::new(code, message)
}

fn request_id(params: &Raw) -> Option<RequestId> {
    let text = sandwire_json::find(params.as_str(), "requestId")?;
    sandwire_json::from_str(text).ok()
}
