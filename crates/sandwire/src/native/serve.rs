use std::{
    future::{pending, poll_fn},
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    pin::{Pin, pin},
    sync::Arc,
    task::Poll,
};

use sandwire_io::Endpoint;
use sandwire_native::{Caught, Settings, settings::LogLevel};
use sandwire_server::{Server, http::Guard};

/// How clients reach a server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Transport {
    /// One client, over this process's standard input and output (feature `stdio`). Handlers may print: see
    /// [`Stdio`](sandwire_native::stdio::Stdio).
    Stdio,
    /// Many, over HTTP at this address (feature `http`), who address it as `localhost` or by a loopback address, and
    /// pages from there: a `Host` or an `Origin` of the network is refused, wherever the address is reached from.
    Http(SocketAddr),
    /// Many, over HTTP at this address: those whom the guard lets in. It looks at names, not at who asks.
    ///
    /// ```
    /// use sandwire::{Transport, server::http::{Allow, Guard}};
    ///
    /// let guard = Guard { hosts: Allow::these(["mcp.example.com"]), ..Guard::default() };
    /// let transport = Transport::Network(([0, 0, 0, 0], 8080).into(), guard);
    /// ```
    Network(SocketAddr, Guard),
    /// Many of this user's, over a Unix socket at this path (feature `unix`).
    Unix(PathBuf),
}

impl From<SocketAddr> for Transport {
    fn from(address: SocketAddr) -> Self {
        Self::Http(address)
    }
}

impl From<PathBuf> for Transport {
    fn from(path: PathBuf) -> Self {
        Self::Unix(path)
    }
}

impl From<&Path> for Transport {
    fn from(path: &Path) -> Self {
        Self::Unix(path.to_owned())
    }
}

/// HTTP where the environment names a port, else standard input and output.
impl From<&Settings> for Transport {
    fn from(settings: &Settings) -> Self {
        settings.address().map_or(Self::Stdio, Self::Http)
    }
}

/// Serves until the client of [`Transport::Stdio`] closes its side, or for ever. Everything runs inside this future;
/// [`serve_until`] ends it in good order.
///
/// A handler that panics is answered with an error, and standard error is told; its connection lives on.
///
/// ```no_run
/// # async fn example(server: sandwire::Server) -> std::io::Result<()> {
/// sandwire::serve(sandwire::Transport::Stdio, &server).await
/// # }
/// ```
///
/// # Errors
/// The transport cannot be had: the address is in use, the feature is off.
pub async fn serve(transport: impl Into<Transport>, server: &Server) -> io::Result<()> {
    serve_until(transport, server, pending()).await
}

/// Serves as [`serve`] does, until `stop` is ready.
///
/// Then HTTP takes no more connections, and what is under way has five seconds to be answered. Other transports end at
/// once, and the socket of [`Transport::Unix`] is removed.
///
/// ```no_run
/// # async fn example(server: sandwire::Server) -> std::io::Result<()> {
/// let address: std::net::SocketAddr = ([127, 0, 0, 1], 8080).into();
/// let mut signals = sandwire::StopSignals::new()?;
/// sandwire::serve_until(address, &server, signals.next()).await
/// # }
/// ```
///
/// # Errors
/// As for [`serve`].
pub async fn serve_until(
    transport: impl Into<Transport>,
    server: &Server,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let mut settings = Settings::default();
    settings.log_level = LogLevel::Off;
    serve_with(transport.into(), server, &settings, 1, pin!(stop)).await
}

/// Runs a server as all that a program does.
pub trait Run {
    /// Serves as [`serve`] does, HTTP on as many threads as there are processors, and reads [`Settings`] from the
    /// environment: they say what standard error is told, which is at least where the server listens and what is wrong
    /// with the settings.
    ///
    /// ```no_run
    /// use sandwire::{Run, Server, Settings, Transport};
    ///
    /// # fn server() -> Result<Server, sandwire::server::RegistrationError> { Server::builder("a", "1").build() }
    /// fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     let server = server()?;
    ///     // Or, to let SANDWIRE_PORT decide: `server.run(&Settings::from_env()?)`.
    ///     server.run(Transport::Stdio)?;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// Over standard input and output `SIGTERM` and `SIGINT` end the process as they do by default. Otherwise the first
    /// of them ends it as [`serve_until`] says, and the second at once; and the process may have as many descriptors open
    /// as the system allows it to ask for.
    ///
    /// # Errors
    /// As for [`serve`], and if the environment has a setting that cannot be.
    fn run(&self, transport: impl Into<Transport>) -> io::Result<()>;
}

impl Run for Server {
    fn run(&self, transport: impl Into<Transport>) -> io::Result<()> {
        let settings = Settings::from_env().map_err(|error| {
            Settings::default().tell(LogLevel::Error, &error);
            io::Error::new(io::ErrorKind::InvalidInput, error)
        })?;
        for warning in &settings.warnings {
            settings.tell(LogLevel::Warning, warning);
        }
        sandwire_native::block_on(run(transport.into(), self, &settings))
            .inspect_err(|error| settings.tell(LogLevel::Error, error))
    }
}

async fn run(transport: Transport, server: &Server, settings: &Settings) -> io::Result<()> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    #[cfg(any(feature = "http", feature = "unix"))]
    if !matches!(transport, Transport::Stdio) {
        use sandwire_native::StopSignals;

        sandwire_native::raise_descriptor_limit();
        let (mut first, mut both) = (StopSignals::new()?, StopSignals::new()?);
        let stop = pin!(async {
            first.next().await;
            settings.tell(LogLevel::Info, "ending; what is under way is answered first");
        });
        let at_once = async {
            both.next().await;
            both.next().await;
        };
        let serving = serve_with(transport, server, settings, threads, stop);
        return until(pin!(at_once), serving).await.unwrap_or(Ok(()));
    }
    serve_with(transport, server, settings, threads, pin!(pending())).await
}

const UNNAMED: &str = "is reached from the network, and only who asks for localhost is answered; to serve others, use \
     Transport::Network with a Guard that has the hosts and origins of the server";

async fn serve_with(
    transport: Transport,
    server: &Server,
    settings: &Settings,
    threads: usize,
    stop: Pin<&mut impl Future<Output = ()>>,
) -> io::Result<()> {
    let endpoint: Arc<dyn Endpoint> = Arc::new(Caught(server.clone()));
    match transport {
        Transport::Stdio => until(stop, stdio(endpoint, settings)).await.unwrap_or(Ok(())),
        Transport::Http(address) => {
            if !address.ip().is_loopback() {
                settings.tell(LogLevel::Warning, format_args!("{address} {UNNAMED}"));
            }
            http(endpoint, address, Guard::default(), settings, threads, stop).await
        }
        Transport::Network(address, guard) => http(endpoint, address, guard, settings, threads, stop).await,
        Transport::Unix(path) => until(stop, unix(endpoint, &path, settings)).await.unwrap_or(Ok(())),
    }
}

/// What `serving` gives, or nothing if `stop` is ready first.
async fn until<T>(mut stop: Pin<&mut impl Future<Output = ()>>, serving: impl Future<Output = T>) -> Option<T> {
    let mut serving = pin!(serving);
    poll_fn(|cx| match serving.as_mut().poll(cx) {
        Poll::Ready(served) => Poll::Ready(Some(served)),
        Poll::Pending => stop.as_mut().poll(cx).map(|()| None),
    })
    .await
}

/// Serves one connection.
#[cfg(any(feature = "stdio", feature = "unix"))]
async fn connection(endpoint: Arc<dyn Endpoint>, port: impl sandwire_io::TextPort, settings: &Settings) {
    let limits = endpoint.config().limits.clone();
    let link = sandwire_io::TextLink::new(super::told::Told::new(port, settings.clone()), limits);
    sandwire_io::serve(endpoint, sandwire_native::NativeEnv::shared(), Box::new(link)).await;
}

#[cfg(feature = "stdio")]
async fn stdio(endpoint: Arc<dyn Endpoint>, settings: &Settings) -> io::Result<()> {
    let port = sandwire_native::stdio::Stdio::take(endpoint.config().limits.max_message_bytes)?;
    settings.tell(LogLevel::Info, "serving standard input and output");
    connection(endpoint, port, settings).await;
    Ok(())
}

#[cfg(all(unix, feature = "unix"))]
async fn unix(endpoint: Arc<dyn Endpoint>, path: &Path, settings: &Settings) -> io::Result<()> {
    /// How many connections there may be at once; others wait.
    const CONNECTIONS: usize = 256;

    let listener = sandwire_native::unix::Listener::bind(path)?;
    settings.tell(LogLevel::Info, format_args!("serving unix:{}", path.display()));
    let max_line_bytes = endpoint.config().limits.max_message_bytes;
    let serve = |port| connection(Arc::clone(&endpoint), port, settings);
    listener.serve(max_line_bytes, CONNECTIONS, serve).await;
    Ok(())
}

#[cfg(feature = "http")]
async fn http(
    endpoint: Arc<dyn Endpoint>,
    address: SocketAddr,
    guard: Guard,
    settings: &Settings,
    threads: usize,
    mut stop: Pin<&mut impl Future<Output = ()>>,
) -> io::Result<()> {
    use sandwire_server::http::{HttpEntry, Sessions};

    let bound = sandwire_native::http::Server::bind(address).map_err(|error| {
        let message = format!("{address} cannot be listened at ({error}); choose another address or port");
        io::Error::new(error.kind(), message)
    });
    let listener = bound?.threads(threads);
    settings.tell(LogLevel::Info, format_args!("serving http://{}/", listener.local_addr()?));
    let env = sandwire_native::NativeEnv::shared();
    let (entry, sessions) = HttpEntry::with_sessions(endpoint, env, guard, Sessions::default());
    let shutdown = listener.shutdown();
    let mut serving = pin!(listener.serve(super::told::ToldHttp::new(entry, settings.clone())));
    let mut sessions = pin!(sessions);
    let (mut over, mut stopped) = (false, false);
    poll_fn(|cx| {
        over = over || sessions.as_mut().poll(cx).is_ready();
        if !stopped && stop.as_mut().poll(cx).is_ready() {
            stopped = true;
            shutdown.begin();
        }
        serving.as_mut().poll(cx)
    })
    .await
}

#[cfg(not(feature = "stdio"))]
async fn stdio(_: Arc<dyn Endpoint>, _: &Settings) -> io::Result<()> {
    off("standard input and output", "stdio")
}

#[cfg(not(feature = "http"))]
async fn http(
    _: Arc<dyn Endpoint>,
    _: SocketAddr,
    _: Guard,
    _: &Settings,
    _: usize,
    _: Pin<&mut impl Future<Output = ()>>,
) -> io::Result<()> {
    off("HTTP", "http")
}

#[cfg(not(feature = "unix"))]
async fn unix(_: Arc<dyn Endpoint>, _: &Path, _: &Settings) -> io::Result<()> {
    off("a Unix socket", "unix")
}

#[cfg(all(not(unix), feature = "unix"))]
async fn unix(_: Arc<dyn Endpoint>, _: &Path, _: &Settings) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "Unix sockets are not there on this system; use HTTP"))
}

#[cfg(any(not(feature = "stdio"), not(feature = "http"), not(feature = "unix")))]
fn off(what: &str, feature: &str) -> io::Result<()> {
    let message = format!("to serve {what}, turn on the feature `{feature}` of the crate `sandwire`");
    Err(io::Error::new(io::ErrorKind::Unsupported, message))
}

#[cfg(all(test, feature = "http"))]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_cannot_be_had_is_named() {
        let server = Server::builder("test", "1").build().unwrap();
        // Reserved for documentation, so that no machine has it.
        let address: SocketAddr = "203.0.113.9:1234".parse().unwrap();
        let error = sandwire_native::block_on(serve(address, &server)).unwrap_err().to_string();
        assert!(error.starts_with("203.0.113.9:1234 cannot be listened at ("), "{error}");
        assert!(error.ends_with("; choose another address or port"), "{error}");
    }
}
