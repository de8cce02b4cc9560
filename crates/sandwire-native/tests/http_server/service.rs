//! What the server serves in these tests: a path for each way to behave.

use std::{
    collections::VecDeque,
    future::{pending, poll_fn},
    sync::{Arc, mpsc},
    task::{Context, Poll},
    time::Duration,
};

use sandwire_io::{Body, BoxFuture, Bytes, HttpService};
use sandwire_proto::{
    TransportError,
    http::{RequestHead, ResponseHead},
};

#[derive(Debug, PartialEq)]
pub(crate) enum Event {
    /// A request was given to the service.
    Began(String),
    /// Its future, or the body that it gave, was dropped.
    Dropped(String),
}

pub(crate) struct Service(pub(crate) Arc<mpsc::Sender<Event>>);

/// How much `/limited` takes.
pub(crate) const MOST: usize = 1024 * 1024;

impl HttpService for Service {
    fn handle(&self, head: RequestHead, mut body: Box<dyn Body>) -> BoxFuture<'static, (ResponseHead, Box<dyn Body>)> {
        let watch = Watch::new(Arc::clone(&self.0), &head.path);
        Box::pin(async move {
            let path = head.path.as_str();
            let response: (u16, Box<dyn Body>) = match path {
                "/echo" => match read(&mut *body, usize::MAX).await {
                    Ok(bytes) => (200, Box::new(Bytes::new(bytes))),
                    Err(status) => (status, Box::new(Bytes::default())),
                },
                "/later" => match read(&mut *body, usize::MAX).await {
                    Ok(bytes) => {
                        async_io::Timer::after(Duration::from_millis(400)).await;
                        (200, Box::new(Bytes::new(bytes)))
                    }
                    Err(status) => (status, Box::new(Bytes::default())),
                },
                "/limited" => match read(&mut *body, MOST).await {
                    Ok(bytes) => (200, Box::new(Bytes::new(bytes.len().to_string()))),
                    Err(status) => (status, Box::new(Bytes::default())),
                },
                "/refuse" => (413, Box::new(Bytes::new("no"))),
                "/nothing" => (204, Box::new(Bytes::default())),
                "/never" => {
                    let _watch = watch;
                    pending().await
                }
                "/three" => (200, Box::new(Pieces(["one", "two", "three"].map(String::from).into(), false, watch))),
                "/silent" => (200, Box::new(Pieces(VecDeque::from(["first".into()]), true, watch))),
                "/flood" => (200, Box::new(Flood(watch))),
                "/large" => (200, Box::new(Bytes::new(vec![b'x'; 3 * MOST]))),
                _ => panic!("{path}"),
            };
            (ResponseHead::new(response.0), response.1)
        })
    }
}

async fn read(body: &mut dyn Body, most: usize) -> Result<Vec<u8>, u16> {
    let mut bytes = Vec::new();
    while let Some(chunk) = poll_fn(|cx| body.poll_chunk(cx)).await {
        bytes.extend(chunk.map_err(|_| 400_u16)?);
        if bytes.len() > most {
            return Err(413);
        }
    }
    Ok(bytes)
}

struct Watch {
    tell: Arc<mpsc::Sender<Event>>,
    path: String,
}

impl Watch {
    fn new(tell: Arc<mpsc::Sender<Event>>, path: &str) -> Self {
        let watched = matches!(path, "/never" | "/silent" | "/flood");
        if watched {
            let _ = tell.send(Event::Began(path.to_owned()));
        }
        Self { tell, path: if watched { path.to_owned() } else { String::new() } }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if !self.path.is_empty() {
            let _ = self.tell.send(Event::Dropped(std::mem::take(&mut self.path)));
        }
    }
}

/// Gives its pieces one after the other, waiting before each, and then ends or waits for ever.
struct Pieces(VecDeque<String>, bool, #[allow(dead_code)] Watch);

impl Body for Pieces {
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, TransportError>>> {
        let Self(pieces, is_endless, _) = self;
        match pieces.front_mut() {
            Some(piece) if !piece.is_empty() => {
                let chunk = std::mem::take(piece).into_bytes();
                Poll::Ready(Some(Ok(chunk)))
            }
            Some(_) => {
                pieces.pop_front();
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            None if *is_endless => Poll::Pending,
            None => Poll::Ready(None),
        }
    }
}

/// Never ends and never waits.
struct Flood(#[allow(dead_code)] Watch);

impl Body for Flood {
    fn poll_chunk(&mut self, _cx: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, TransportError>>> {
        Poll::Ready(Some(Ok(vec![b'x'; 64 * 1024])))
    }
}
