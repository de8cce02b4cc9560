use std::{fmt, future::IntoFuture, sync::Arc, thread::JoinHandle};

use sandwire_client::{Client, Driver, Error, ErrorKind, Options};
use sandwire_io::{BoxFuture, Direction};

use super::target::{Explain, How, Target};

/// Connects to a server: options, then `.await`.
///
/// ```
/// # use sandwire::{Server, client::Options};
/// # use std::time::Duration;
/// # async fn example(server: Server) -> Result<(), sandwire::client::Error> {
/// let client = sandwire::connect("https://example.com/mcp").header("authorization", "Bearer …").await?;
/// # let _ = client;
///
/// let options = Options::new("reader", "1.0").timeout(Duration::from_secs(5));
/// let client = sandwire::connect(&server).options(options).await?;
/// # let _ = client;
/// # Ok(())
/// # }
/// ```
///
/// The connection runs on a thread of its own, named `sandwire`, so that any executor will do, or none. It ends when it
/// is [closed](Client::close), or when the client, its clones and their calls are gone. To run it on an executor of
/// yours instead, [`split`](Connect::split) it.
pub fn connect(target: impl Into<Target>) -> Connect {
    Connect { target: target.into(), how: How::default() }
}

/// A connection to make.
#[must_use = "a connection is made when it is awaited"]
pub struct Connect {
    target: Target,
    how: How,
}

impl Connect {
    /// Who the client is, and what it answers when a server asks.
    pub fn options(mut self, options: Options) -> Self {
        self.how.options = Some(options);
        self
    }

    /// Sends this header with every request, to a server that is reached over HTTP.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.how.headers.push((name.into(), value.into()));
        self
    }

    /// Sends requests with this pool, which knows other certificates, another proxy or other waits, to a server that is
    /// reached over HTTP.
    #[cfg(feature = "http")]
    pub fn pool(mut self, pool: sandwire_native::http::HttpPool) -> Self {
        self.how.pool = Some(pool);
        self
    }

    /// Shows the text of every message to `observer`, but for a server in this process, with which none is exchanged.
    pub fn observe(mut self, observer: impl Fn(Direction, &str) + Send + Sync + 'static) -> Self {
        self.how.observer = Some(Arc::new(observer));
        self
    }

    /// The client, and the future that runs its connection: poll it on any executor until it ends. Dropping it closes
    /// the connection.
    ///
    /// # Errors
    /// The target is none, its feature is off, or the server cannot be started or reached.
    pub fn split(self) -> Result<(Client, Driver), Error> {
        let (client, driver, _) = self.target.open(self.how)?;
        Ok((client, driver))
    }

    /// Waits for the connection, for programs without an executor.
    ///
    /// # Errors
    /// If it cannot be opened.
    #[cfg(feature = "blocking")]
    pub fn blocking(self) -> Result<super::blocking::Client, Error> {
        super::blocking::Client::open(self)
    }

    /// Begins to run the connection on a thread of its own, which drops `alive` at its end.
    pub(super) fn start(self, alive: impl Send + 'static) -> Result<(Client, JoinHandle<()>, Explain), Error> {
        let (client, driver, explain) = self.target.open(self.how)?;
        let run = move || {
            sandwire_native::block_on(driver);
            drop(alive);
        };
        let thread = std::thread::Builder::new().name("sandwire".to_owned()).spawn(run).map_err(|error| {
            Error::new(ErrorKind::Transport, format!("no thread can be started for the connection: {error}"))
        })?;
        Ok((client, thread, explain))
    }
}

impl IntoFuture for Connect {
    type Output = Result<Client, Error>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async {
            let (client, _, explain) = self.start(())?;
            client.ready().await.map_err(explain)?;
            Ok(client)
        })
    }
}

impl fmt::Debug for Connect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Headers may be secrets.
        f.debug_struct("Connect").field("target", &self.target).finish_non_exhaustive()
    }
}
