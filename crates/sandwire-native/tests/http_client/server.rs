//! Servers that do as they are told, one connection after the other.

use std::{
    io::{ErrorKind, Read, Write},
    net::{TcpListener, TcpStream},
    thread::JoinHandle,
    time::Duration,
};

/// One side of a connection.
pub(crate) struct Peer<S = TcpStream> {
    stream: S,
    read: Vec<u8>,
}

/// A request as it came.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) head: String,
    pub(crate) body: String,
}

/// A server and what becomes of it.
pub(crate) struct Server {
    pub(crate) url: String,
    pub(crate) port: u16,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves as many connections as `script` takes from the listener.
    pub(crate) fn new(script: impl FnOnce(Listener) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let thread = std::thread::spawn(move || script(Listener(listener)));
        Self { url: format!("http://127.0.0.1:{port}/mcp"), port, thread: Some(thread) }
    }

    /// Serves one connection.
    pub(crate) fn one(script: impl FnOnce(Peer) + Send + 'static) -> Self {
        Self::new(move |listener| script(listener.accept()))
    }

    /// Answers one request with `response` and closes the connection.
    pub(crate) fn answering(response: &'static str) -> Self {
        Self::one(move |mut peer| {
            peer.request();
            peer.say(response);
        })
    }

    /// Waits until the script is through, and fails as it fails.
    pub(crate) fn done(mut self) {
        if let Err(panic) = self.thread.take().unwrap().join() {
            std::panic::resume_unwind(panic);
        }
    }
}

pub(crate) struct Listener(TcpListener);

impl Listener {
    pub(crate) fn accept(&self) -> Peer {
        Peer::new(self.socket())
    }

    pub(crate) fn socket(&self) -> TcpStream {
        let (stream, _) = self.0.accept().unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.set_nodelay(true).unwrap();
        stream
    }
}

impl<S: Read + Write> Peer<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self { stream, read: Vec::new() }
    }

    /// Reads a whole request.
    pub(crate) fn request(&mut self) -> Request {
        self.try_request().expect("the client closed the connection")
    }

    /// Reads a whole request, if one comes.
    pub(crate) fn try_request(&mut self) -> Option<Request> {
        let end = loop {
            if let Some(at) = self.read.windows(4).position(|end| end == b"\r\n\r\n") {
                break at + 4;
            }
            self.more()?;
        };
        let head = String::from_utf8(self.read.drain(..end).collect()).unwrap();
        let length = field(&head, "content-length").map_or(0, |length| length.parse().unwrap());
        while self.read.len() < length {
            self.more()?;
        }
        let body = String::from_utf8(self.read.drain(..length).collect()).unwrap();
        Some(Request { head, body })
    }

    fn more(&mut self) -> Option<()> {
        let mut piece = [0; 4096];
        match self.stream.read(&mut piece) {
            Ok(0) => None,
            Ok(count) => {
                self.read.extend_from_slice(&piece[..count]);
                Some(())
            }
            Err(error) if matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::UnexpectedEof) => None,
            Err(error) => panic!("{error}"),
        }
    }

    pub(crate) fn say(&mut self, text: impl AsRef<[u8]>) {
        assert!(self.try_say(text), "the client closed the connection");
    }

    /// Says something to who may be gone.
    pub(crate) fn try_say(&mut self, text: impl AsRef<[u8]>) -> bool {
        self.stream.write_all(text.as_ref()).and_then(|()| self.stream.flush()).is_ok()
    }

    /// Waits until the client closes the connection, and fails if it says anything before.
    pub(crate) fn expect_close(&mut self) {
        let before = self.read.len();
        assert!(self.more().is_none(), "{:?}", String::from_utf8_lossy(&self.read[before..]));
    }
}

impl Peer {
    /// The socket alone.
    pub(crate) fn into_socket(self) -> TcpStream {
        self.stream
    }

    /// Whether the client closes the connection within a moment.
    pub(crate) fn is_closed(&mut self, within: Duration) -> bool {
        self.stream.set_read_timeout(Some(within)).unwrap();
        matches!(self.stream.read(&mut [0]), Ok(0))
    }
}

impl Request {
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        field(&self.head, name)
    }

    pub(crate) fn line(&self) -> &str {
        self.head.lines().next().unwrap()
    }
}

fn field<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let fields = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    fields.clone().find(|(have, _)| have.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

/// A response with a length.
pub(crate) fn json(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}
