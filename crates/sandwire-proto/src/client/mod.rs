//! The client's machine.
//!
//! One connection goes through an opening, in which the server's era is found out, and is then legacy or modern.
//! What the eras share stands in this file, in `sending` and in `answers`; `opening`, `legacy` and `modern` hold what
//! they do not.

mod answers;
mod asks;
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
mod restart;
mod sampling;
mod sending;
mod slab;
mod standing;
mod timers;
#[cfg(feature = "sse")]
mod two_addresses;

pub use crate::input::{Ended, Input};
pub use config::{Config, Mode, SessionLoss};
pub use event::{AskKey, Call, CallError, CallKey, OpenError, Output, Timeout, UNSUBSCRIBED, Warning};

use crate::{ApiMisuse, PeerInfo, Time, Wire, faults::Fault, http::outgoing};
use pending::{Ask, Bookmark, Exchange, Owner, Pending, Purpose, Stage};
use sandwire_json::Raw;
use sandwire_types::{Envelope, ErrorObject, Method, Notification, ProtocolVersion, Reply};
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
    phase: Phase,
    /// The server, once it introduced itself.
    peer: Option<Arc<PeerInfo>>,
    /// What every request carries, while the server is taken for a modern one.
    envelope: Option<Arc<Envelope>>,
    /// How often this opening asked for the server's versions.
    probes: u8,
    /// Whether the server was asked and said nothing in time. It may read the question yet.
    silent: bool,
    /// Whether nothing has confirmed yet that a remembered server is still what it was.
    remembered: bool,
    /// How the server refused HTTP with one address, since it is asked whether it is one of those with two.
    #[cfg(feature = "sse")]
    refusal: Option<OpenError>,
    /// Why the connection could not be opened.
    failure: Option<Arc<OpenError>>,
    calls: Slab<Pending>,
    asks: Slab<Ask>,
    exchanges: Slab<Exchange>,
    /// What waits for the connection to be open.
    queue: Vec<Queued>,
    outputs: VecDeque<Output>,
    /// No later than the next moment at which something is due.
    wake_at: Time,
    /// The legacy session, over HTTP.
    session: Option<String>,
    /// Counts the sessions, and the servers that replaced each other.
    epoch: u32,
    /// When to take up the stream of messages that belong to no call, and where (legacy, HTTP).
    listen_at: Time,
    listen_from: Bookmark,
    /// Whether a session was replaced, and no call has succeeded since, because its stream was gone.
    unheard: bool,
    /// The addresses that users were asked to visit, by the ids that servers gave them (2025-11-25).
    visits: Vec<Raw>,
    /// Requests whose effect a new server, or a new session, lacks (legacy).
    standing: Vec<Call>,
    #[cfg(feature = "param-headers")]
    tools: crate::http::ParamHeaders,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    New,
    Opening,
    Open,
    /// The session is being ended; then the link closes.
    Ending(Time),
    Closed,
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
            config,
            phase: Phase::New,
            peer: None,
            envelope: None,
            probes: 0,
            silent: false,
            remembered: false,
            #[cfg(feature = "sse")]
            refusal: None,
            failure: None,
            calls: Slab::new(),
            asks: Slab::new(),
            exchanges: Slab::new(),
            queue: Vec::new(),
            outputs: VecDeque::new(),
            wake_at: Time::NEVER,
            session: None,
            epoch: 0,
            listen_at: Time::NEVER,
            listen_from: Bookmark::default(),
            unheard: false,
            visits: Vec::new(),
            standing: Vec::new(),
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
        if let Some(error) = &self.failure {
            return Err(CallError::Open(Arc::clone(error)));
        }
        self.check(&call.method, call.params.as_ref()).map_err(CallError::Misuse)?;
        let key = if self.calls.len() < self.config.limits.max_in_flight {
            self.insert(Pending::new(Owner::Caller, call, &self.config, now))
        } else {
            None
        };
        let Some(key) = key else { return Err(CallError::Misuse(ApiMisuse::TooManyInFlight)) };
        if self.phase == Phase::Open {
            self.send_call(now, key);
        } else {
            self.queue.push(Queued::Call(CallKey(key)));
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
        self.check(&notification.method, notification.params.as_ref())?;
        if self.phase == Phase::Open {
            self.send_notification(notification, Purpose::Post);
        } else if self.queue.len() >= self.config.limits.max_queue + self.calls.len() {
            return Err(ApiMisuse::TooManyInFlight);
        } else {
            self.queue.push(Queued::Notification(notification));
        }
        Ok(())
    }

    /// Answers a question of the server.
    ///
    /// # Errors
    /// If the question was answered or withdrawn before.
    pub fn answer(&mut self, now: Time, key: AskKey, answer: Result<Raw, ErrorObject>) -> Result<(), ApiMisuse> {
        let Some(ask) = self.asks.remove(key.0) else { return Err(ApiMisuse::UnknownAsk) };
        match *ask {
            Ask::Request(id) => self.respond(id, answer.map(Reply::new)),
            Ask::Round { call } => self.round_answered(now, call, key, answer),
        }
        Ok(())
    }

    /// Closes the connection. Calls under way end with [`CallError::Closed`].
    pub fn close(&mut self, now: Time) {
        if self.is_over() {
            return;
        }
        self.end_everything(None);
        for slot in self.exchanges.slots() {
            if let Some(exchange) = self.exchanges.key_in(slot) {
                self.abandon(exchange);
            }
        }
        match (self.peer(), &self.session) {
            (Some(peer), Some(session)) => {
                let head = outgoing::legacy_end(peer.version, session);
                self.open_exchange(Purpose::End, head);
                let until = now.after(legacy::END_PATIENCE_MS);
                self.phase = Phase::Ending(until);
                return self.arm(until);
            }
            (None, _) => self.outputs.push_back(Output::Failed(Arc::new(OpenError::Closed))),
            _ => {}
        }
        self.phase = Phase::Closed;
        self.outputs.push_back(Output::Close);
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
            Input::Restarted(error) if cfg!(feature = "restarts") => self.on_restarted(now, error),
            Input::Closed(error) => self.on_closed(error),
            Input::Tick => self.on_tick(now),
            Input::Restarted(_) => {}
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
        (self.wake_at != Time::NEVER).then_some(self.wake_at)
    }

    /// The server, while the connection is open.
    #[must_use]
    pub fn peer(&self) -> Option<&Arc<PeerInfo>> {
        self.peer.as_ref().filter(|_| self.phase == Phase::Open)
    }

    /// How many calls have not ended.
    #[must_use]
    pub fn calls_under_way(&self) -> usize {
        self.calls.iter().filter(|(_, pending)| pending.owner == Owner::Caller).count()
    }

    /// Whether the caller may send this now.
    fn check(&self, method: &Method, params: Option<&Raw>) -> Result<(), ApiMisuse> {
        if self.is_over() {
            return Err(ApiMisuse::Closed);
        }
        if matches!(method, Method::Initialize | Method::Initialized | Method::Cancelled) {
            return Err(ApiMisuse::ReservedMethod);
        }
        if !cfg!(feature = "listen") && *method == Method::SubscriptionsListen {
            return Err(ApiMisuse::NoSubscriptions);
        }
        match params {
            Some(params) if params.as_str().len() > self.config.limits.max_message_bytes => {
                Err(ApiMisuse::MessageTooLarge)
            }
            Some(params) if !params.is_object() => Err(ApiMisuse::ParamsNotObject),
            _ => Ok(()),
        }
    }

    fn insert(&mut self, pending: Box<Pending>) -> Option<u64> {
        self.arm(pending.due());
        let key = self.calls.insert(pending)?;
        if let Some(pending) = self.calls.get_mut(key) {
            pending.key = CallKey(key);
        }
        Some(key)
    }

    /// The key that a caller's call has now.
    fn find(&self, key: CallKey) -> Option<u64> {
        let (current, pending) = self.calls.in_slot(key.0)?;
        let is_it = pending.key == key || Fault::ClientCancelsAnotherCall.happens();
        (is_it && pending.owner == Owner::Caller).then_some(current)
    }

    /// The version the server speaks, as soon as it said so.
    fn version(&self) -> Option<ProtocolVersion> {
        self.peer.as_ref().map(|peer| peer.version)
    }

    /// Whether the server turned out to be modern.
    fn is_modern(&self) -> bool {
        self.peer.is_some() && self.envelope.is_some()
    }

    fn is_http(&self) -> bool {
        self.config.wire == Wire::Http
    }

    fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Ending(_) | Phase::Closed)
    }
}
