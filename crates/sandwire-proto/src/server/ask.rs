//! Questions to the client while a call is under way.
//!
//! The legacy era sends them as requests and the call waits, and so does every era within a process. The modern era ends the call with the questions; the
//! client calls again with the answers, and what earlier rounds brought comes back sealed in `requestState`.

use std::{fmt, sync::Arc};

use sandwire_json::{Raw, Reader, Writer, find};
use sandwire_types::{
    Era, ErrorCode, ErrorObject, Message, Method, Notification, Reply, Request, RequestId, RequestMeta, Response,
    ResultKind, Side, wire,
};

use super::{CallKey, Machine, Output, calls::Entry, invalid, opening::Opening, seal::Sealer};
use crate::{PeerInfo, Via, faults::Fault};

/// Of how many addresses that a client was asked to visit it can be told that it is done there.
const MAX_VISITS: usize = 64;

/// Names a question that waits for its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AskKey(i64);

/// What became of a question.
#[derive(Debug)]
#[allow(clippy::exhaustive_enums)]
pub enum AskStep {
    /// The client has answered it.
    Answered(Raw),
    /// It was sent; [`Output::Answer`] brings the answer.
    Sent(AskKey),
    /// The call ends here: drop its handler and call [`Machine::suspend`]. The client calls again with the answer.
    Suspended,
}

/// What the machine needs from outside to let a call's state travel through the client.
#[allow(missing_debug_implementations)]
#[derive(Clone, Copy)]
#[allow(clippy::exhaustive_structs)]
pub struct Clock<'a> {
    /// Protects the state.
    pub sealer: &'a Arc<dyn Sealer>,
    /// The time in seconds since 1970, where the host knows it. Without it suspended calls do not expire.
    pub unix_time: Option<u64>,
}

/// Why a question has no answer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AskError {
    /// The client did not declare the capability. `required` is the `ClientCapabilities` object it would need.
    Undeclared {
        /// What the client would have to declare.
        required: Raw,
    },
    /// The negotiated version has no such question.
    NotInVersion,
    /// No answer could come back on this connection: a legacy HTTP exchange without a session.
    NoWayBack,
    /// The client answered with an error, or brought back a state or answers that cannot be used.
    Refused(ErrorObject),
    /// The call is over, or the connection is.
    Over,
}

impl From<AskError> for ErrorObject {
    fn from(error: AskError) -> Self {
        let message = error.message();
        match error {
            AskError::Undeclared { required } => {
                let mut writer = Writer::new();
                writer.begin_object();
                writer.key("requiredCapabilities");
                writer.raw(required.as_str());
                writer.end_object();
                Self::new(ErrorCode::MISSING_CLIENT_CAPABILITY, message).with_data(writer.into_raw())
            }
            AskError::Refused(error) => error,
            AskError::NotInVersion | AskError::NoWayBack => invalid(message),
            AskError::Over => Self::new(ErrorCode::INTERNAL_ERROR, message),
        }
    }
}

impl AskError {
    fn message(&self) -> &'static str {
        match self {
            Self::Undeclared { .. } => {
                "the call needs a capability that the client did not declare; declare it to make this call"
            }
            Self::NotInVersion => {
                "the call needs input that this protocol version cannot ask for; connect with a newer version"
            }
            Self::NoWayBack => {
                "the call needs input, and no question can be sent here; use protocol version 2026-07-28 or another transport"
            }
            Self::Refused(_) => "the client refused to answer",
            Self::Over => "the call was over before its question was answered",
        }
    }
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(error) => f.write_str(&error.message),
            other => f.write_str(other.message()),
        }
    }
}

impl std::error::Error for AskError {}

/// What a call has learned: from its client, and in earlier runs.
#[derive(Clone, Debug, Default)]
#[allow(clippy::exhaustive_structs)]
pub struct Learned {
    /// The answers to what it asked, by the questions' names.
    pub answers: Vec<(Arc<str>, Raw)>,
    /// What it recorded.
    pub records: Vec<(Arc<str>, Raw)>,
}

/// What one call asked and learned.
#[derive(Debug, Default)]
pub(super) struct Asks {
    /// Answers of the client, of this round and earlier ones.
    answers: Vec<(Arc<str>, Raw)>,
    /// What the handler keeps for its next run.
    records: Vec<(Arc<str>, Raw)>,
    questions: Vec<Question>,
    /// How to end the call; set by the first question, so that a server that never asks does not contain it.
    suspension: Option<Suspension>,
}

struct Suspension {
    sealer: Arc<dyn Sealer>,
    until: Option<u64>,
    make: fn(&Suspension, &Asks, &Entry) -> Raw,
}

impl fmt::Debug for Suspension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Suspension")
    }
}

#[derive(Debug)]
struct Question {
    name: Arc<str>,
    method: Method,
    params: Raw,
}

/// What becomes of the questions that were sent. Set by the first, so that a server that never asks does not
/// contain it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asking {
    ready: fn(&mut Machine),
    answered: fn(&mut Machine, Response),
    over: fn(&mut Machine, CallKey),
}

impl Asking {
    pub(super) fn ready(self, machine: &mut Machine) {
        (self.ready)(machine);
    }
}

/// A question that was sent and waits for its answer.
#[derive(Debug)]
pub(super) struct OpenAsk {
    key: AskKey,
    call: CallKey,
    via: Via,
    name: Arc<str>,
    method: Method,
}

impl Machine {
    /// Asks the client of a call for input. `name` tells the question from the call's others; asking again under the
    /// same name gives the answer already there.
    ///
    /// # Errors
    /// [`AskError`] says why there will be no answer.
    pub fn ask(
        &mut self,
        call: CallKey,
        name: &str,
        method: &Method,
        params: &Raw,
        clock: Clock<'_>,
    ) -> Result<AskStep, AskError> {
        self.resume(call, clock)?;
        let entry = self.calls.get(call).filter(|entry| entry.is_running()).ok_or(AskError::Over)?;
        if let Some(answer) = entry.asks.as_ref().and_then(|asks| lookup(&asks.answers, name)) {
            return if answers(method, &answer) { Ok(AskStep::Answered(answer)) } else { Err(nonsense()) };
        }
        check(&entry.peer, method, params)?;
        let (era, version, via) = (entry.peer.era(), entry.peer.version, entry.via);
        match era {
            Era::Legacy if self.single => Err(AskError::NoWayBack),
            Era::Modern if !entry.method.may_require_input() => Err(AskError::NotInVersion),
            _ if era == Era::Legacy || self.in_process => {
                let params = wire::lower_question(version, method, params);
                Ok(AskStep::Sent(self.send_question(call, via, name, method, params)))
            }
            _ => {
                let until = clock.unix_time.map(|now| now.saturating_add(self.config.suspension_seconds));
                let entry = self.calls.get_mut(call).ok_or(AskError::Over)?;
                let asks = entry.asks.get_or_insert_default();
                asks.suspension = Some(Suspension { sealer: clock.sealer.clone(), until, make: suspended });
                if !asks.questions.iter().any(|question| &*question.name == name) {
                    let (method, params) = (method.clone(), wire::lower_question(version, method, params));
                    asks.questions.push(Question { name: name.into(), method, params });
                }
                Ok(AskStep::Suspended)
            }
        }
    }

    /// What a call recorded under `name` in an earlier run.
    ///
    /// # Errors
    /// The client brought back a state that is not one of this server's, or too late.
    pub fn recorded(&mut self, call: CallKey, name: &str, clock: Clock<'_>) -> Result<Option<Raw>, AskError> {
        self.resume(call, clock)?;
        let asks = self.calls.get(call).and_then(|entry| entry.asks.as_ref());
        Ok(asks.and_then(|asks| lookup(&asks.records, name)))
    }

    /// Keeps `value` under `name` for the next run of a call, should it end with a question.
    ///
    /// # Errors
    /// As [`recorded`](Self::recorded).
    pub fn record(&mut self, call: CallKey, name: &str, value: Raw, clock: Clock<'_>) -> Result<(), AskError> {
        self.resume(call, clock)?;
        let asks = self.calls.get_mut(call).ok_or(AskError::Over)?.asks.get_or_insert_default();
        asks.records.retain(|(have, _)| &**have != name);
        asks.records.push((name.into(), value));
        Ok(())
    }

    /// What a call has learned so far, for a call that goes on in its place.
    ///
    /// # Errors
    /// As [`recorded`](Self::recorded).
    pub fn learned(&mut self, call: CallKey, clock: Clock<'_>) -> Result<Learned, AskError> {
        self.resume(call, clock)?;
        let asks = self.calls.get(call).and_then(|entry| entry.asks.as_ref());
        Ok(asks.map_or_else(Learned::default, |asks| Learned {
            answers: asks.answers.clone(),
            records: asks.records.clone(),
        }))
    }

    /// Whether a call asked a question in the modern era, so that it must end now.
    #[must_use]
    pub fn is_suspended(&self, call: CallKey) -> bool {
        let asks = self.calls.get(call).and_then(|entry| entry.asks.as_ref());
        asks.is_some_and(|asks| !asks.questions.is_empty())
    }

    /// Ends a call with the questions it asked.
    pub fn suspend(&mut self, call: CallKey) {
        let Some(entry) = self.calls.get(call) else {
            return;
        };
        let Some(asks) = &entry.asks else { return };
        let Some(suspension) = &asks.suspension else {
            return;
        };
        let mut reply = Reply::new((suspension.make)(suspension, asks, entry));
        reply.kind = ResultKind::InputRequired;
        self.reply(call, Ok(reply));
    }

    /// Withdraws a question nobody waits for any more.
    pub fn unask(&mut self, ask: AskKey) {
        if let Some(at) = self.asks.iter().position(|open| open.key == ask) {
            let open = self.asks.swap_remove(at);
            self.send_withdrawal(&open);
        }
    }

    pub(super) fn response(&mut self, response: Response) {
        if let Some(asking) = self.asking {
            (asking.answered)(self, response);
        }
    }

    pub(super) fn withdraw_asks(&mut self, call: CallKey) {
        if let Some(asking) = self.asking {
            (asking.over)(self, call);
        }
    }

    fn answered(&mut self, response: Response) {
        let Some(RequestId::Number(id)) = response.id else {
            return;
        };
        let is_it = |open: &OpenAsk| open.key.0 == id || Fault::ServerMixesAnswersUp.happens();
        let Some(at) = self.asks.iter().position(is_it) else {
            return;
        };
        let open = self.asks.swap_remove(at);
        let result = match response.result {
            Ok(reply) if !answers(&open.method, &reply.value) => Err(nonsense()),
            Ok(reply) => {
                if let Some(entry) = self.calls.get_mut(open.call) {
                    entry.asks.get_or_insert_default().answers.push((open.name, reply.value.clone()));
                }
                Ok(reply.value)
            }
            Err(error) => Err(AskError::Refused(error)),
        };
        self.outputs.push_back(Output::Answer { ask: open.key, result });
    }

    fn over(&mut self, call: CallKey) {
        while let Some(at) = self.asks.iter().position(|open| open.call == call) {
            let open = self.asks.swap_remove(at);
            self.send_withdrawal(&open);
            self.outputs.push_back(Output::Answer { ask: open.key, result: Err(AskError::Over) });
        }
    }

    fn send_question(&mut self, call: CallKey, via: Via, name: &str, method: &Method, params: Raw) -> AskKey {
        let key = AskKey(self.next_ask);
        self.next_ask = self.next_ask.wrapping_add(1);
        if let Some(id) =
            find(params.as_str(), "elicitationId").and_then(|id| sandwire_json::from_str::<String>(id).ok())
        {
            // The oldest is the least likely to be told of.
            if self.visits.len() >= MAX_VISITS {
                self.visits.remove(0);
            }
            self.visits.push(id.into());
        }
        self.asking = Some(Asking { ready: Self::release, answered: Self::answered, over: Self::over });
        self.asks.push(OpenAsk { key, call, via, name: name.into(), method: method.clone() });
        let request = Request {
            id: RequestId::Number(key.0),
            method: method.clone(),
            params: Some(params),
            meta: RequestMeta::default(),
        };
        let message = Message::Request(request);
        match self.opening {
            Opening::Legacy { initialized: false, .. } => self.held.push((key, via, message)),
            _ => self.outputs.push_back(Output::Send { via, message }),
        }
        key
    }

    /// Sends the questions that waited until the client is initialized.
    fn release(&mut self) {
        let held = std::mem::take(&mut self.held);
        self.outputs.extend(held.into_iter().map(|(_, via, message)| Output::Send { via, message }));
    }

    fn send_withdrawal(&mut self, open: &OpenAsk) {
        if let Some(at) = self.held.iter().position(|(key, ..)| *key == open.key) {
            self.held.swap_remove(at);
            return;
        }
        let mut writer = Writer::new();
        writer.begin_object();
        writer.key("requestId");
        writer.integer(open.key.0);
        writer.end_object();
        let notification =
            Notification { method: Method::Cancelled, params: Some(writer.into_raw()), subscription: None };
        self.outputs.push_back(Output::Send { via: open.via, message: Message::Notification(notification) });
    }

    /// Reads, once, what the client brought back of earlier rounds.
    fn resume(&mut self, call: CallKey, clock: Clock<'_>) -> Result<(), AskError> {
        let entry = self.calls.get_mut(call).ok_or(AskError::Over)?;
        if entry.asks.is_some() {
            return Ok(());
        }
        let mut asks = Asks::default();
        if entry.peer.era() == Era::Modern
            && let Some(params) = entry.params.as_ref().map(Raw::as_str)
        {
            if let Some(sealed) = find(params, "requestState") {
                open_state(&mut asks, sealed, entry, clock).ok_or_else(invalid_state)?;
            }
            if let Some(responses) = find(params, "inputResponses") {
                read_pairs(responses, &mut asks.answers).map_err(|_| {
                    let message = "inputResponses must be an object with an answer for every question asked";
                    AskError::Refused(ErrorObject::new(ErrorCode::INVALID_PARAMS, message))
                })?;
            }
        }
        entry.asks = Some(Box::new(asks));
        Ok(())
    }
}

/// Whether this may be the answer to such a question. What it says is for the handler to read.
fn answers(method: &Method, answer: &Raw) -> bool {
    let member = |key| find(answer.as_str(), key).unwrap_or_default();
    match method {
        Method::ElicitationCreate => matches!(member("action"), r#""accept""# | r#""decline""# | r#""cancel""#),
        Method::SamplingCreateMessage => member("content").starts_with(['{', '[']) && member("role").starts_with('"'),
        Method::RootsList => member("roots").starts_with('['),
        _ => true,
    }
}

fn nonsense() -> AskError {
    let message = "the answer to a question lacks what such an answer says; ask whoever gave it once more";
    AskError::Refused(ErrorObject::new(ErrorCode::INVALID_PARAMS, message))
}

fn lookup(pairs: &[(Arc<str>, Raw)], name: &str) -> Option<Raw> {
    pairs.iter().find(|(have, _)| &**have == name).map(|(_, value)| value.clone())
}

fn read_pairs(object: &str, pairs: &mut Vec<(Arc<str>, Raw)>) -> Result<(), sandwire_json::Error> {
    Reader::new(object).object(&mut |key, value| {
        let value = Raw::from_valid(value.raw()?);
        if !pairs.iter().any(|(have, _)| &**have == key) {
            pairs.push((key.into(), value));
        }
        Ok(())
    })
}

fn write_pairs(writer: &mut Writer, key: &str, pairs: &[(Arc<str>, Raw)]) {
    writer.key(key);
    writer.begin_object();
    for (name, value) in pairs {
        writer.key(name);
        writer.raw(value.as_str());
    }
    writer.end_object();
}

fn invalid_state() -> AskError {
    let error = ErrorObject::new(
        ErrorCode::INVALID_PARAMS,
        "invalid or expired requestState; make the call again without it, from the beginning",
    );
    AskError::Refused(error.with_data(Raw::from_valid(r#"{"reason":"invalid_request_state"}"#)))
}

/// What a sealed state belongs to: the same call, with the same target and arguments, of the same party.
fn context(entry: &Entry) -> [&str; 4] {
    let params = entry.params.as_ref().map_or("{}", Raw::as_str);
    let target = find(params, "name").or_else(|| find(params, "uri")).unwrap_or_default();
    let principal = entry.peer.principal.as_ref().map_or("", |principal| &principal.id);
    [entry.method.as_str(), target, find(params, "arguments").unwrap_or_default(), principal]
}

fn open_state(asks: &mut Asks, sealed: &str, entry: &Entry, clock: Clock<'_>) -> Option<()> {
    let sealed: String = sandwire_json::from_str(sealed).ok()?;
    let state = clock.sealer.open(&context(entry), &sealed)?;
    if let (Some(now), Some(until)) = (clock.unix_time, find(&state, "until"))
        && until.parse::<u64>().ok()? < now
    {
        return None;
    }
    read_pairs(find(&state, "answers")?, &mut asks.answers).ok()?;
    read_pairs(find(&state, "records")?, &mut asks.records).ok()
}

fn suspended(suspension: &Suspension, asks: &Asks, entry: &Entry) -> Raw {
    let mut state = Writer::new();
    state.begin_object();
    write_pairs(&mut state, "answers", &asks.answers);
    write_pairs(&mut state, "records", &asks.records);
    if let Some(until) = suspension.until {
        state.key("until");
        state.integer(i64::try_from(until).unwrap_or(i64::MAX));
    }
    state.end_object();

    let mut writer = Writer::new();
    writer.begin_object();
    writer.key("inputRequests");
    writer.begin_object();
    for question in &asks.questions {
        writer.key(&question.name);
        writer.begin_object();
        writer.key("method");
        writer.string(question.method.as_str());
        writer.key("params");
        writer.raw(question.params.as_str());
        writer.end_object();
    }
    writer.end_object();
    writer.key("requestState");
    writer.string(&suspension.sealer.seal(&context(entry), &state.finish()));
    writer.end_object();
    writer.into_raw()
}

/// Whether the client declared that it can be asked this.
fn check(peer: &PeerInfo, method: &Method, params: &Raw) -> Result<(), AskError> {
    let legacy = peer.era() == Era::Legacy;
    let (capability, part) = match method {
        Method::RootsList => ("roots", None),
        Method::SamplingCreateMessage => ("sampling", find(params.as_str(), "tools").map(|_| "tools")),
        Method::ElicitationCreate => {
            let url = find(params.as_str(), "mode") == Some("\"url\"");
            if url && legacy && !peer.version.has_url_elicitation() {
                return Err(AskError::NotInVersion);
            }
            ("elicitation", Some(if url { "url" } else { "form" }))
        }
        _ => return Err(AskError::NotInVersion),
    };
    if legacy && !method.may_send(Side::Server, peer.version) {
        return Err(AskError::NotInVersion);
    }
    let declared = find(peer.capabilities.as_str(), capability);
    let enough = declared.is_some_and(|declared| match part {
        Some("form") => find(declared, "form").is_some() || find(declared, "url").is_none(),
        Some(part) => find(declared, part).is_some(),
        None => true,
    });
    if enough {
        return Ok(());
    }
    let mut writer = Writer::new();
    writer.begin_object();
    writer.key(capability);
    writer.begin_object();
    if let Some(part) = part {
        writer.key(part);
        writer.raw("{}");
    }
    writer.end_object();
    writer.end_object();
    Err(AskError::Undeclared { required: writer.into_raw() })
}
