//! A web server for tools that fetch: one page, and one that never comes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;

/// What happened to a request for the page that never comes.
#[derive(Debug, PartialEq, Eq)]
pub enum Seen {
    /// It was asked for.
    Asked,
    /// Who asked went away.
    Gone,
}

/// A server on loopback.
#[derive(Debug)]
pub struct Pages {
    /// Its address, with no slash at the end.
    pub origin: String,
    /// What happened at `/never`.
    pub never: mpsc::Receiver<Seen>,
}

impl Pages {
    /// Serves until the process ends.
    ///
    /// # Panics
    ///
    /// Without a free port.
    #[must_use]
    pub fn serve() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let address = listener.local_addr().expect("a listener has an address");
        let (seen, never) = mpsc::channel();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let seen = seen.clone();
                thread::spawn(move || answer(&stream, &seen));
            }
        });
        Self { origin: format!("http://{address}"), never }
    }
}

fn answer(mut stream: &TcpStream, seen: &mpsc::Sender<Seen>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut request = String::new();
    reader.read_line(&mut request)?;
    let mut header = String::from("-");
    while !header.trim().is_empty() {
        header.clear();
        reader.read_line(&mut header)?;
    }
    let path = request.split(' ').nth(1).unwrap_or_default();
    let (status, body) = match path {
        "/never" => {
            let _ = seen.send(Seen::Asked);
            let _ = reader.read(&mut [0]);
            let _ = seen.send(Seen::Gone);
            return Ok(());
        }
        "/robots.txt" => ("404 Not Found", ""),
        _ => ("200 OK", "<html><body><main><h1>A page</h1><p>Water the plants.</p></main></body></html>"),
    };
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}
