//! The other side: a raw socket.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

pub(crate) struct Client<T = TcpStream> {
    pub(crate) socket: T,
    received: Vec<u8>,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let socket = TcpStream::connect(address).unwrap();
        socket.set_nodelay(true).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        Self::over(socket)
    }
}

impl<T: Read + Write> Client<T> {
    pub(crate) fn over(socket: T) -> Self {
        Self { socket, received: Vec::new() }
    }

    pub(crate) fn send(&mut self, text: impl AsRef<[u8]>) {
        self.socket.write_all(text.as_ref()).unwrap();
    }

    pub(crate) fn post(&mut self, path: &str, body: &str) {
        self.send(format!("POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{body}", body.len()));
    }

    fn receive(&mut self) -> io::Result<usize> {
        let mut bytes = [0; 4096];
        let count = self.socket.read(&mut bytes)?;
        self.received.extend_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn until(&mut self, end: &[u8]) -> Vec<u8> {
        loop {
            if let Some(at) = self.received.windows(end.len()).position(|window| window == end) {
                return self.received.drain(..at + end.len()).collect();
            }
            assert_ne!(self.receive().unwrap(), 0, "ended after {:?}", String::from_utf8_lossy(&self.received));
        }
    }

    /// The next head, in lower case.
    pub(crate) fn head(&mut self) -> String {
        String::from_utf8(self.until(b"\r\n\r\n")).unwrap().to_ascii_lowercase()
    }

    /// The next chunk of a body; empty at its end.
    pub(crate) fn chunk(&mut self) -> Vec<u8> {
        let line = String::from_utf8(self.until(b"\r\n")).unwrap();
        let length = usize::from_str_radix(line.trim_end(), 16).unwrap();
        let mut chunk = self.bytes(length + 2);
        chunk.truncate(length);
        chunk
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        while self.received.len() < count {
            assert_ne!(self.receive().unwrap(), 0);
        }
        self.received.drain(..count).collect()
    }

    /// The next response, whole.
    pub(crate) fn response(&mut self) -> Response {
        let head = self.head();
        let status = head["http/1.1 ".len()..][..3].parse().unwrap();
        let length = head.split("content-length: ").nth(1).map(|rest| rest.split("\r\n").next().unwrap());
        let body = match length {
            Some(length) => self.bytes(length.parse().unwrap()),
            None if head.contains("transfer-encoding: chunked") => {
                std::iter::repeat_with(|| self.chunk()).take_while(|chunk| !chunk.is_empty()).flatten().collect()
            }
            None => Vec::new(),
        };
        Response { status, head, body }
    }

    /// What comes until the server closes the connection.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        while !matches!(self.receive(), Ok(0)) {}
        std::mem::take(&mut self.received)
    }

    /// Whether the server closes the connection, in whatever way, having said no more.
    pub(crate) fn assert_closed(&mut self) {
        match self.receive() {
            Ok(0) => {}
            Ok(_) => panic!("more came: {:?}", String::from_utf8_lossy(&self.received)),
            Err(error) => assert_ne!(error.kind(), io::ErrorKind::WouldBlock, "the connection is still open"),
        }
    }
}
