//! HTTP/2, with a server of hyper's.

use std::{
    convert::Infallible,
    io,
    net::TcpStream,
    pin::Pin,
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, Sender, channel},
    },
    task::{Context, Poll, ready},
    thread,
    time::Duration,
};

use async_io::{Async, Timer};
use futures::{
    AsyncRead, AsyncWrite, Stream as _,
    channel::{mpsc, oneshot},
    future::{Either, join, select},
};
use futures_rustls::{TlsAcceptor, server::TlsStream};
use hyper::{
    Request, Response,
    body::{Body, Bytes, Frame, Incoming},
    rt::{Executor, Read, ReadBufCursor, Write},
    server::conn::http2::Builder,
    service::service_fn,
};
use sandwire_io::HttpClient;
use sandwire_native::{block_on, http::HttpPool};
use sandwire_proto::TransportErrorKind;

use crate::{
    chunk, failure, fetch, get, pool, post,
    proxies::{address, tunnel},
    server::{Server, json},
    text,
    tls::{Authority, secure},
};

/// A server that echoes bodies, and gives a stream for a GET.
struct Stage {
    url: String,
    port: u16,
    pool: HttpPool,
    /// What happened.
    notes: Receiver<String>,
    /// The streams of events.
    streams: Receiver<mpsc::UnboundedSender<Bytes>>,
    connections: Arc<Mutex<Vec<Connection>>>,
    _accepting: smol::Task<()>,
}

struct Connection {
    task: smol::Task<()>,
    /// Says GOAWAY.
    leave: Option<oneshot::Sender<()>>,
}

#[derive(Clone)]
struct Told {
    notes: Sender<String>,
    streams: Sender<mpsc::UnboundedSender<Bytes>>,
}

impl Stage {
    fn new() -> Self {
        Self::with(|_| {})
    }

    fn with(configure: impl Fn(&mut Builder<Spawn>) + Send + 'static) -> Self {
        let authority = Authority::certifying("127.0.0.1").offering(&["h2", "http/1.1"]);
        let pool = pool().root_certificate(authority.pem.as_bytes()).unwrap();
        let listener = Async::<std::net::TcpListener>::bind(([127, 0, 0, 1], 0)).unwrap();
        let port = listener.get_ref().local_addr().unwrap().port();
        let url = format!("https://127.0.0.1:{port}/mcp");
        let (note, notes) = channel();
        let (give, streams) = channel();
        let told = Told { notes: note, streams: give };
        let connections = Arc::<Mutex<Vec<Connection>>>::default();
        let all = connections.clone();
        let accepting = smol::spawn(async move {
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                socket.get_ref().set_nodelay(true).unwrap();
                let mut builder = Builder::new(Spawn);
                configure(&mut builder);
                let (leave, left) = oneshot::channel();
                let acceptor = TlsAcceptor::from(authority.config.clone());
                let task = smol::spawn(converse(acceptor, socket, builder, left, told.clone()));
                all.lock().unwrap().push(Connection { task, leave: Some(leave) });
            }
        });
        Self { url, port, pool, notes, streams, connections, _accepting: accepting }
    }

    fn note(&self) -> String {
        self.notes.recv_timeout(Duration::from_secs(20)).unwrap()
    }

    /// What has been noted and not been looked at.
    fn rest(&self) -> Vec<String> {
        self.notes.try_iter().collect()
    }

    fn stream(&self) -> mpsc::UnboundedSender<Bytes> {
        self.streams.recv_timeout(Duration::from_secs(20)).unwrap()
    }

    fn goodbye(&self) {
        for connection in &mut *self.connections.lock().unwrap() {
            connection.leave.take().unwrap().send(()).unwrap();
        }
    }

    /// Closes all connections, and gives the client time to be told.
    async fn die(&self) {
        let all = std::mem::take(&mut *self.connections.lock().unwrap());
        for connection in all {
            connection.task.cancel().await;
        }
        Timer::after(Duration::from_millis(50)).await;
    }
}

async fn converse(
    acceptor: TlsAcceptor,
    socket: Async<TcpStream>,
    builder: Builder<Spawn>,
    leave: oneshot::Receiver<()>,
    told: Told,
) {
    let stream = acceptor.accept(socket).await.unwrap();
    let protocol = String::from_utf8(stream.get_ref().1.alpn_protocol().unwrap().to_vec()).unwrap();
    told.notes.send(protocol).unwrap();
    let notes = told.notes.clone();
    let service = service_fn(move |request| answer(request, told.clone()));
    let connection = Box::pin(builder.serve_connection(Wire(stream), service));
    match select(connection, leave).await {
        Either::Left(_) => {}
        Either::Right((_, mut connection)) => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
    let _ = notes.send("closed".to_owned());
}

async fn answer(mut request: Request<Incoming>, told: Told) -> Result<Response<Answer>, Infallible> {
    assert!(request.uri().authority().is_some_and(|place| place.as_str().starts_with("127.0.0.1:")));
    assert!(!request.headers().contains_key("host"));
    let mut response = Response::new(Answer::default());
    match request.uri().path() {
        "/mcp" if request.method() == "GET" => {
            let (give, events) = mpsc::unbounded();
            told.streams.send(give).unwrap();
            *response.body_mut() = Answer { whole: None, events: Some(events), told: Some(told.notes) };
        }
        "/silent" => std::future::pending().await,
        "/moved" => {
            *response.status_mut() = hyper::StatusCode::PERMANENT_REDIRECT;
            response.headers_mut().insert("location", "/mcp".parse().unwrap());
        }
        "/fields" => {
            for _ in 0..200 {
                response.headers_mut().append("a", "b".parse().unwrap());
            }
        }
        "/long" => {
            response.headers_mut().insert("a", "b".repeat(90_000).parse().unwrap());
        }
        _ => {
            let mut whole = Vec::new();
            while let Some(frame) = std::future::poll_fn(|cx| Pin::new(request.body_mut()).poll_frame(cx)).await {
                whole.extend(frame.unwrap().into_data().unwrap());
            }
            response.headers_mut().insert("content-type", "application/json".parse().unwrap());
            response.body_mut().whole = Some(whole.into());
        }
    }
    Ok(response)
}

#[derive(Default)]
struct Answer {
    whole: Option<Bytes>,
    events: Option<mpsc::UnboundedReceiver<Bytes>>,
    /// Told when a stream ends.
    told: Option<Sender<String>>,
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = match &mut self.events {
            Some(events) => ready!(Pin::new(events).poll_next(cx)),
            None => self.whole.take(),
        };
        Poll::Ready(next.map(|bytes| Ok(Frame::data(bytes))))
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        if let Some(told) = self.told.take() {
            let _ = told.send("dropped".to_owned());
        }
    }
}

#[derive(Clone)]
struct Spawn;

impl<F: Future<Output: Send> + Send + 'static> Executor<F> for Spawn {
    fn execute(&self, task: F) {
        smol::spawn(task).detach();
    }
}

struct Wire(TlsStream<Async<TcpStream>>);

impl Read for Wire {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, mut into: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        let mut piece = vec![0; into.remaining().min(16_384)];
        let count = ready!(Pin::new(&mut self.0).poll_read(cx, &mut piece))?;
        into.put_slice(&piece[..count]);
        Poll::Ready(Ok(()))
    }
}

impl Write for Wire {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_close(cx)
    }
}

/// Many requests beside an open stream on one connection, and then its reset.
async fn session(stage: Stage) {
    let (pool, url) = (&stage.pool, &stage.url);
    assert_eq!(fetch(pool, post(url, "1")).await.unwrap(), "1");
    assert_eq!(stage.note(), "h2");
    let mut stream = pool.send(get(url)).await.unwrap();
    let events = stage.stream();
    assert_eq!(fetch(pool, post(url, "beside")).await.unwrap(), "beside");
    let further = async {
        let event = chunk(&mut *stream.body).await.unwrap().unwrap();
        assert_eq!(event, b"event");
    };
    let beside = async {
        assert_eq!(fetch(pool, post(url, &"x".repeat(3_000_000))).await.unwrap().len(), 3_000_000);
        events.unbounded_send("event".into()).unwrap();
    };
    join(further, beside).await;
    assert_eq!(stage.rest(), [] as [&str; 0]);
    drop(stream);
    assert_eq!(stage.note(), "dropped");
    assert_eq!(fetch(pool, post(url, "2")).await.unwrap(), "2");
    assert_eq!(stage.rest(), [] as [&str; 0]);
}

#[test]
fn under_block_on() {
    block_on(session(Stage::new()));
}

#[test]
fn under_an_executor_that_only_parks_its_thread() {
    futures::executor::block_on(session(Stage::new()));
}

#[test]
fn under_smol() {
    smol::block_on(session(Stage::new()));
}

#[test]
fn under_tokio_without_its_drivers() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(session(Stage::new()));
}

#[test]
fn a_stream_goes_on_when_whoever_was_woken_before_has_gone() {
    let stage = Stage::new();
    block_on(async {
        let mut first = stage.pool.send(get(&stage.url)).await.unwrap();
        let _first = stage.stream();
        let mut second = stage.pool.send(get(&stage.url)).await.unwrap();
        let events = stage.stream();
        // One that waits on another thread, and is never polled again once it was woken.
        let (go, gone) = channel();
        let silent = thread::spawn(move || {
            block_on(async {
                let mut stalled = Box::pin(async { chunk(&mut *first.body).await });
                assert!(futures::poll!(&mut stalled).is_pending());
                go.send(()).unwrap();
                Timer::after(Duration::from_millis(300)).await;
            });
        });
        gone.recv().unwrap();
        let later = thread::spawn(move || {
            thread::sleep(Duration::from_millis(50));
            events.unbounded_send("event".into()).unwrap();
            events
        });
        assert_eq!(chunk(&mut *second.body).await.unwrap().unwrap(), b"event");
        later.join().unwrap();
        silent.join().unwrap();
    });
}

#[test]
fn many_tasks_share_one_connection() {
    let stage = Stage::new();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(fetch(&stage.pool, post(&stage.url, "first"))).unwrap();
    let tasks: Vec<_> = (0..16)
        .map(|task| {
            let (pool, url) = (stage.pool.clone(), stage.url.clone());
            runtime.spawn(async move {
                for round in 0..40 {
                    let body = "x".repeat(round * 397 + task);
                    assert_eq!(fetch(&pool, post(&url, &body)).await.unwrap(), body);
                }
            })
        })
        .collect();
    for task in tasks {
        runtime.block_on(task).unwrap();
    }
    assert_eq!(stage.rest(), ["h2"]);
    let Stage { pool, notes, .. } = stage;
    drop(pool);
    assert_eq!(notes.recv_timeout(Duration::from_secs(20)).unwrap(), "closed");
}

#[test]
fn a_server_that_dies_ends_its_streams_and_is_reached_again() {
    let stage = Stage::new();
    block_on(async {
        let mut stream = stage.pool.send(get(&stage.url)).await.unwrap();
        let events = stage.stream();
        events.unbounded_send("some".into()).unwrap();
        assert_eq!(chunk(&mut *stream.body).await.unwrap().unwrap(), b"some");
        let mut other = stage.pool.send(get(&stage.url)).await.unwrap();
        let _other = stage.stream();
        stage.die().await;
        for body in [&mut stream.body, &mut other.body] {
            let cut = chunk(&mut **body).await.unwrap().unwrap_err();
            assert_eq!(cut.kind(), TransportErrorKind::Closed, "{cut}");
        }
        assert_eq!(fetch(&stage.pool, post(&stage.url, "1")).await.unwrap(), "1");
        stage.die().await;
        assert_eq!(fetch(&stage.pool, post(&stage.url, "2")).await.unwrap(), "2");
    });
}

#[test]
fn after_goaway_a_new_connection_is_made_and_streams_go_on() {
    let stage = Stage::new();
    block_on(async {
        let mut stream = stage.pool.send(get(&stage.url)).await.unwrap();
        let events = stage.stream();
        assert_eq!(stage.note(), "h2");
        stage.goodbye();
        Timer::after(Duration::from_millis(50)).await;
        assert_eq!(fetch(&stage.pool, post(&stage.url, "1")).await.unwrap(), "1");
        assert_eq!(stage.note(), "h2");
        events.unbounded_send("event".into()).unwrap();
        assert_eq!(chunk(&mut *stream.body).await.unwrap().unwrap(), b"event");
        drop(events);
        assert!(chunk(&mut *stream.body).await.is_none());
    });
}

#[test]
fn requests_wait_where_the_server_takes_few() {
    let stage = Stage::with(|builder| {
        builder.max_concurrent_streams(1);
    });
    block_on(async {
        let stream = stage.pool.send(get(&stage.url)).await.unwrap();
        let _events = stage.stream();
        let waiting = fetch(&stage.pool, post(&stage.url, "1"));
        let Either::Right((_, waiting)) = select(Box::pin(waiting), Timer::after(Duration::from_millis(100))).await
        else {
            panic!("was let in");
        };
        drop(stream);
        assert_eq!(waiting.await.unwrap(), "1");
        assert_eq!(stage.rest(), ["h2", "dropped"]);
    });
}

#[test]
fn requests_that_wait_are_sent_over_a_new_connection_after_goaway() {
    let stage = Stage::with(|builder| {
        builder.max_concurrent_streams(1);
    });
    block_on(async {
        let mut stream = stage.pool.send(get(&stage.url)).await.unwrap();
        let events = stage.stream();
        let waiting = fetch(&stage.pool, post(&stage.url, "1"));
        let Either::Right((_, waiting)) = select(Box::pin(waiting), Timer::after(Duration::from_millis(100))).await
        else {
            panic!("was let in");
        };
        stage.goodbye();
        assert_eq!(waiting.await.unwrap(), "1");
        assert_eq!(stage.rest(), ["h2", "h2"]);
        events.unbounded_send("event".into()).unwrap();
        assert_eq!(chunk(&mut *stream.body).await.unwrap().unwrap(), b"event");
    });
}

#[test]
fn a_request_that_is_dropped_leaves_the_others_alone() {
    let stage = Stage::new();
    block_on(async {
        let mut stream = stage.pool.send(get(&stage.url)).await.unwrap();
        let events = stage.stream();
        let silent = stage.pool.send(get(&stage.url.replace("mcp", "silent")));
        select(silent, Timer::after(Duration::from_millis(50))).await;
        events.unbounded_send("event".into()).unwrap();
        assert_eq!(chunk(&mut *stream.body).await.unwrap().unwrap(), b"event");
        assert_eq!(stage.rest(), ["h2"]);
    });
}

#[test]
fn heads_and_redirects_are_as_they_are_without() {
    let stage = Stage::new();
    for path in ["fields", "long"] {
        let (kind, message) = failure(&stage.pool, get(&stage.url.replace("mcp", path)));
        assert_eq!(kind, TransportErrorKind::TooLarge, "{path}: {message}");
    }
    let moved = fetch(&stage.pool, post(&stage.url.replace("mcp", "moved"), "1"));
    assert_eq!(block_on(moved).unwrap(), "1");
    assert_eq!(stage.rest(), ["h2"]);
}

#[test]
fn it_goes_through_a_tunnel() {
    let stage = Stage::new();
    let proxy = tunnel(&format!("127.0.0.1:{}", stage.port), stage.port);
    let pool = stage.pool.proxy(&address(&proxy)).unwrap();
    for body in ["1", "2"] {
        assert_eq!(block_on(fetch(&pool, post(&stage.url, body))).unwrap(), body);
    }
    drop(pool);
    assert_eq!([stage.notes.recv().unwrap(), stage.notes.recv().unwrap()], ["h2", "closed"]);
    proxy.done();
}

#[test]
fn http_1_is_spoken_where_the_server_offers_nothing_else() {
    let authority = Authority::certifying("127.0.0.1").offering(&["http/1.1"]);
    let pool = pool().root_certificate(authority.pem.as_bytes()).unwrap();
    let server = Server::new(move |listener| {
        let mut peer = authority.peer(listener.socket());
        assert_eq!(peer.request().line(), "POST /mcp HTTP/1.1");
        peer.say(json("1"));
    });
    let url = secure(&server, "127.0.0.1");
    let response = block_on(pool.send(post(&url, "{}"))).unwrap();
    assert_eq!(block_on(text(response)).unwrap(), "1");
    server.done();
}
