//! A client for programs without an executor: every call waits for its result.
//!
//! ```
//! use sandwire::{Server, blocking, tool};
//!
//! /// Adds two numbers.
//! #[tool]
//! fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! #[derive(serde::Serialize)]
//! struct Add {
//!     a: i64,
//!     b: i64,
//! }
//!
//! let server = Server::builder("calculator", "1.0").with(add::tool()).build()?;
//! let client = blocking::connect(&server)?;
//! let result = client.call_tool("add", &Add { a: 1, b: 2 })?;
//! assert!(result.is_error != Some(true));
//!
//! // With options, or as another type: the call of the asynchronous client, waited for.
//! let call = client.calls().call_tool("add", &Add { a: 1, b: 2 }).timeout(std::time::Duration::from_secs(5));
//! assert_eq!(client.wait(call.structured::<i64>())?, 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Inside of executors
//!
//! The connection runs on a thread of its own, so waiting works anywhere, and blocks the thread it is done on as any
//! blocking call does. Two things cannot work, and do not hang either. A handler or a hook of this very client, run by
//! the thread of its connection, cannot wait for that connection: such a call fails at once, with an error of the kind
//! [`Usage`](ErrorKind::Usage). And where the server is run by the executor whose only thread waits, nobody is left to
//! answer: the call fails when its timeout is over.

use std::{
    future::IntoFuture,
    pin::pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread, ThreadId},
    time::Duration,
};

use sandwire_client::{Error, ErrorKind, PeerInfo};
use sandwire_types::{
    LoggingLevel,
    model::{
        CallToolResult, CompleteRequestParams, CompleteResult, GetPromptResult, Prompt, ReadResourceResult, Resource,
        ResourceTemplate, Tool,
    },
};
use serde::Serialize;

use super::{connect::Connect, target::Target};

/// Connects to a server and waits until the connection is open. For one with options, see [`Connect::blocking`].
///
/// # Errors
/// If it cannot be opened.
pub fn connect(target: impl Into<Target>) -> Result<Client, Error> {
    super::connect(target).blocking()
}

/// A connection to one server. Clones talk over the same connection, which closes when the last is dropped; that waits
/// until the connection, and a child process at its other end, are gone, ten seconds at most.
#[derive(Clone, Debug)]
pub struct Client(Arc<Connection>);

#[derive(Debug)]
struct Connection {
    client: crate::Client,
    thread: ThreadId,
    /// Closed when the thread ends.
    ended: Mutex<mpsc::Receiver<()>>,
}

/// How long dropping a client may take.
const CLOSING: Duration = Duration::from_secs(10);

impl Client {
    pub(super) fn open(connect: Connect) -> Result<Self, Error> {
        let (alive, ended) = mpsc::channel();
        let (client, thread, explain) = connect.start(alive)?;
        let client = Self(Arc::new(Connection { client, thread: thread.thread().id(), ended: Mutex::new(ended) }));
        client.server().map_err(explain)?;
        Ok(client)
    }

    /// The asynchronous client underneath, whose calls can be given to [`wait`](Self::wait).
    #[must_use]
    pub fn calls(&self) -> &crate::Client {
        &self.0.client
    }

    /// Waits for a call, or for whatever else the asynchronous client gives.
    ///
    /// # Errors
    /// If the call fails, or this is the thread that runs the connection.
    pub fn wait<T>(&self, call: impl IntoFuture<Output = Result<T, Error>>) -> Result<T, Error> {
        if thread::current().id() == self.0.thread {
            return Err(Error::new(
                ErrorKind::Usage,
                "this call would wait for itself: it is made by a handler or a hook that the connection runs; use the \
                 asynchronous client there, or another thread",
            ));
        }
        wait(call.into_future())
    }

    /// The server and the version spoken with it.
    ///
    /// # Errors
    /// If the connection could not be opened.
    pub fn server(&self) -> Result<Arc<PeerInfo>, Error> {
        self.wait(self.calls().ready())
    }

    /// Every tool, from all pages.
    ///
    /// # Errors
    /// If a page cannot be had, or the pages do not end.
    pub fn list_tools(&self) -> Result<Vec<Tool>, Error> {
        self.wait(self.calls().list_all_tools())
    }

    /// Every resource, from all pages.
    ///
    /// # Errors
    /// If a page cannot be had, or the pages do not end.
    pub fn list_resources(&self) -> Result<Vec<Resource>, Error> {
        self.wait(self.calls().list_all_resources())
    }

    /// Every resource template, from all pages.
    ///
    /// # Errors
    /// If a page cannot be had, or the pages do not end.
    pub fn list_resource_templates(&self) -> Result<Vec<ResourceTemplate>, Error> {
        self.wait(self.calls().list_all_resource_templates())
    }

    /// Every prompt, from all pages.
    ///
    /// # Errors
    /// If a page cannot be had, or the pages do not end.
    pub fn list_prompts(&self) -> Result<Vec<Prompt>, Error> {
        self.wait(self.calls().list_all_prompts())
    }

    /// Calls a tool with arguments that serialize to an object; `&()` stands for none. Whether the tool failed stands in
    /// the result.
    ///
    /// # Errors
    /// If the call fails.
    pub fn call_tool<A: Serialize + ?Sized>(&self, name: &str, arguments: &A) -> Result<CallToolResult, Error> {
        self.wait(self.calls().call_tool(name, arguments))
    }

    /// Reads a resource.
    ///
    /// # Errors
    /// If the call fails.
    pub fn read_resource(&self, uri: &str) -> Result<ReadResourceResult, Error> {
        self.wait(self.calls().read_resource(uri))
    }

    /// Expands a prompt.
    ///
    /// # Errors
    /// If the call fails.
    pub fn get_prompt<'a>(
        &self,
        name: &str,
        arguments: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<GetPromptResult, Error> {
        self.wait(self.calls().get_prompt(name, arguments))
    }

    /// Completes an argument of a prompt or of a resource template.
    ///
    /// # Errors
    /// If the call fails.
    pub fn complete(&self, params: &CompleteRequestParams) -> Result<CompleteResult, Error> {
        self.wait(self.calls().complete(params))
    }

    /// Asks whether the server is there (legacy era).
    ///
    /// # Errors
    /// If the call fails.
    pub fn ping(&self) -> Result<(), Error> {
        self.wait(self.calls().ping()).map(drop)
    }

    /// Sets the least severe log messages the server may send (legacy era).
    ///
    /// # Errors
    /// If the call fails.
    pub fn set_logging_level(&self, level: LoggingLevel) -> Result<(), Error> {
        self.wait(self.calls().set_logging_level(level)).map(drop)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.client.close();
        if thread::current().id() != self.thread
            && let Ok(ended) = self.ended.get_mut()
        {
            // Nothing is ever sent: it ends with the thread, or after that long.
            let _ = ended.recv_timeout(CLOSING);
        }
    }
}

/// Polls a future on this thread until it is done. Not `block_on`, which would see to the sockets of the connection's
/// thread in its place, and cost a message another change of threads.
fn wait<F: Future>(future: F) -> F::Output {
    struct Unpark {
        thread: Thread,
        /// Whether to poll again. What runs inside a poll may wait for something itself, and take for its own what
        /// unparks this thread.
        woken: AtomicBool,
    }

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.woken.store(true, Ordering::Release);
            self.thread.unpark();
        }
    }

    let mut future = pin!(future);
    let unpark = Arc::new(Unpark { thread: thread::current(), woken: AtomicBool::new(false) });
    let waker = Waker::from(Arc::clone(&unpark));
    loop {
        if let Poll::Ready(done) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return done;
        }
        while !unpark.woken.swap(false, Ordering::Acquire) {
            thread::park();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wake_is_not_lost_to_what_waits_inside() {
        let mut polled = false;
        wait(std::future::poll_fn(|cx| {
            if std::mem::replace(&mut polled, true) {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            // Takes the token that the wake left.
            thread::park();
            Poll::Pending
        }));
    }
}
