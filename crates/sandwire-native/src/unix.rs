//! Unix sockets, one message a line as over standard streams.

use std::{
    fmt,
    fs::{self, Permissions},
    future::poll_fn,
    io,
    net::Shutdown,
    os::unix::{
        fs::{FileTypeExt, MetadataExt, PermissionsExt},
        net::{SocketAddr, UnixListener, UnixStream},
    },
    path::{Path, PathBuf},
    pin::pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use async_io::{Async, Timer};
use futures_util::stream::{FuturesUnordered, StreamExt};
use sandwire_io::{TextPort, lines::Lines};
use sandwire_proto::TransportError;

use crate::source::{Reader, Writer};

/// A connection over a Unix socket.
pub struct UnixPort(Lines<Reader<UnixStream>, Writer<UnixStream>>);

impl TextPort for UnixPort {
    fn send(&mut self, text: String) {
        self.0.send(text);
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<String, TransportError>>> {
        self.0.poll(cx)
    }

    fn close(&mut self) {
        self.0.close();
    }

    fn lingers(&self) -> bool {
        self.0.lingers()
    }
}

impl fmt::Debug for UnixPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UnixPort")
    }
}

/// Connects to the socket at `path`. A line of more than `max_line_bytes` is refused, and reading goes on with the next.
///
/// Where as many clients wait to be accepted as may, it waits itself, five seconds at most.
///
/// # Errors
/// Nobody listens there, or accepts connections in time, or this process may not connect.
pub fn connect(path: impl AsRef<Path>, max_line_bytes: usize) -> io::Result<UnixPort> {
    Ok(port(Async::new(knock(path.as_ref(), ACCEPTED)?)?, max_line_bytes))
}

/// How long to wait where many others do.
const ACCEPTED: Duration = Duration::from_secs(5);

/// Connects, within `wait`. Only Linux lets clients wait whom no queue has room for, and then for ever.
#[cfg(target_os = "linux")]
fn knock(path: &Path, wait: Duration) -> io::Result<UnixStream> {
    use rustix::net::{
        AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with,
        sockopt::{Timeout, set_socket_timeout},
    };

    let address = SocketAddrUnix::new(path)?;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    set_socket_timeout(&socket, Timeout::Send, Some(wait))?;
    connect(&socket, &address).map_err(|error| match io::Error::from(error) {
        error if error.kind() == io::ErrorKind::WouldBlock => {
            io::Error::new(io::ErrorKind::TimedOut, "the server there accepts no connections, and many wait for it")
        }
        error => error,
    })?;
    Ok(socket.into())
}

#[cfg(not(target_os = "linux"))]
fn knock(path: &Path, _: Duration) -> io::Result<UnixStream> {
    UnixStream::connect(path)
}

fn port(stream: Async<UnixStream>, max_line_bytes: usize) -> UnixPort {
    let stream = Arc::new(stream);
    let writer = Writer::new(Arc::clone(&stream), |stream| stream.shutdown(Shutdown::Both));
    UnixPort(Lines::new(Reader::new(stream), writer, max_line_bytes))
}

/// Listens on a Unix socket, whose file it removes when it is dropped.
pub struct Listener {
    socket: Async<UnixListener>,
    path: PathBuf,
    /// Which file is ours, should another have taken its place.
    file: (u64, u64),
}

impl Listener {
    /// Listens at `path`, for this user only (mode 0600). A socket that is left there, and that nobody listens on any
    /// more, is replaced.
    ///
    /// # Errors
    /// Another process listens there, or what is there is no socket, or this process may not make a file there.
    pub fn bind(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        replaceable(&path)?;
        let (socket, file) = make(&path).map_err(|error| {
            let advice = match error.kind() {
                io::ErrorKind::NotFound => "create its folder first",
                io::ErrorKind::InvalidInput => "choose a shorter path",
                _ => "choose another path",
            };
            io::Error::new(error.kind(), format!("no socket can be made at {} ({error}); {advice}", path.display()))
        })?;
        Ok(Self { socket, path, file })
    }

    /// The next connection.
    ///
    /// # Errors
    /// This process has no descriptors left, or the like. It may go better later.
    pub async fn accept(&self, max_line_bytes: usize) -> io::Result<UnixPort> {
        self.socket
            .read_with(UnixListener::accept)
            .await
            .and_then(|(stream, _)| Ok(port(Async::new(stream)?, max_line_bytes)))
    }

    /// Serves connections for ever, at most `max_connections` at once: others wait until one ends. Where none can be
    /// accepted, for want of descriptors for example, it tries again.
    pub async fn serve<F: Future<Output = ()>>(
        &self,
        max_line_bytes: usize,
        max_connections: usize,
        mut connection: impl FnMut(UnixPort) -> F,
    ) {
        let mut running = FuturesUnordered::new();
        loop {
            let mut accepting = pin!(async {
                loop {
                    match self.accept(max_line_bytes).await {
                        Ok(port) => return port,
                        Err(_) => drop(Timer::after(RETRY).await),
                    }
                }
            });
            let accepted = poll_fn(|cx| {
                while let Poll::Ready(Some(())) = running.poll_next_unpin(cx) {}
                if running.len() < max_connections { accepting.as_mut().poll(cx) } else { Poll::Pending }
            });
            let port = accepted.await;
            running.push(connection(port));
        }
    }
}

/// Makes a socket at `path`, and says which file it is.
fn make(path: &Path) -> io::Result<(Async<UnixListener>, (u64, u64))> {
    // At a path that is too long nobody could reach it.
    SocketAddr::from_pathname(path)?;
    // Made under another name, so that nobody can connect before the mode is set; a short one, as paths of sockets are.
    let mut random = [0; 3];
    getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
    let [a, b, c] = random;
    let made = path.with_file_name(format!(".{a:02x}{b:02x}{c:02x}"));
    let socket = Async::new(UnixListener::bind(&made)?)?;
    let metadata = fs::set_permissions(&made, Permissions::from_mode(0o600))
        .and_then(|()| fs::symlink_metadata(&made))
        .and_then(|metadata| fs::rename(&made, path).map(|()| metadata))
        .inspect_err(|_| drop(fs::remove_file(&made)))?;
    Ok((socket, (metadata.dev(), metadata.ino())))
}

/// How long to wait when a connection cannot be accepted.
const RETRY: Duration = Duration::from_millis(100);

impl Drop for Listener {
    fn drop(&mut self) {
        if fs::symlink_metadata(&self.path).is_ok_and(|metadata| (metadata.dev(), metadata.ino()) == self.file) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Whether a socket can be made at `path`, in the place of one that nobody listens on if need be.
fn replaceable(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(metadata) if !metadata.file_type().is_socket() => Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            format!("{} is there and is no socket; remove it or choose another path", path.display()),
        )),
        Ok(_) => match knock(path, Duration::from_millis(1)) {
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
            Err(error) if error.kind() != io::ErrorKind::TimedOut => Err(error),
            _ => Err(io::Error::new(
                io::ErrorKind::AddrInUse,
                format!("another process listens on {}; end it or choose another path", path.display()),
            )),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_on;
    use futures_util::future::{join, select};

    /// A folder that is gone at the end.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("sandwire-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn socket(&self) -> PathBuf {
            self.0.join("s.sock")
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    async fn line(port: &mut UnixPort) -> Option<String> {
        poll_fn(|cx| port.poll(cx)).await.map(Result::unwrap)
    }

    /// Says everything back.
    async fn echo(mut port: UnixPort) {
        while let Some(text) = line(&mut port).await {
            port.send(text);
        }
        port.close();
        line(&mut port).await;
    }

    async fn ask(port: &mut UnixPort, text: &str) -> Option<String> {
        port.send(text.to_owned());
        line(port).await
    }

    /// Runs `clients` beside a listener.
    fn with_echo(listener: &Listener, max_connections: usize, clients: impl Future<Output = ()>) {
        block_on(select(pin!(listener.serve(100, max_connections, echo)), pin!(clients)));
    }

    #[test]
    fn connections_are_served_side_by_side() {
        let folder = Folder::new("beside");
        let listener = Listener::bind(folder.socket()).unwrap();
        assert_eq!(fs::metadata(folder.socket()).unwrap().permissions().mode() & 0o777, 0o600);
        with_echo(&listener, 2, async {
            let mut one = connect(folder.socket(), 100).unwrap();
            let mut two = connect(folder.socket(), 100).unwrap();
            assert_eq!(ask(&mut two, "2").await.as_deref(), Some("2"));
            assert_eq!(ask(&mut one, "1").await.as_deref(), Some("1"));
        });
        drop(listener);
        assert!(!folder.socket().exists());
    }

    #[test]
    fn a_connection_too_many_waits_until_another_ends() {
        let folder = Folder::new("bounded");
        let listener = Listener::bind(folder.socket()).unwrap();
        with_echo(&listener, 1, async {
            let mut one = connect(folder.socket(), 100).unwrap();
            assert_eq!(ask(&mut one, "1").await.as_deref(), Some("1"));
            let mut two = connect(folder.socket(), 100).unwrap();
            let ending = async {
                assert_eq!(ask(&mut one, "still 1").await.as_deref(), Some("still 1"));
                one.close();
                assert_eq!(line(&mut one).await, None);
            };
            assert_eq!(join(ask(&mut two, "2"), ending).await.0.as_deref(), Some("2"));
        });
    }

    #[test]
    fn only_a_socket_that_nobody_answers_on_is_replaced() {
        let folder = Folder::new("stale");
        let path = folder.socket();
        drop(UnixListener::bind(&path).unwrap());
        let listener = Listener::bind(&path).unwrap();
        let error = Listener::bind(&path).unwrap_err();
        assert!(error.to_string().contains("another process listens on"), "{error}");
        drop(listener);

        fs::write(&path, "precious").unwrap();
        let error = Listener::bind(&path).unwrap_err();
        assert!(error.to_string().contains("is no socket"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
    }

    #[test]
    fn a_path_as_long_as_paths_of_sockets_may_be_is_listened_on() {
        const LONGEST: usize = if cfg!(target_os = "linux") { 107 } else { 103 };
        let folder = Folder::new("long");
        let name = "s".repeat(LONGEST - folder.0.as_os_str().len() - 1);
        let listener = Listener::bind(folder.0.join(&name)).unwrap();
        connect(folder.0.join(&name), 100).unwrap();
        drop(listener);
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 0);

        for (path, advice) in
            [(name + "s", "choose a shorter path"), ("no/s.sock".to_owned(), "create its folder first")]
        {
            let path = folder.0.join(path);
            let error = Listener::bind(&path).unwrap_err().to_string();
            assert!(error.contains(path.to_str().unwrap()) && error.ends_with(advice), "{error}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn nobody_waits_for_ever_for_a_server_that_accepts_nobody() {
        let folder = Folder::new("full");
        let server = UnixListener::bind(folder.socket()).unwrap();
        rustix::net::listen(&server, 0).unwrap();
        let _waiting = UnixStream::connect(folder.socket()).unwrap();
        let error = knock(&folder.socket(), Duration::from_millis(1)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(Listener::bind(folder.socket()).unwrap_err().to_string().contains("another process listens on"));
    }

    #[test]
    fn a_file_that_took_the_place_of_the_socket_is_left_alone() {
        let folder = Folder::new("taken");
        let listener = Listener::bind(folder.socket()).unwrap();
        fs::remove_file(folder.socket()).unwrap();
        fs::write(folder.socket(), "another").unwrap();
        drop(listener);
        assert!(folder.socket().exists());
    }
}
