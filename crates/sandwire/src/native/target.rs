use std::path::{Path, PathBuf};

use sandwire_client::{Client, Driver, Error, ErrorKind, Options};
use sandwire_io::Observer;

/// A server to connect to.
///
/// | from | the server is |
/// |---|---|
/// | `"https://example.com/mcp"`, `"http://…"` | reached over HTTP (feature `http`) |
/// | `"unix:/run/mcp"`, `"/run/mcp.sock"`, a [`Path`] | behind a Unix socket (feature `unix`) |
/// | a [`Command`](crate::Command) | a program, started as a child process (feature `stdio`) |
/// | a [`&Server`](crate::Server) | in this process |
#[derive(Debug)]
pub struct Target(Kind);

#[derive(Debug)]
enum Kind {
    Http(String),
    Unix(PathBuf),
    #[cfg(feature = "stdio")]
    Command(Box<sandwire_native::stdio::Command>),
    #[cfg(feature = "server")]
    Server(crate::Server),
    Unknown(String),
}

impl From<&str> for Target {
    fn from(text: &str) -> Self {
        let begins = |with: &str| text.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with));
        Self(if begins("http://") || begins("https://") {
            Kind::Http(text.to_owned())
        } else if let Some(path) = text.strip_prefix("unix:") {
            Kind::Unix(path.into())
        } else if text.ends_with(".sock") {
            Kind::Unix(text.into())
        } else {
            Kind::Unknown(text.to_owned())
        })
    }
}

impl From<String> for Target {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl From<&String> for Target {
    fn from(text: &String) -> Self {
        text.as_str().into()
    }
}

impl From<&Path> for Target {
    fn from(path: &Path) -> Self {
        Self(Kind::Unix(path.to_owned()))
    }
}

impl From<PathBuf> for Target {
    fn from(path: PathBuf) -> Self {
        Self(Kind::Unix(path))
    }
}

impl From<&PathBuf> for Target {
    fn from(path: &PathBuf) -> Self {
        path.as_path().into()
    }
}

#[cfg(feature = "stdio")]
impl From<sandwire_native::stdio::Command> for Target {
    fn from(command: sandwire_native::stdio::Command) -> Self {
        Self(Kind::Command(Box::new(command)))
    }
}

#[cfg(feature = "server")]
impl From<&crate::Server> for Target {
    fn from(server: &crate::Server) -> Self {
        Self(Kind::Server(server.clone()))
    }
}

/// How a connection is to be made.
#[derive(Default)]
pub(super) struct How {
    pub(super) options: Option<Options>,
    pub(super) headers: Vec<(String, String)>,
    #[cfg(feature = "http")]
    pub(super) pool: Option<sandwire_native::http::HttpPool>,
    pub(super) observer: Option<Observer>,
}

#[cfg(any(feature = "http", feature = "stdio", feature = "unix"))]
impl How {
    fn connect(self, options: Options, mut link: impl sandwire_io::Link) -> (Client, Driver) {
        if let Some(observer) = self.observer {
            link.observe(observer);
        }
        Client::connect(link, sandwire_native::NativeEnv::shared(), options)
    }
}

/// Says more about why a connection did not open.
pub(super) type Explain = Box<dyn FnOnce(Error) -> Error + Send>;

/// Nothing, where there is nothing to add.
fn unexplained((client, driver): (Client, Driver)) -> (Client, Driver, Explain) {
    (client, driver, Box::new(|error| error))
}

impl Target {
    pub(super) fn open(self, mut how: How) -> Result<(Client, Driver, Explain), Error> {
        let options = how.options.take().unwrap_or_else(|| Options::new("sandwire", env!("CARGO_PKG_VERSION")));
        let is_http = matches!(self.0, Kind::Http(_) | Kind::Unknown(_));
        if !is_http && !how.headers.is_empty() {
            return Err(usage("headers are for a server that is reached over HTTP; this target is another"));
        }
        match self.0 {
            Kind::Http(url) => http(url, how, options).map(unexplained),
            Kind::Unix(path) => unix(&path, how, options).map(unexplained),
            #[cfg(feature = "stdio")]
            Kind::Command(command) => {
                let limits = options.get_limits().clone();
                let process = command.spawn(&limits).map_err(sandwire_client::OpenError::Transport)?;
                let report = process.report();
                let explain = move |error: Error| match report.explain() {
                    Some(said) if error.kind() == ErrorKind::Timeout => {
                        sandwire_client::OpenError::Transport(said).into()
                    }
                    _ => error,
                };
                let (client, driver) = how.connect(options, sandwire_io::TextLink::new(process, limits));
                Ok((client, driver, Box::new(explain)))
            }
            #[cfg(feature = "server")]
            Kind::Server(server) => {
                let env = sandwire_native::NativeEnv::shared();
                Ok(unexplained(Client::in_memory_with(&sandwire_native::Caught(server), options, env)))
            }
            Kind::Unknown(text) => Err(usage(format!(
                "{text:?} is no target; one begins with `http://`, `https://` or `unix:`, ends in `.sock`, or is a Path, a \
                 Command for a program to start, or a &Server"
            ))),
        }
    }
}

#[cfg(feature = "unix")]
fn unix(path: &Path, how: How, options: Options) -> Result<(Client, Driver), Error> {
    #[cfg(unix)]
    {
        use sandwire_proto::{TransportError, TransportErrorKind};

        let limits = options.get_limits().clone();
        let port = sandwire_native::unix::connect(path, limits.max_message_bytes).map_err(|error| {
            let message = format!("nobody can be reached at {}: {error}; see whether the server runs", path.display());
            sandwire_client::OpenError::Transport(
                TransportError::new(TransportErrorKind::Unreachable, message).with_source(std::sync::Arc::new(error)),
            )
        })?;
        Ok(how.connect(options, sandwire_io::TextLink::new(port, limits)))
    }
    #[cfg(not(unix))]
    {
        let _ = (path, how, options);
        Err(usage("Unix sockets are not there on this system; use HTTP or a Command"))
    }
}

#[cfg(not(feature = "unix"))]
fn unix(_: &Path, _: How, _: Options) -> Result<(Client, Driver), Error> {
    Err(usage("to connect to a Unix socket, turn on the feature `unix` of the crate `sandwire`"))
}

#[cfg(feature = "http")]
fn http(url: String, mut how: How, options: Options) -> Result<(Client, Driver), Error> {
    let pool = how.pool.take().unwrap_or_default();
    let pool = how.headers.drain(..).fold(pool, |pool, (name, value)| pool.header(name, value));
    let limits = options.get_limits().clone();
    Ok(how.connect(options, sandwire_io::HttpLink::new(std::sync::Arc::new(pool), url, limits)))
}

#[cfg(not(feature = "http"))]
fn http(_: String, _: How, _: Options) -> Result<(Client, Driver), Error> {
    Err(usage("to connect over HTTP, turn on the feature `http` of the crate `sandwire`"))
}

pub(super) fn usage(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Usage, message)
}
