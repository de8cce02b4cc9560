//! A legacy HTTP session: one connection whose messages arrive on exchanges of their own and are answered there.
//!
//! Unlike a pipe it has no driver: whoever waits for an exchange's answer moves that exchange's handlers on. What is
//! said goes to the stream it belongs on at once, under the connection's lock, so the messages of a stream keep their
//! order whoever sends them.

use std::{
    collections::VecDeque,
    fmt, mem,
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicU32, Ordering},
    },
    task::{Context, Poll, Waker},
};

use futures_util::task::AtomicWaker;
use sandwire_proto::{
    ExchangeId, Input, PeerInfo, Principal, TransportError, TransportErrorKind, Via,
    server::{CallKey, Machine, Output, Saved},
};
use sandwire_types::{Message, Method, RequestId, WireError};

use crate::{
    Endpoint, Env,
    host::{
        Host, Sealing, Started, lock,
        woken::{Arrived, Woken},
    },
    tasks::Tasks,
};

/// A session with a legacy client. Cheap to clone; all clones are the same session.
///
/// ```
/// # use std::sync::Arc;
/// # use sandwire_io::{Endpoint, Env, Session};
/// # use sandwire_types::Message;
/// # async fn example(server: Arc<dyn Endpoint>, env: Arc<dyn Env>, request: Message) {
/// let session = Session::new(server, env, 64);
/// let mut received = session.receive(request, None);
/// while let Some(message) = std::future::poll_fn(|cx| received.poll(cx)).await {
///     // Send it as part of the response to this request.
/// #   drop(message);
/// }
/// # }
/// ```
#[derive(Clone)]
pub struct Session {
    inner: Arc<Inner>,
}

struct Inner {
    host: Arc<Host>,
    max_queue: usize,
    max_said: usize,
    next: AtomicU32,
    /// Locked while the host is, and never the other way round.
    streams: Mutex<Streams>,
}

#[derive(Default)]
struct Streams {
    open: Vec<(ExchangeId, Stream)>,
    pipe: Stream,
    /// Whether the answers go to the pipe as well.
    one_stream: bool,
    closed: bool,
}

/// The messages of one stream that nobody has taken yet.
#[derive(Default)]
struct Stream {
    queue: VecDeque<Message>,
    reader: Arc<AtomicWaker>,
    /// Calls whose handlers have to be dropped.
    cancelled: Vec<CallKey>,
    /// Whether nobody reads it any more.
    deaf: bool,
    /// Whether its connection is to be closed while its call goes on.
    released: bool,
}

/// What sending left to do once no lock is held.
#[derive(Default)]
struct Aftermath {
    readers: Vec<Arc<AtomicWaker>>,
    unsent: Vec<RequestId>,
}

impl Session {
    /// A session that begins now: the first message it receives is `initialize`. Of what belongs to no exchange,
    /// `max_queue` messages wait for a reader; beyond that the oldest are forgotten.
    pub fn new(endpoint: Arc<dyn Endpoint>, env: Arc<dyn Env>, max_queue: usize) -> Self {
        let machine = Machine::new(endpoint.config());
        Self::with(endpoint, env, machine, max_queue, 1)
    }

    /// A session that another process began.
    pub fn restored(endpoint: Arc<dyn Endpoint>, env: Arc<dyn Env>, max_queue: usize, saved: Saved) -> Self {
        let mut first = [0; 4];
        env.fill_random(&mut first);
        let first = u32::from_ne_bytes(first) >> 1 | 1;
        let machine = Machine::restored(endpoint.config(), saved, first);
        Self::with(endpoint, env, machine, max_queue, first)
    }

    /// Exchanges are numbered from `first` on: a restored session must not repeat the numbers of the one before.
    fn with(
        endpoint: Arc<dyn Endpoint>,
        env: Arc<dyn Env>,
        mut machine: Machine,
        max_queue: usize,
        first: u32,
    ) -> Self {
        machine.answer_apart(true);
        let max_said = endpoint.config().limits.max_queue;
        let inner = Arc::new_cyclic(|inner: &Weak<Inner>| Inner {
            host: Host::woken_by(inner.clone(), endpoint, env, machine, Sealing::Shared),
            max_queue,
            max_said,
            next: AtomicU32::new(first),
            streams: Mutex::default(),
        });
        inner.host.hear_changes();
        Self { inner }
    }

    /// Has the answers go where everything else does, as in the version that knew one stream only.
    #[must_use]
    pub fn on_one_stream(self) -> Self {
        lock(&self.inner.streams).one_stream = true;
        self.inner.host.say(|machine| machine.answer_apart(false));
        self
    }

    /// Whether it was made so.
    #[must_use]
    pub fn has_one_stream(&self) -> bool {
        lock(&self.inner.streams).one_stream
    }

    /// Who the client is, once it is known.
    #[must_use]
    pub fn peer(&self) -> Option<Arc<PeerInfo>> {
        self.inner.host.legacy_peer()
    }

    /// What another process needs to go on with this session; nothing before it is initialized.
    #[must_use]
    pub fn saved(&self) -> Option<Saved> {
        self.inner.host.saved()
    }

    /// Takes a message of the client, which is `from`, if anybody asked.
    pub fn receive(&self, message: Message, from: Option<Arc<Principal>>) -> Received {
        self.take(from, |via| Input::Message { via, message })
    }

    /// Takes several messages that arrived as one, and what stood in the place of some. Each is answered by itself.
    pub fn receive_batch(&self, items: Vec<Result<Message, WireError>>, from: Option<Arc<Principal>>) -> Received {
        self.take(from, |via| Input::Batch { via, items })
    }

    fn take(&self, from: Option<Arc<Principal>>, input: impl FnOnce(Via) -> Input) -> Received {
        let id = ExchangeId(u64::from(self.inner.next.fetch_add(1, Ordering::Relaxed)));
        let stream = Stream::default();
        let reader = Arc::clone(&stream.reader);
        lock(&self.inner.streams).open.push((id, stream));
        let mut tasks = Tasks::new(&reader);
        let arrived = Arrived { input: input(Via::Exchange(id)), from: Some(from) };
        self.inner.step(Some(arrived), &mut tasks);
        Received { session: self.clone(), id, reader, tasks }
    }

    /// The next message that belongs to no exchange; nothing once the session is closed.
    pub fn poll_pipe(&self, cx: &mut Context<'_>) -> Poll<Option<Message>> {
        let reader = Arc::clone(&lock(&self.inner.streams).pipe.reader);
        reader.register(cx.waker());
        let mut streams = lock(&self.inner.streams);
        match streams.pipe.queue.pop_front() {
            None if !streams.closed => Poll::Pending,
            message => Poll::Ready(message),
        }
    }

    /// Whether so much waits for a reader that no more should be said.
    #[must_use]
    pub fn is_full(&self) -> bool {
        lock(&self.inner.streams).pipe.queue.len() >= self.inner.max_queue
    }

    /// Gives a message back that could not be sent: it is the next again.
    pub fn unread_pipe(&self, message: Message) {
        lock(&self.inner.streams).pipe.queue.push_front(message);
    }

    /// Wakes who waits for [`poll_pipe`](Self::poll_pipe).
    pub fn wake_pipe(&self) {
        let reader = Arc::clone(&lock(&self.inner.streams).pipe.reader);
        reader.wake();
    }

    /// Whether an exchange of this number is still under way.
    #[must_use]
    pub fn is_open(&self, exchange: ExchangeId) -> bool {
        lock(&self.inner.streams).open.iter().any(|(id, _)| *id == exchange)
    }

    /// Asks whoever reads the stream of an exchange to end it; its call goes on.
    pub fn release(&self, exchange: ExchangeId) {
        self.inner.release(exchange);
    }

    /// Ends the session: calls are cancelled, streams end.
    pub fn close(&self) {
        self.inner.step(Some(Input::Closed(None).into()), &mut Tasks::new(&Arc::default()));
        let mut streams = lock(&self.inner.streams);
        streams.closed = true;
        let Streams { open, pipe, .. } = &mut *streams;
        let readers: Vec<_> = open
            .iter_mut()
            .map(|(_, stream)| stream)
            .chain([pipe])
            .map(|stream| {
                stream.queue = VecDeque::new();
                Arc::clone(&stream.reader)
            })
            .collect();
        drop(streams);
        readers.iter().for_each(|reader| reader.wake());
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}

impl Inner {
    /// Takes what arrived and does what is to do.
    fn step(&self, mut arrived: Option<Arrived>, tasks: &mut Tasks) {
        loop {
            let mut aftermath = Aftermath::default();
            let rest = self.host.drain(arrived.take(), &mut |via, message| self.send(via, message, &mut aftermath));
            aftermath.readers.iter().for_each(|reader| reader.wake());
            for output in rest {
                self.perform(output, tasks);
            }
            for id in aftermath.unsent {
                let message = "the client no longer listens to this call; it has to make it again";
                let error = TransportError::new(TransportErrorKind::Closed, message);
                self.step(Some(Input::Unsent { id, error }.into()), tasks);
            }
            if !self.host.has_said() {
                return;
            }
        }
    }

    fn perform(&self, output: Output, tasks: &mut Tasks) {
        match output {
            Output::Call { key, request, peer } => match self.host.start(key, request, peer) {
                Started::Answered(answered) => self.host.reply(answered.key, answered.result),
                Started::Waits(handler) => tasks.push(handler, &self.host),
            },
            Output::Cancel { key } => self.cancel(key),
            Output::Answer { ask, result } => {
                if let Some(waker) = self.host.answered(ask, result) {
                    waker.wake();
                }
            }
            Output::Notification { notification, peer } => self.host.endpoint().notification(&notification, &peer),
            _ => {}
        }
    }

    /// Leaves word for whoever runs the handler of a call that the client gave up on.
    fn cancel(&self, key: CallKey) {
        let (watched, wakers) = self.host.cancelled(key);
        let mut reader = None;
        if let Some(Via::Exchange(id)) = self.host.via(key)
            && let Some(stream) = lock(&self.streams).find(id)
        {
            if !watched {
                stream.cancelled.push(key);
            }
            reader = Some(Arc::clone(&stream.reader));
        }
        wakers.into_iter().for_each(Waker::wake);
        if let Some(reader) = reader {
            reader.wake();
        }
    }

    fn send(&self, via: Via, message: Message, aftermath: &mut Aftermath) {
        let mut streams = lock(&self.streams);
        let (stream, max_queue) = match via {
            Via::Exchange(id) if !streams.one_stream => (streams.find(id), self.max_said),
            _ => (Some(&mut streams.pipe), self.max_queue),
        };
        match stream.filter(|stream| !stream.deaf) {
            Some(stream) => {
                stream.push(message, max_queue);
                aftermath.readers.push(Arc::clone(&stream.reader));
            }
            None => {
                if let Message::Request(request) = message {
                    aftermath.unsent.push(request.id);
                }
            }
        }
    }
}

impl Woken for Inner {
    fn woken(&self) {
        // Handlers start where messages are received, so none does here.
        self.step(None, &mut Tasks::new(&Arc::default()));
    }

    fn close_stream(&self, via: Via) {
        let primes = self.host.legacy_peer().is_some_and(|peer| peer.version.primes_event_streams());
        if let (Via::Exchange(id), true) = (via, primes) {
            self.release(id);
        }
    }
}

impl Streams {
    fn find(&mut self, exchange: ExchangeId) -> Option<&mut Stream> {
        self.open.iter_mut().find(|(id, _)| *id == exchange).map(|(_, stream)| stream)
    }
}

impl Stream {
    /// Keeps a message for the reader. That something changed is told once. In a queue that is full, an older
    /// notification makes room.
    fn push(&mut self, message: Message, max_queue: usize) {
        let is_notification = |message: &Message| matches!(message, Message::Notification(_));
        if tells_of_change(&message) && self.queue.contains(&message) {
            return;
        }
        if self.queue.len() >= max_queue {
            match self.queue.iter().position(is_notification) {
                Some(oldest) => drop(self.queue.remove(oldest)),
                None if is_notification(&message) => return,
                None => {}
            }
        }
        self.queue.push_back(message);
    }
}

fn tells_of_change(message: &Message) -> bool {
    let Message::Notification(notification) = message else { return false };
    matches!(
        notification.method,
        Method::ToolsListChanged | Method::PromptsListChanged | Method::ResourcesListChanged | Method::ResourcesUpdated
    )
}

/// One exchange of a session: what a client sent at once, and what answers it.
///
/// Its handlers move while it is polled. Dropping it before they are done cancels their calls.
pub struct Received {
    session: Session,
    id: ExchangeId,
    reader: Arc<AtomicWaker>,
    tasks: Tasks,
}

impl Received {
    /// The exchange's number.
    #[must_use]
    pub fn id(&self) -> ExchangeId {
        self.id
    }

    /// The next message to the client on this exchange; nothing once no answer is owed to it.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Message>> {
        let Self { session, id, reader, tasks } = self;
        let inner = &session.inner;
        reader.register(cx.waker());
        loop {
            for key in inner.with(*id, |stream| mem::take(&mut stream.cancelled)).unwrap_or_default() {
                tasks.drop_handler(key, &inner.host);
            }
            let moved = tasks.poll(&inner.host);
            if moved | inner.host.has_said() {
                inner.step(None, tasks);
            }
            let owes = inner.host.owes(Via::Exchange(*id));
            let message = inner.with(*id, |stream| stream.queue.pop_front()).flatten();
            if message.is_some() || !owes {
                return Poll::Ready(message);
            }
            if !moved {
                return Poll::Pending;
            }
        }
    }

    /// Whether nothing is left to do or to send: handlers that clean up after their client gave up may go on for longer
    /// than [`poll`](Self::poll) gives messages.
    #[must_use]
    pub fn is_done(&self) -> bool {
        let inner = &self.session.inner;
        self.tasks.is_empty()
            && !inner.host.owes(Via::Exchange(self.id))
            && inner.with(self.id, |stream| stream.queue.is_empty()).unwrap_or(true)
    }

    /// Whether the stream is to be ended while the call goes on. Asking once takes the wish back.
    pub fn take_release(&mut self) -> bool {
        self.session.inner.with(self.id, |stream| mem::take(&mut stream.released)).unwrap_or_default()
    }

    /// Nobody reads any more: what is said from now on is dropped, and questions to the client fail, those that are
    /// `unsent` first.
    pub fn deafen(&mut self, unsent: VecDeque<Message>) {
        let forgotten = self.session.inner.with(self.id, |stream| {
            stream.deaf = true;
            mem::take(&mut stream.queue)
        });
        for message in unsent.into_iter().chain(forgotten.unwrap_or_default()) {
            if let Message::Request(request) = message {
                let message = "the client went away before the question reached it; it has to make the call again";
                let error = TransportError::new(TransportErrorKind::Closed, message);
                self.session.inner.step(Some(Input::Unsent { id: request.id, error }.into()), &mut self.tasks);
            }
        }
    }
}

impl Inner {
    fn release(&self, exchange: ExchangeId) {
        let reader = self.with(exchange, |stream| {
            stream.released = true;
            Arc::clone(&stream.reader)
        });
        if let Some(reader) = reader {
            reader.wake();
        }
    }

    fn with<T>(&self, exchange: ExchangeId, run: impl FnOnce(&mut Stream) -> T) -> Option<T> {
        lock(&self.streams).find(exchange).map(run)
    }
}

impl Drop for Received {
    fn drop(&mut self) {
        let inner = &self.session.inner;
        if !self.tasks.is_empty() {
            let how = sandwire_proto::Ended::Finished;
            inner.step(Some(Input::Ended { exchange: self.id, how }.into()), &mut self.tasks);
            self.tasks.finish(&inner.host);
        }
        let mut streams = lock(&inner.streams);
        streams.open.retain(|(id, _)| *id != self.id);
        if streams.open.is_empty() {
            streams.open = Vec::new();
        }
    }
}

impl fmt::Debug for Received {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Received").field("id", &self.id).finish_non_exhaustive()
    }
}
