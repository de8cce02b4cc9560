//! One connection: requests are read, answered by the service and written back, one after the other.

use std::{
    future::poll_fn,
    io::{self, Write},
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use async_io::Async;
use sandwire_io::{Body, Bytes};
use sandwire_proto::{
    TransportError,
    http::{RequestHead, ResponseHead, Verb},
};

use super::{
    body::{Decoded, Decoder, End, Inbox},
    clock::{Pace, Watchdog},
    house::{Guest, House},
    request::{self, Refused, Request},
    response::{self, Ending},
    wire::{Socket, Wire},
};

/// How long a request line may be, of what a head may be.
const MAX_REQUEST_LINE: usize = 8 * 1024;

/// How much of a body, or of what follows a request, is read before it is wanted.
const MAX_AHEAD: usize = 16 * 1024;

/// How long, and how much, a client may go on sending after the last response.
const LINGER: (Duration, usize) = (Duration::from_secs(2), 16 * 1024 * 1024);

/// After so many chunks of a response, others have their turn.
const CHUNKS_AT_ONCE: usize = 32;

/// Serves a connection until either side closes it.
pub(super) async fn serve<T: Socket>(socket: Async<T>, guest: Guest, house: Arc<House>) {
    let mut connection = Connection { wire: Wire::new(socket), watchdog: Watchdog::new(), guest, house };
    if connection.run().await.is_ok_and(|lingers| lingers) {
        connection.linger().await;
    }
}

struct Connection<T> {
    wire: Wire<T>,
    watchdog: Watchdog,
    guest: Guest,
    house: Arc<House>,
}

/// What comes next on a connection.
enum Next {
    Request(Box<Request>),
    Refused(Refused),
    /// Nothing.
    Over,
}

/// A body that arrives while its request is answered.
struct Arriving {
    inbox: Inbox,
    decoder: Decoder,
    pace: Pace,
    /// How much of it the pace does not know of yet.
    received: usize,
    /// Whether the client waits for a word before it sends.
    expects_continue: bool,
}

type Response = (ResponseHead, Box<dyn Body>);

/// What a body gave when it was polled.
type Chunk = Poll<Option<Result<Vec<u8>, TransportError>>>;

/// What decides about the form of a response.
struct Reader {
    keep_alive: bool,
    takes_chunks: bool,
    /// Whether the client wants the head alone.
    bodiless: bool,
}

/// How a response went.
enum Sent {
    Whole,
    /// The connection cannot be used on.
    Cut,
}

impl<T: Socket> Connection<T> {
    /// Whether the client may still be sending when this ends.
    async fn run(&mut self) -> io::Result<bool> {
        let mut wait = self.house.limits.head_time;
        loop {
            let request = match self.next(wait).await? {
                Next::Request(request) => request,
                Next::Refused(Refused(status)) => {
                    self.refuse(status).await?;
                    return Ok(true);
                }
                Next::Over => return Ok(false),
            };
            let Request { head, framing, expects_continue, keep_alive, takes_chunks } = *request;
            let bodiless = head.method == Verb::Other("HEAD".into());
            let mut decoder = Decoder::new(framing);
            let mut arriving = None;
            let body: Box<dyn Body> = match self.whole(&mut decoder) {
                Some(bytes) => Box::new(Bytes::new(bytes)),
                None => {
                    let inbox = Inbox::default();
                    arriving = Some(Arriving {
                        inbox: inbox.clone(),
                        decoder,
                        pace: Pace::new(),
                        received: 0,
                        expects_continue,
                    });
                    Box::new(inbox)
                }
            };
            let Some((head, body)) = self.answer(head, body, &mut arriving).await? else { return Ok(false) };
            if let Some(arriving) = &arriving {
                arriving.inbox.end(End::Broken);
            }
            let has_ended = arriving.as_ref().is_none_or(|arriving| arriving.decoder.has_ended());
            let keep_alive = keep_alive && has_ended && !self.house.is_closing();
            match self.respond(head, body, Reader { keep_alive, takes_chunks, bodiless }).await? {
                Sent::Whole if keep_alive => {}
                Sent::Whole => return Ok(true),
                Sent::Cut => return Ok(false),
            }
            wait = self.house.limits.idle_time;
        }
    }

    /// The head of the next request. The client may take `wait` to begin with it.
    async fn next(&mut self, wait: Duration) -> io::Result<Next> {
        let most = self.house.limits.head_bytes;
        let mut seen = 0;
        self.watchdog.set(wait);
        loop {
            let there = self.wire.unused();
            if !there.is_empty() && (seen == 0 || request::may_be_complete(there, seen)) {
                match request::parse(there) {
                    Ok(Some((request, length))) => {
                        self.wire.use_up(length);
                        return Ok(Next::Request(Box::new(request)));
                    }
                    Ok(None) => {}
                    Err(refused) => return Ok(Next::Refused(refused)),
                }
            }
            let is_long_line = there.len() > MAX_REQUEST_LINE && !there.contains(&b'\n');
            if is_long_line || there.len() >= most {
                return Ok(Next::Refused(Refused(if there.contains(&b'\n') { 431 } else { 414 })));
            }
            if seen == 0 && !there.is_empty() {
                self.watchdog.set(self.house.limits.head_time);
            }
            seen = there.len();
            let is_idle = seen == 0;
            if is_idle {
                self.wire.rest();
            }
            let received = poll_fn(|cx| {
                if let Poll::Ready(received) = self.wire.poll_receive(most, cx) {
                    return Poll::Ready(received.map(Some));
                }
                let is_over = is_idle && self.guest.poll_closing(cx).is_ready();
                if is_over || self.watchdog.poll(cx).is_ready() { Poll::Ready(Ok(None)) } else { Poll::Pending }
            });
            match received.await? {
                Some(0) => return Ok(Next::Over),
                Some(_) => {}
                None if is_idle => return Ok(Next::Over),
                None => return Ok(Next::Refused(Refused(408))),
            }
        }
    }

    /// The whole body, if it is there already.
    fn whole(&mut self, decoder: &mut Decoder) -> Option<Vec<u8>> {
        let left = usize::try_from(decoder.left()?).ok()?;
        let body = self.wire.unused().get(..left)?.to_vec();
        self.wire.use_up(left);
        Some(body)
    }

    /// Lets the service answer; nothing if the client went away before that.
    async fn answer(
        &mut self,
        head: RequestHead,
        body: Box<dyn Body>,
        arriving: &mut Option<Arriving>,
    ) -> io::Result<Option<Response>> {
        let mut answer = self.house.service.handle(head, body);
        self.watchdog.clear();
        poll_fn(|cx| {
            loop {
                if let Poll::Ready(response) = answer.as_mut().poll(cx) {
                    return Poll::Ready(Ok(Some(response)));
                }
                let is_news = match arriving {
                    Some(arriving) if !arriving.decoder.has_ended() => self.poll_arriving(arriving, cx),
                    _ => self.poll_gone(cx).map(|()| Ok(false)),
                };
                match is_news {
                    Poll::Ready(Ok(true)) => {}
                    Poll::Ready(Ok(false)) => return Poll::Ready(Ok(None)),
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                    Poll::Pending => return self.guest.poll_drained(cx).map(|()| Ok(None)),
                }
            }
        })
        .await
    }

    /// Reads the body that is arriving, as far as the service wants it: ready with whether there is news for it, which
    /// there is not once the client is gone.
    fn poll_arriving(&mut self, arriving: &mut Arriving, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        let Arriving { inbox, decoder, pace, received, expects_continue } = arriving;
        if !inbox.wants_more() {
            *pace = Pace::new();
            return Poll::Pending;
        }
        if std::mem::take(expects_continue) && self.wire.unused().is_empty() {
            self.wire.output().extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
        }
        loop {
            match decoder.decode(self.wire.unused()) {
                Decoded::Data(bytes) => {
                    let chunk = self.wire.unused().get(..bytes).unwrap_or_default().to_vec();
                    self.wire.use_up(bytes);
                    *received = received.saturating_add(bytes);
                    inbox.give(chunk);
                    if decoder.has_ended() {
                        inbox.end(End::Whole);
                    }
                    return Poll::Ready(Ok(true));
                }
                Decoded::Skip(bytes) => self.wire.use_up(bytes),
                Decoded::Ended => {
                    inbox.end(End::Whole);
                    return Poll::Ready(Ok(true));
                }
                Decoded::Broken => {
                    inbox.end(End::Broken);
                    return Poll::Ready(Ok(true));
                }
                Decoded::Starved => {
                    ready!(self.wire.poll_send(|_| (), cx))?;
                    self.watchdog.set(pace.patience(std::mem::take(received), &self.house.limits));
                    match self.wire.poll_receive(MAX_AHEAD, cx) {
                        Poll::Ready(Ok(1..)) => {}
                        Poll::Ready(Ok(0)) => return Poll::Ready(Ok(false)),
                        Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                        Poll::Pending => {
                            ready!(self.watchdog.poll(cx));
                            inbox.end(End::Late);
                            return Poll::Ready(Ok(true));
                        }
                    }
                }
            }
        }
    }

    /// Ready once the client has gone. What it sends meanwhile is kept for the next request, up to a limit: behind
    /// that, nothing is seen.
    fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            if !matches!(ready!(self.wire.poll_receive(MAX_AHEAD, cx)), Ok(1..)) {
                return Poll::Ready(());
            }
        }
    }

    async fn respond(&mut self, head: ResponseHead, mut body: Box<dyn Body>, reader: Reader) -> io::Result<Sent> {
        let Reader { keep_alive, takes_chunks, bodiless } = reader;
        let first = poll_fn(|cx| Poll::Ready(body.poll_chunk(cx))).await;
        let whole = match first {
            Poll::Ready(None) => Ok(Vec::new()),
            Poll::Ready(Some(Ok(first))) => match poll_fn(|cx| Poll::Ready(body.poll_chunk(cx))).await {
                Poll::Ready(None) => Ok(first),
                second => Err([Poll::Ready(Some(Ok(first))), second]),
            },
            first => Err([first, Poll::Pending]),
        };
        let has_none = matches!(head.status, 100..200 | 204 | 304);
        let ending = match &whole {
            _ if has_none => Ending::Bodiless,
            Ok(whole) => Ending::Length(whole.len()),
            Err(_) if takes_chunks => Ending::Chunked,
            Err(_) => Ending::Closed,
        };
        response::write(self.wire.output(), &head, ending, keep_alive, &self.house.calendar);
        match whole {
            _ if has_none || bodiless => self.flush().await,
            Ok(whole) => {
                self.wire.append(whole, b"");
                self.flush().await
            }
            Err(started) => self.stream(started, body, ending).await,
        }
    }

    /// Sends what is to go.
    async fn flush(&mut self) -> io::Result<Sent> {
        let mut pace = None;
        poll_fn(|cx| self.poll_flush(&mut pace, cx)).await?;
        Ok(Sent::Whole)
    }

    fn poll_flush(&mut self, pace: &mut Option<Pace>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut sent = 0_usize;
        let flushed = self.wire.poll_send(|bytes| sent = sent.saturating_add(bytes), cx);
        if flushed.is_ready() {
            *pace = None;
            return flushed;
        }
        let pace = pace.get_or_insert_with(Pace::new);
        self.watchdog.set(pace.patience(sent, &self.house.limits));
        self.watchdog.poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }

    /// Sends a body chunk by chunk, each as soon as it is there, while the client stays.
    async fn stream(&mut self, started: [Chunk; 2], mut body: Box<dyn Body>, ending: Ending) -> io::Result<Sent> {
        let (mut started, mut pace, mut at_once) = (started.into_iter(), None, 0);
        let sent: io::Result<Sent> = poll_fn(|cx| {
            at_once = 0;
            loop {
                ready!(self.poll_flush(&mut pace, cx))?;
                at_once += 1;
                if at_once > CHUNKS_AT_ONCE {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                let chunk = match started.next() {
                    Some(Poll::Pending) | None => body.poll_chunk(cx),
                    Some(chunk) => chunk,
                };
                match chunk {
                    Poll::Ready(Some(Ok(chunk))) if chunk.is_empty() => {}
                    Poll::Ready(Some(Ok(chunk))) => self.write_chunk(chunk, ending),
                    Poll::Ready(Some(Err(_))) => return Poll::Ready(Ok(Sent::Cut)),
                    Poll::Ready(None) => return Poll::Ready(Ok(Sent::Whole)),
                    Poll::Pending if self.guest.poll_drained(cx).is_ready() => return Poll::Ready(Ok(Sent::Whole)),
                    Poll::Pending => {
                        self.watchdog.clear();
                        return self.poll_gone(cx).map(|()| Ok(Sent::Cut));
                    }
                }
            }
        })
        .await;
        drop(body);
        let sent = sent?;
        if matches!((&sent, ending), (Sent::Whole, Ending::Chunked)) {
            self.wire.output().extend_from_slice(b"0\r\n\r\n");
            return self.flush().await;
        }
        Ok(sent)
    }

    fn write_chunk(&mut self, chunk: Vec<u8>, ending: Ending) {
        if ending == Ending::Chunked {
            let _ = write!(self.wire.output(), "{:x}\r\n", chunk.len());
            self.wire.append(chunk, b"\r\n");
        } else {
            self.wire.append(chunk, b"");
        }
    }

    /// Answers what cannot be served.
    async fn refuse(&mut self, status: u16) -> io::Result<Sent> {
        let head = ResponseHead::new(status);
        response::write(self.wire.output(), &head, Ending::Length(0), false, &self.house.calendar);
        self.flush().await
    }

    /// Reads what a client goes on sending, so that closing the connection does not cost it the response.
    async fn linger(mut self) {
        let (patience, mut left) = LINGER;
        self.watchdog.set(patience);
        if self.wire.finish().is_err() {
            return;
        }
        poll_fn(|cx| {
            loop {
                self.wire.use_up(usize::MAX);
                match self.wire.poll_receive(MAX_AHEAD, cx) {
                    Poll::Ready(Ok(bytes @ 1..)) if bytes < left => left -= bytes,
                    Poll::Ready(_) => return Poll::Ready(()),
                    Poll::Pending if self.guest.poll_closing(cx).is_ready() => return Poll::Ready(()),
                    Poll::Pending => return self.watchdog.poll(cx),
                }
            }
        })
        .await;
    }
}
