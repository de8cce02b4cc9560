use std::{
    future::{Future, poll_fn},
    mem,
    pin::{Pin, pin},
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc},
    task::{Context, Poll, Wake, Waker},
};

use futures_util::{FutureExt, StreamExt, stream::FuturesUnordered};
use h2::Reason;
use hyper::{
    Request, Response, Uri,
    body::{Body, Bytes, Frame, Incoming},
    client::conn::http2::{Builder, SendRequest},
    header::HOST,
    http::uri::{Authority, PathAndQuery, Scheme},
    rt,
};
use sandwire_proto::{TransportError, TransportErrorKind};

use super::{
    connection::{Failure, HeadLimits, failure},
    request::Payload,
    socket::{Meter, Metered, Stream},
};

/// A connection of HTTP/2, on which many exchanges go on side by side.
///
/// hyper wants it moved on by tasks. Here they are futures in one place, and whoever waits for something on the
/// connection polls them first. What they wait for wakes everybody who does, since any of them may go away.
pub(super) struct Multiplex {
    sender: SendRequest<Payload>,
    tasks: Mutex<Tasks>,
    waiting: Arc<Waiting>,
    meter: Arc<Meter>,
    /// How many fields a head may have.
    fields: usize,
}

struct Tasks {
    running: FuturesUnordered<Task>,
    begun: mpsc::Receiver<Task>,
}

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// How much of one response, and of all on a connection, may arrive before it is asked for.
const AHEAD: (u32, u32) = (512 * 1024, 8 * 1024 * 1024);

impl Multiplex {
    pub(super) async fn new(stream: Stream, limits: HeadLimits) -> Result<Self, TransportError> {
        let meter = Arc::new(Meter::new(limits.bytes + AHEAD.1 as usize));
        let metered = Metered::new(stream, meter.clone());
        let (begin, begun) = mpsc::channel();
        let (sender, driver) = Builder::new(Begin(begin))
            .initial_stream_window_size(AHEAD.0)
            .initial_connection_window_size(AHEAD.1)
            .max_header_list_size(limits.bytes.try_into().unwrap_or(u32::MAX))
            // Until the server says how many it takes.
            .initial_max_send_streams(1)
            .handshake(metered)
            .await
            .map_err(|error| failure(error, &meter))?;
        // Whoever waits for something learns how the connection ended.
        let driver: Task = Box::pin(driver.map(drop));
        let running = FuturesUnordered::from_iter([driver]);
        Ok(Self {
            sender,
            tasks: Mutex::new(Tasks { running, begun }),
            waiting: Arc::default(),
            meter,
            fields: limits.fields,
        })
    }

    /// Sends a request and reads the head of the response.
    pub(super) async fn exchange(&self, request: Request<Payload>) -> Result<Response<Incoming>, Failure> {
        let request = absolute(request).map_err(|error| Failure { error, unanswered: false })?;
        self.meter.reset();
        let before = self.meter.arrived();
        // Whoever gives up has told the server.
        let _last = MovesOn(self);
        let mut response = pin!(self.sender.clone().try_send_request(request));
        let error = match poll_fn(|cx| self.poll(cx, |cx| response.as_mut().poll(cx))).await {
            Ok(response) if response.headers().len() <= self.fields => {
                self.meter.reset();
                return Ok(response);
            }
            Ok(_) => return Err(Failure { error: too_large(), unanswered: false }),
            Err(error) => error.into_error(),
        };
        let cause = std::error::Error::source(&error).and_then(|cause| cause.downcast_ref::<h2::Error>());
        let refused = |cause: &h2::Error| {
            cause.is_remote() && (cause.is_go_away() || cause.reason() == Some(Reason::REFUSED_STREAM))
        };
        // hyper gave it up before it could be sent.
        let unsent = error.is_canceled() || error.is_user();
        let unanswered = unsent || self.meter.arrived() == before || cause.is_some_and(refused);
        let is_over = |cause: &h2::Error| cause.is_library() && cause.is_reset();
        let error = if cause.is_some_and(is_over) { too_large() } else { failure(error, &self.meter) };
        Err(Failure { error, unanswered })
    }

    /// Reads on in a response's body.
    pub(super) fn poll_frame(
        &self,
        body: &mut Incoming,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, TransportError>>> {
        let next = self.poll(cx, |cx| Pin::new(body).poll_frame(cx));
        if let Poll::Ready(Some(Ok(_))) = next {
            self.meter.reset();
        }
        next.map_err(|error| failure(error, &self.meter))
    }

    /// Lets go of a body. If its end is not here, the server is told that nobody wants it.
    pub(super) fn release(&self, body: Incoming) {
        self.poll_once(|| drop(body));
    }

    /// Whether another request can be sent.
    pub(super) fn is_open(&self) -> bool {
        self.poll_once(|| ());
        self.sender.is_ready()
    }

    /// Moves the connection on and waits for nothing.
    fn poll_once(&self, step: impl FnOnce()) {
        let _ = self.poll(&mut Context::from_waker(Waker::noop()), |_| {
            step();
            Poll::Ready(())
        });
    }

    /// Moves the connection on, before and after `step`, which is told with everybody else when there is more.
    fn poll<T>(&self, cx: &mut Context<'_>, step: impl FnOnce(&mut Context<'_>) -> Poll<T>) -> Poll<T> {
        let mut tasks = lock(&self.tasks);
        lock(&self.waiting.state).busy = true;
        let waker = Waker::from(self.waiting.clone());
        let everybody = &mut Context::from_waker(&waker);
        tasks.poll(everybody);
        let polled = step(everybody);
        tasks.poll(everybody);
        let woken = self.waiting.rest(polled.is_pending().then_some(cx.waker()));
        drop(tasks);
        woken.into_iter().for_each(Waker::wake);
        polled
    }
}

impl Tasks {
    fn poll(&mut self, cx: &mut Context<'_>) {
        loop {
            self.running.extend(self.begun.try_iter());
            match self.running.poll_next_unpin(cx) {
                Poll::Ready(Some(())) => {}
                Poll::Ready(None) | Poll::Pending => break,
            }
        }
    }
}

/// Moves a connection on once more when it goes.
struct MovesOn<'a>(&'a Multiplex);

impl Drop for MovesOn<'_> {
    fn drop(&mut self) {
        self.0.poll_once(|| ());
    }
}

/// Takes the tasks that hyper begins.
#[derive(Clone)]
struct Begin(mpsc::Sender<Task>);

impl<F: Future<Output = ()> + Send + 'static> rt::Executor<F> for Begin {
    fn execute(&self, task: F) {
        // Where nobody takes it the connection is gone.
        let _ = self.0.send(Box::pin(task));
    }
}

/// Those who wait for something on a connection.
#[derive(Default)]
struct Waiting {
    state: Mutex<WaitingState>,
}

#[derive(Default)]
struct WaitingState {
    wakers: Vec<Waker>,
    /// Whether the connection is being moved on: nobody is woken before that is done.
    busy: bool,
    /// Whether everybody is to be woken then.
    told: bool,
}

impl Waiting {
    /// The connection has been moved on, and `waker` waits. Gives those who are to be woken.
    fn rest(&self, waker: Option<&Waker>) -> Vec<Waker> {
        let mut state = lock(&self.state);
        state.busy = false;
        if let Some(waker) = waker
            && !state.wakers.iter().any(|known| known.will_wake(waker))
        {
            state.wakers.push(waker.clone());
        }
        if mem::take(&mut state.told) { mem::take(&mut state.wakers) } else { Vec::new() }
    }
}

impl Wake for Waiting {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut state = lock(&self.state);
        if state.busy {
            state.told = true;
            return;
        }
        let woken = mem::take(&mut state.wakers);
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }
}

/// HTTP/2 has the host in the target and in no field.
fn absolute(mut request: Request<Payload>) -> Result<Request<Payload>, TransportError> {
    let host = request.headers_mut().remove(HOST);
    let authority = host.and_then(|host| Authority::try_from(host.as_bytes()).ok());
    let target = mem::take(request.uri_mut()).into_parts().path_and_query;
    let whole = authority.and_then(|authority| {
        let target = target.unwrap_or_else(|| PathAndQuery::from_static("/"));
        Uri::builder().scheme(Scheme::HTTPS).authority(authority).path_and_query(target).build().ok()
    });
    let unsendable = || TransportError::new(TransportErrorKind::Other, "the address has a host that HTTP cannot carry");
    *request.uri_mut() = whole.ok_or_else(unsendable)?;
    Ok(request)
}

fn too_large() -> TransportError {
    TransportError::new(TransportErrorKind::TooLarge, "the response has a head that is larger than the limit allows")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
