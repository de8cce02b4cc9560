use super::lock;
use crate::TextPort;
use sandwire_proto::TransportError;
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

/// One end of a pair of ports: what one sends, the other receives.
///
/// ```
/// use sandwire_io::{TextLink, testing::text_ports};
/// use sandwire_proto::Limits;
///
/// let (near, far) = text_ports();
/// let (client, server) = (TextLink::new(near, Limits::default()), TextLink::new(far, Limits::default()));
/// ```
#[derive(Debug)]
pub struct QueuePort {
    incoming: Arc<Mutex<Queue>>,
    outgoing: Arc<Mutex<Queue>>,
}

/// One direction.
#[derive(Debug, Default)]
struct Queue {
    texts: VecDeque<Result<String, TransportError>>,
    closed: bool,
    reader: Option<Waker>,
}

/// Two ports that are connected.
#[must_use]
pub fn text_ports() -> (QueuePort, QueuePort) {
    let [there, back] = [Arc::<Mutex<Queue>>::default(), Arc::default()];
    (
        QueuePort { incoming: Arc::clone(&back), outgoing: Arc::clone(&there) },
        QueuePort { incoming: there, outgoing: back },
    )
}

impl QueuePort {
    /// Lets the peer receive a fault in place of a text.
    pub fn fail(&mut self, error: TransportError) {
        put(&self.outgoing, Err(error));
    }
}

impl TextPort for QueuePort {
    fn send(&mut self, text: String) {
        put(&self.outgoing, Ok(text));
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<String, TransportError>>> {
        let mut queue = lock(&self.incoming);
        if let Some(text) = queue.texts.pop_front() {
            return Poll::Ready(Some(text));
        }
        if queue.closed {
            return Poll::Ready(None);
        }
        queue.reader = Some(cx.waker().clone());
        Poll::Pending
    }

    fn close(&mut self) {
        for queue in [&self.incoming, &self.outgoing] {
            let mut queue = lock(queue);
            queue.closed = true;
            let reader = queue.reader.take();
            drop(queue);
            reader.into_iter().for_each(Waker::wake);
        }
    }
}

impl Drop for QueuePort {
    fn drop(&mut self) {
        self.close();
    }
}

fn put(queue: &Mutex<Queue>, text: Result<String, TransportError>) {
    let mut queue = lock(queue);
    if queue.closed {
        return;
    }
    queue.texts.push_back(text);
    let reader = queue.reader.take();
    drop(queue);
    reader.into_iter().for_each(Waker::wake);
}
