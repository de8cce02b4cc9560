//! Sessions of the legacy era: what a client sends arrives on exchanges of their own and belongs together all the same.
//!
//! Reading order: [`Sessions`] (the settings), this file (which request does what), `table` (the sessions there are),
//! `feed` (what answers a POST, read or not), `post`, `listen`, `resume` (the three kinds of stream), `driver`.

mod driver;
mod feed;
mod listen;
mod post;
mod resume;
#[cfg(feature = "sse")]
mod sse;
mod table;

use std::{fmt, future::poll_fn, sync::Arc};

use sandwire_io::{Endpoint, Env, EventStore, Session, Store};
use sandwire_proto::http::{RequestHead, ResponseHead, Verb, names};
use sandwire_types::{
    ErrorCode, Message, Method, ProtocolVersion, Request,
    wire::{Incoming, encode},
};

use super::{
    Guard, HttpEntry, Known, Refusal, Response, Shared, VERSION,
    answer::{Begun, json, nothing, status, streaming, wants_answer},
    check,
};
pub use driver::SessionsDriver;
pub(super) use table::Table;
use table::owner;
use {feed::Feed, listen::Listen, post::Post, resume::Resumed, table::Using};

/// How legacy sessions are kept.
///
/// ```
/// use sandwire_server::http::Sessions;
///
/// let sessions = Sessions { idle_ms: 10 * 60 * 1000, ..Sessions::default() };
/// assert_eq!(sessions.max, 10_000);
/// ```
#[derive(Clone)]
#[allow(clippy::exhaustive_structs)]
pub struct Sessions {
    /// After how many milliseconds without a request, and without a stream that is open, a session ends.
    pub idle_ms: u64,
    /// How many sessions there may be. Beyond, those that are idle for too long end, and if there are none of them,
    /// `initialize` is answered 503.
    pub max: usize,
    /// How many messages that belong to no request wait for the client to open its stream, which tell of each change
    /// once. Beyond, the oldest are forgotten.
    pub max_queue: usize,
    /// How many requests of clients that went away may be gone on with, over all sessions. Beyond, they are cancelled.
    pub max_left: usize,
    /// Where sessions are kept for other instances of this server, and for this one after a restart. Calls under way
    /// and messages that wait are not. The requests of a session should reach the same instance while it lives.
    pub store: Option<Arc<dyn Store>>,
    /// Where the events of streams are kept, so that clients whose connection broke can have the rest.
    pub events: Option<Arc<dyn EventStore>>,
    /// What a client is told to wait, in milliseconds, before it comes back to a stream that the server closed.
    pub retry_ms: u64,
    /// Whether the clients of 2024-11-05 are served too, which open one stream with a GET without a session, and then
    /// send their messages to the address that the stream names: the same, with `?sessionId=`.
    #[cfg(feature = "sse")]
    pub sse: bool,
}

/// What is kept of a client for as long as its session lives.
const MAX_CLIENT_BYTES: usize = 64 * 1024;

impl Default for Sessions {
    /// 10,000 sessions that end after half an hour, with 64 messages that wait; in this process only, without
    /// resumption.
    fn default() -> Self {
        Self {
            idle_ms: 30 * 60 * 1000,
            max: 10_000,
            max_queue: 64,
            max_left: 4096,
            store: None,
            events: None,
            retry_ms: 1000,
            #[cfg(feature = "sse")]
            sse: false,
        }
    }
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions").field("idle_ms", &self.idle_ms).field("max", &self.max).finish_non_exhaustive()
    }
}

impl HttpEntry {
    /// Serves `endpoint` to those whom `guard` lets in, legacy clients in sessions. The driver has to run beside: it
    /// goes on with calls whose client went away, which is no reason to cancel them in the legacy era, and ends the
    /// sessions that are idle.
    pub fn with_sessions(
        endpoint: Arc<dyn Endpoint>,
        env: Arc<dyn Env>,
        guard: Guard,
        sessions: Sessions,
    ) -> (Self, SessionsDriver) {
        let (table, driver) = Table::new(&env, sessions);
        let shared = Shared { endpoint, env, guard, sessions: Some(table) };
        (Self { shared: Arc::new(shared) }, driver)
    }

    /// How many sessions there are.
    #[must_use]
    pub fn sessions(&self) -> usize {
        self.shared.sessions.as_ref().map_or(0, |table| table.len())
    }
}

impl Shared {
    /// What a request without a body does, if sessions know it.
    pub(super) async fn without_body(
        &self,
        table: &Arc<Table>,
        head: &RequestHead,
        from: &Known,
    ) -> Result<Option<Response>, Refusal> {
        if self.names_modern(head) || !matches!(head.method, Verb::Get | Verb::Delete) {
            return Ok(None);
        }
        if head.method == Verb::Get && !check::takes(head, "text/event-stream") {
            let message = "the answer is an event stream; send Accept: text/event-stream";
            return Err(Refusal::new(406, ErrorCode::INVALID_REQUEST, message));
        }
        #[cfg(feature = "sse")]
        if table.settings.sse && head.method == Verb::Get && head.headers.get(names::SESSION_ID).is_none() {
            return self.open_one_stream(table, head, from).map(Some);
        }
        self.check_version(head)?;
        let using = self.find(table, head.headers.get(names::SESSION_ID), from).await?;
        if head.method == Verb::Delete {
            table.end(&using).await;
            return Ok(Some((ResponseHead::new(204), nothing())));
        }
        table.keep(&using, false).await;
        self.listen(using, head.headers.get(names::LAST_EVENT_ID)).await.map(Some)
    }

    async fn listen(&self, using: Using, last: Option<&str>) -> Result<Response, Refusal> {
        let events = using.table.settings.events.clone();
        if let (Some(last), Some(events)) = (last, &events) {
            let Ok(replay) = events.replay(&using.live.id, last).await else {
                let message = "what was sent before cannot be read at the moment; try again later";
                return Err(Refusal::new(503, ErrorCode::INTERNAL_ERROR, message));
            };
            let Some(replay) = replay else {
                let message = "Last-Event-ID names no event of this session that is still kept; go on without it";
                return Err(Refusal::new(400, ErrorCode::INVALID_REQUEST, message));
            };
            let keep_alive = self.keep_alive();
            return Ok((
                streaming(),
                match replay.stream {
                    listen::STREAM => Box::new(Listen::again(using, keep_alive, replay.events)),
                    _ => Box::new(Resumed::new(using, Arc::clone(events), keep_alive, last, replay)),
                },
            ));
        }
        match Listen::new(using, self.keep_alive()) {
            Some(listen) => Ok((streaming(), Box::new(listen))),
            None => {
                let message = "the session has a stream already; one is open at a time";
                Err(Refusal::new(409, ErrorCode::INVALID_REQUEST, message))
            }
        }
    }

    /// Whether what arrived is of the legacy era.
    pub(super) fn is_legacy(&self, head: &RequestHead, incoming: &Incoming) -> bool {
        self.endpoint.config().newest_legacy().is_some()
            && match incoming {
                Incoming::One(Message::Request(request)) if request.meta.envelope.is_some() => false,
                Incoming::One(Message::Request(request)) if request.method == Method::Initialize => true,
                _ => !self.names_modern(head),
            }
    }

    /// Takes what a legacy client posts.
    pub(super) async fn post(
        &self,
        table: &Arc<Table>,
        head: &RequestHead,
        incoming: Incoming,
        from: &Known,
    ) -> Result<Begun, Refusal> {
        let session = head.headers.get(names::SESSION_ID);
        let id = match &incoming {
            Incoming::One(Message::Request(request)) => Some(request.id.clone()),
            _ => None,
        };
        let begun = match incoming {
            Incoming::One(Message::Request(request)) if request.method == Method::Initialize && session.is_none() => {
                self.initialize(table, request, from).await
            }
            incoming => self.received(table, head, session, incoming, from).await,
        };
        begun.map_err(|refusal| Refusal { id, ..refusal })
    }

    async fn initialize(&self, table: &Arc<Table>, request: Request, from: &Known) -> Result<Begun, Refusal> {
        table.has_room()?;
        let session = Session::new(Arc::clone(&self.endpoint), Arc::clone(&self.env), table.settings.max_queue);
        let mut received = session.receive(Message::Request(request), from.clone());
        let answer = poll_fn(|cx| received.poll(cx)).await;
        drop(received);
        let Some(Message::Response(answer)) = answer else { return Ok(Begun::Accepted) };
        let saved = session.saved();
        let version = saved.as_ref().map_or(ProtocolVersion::LATEST_HANDSHAKE, |saved| saved.peer.version);
        let mut response = json(status(version, &answer), encode(&Message::Response(answer)));
        let Some(saved) = saved else { return Ok(Begun::Responded(response)) };
        if saved.write().len() > MAX_CLIENT_BYTES {
            let message = "clientInfo and capabilities are over the size that is kept for a session; say less in them";
            return Err(Refusal::new(413, ErrorCode::INVALID_REQUEST, message));
        }
        let using = table.insert(self.session_id(), session, from)?;
        if !table.keep(&using, true).await {
            table.end(&using).await;
            return Err(Refusal::new(503, ErrorCode::INTERNAL_ERROR, "the session cannot be kept; try again later"));
        }
        response.0.headers.push(names::SESSION_ID, &*using.live.id);
        Ok(Begun::Responded(response))
    }

    async fn received(
        &self,
        table: &Arc<Table>,
        head: &RequestHead,
        session: Option<&str>,
        incoming: Incoming,
        from: &Known,
    ) -> Result<Begun, Refusal> {
        self.check_version(head)?;
        let using = self.find(table, session, from).await?;
        let session = &using.live.session;
        let changed = changes(&incoming);
        let is_owed = match &incoming {
            Incoming::One(message) => matches!(message, Message::Request(_)),
            Incoming::Batch(items) => items.iter().any(wants_answer),
        };
        let version = session.peer().map_or(ProtocolVersion::LATEST_HANDSHAKE, |peer| peer.version);
        let received = match incoming {
            Incoming::One(message) => session.receive(message, from.clone()),
            Incoming::Batch(items) => {
                self.check_batch(version, items.len())?;
                session.receive_batch(items, from.clone())
            }
        };
        if !is_owed {
            table.keep(&using, changed).await;
            return Ok(Begun::Accepted);
        }
        // From here on a client that goes away cancels nothing.
        let mut post = Post::new(Feed::new(received, using), version, self.keep_alive());
        if let Some(using) = post.using() {
            table.keep(using, changed).await;
        }
        let response = poll_fn(|cx| post.poll_answers(cx)).await;
        if response.is_none() && post.is_cut_off() {
            let message =
                "the session ended while the call was under way; initialize without Mcp-Session-Id to make it again";
            return Err(Refusal::new(200, ErrorCode::INTERNAL_ERROR, message));
        }
        Ok(Begun::Responded(response.unwrap_or_else(|| (streaming(), post.stream()))))
    }

    /// The session that a request names. To anybody but the party that began it, there is none.
    async fn find(&self, table: &Arc<Table>, id: Option<&str>, from: &Known) -> Result<Using, Refusal> {
        let Some(id) = id else {
            let message = "Mcp-Session-Id is missing; send initialize, and repeat the id of its answer from then on";
            return Err(Refusal::new(400, ErrorCode::INVALID_REQUEST, message));
        };
        if let Some(using) = table.find(id, from).filter(|using| !using.live.session.has_one_stream()) {
            return Ok(using);
        }
        if let Some(saved) = table.read(id).await.filter(|saved| owner(&saved.peer.principal) == owner(from)) {
            let (endpoint, env) = (Arc::clone(&self.endpoint), Arc::clone(&self.env));
            return table.insert(id.into(), Session::restored(endpoint, env, table.settings.max_queue, saved), from);
        }
        let message = "there is no such session: it ended, or was idle for too long; initialize without Mcp-Session-Id";
        Err(Refusal::new(404, ErrorCode::INVALID_REQUEST, message))
    }

    /// The version header has to name a legacy version that is served. Without it the session knows.
    fn check_version(&self, head: &RequestHead) -> Result<(), Refusal> {
        match head.headers.get(VERSION) {
            Some(_) => self.legacy_peer(head, None, &None).map(|_| ()),
            None => Ok(()),
        }
    }

    /// 128 bits that nobody can guess.
    fn session_id(&self) -> Arc<str> {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut bytes = [0; 16];
        self.env.fill_random(&mut bytes);
        let digit = |value: u8| DIGITS.get(usize::from(value)).map_or('0', |digit| char::from(*digit));
        bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect::<String>().into()
    }
}

/// Whether this changes what is kept of a session.
fn changes(incoming: &Incoming) -> bool {
    let does = |message: &Message| match message {
        Message::Request(request) => matches!(
            request.method,
            Method::LoggingSetLevel | Method::ResourcesSubscribe | Method::ResourcesUnsubscribe
        ),
        Message::Notification(notification) => notification.method == Method::Initialized,
        Message::Response(_) => false,
    };
    match incoming {
        Incoming::One(message) => does(message),
        Incoming::Batch(items) => items.iter().flatten().any(does),
    }
}
