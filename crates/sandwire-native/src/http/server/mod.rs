//! A small HTTP server.
//!
//! It serves any [`HttpService`] over HTTP/1.1, which is all that the protocol needs; what stands in front of a public
//! server, and ends its TLS, speaks the rest.
//!
//! hyper reads and writes the messages, over the sockets of `async-io`; trillium-http, which would spare us tokio's
//! synchronisation types, took a tenth less processor time, but needs newer compilers and watches no client that waits for
//! a silent response. Whatever waits for a client is bounded here, beside hyper: see [`Limits`].

mod clock;
mod connection;
mod exchange;
mod house;
mod watch;
mod wire;

use std::{
    future::Future,
    io::{self, IoSlice},
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, ToSocketAddrs},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::Arc,
    task::Poll,
    time::Duration,
};

use async_executor::Executor;
use async_io::{Async, Timer};
use sandwire_io::HttpService;

use crate::descriptors;
use house::{House, Signal, until};
use wire::Socket;

/// Listens at an address and answers HTTP requests.
///
/// ```no_run
/// use sandwire_native::{block_on, http::Server};
///
/// # fn example(service: impl sandwire_io::HttpService) -> std::io::Result<()> {
/// let server = Server::local(8080)?;
/// println!("listening at http://{}", server.local_addr()?);
/// block_on(server.serve(service))
/// # }
/// ```
#[derive(Debug)]
pub struct Server {
    listener: Listener,
    limits: Limits,
    threads: usize,
    shutdown: Shutdown,
}

/// What a [`Server`] bears with. Every limit holds for each connection by itself.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_structs)]
pub struct Limits {
    /// How many connections there may be, if the process may have so many descriptors; more are answered 503 and closed.
    pub connections: usize,
    /// How long a request's head may be, in bytes; a longer one, and one with more than 100 fields, is answered 431.
    pub head_bytes: usize,
    /// How long a head may take, from its first byte, and the first one of a connection from its beginning. The
    /// connection is closed then.
    pub head_time: Duration,
    /// How long a connection may wait for its next request.
    pub idle_time: Duration,
    /// How long `stall_bytes` of a body may take that the server reads, or of a response that the client reads. A body
    /// that is slower is given up, and a client that is slower let go.
    pub stall_time: Duration,
    /// How many bytes have to come or go within each `stall_time`.
    pub stall_bytes: usize,
    /// How long a [shutdown](Shutdown) waits for responses under way.
    pub drain_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 4096,
            head_bytes: 16 * 1024,
            head_time: Duration::from_secs(10),
            idle_time: Duration::from_secs(75),
            stall_time: Duration::from_secs(20),
            stall_bytes: 16 * 1024,
            drain_time: Duration::from_secs(5),
        }
    }
}

/// Ends a server from outside.
///
/// The server accepts no more connections and closes those that are idle. Responses under way are finished, and event
/// streams go on, for [`Limits::drain_time`]; then they end.
#[derive(Clone, Debug, Default)]
pub struct Shutdown(Arc<Signal>);

impl Shutdown {
    /// Begins the shutdown; [`Server::serve`] ends when it is over.
    pub fn begin(&self) {
        self.0.give();
    }
}

#[derive(Debug)]
enum Listener {
    Tcp(Async<TcpListener>),
    #[cfg(unix)]
    Unix(Async<std::os::unix::net::UnixListener>),
}

/// Serves `service` at `address`, on the task that awaits this.
///
/// # Errors
///
/// Those of [`Server::bind`].
pub async fn serve(address: impl ToSocketAddrs, service: impl HttpService) -> io::Result<()> {
    Server::bind(address)?.serve(service).await
}

impl Server {
    /// Listens at an address. `127.0.0.1:0` is a free port of this machine; whoever listens at `0.0.0.0` is reached from
    /// the network.
    ///
    /// # Errors
    ///
    /// When the address cannot be listened at: another program does, or this machine does not have it.
    pub fn bind(address: impl ToSocketAddrs) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        // The standard library lets 128 clients knock at once.
        #[cfg(unix)]
        rustix::net::listen(&listener, BACKLOG)?;
        Ok(Self::over(Listener::Tcp(Async::new(listener)?)))
    }

    /// Listens at a port of the loopback interface, so that only programs on this machine reach it. Port 0 is any that is
    /// free.
    ///
    /// # Errors
    ///
    /// Those of [`Server::bind`].
    pub fn local(port: u16) -> io::Result<Self> {
        Self::bind((IpAddr::V4(Ipv4Addr::LOCALHOST), port))
    }

    /// Serves HTTP over a Unix socket.
    ///
    /// # Errors
    ///
    /// When the listener cannot be made to wait for nothing.
    #[cfg(unix)]
    pub fn unix(listener: std::os::unix::net::UnixListener) -> io::Result<Self> {
        Ok(Self::over(Listener::Unix(Async::new(listener)?)))
    }

    fn over(listener: Listener) -> Self {
        Self { listener, limits: Limits::default(), threads: 1, shutdown: Shutdown::default() }
    }

    /// The address at which it listens.
    ///
    /// # Errors
    ///
    /// When the system does not say; for a Unix socket it never does.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        match &self.listener {
            Listener::Tcp(listener) => listener.get_ref().local_addr(),
            #[cfg(unix)]
            Listener::Unix(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Sets what it bears with.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// How many threads share the work: the one that awaits [`serve`](Self::serve), and others that it starts and that
    /// end with it. One is the default: then everything runs inside the future, which lets handlers use what belongs to
    /// the executor around it.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// What ends it.
    #[must_use]
    pub fn shutdown(&self) -> Shutdown {
        self.shutdown.clone()
    }

    /// Serves until [`Shutdown::begin`]. All connections live in this future: dropping it closes them.
    ///
    /// A service reads the body of a request before it answers. Its future and its body are dropped when the client goes
    /// away, which includes one that has sent its request and closes its half of the connection.
    ///
    /// # Errors
    ///
    /// When a thread cannot be started.
    pub async fn serve(self, service: impl HttpService) -> io::Result<()> {
        let Self { listener, mut limits, threads, shutdown: Shutdown(closing) } = self;
        limits.connections = limits.connections.min(descriptors::spare());
        let drain_time = limits.drain_time;
        let house = Arc::new(House::new(Box::new(service), limits, Arc::clone(&closing)));
        let executor = Arc::new(Executor::new());
        let _crew = Crew::start(threads.saturating_sub(1), &executor)?;
        executor
            .run(async {
                until(closing.heard(), listener.accept(&executor, &house)).await;
                drop(listener);
                // What ends in time says goodbye; the rest is dropped with the executor.
                let deadline = Timer::after(drain_time.saturating_add(GOODBYE));
                until(
                    async {
                        let _ = deadline.await;
                    },
                    house.empty(),
                )
                .await;
            })
            .await;
        Ok(())
    }
}

/// How many connections may wait to be accepted.
#[cfg(unix)]
const BACKLOG: i32 = 1024;

/// After so many accepted connections, others have their turn.
const ACCEPTED_AT_ONCE: usize = 16;

/// How long connections may take to send what ends them.
const GOODBYE: Duration = Duration::from_secs(1);

/// How long to wait when a connection cannot be accepted, for want of descriptors for example.
const RETRY: Duration = Duration::from_millis(100);

impl Listener {
    /// Accepts connections for ever.
    async fn accept(&self, executor: &Executor<'static>, house: &Arc<House>) {
        for count in 1_usize.. {
            let accepted = match self {
                Self::Tcp(listener) => listener.accept().await.map(|(socket, _)| {
                    let _ = socket.get_ref().set_nodelay(true);
                    admit(socket, executor, house);
                }),
                #[cfg(unix)]
                Self::Unix(listener) => listener.accept().await.map(|(socket, _)| admit(socket, executor, house)),
            };
            match accepted {
                Ok(()) if count % ACCEPTED_AT_ONCE > 0 => {}
                Ok(()) => yield_once().await,
                Err(_) => {
                    let _ = Timer::after(RETRY).await;
                }
            }
        }
    }
}

fn admit<T: Socket>(socket: Async<T>, executor: &Executor<'static>, house: &Arc<House>) {
    if house.is_full() {
        let text =
            b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        let _ = socket.get_ref().send(&[IoSlice::new(text)]);
        let _ = socket.get_ref().finish();
        return;
    }
    executor.spawn(contained(connection::serve(socket, house.enter(), Arc::clone(house)))).detach();
}

/// Ends a task that panics, and nothing else: the others go on.
async fn contained(task: impl Future<Output = ()>) {
    let mut task = pin!(task);
    std::future::poll_fn(|cx| {
        let polled = catch_unwind(AssertUnwindSafe(|| task.as_mut().poll(cx)));
        polled.unwrap_or(Poll::Ready(()))
    })
    .await;
}

/// Lets others have their turn.
async fn yield_once() {
    let mut yielded = false;
    std::future::poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Threads that take part in the work, until this is dropped.
struct Crew(Arc<Signal>);

impl Crew {
    fn start(threads: usize, executor: &Arc<Executor<'static>>) -> io::Result<Self> {
        let crew = Self(Arc::default());
        for _ in 0..threads {
            let (executor, over) = (Arc::clone(executor), Arc::clone(&crew.0));
            let work = move || async_io::block_on(executor.run(over.heard()));
            std::thread::Builder::new().name("sandwire-http".to_owned()).spawn(work)?;
        }
        Ok(crew)
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.0.give();
    }
}
