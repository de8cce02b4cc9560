use super::{
    ClientHandle, Config, Hooks,
    core::{Core, Todo},
    hooks,
};
use crate::{BoxFuture, Env, Link, LinkEvent, Timer};
use sandwire_proto::{
    Time, TransportError,
    client::{Machine, Output},
};
use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

/// Joins a client to a link. The connection begins when the driver is first polled.
///
/// The handle may be used at once: calls wait until the connection is open.
pub fn connect(
    mut config: Config,
    env: Arc<dyn Env>,
    link: Box<dyn Link>,
    hooks: Box<dyn Hooks>,
) -> (ClientHandle, Driver) {
    config.wire = link.wire();
    let core = Arc::new(Core::new(Machine::new(config), Arc::clone(&env)));
    let connection = Connection { core: Arc::clone(&core), timer: env.timer(), link, hooks, begun: false, over: false };
    (ClientHandle::new(core), Driver::new(Box::pin(connection)))
}

/// Runs one connection: poll it on any executor until it ends. Dropping it closes the connection.
#[must_use = "a connection only moves while its driver is polled"]
pub struct Driver(BoxFuture<'static, ()>);

impl Driver {
    pub(crate) fn new(run: BoxFuture<'static, ()>) -> Self {
        Self(run)
    }
}

impl Future for Driver {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(cx)
    }
}

impl std::fmt::Debug for Driver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Driver").finish_non_exhaustive()
    }
}

/// How many events one poll takes, so that a flood leaves time to the other tasks of the executor.
const EVENTS_A_POLL: usize = 64;

struct Connection {
    core: Arc<Core>,
    timer: Box<dyn Timer>,
    link: Box<dyn Link>,
    hooks: Box<dyn Hooks>,
    begun: bool,
    over: bool,
}

impl Connection {
    /// Gives the machine an input and does what follows. Says when to come back, and whether that is now.
    fn round(&mut self, mut input: Option<LinkEvent>, waker: Option<&Waker>) -> (Option<Time>, bool) {
        let now = self.core.now();
        loop {
            let step = self.core.step(now, input.take(), waker);
            match step.todo {
                Todo::Output(Output::Send { via, message, head }) => self.link.send(via, message, head),
                Todo::Output(Output::Open { exchange, head }) => self.link.open(exchange, head),
                Todo::Output(Output::Abandon(exchange)) => self.link.abandon(exchange),
                #[cfg(feature = "sse")]
                Todo::Output(Output::Downgrade) => {
                    if let Some(link) = self.link.downgrade() {
                        self.link = link;
                    }
                }
                Todo::Output(Output::Close) => self.link.close(),
                Todo::Output(told) => hooks::tell(&self.core, &mut *self.hooks, told),
                todo => todo.tell(),
            }
            if !step.more {
                return (step.deadline, step.deadline.is_some_and(|at| at <= now));
            }
        }
    }

    fn end(&mut self, error: Option<TransportError>) {
        if !std::mem::replace(&mut self.over, true) {
            self.round(Some(LinkEvent::Closed(error.clone())), None);
            self.hooks.closed(error.as_ref());
        }
    }
}

impl Future for Connection {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let mut input = (!std::mem::replace(&mut this.begun, true)).then_some(LinkEvent::Tick);
        let mut events = 0;
        loop {
            let (deadline, due) = this.round(input, Some(cx.waker()));
            if events == EVENTS_A_POLL {
                cx.waker().wake_by_ref();
                break;
            }
            events += 1;
            input = Some(if due {
                LinkEvent::Tick
            } else {
                match this.link.poll(cx) {
                    Poll::Ready(LinkEvent::Closed(error)) => {
                        this.end(error);
                        return Poll::Ready(());
                    }
                    Poll::Ready(event) => event,
                    Poll::Pending => match deadline {
                        Some(at) if this.timer.poll(at, cx).is_ready() => LinkEvent::Tick,
                        _ => break,
                    },
                }
            });
        }
        this.hooks.poll(cx);
        Poll::Pending
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.end(None);
    }
}
