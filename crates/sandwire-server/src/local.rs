//! Work that stays on one thread, for handlers of a server that may be called from any.

use futures_channel::{mpsc, oneshot};
use futures_util::future::{Either, LocalBoxFuture, select};
use futures_util::stream::{FuturesUnordered, StreamExt};
use sandwire_io::MaybeSend;
use sandwire_types::ErrorObject;
use std::fmt;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, ready};

/// Runs what is not `Send` for handlers, which where there are threads have to be: an `Rc`, a `RefCell`, futures that
/// hold either. In wasm handlers need it only where they run natively too.
///
/// The work runs inside a [`LocalDriver`], on the thread and the executor that polls it. A call that is given up drops
/// the work of its handler where it awaits, as it drops other handlers.
///
/// ```
/// use futures_executor::block_on;
/// use futures_util::future::join3;
/// use sandwire_client::Client;
/// use sandwire_server::{Local, Server};
/// use std::cell::RefCell;
///
/// #[derive(serde::Deserialize, serde::Serialize, sandwire_server::Schema)]
/// struct Note {
///     text: String,
/// }
///
/// let (notes, local) = Local::new(RefCell::new(Vec::new()));
/// let server = Server::builder("notes", "1.0")
///     .tool("keep", "Keeps a note.", move |note: Note| {
///         notes.run(async move |all| {
///             all.borrow_mut().push(note.text);
///             all.borrow().len()
///         })
///     })
///     .build()?;
/// let (client, driver) = Client::in_memory(&server);
/// drop(server);
/// let call = async move {
///     let kept = client.call_tool("keep", &Note { text: "Buy milk".into() }).structured::<usize>().await;
///     client.close();
///     kept
/// };
/// let (kept, (), ()) = block_on(join3(call, driver, local));
/// assert_eq!(kept?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Local<S> {
    jobs: mpsc::UnboundedSender<Box<dyn Job<S>>>,
}

trait Job<S>: MaybeSend {
    fn begin(self: Box<Self>, state: Rc<S>) -> LocalBoxFuture<'static, ()>;
}

impl<S, F: FnOnce(Rc<S>) -> LocalBoxFuture<'static, ()> + MaybeSend> Job<S> for F {
    fn begin(self: Box<Self>, state: Rc<S>) -> LocalBoxFuture<'static, ()> {
        self(state)
    }
}

impl<S: 'static> Local<S> {
    /// Keeps `state` on this thread, for work that is given to the one and runs in the other.
    pub fn new(state: S) -> (Self, LocalDriver<S>) {
        let (sender, jobs) = mpsc::unbounded();
        let driver = LocalDriver { state: Rc::new(state), jobs, running: FuturesUnordered::new() };
        (Self { jobs: sender }, driver)
    }

    /// Has the driver run `work` on the state. What it gives is sent back; dropping the future drops the work.
    ///
    /// # Errors
    /// The driver is gone.
    pub fn run<F, T>(&self, work: F) -> impl Future<Output = Result<T::Output, ErrorObject>> + MaybeSend + use<S, F, T>
    where
        F: FnOnce(Rc<S>) -> T + MaybeSend + 'static,
        T: Future<Output: MaybeSend + 'static> + 'static,
    {
        let (mut answer, answered) = oneshot::channel();
        let job = move |state| -> LocalBoxFuture<'static, ()> {
            Box::pin(async move {
                let given = match select(pin!(work(state)), answer.cancellation()).await {
                    Either::Left((given, _)) => given,
                    Either::Right(_) => return,
                };
                // Nobody waits for it if it is given up just now.
                let _ = answer.send(given);
            })
        };
        // A driver that is gone drops the job, and with it the sender of the answer.
        let _ = self.jobs.unbounded_send(Box::new(job));
        async move { answered.await.map_err(|_| ErrorObject::internal(GONE)) }
    }
}

const GONE: &str = "what this handler's work runs in is gone; keep its `LocalDriver` running";

impl<S> Clone for Local<S> {
    fn clone(&self) -> Self {
        Self { jobs: self.jobs.clone() }
    }
}

impl<S> fmt::Debug for Local<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Local")
    }
}

/// Runs the work of a [`Local`]: poll it on the thread that the work is to stay on. It ends when every clone of the
/// `Local` is gone. Those in handlers go with their server, which its connections and its clients in the same process
/// keep.
#[must_use = "the work only moves while this is polled"]
pub struct LocalDriver<S> {
    state: Rc<S>,
    jobs: mpsc::UnboundedReceiver<Box<dyn Job<S>>>,
    running: FuturesUnordered<LocalBoxFuture<'static, ()>>,
}

impl<S> Future for LocalDriver<S> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Self { state, jobs, running } = &mut *self;
        loop {
            let next = jobs.poll_next_unpin(cx);
            if let Poll::Ready(Some(job)) = next {
                running.push(job.begin(Rc::clone(state)));
            } else if ready!(running.poll_next_unpin(cx)).is_none() {
                return next.map(drop);
            }
        }
    }
}

impl<S> fmt::Debug for LocalDriver<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalDriver").field("running", &self.running.len()).finish_non_exhaustive()
    }
}
