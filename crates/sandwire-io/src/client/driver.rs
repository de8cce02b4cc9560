use super::{
    ClientHandle, Config, Hooks,
    core::{Core, Effect},
};
use crate::{BoxFuture, Env, Link, LinkEvent, Timer};
use sandwire_proto::{
    Time,
    client::{Machine, Output},
};
use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
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
    let connection = Connection {
        core: Arc::clone(&core),
        timer: env.timer(),
        link,
        hooks,
        arrived: Vec::new(),
        outputs: Vec::new(),
        effects: Vec::new(),
        begun: false,
        over: false,
    };
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
    arrived: Vec<LinkEvent>,
    outputs: Vec<Output>,
    effects: Vec<Effect>,
    begun: bool,
    over: bool,
}

/// What one round leaves to do.
struct Round {
    deadline: Option<Time>,
    sent: bool,
}

impl Connection {
    /// One round: what arrived goes in, what the machine wants comes out and is done.
    fn round(&mut self) -> Round {
        let now = self.core.now();
        let turn = self.core.turn(now, self.arrived.drain(..), &mut self.outputs, &mut self.effects);
        let sent = !self.outputs.is_empty();
        for output in self.outputs.drain(..) {
            match output {
                Output::Send { via, message, head } => self.link.send(via, message, head),
                Output::Open { exchange, head } => self.link.open(exchange, head),
                Output::Abandon(exchange) => self.link.abandon(exchange),
                Output::Close => self.link.close(),
                _ => {}
            }
        }
        self.effects.drain(..).for_each(Effect::run);
        if turn.hooks {
            self.core.run_hooks(&mut *self.hooks);
        }
        Round { deadline: turn.deadline, sent }
    }
}

impl Future for Connection {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        this.core.register_driver(cx.waker());
        if !this.begun {
            this.begun = true;
            this.arrived.push(LinkEvent::Tick);
        }
        let mut budget = EVENTS_A_POLL;
        loop {
            while !this.over && budget > 0 {
                let Poll::Ready(event) = this.link.poll(cx) else {
                    break;
                };
                budget -= 1;
                this.over = matches!(event, LinkEvent::Closed(_));
                this.arrived.push(event);
            }
            let round = this.round();
            this.hooks.poll(cx);
            if this.over {
                return Poll::Ready(());
            }
            if budget == 0 {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            if round.sent {
                continue;
            }
            match round.deadline {
                Some(at) if this.timer.poll(at, cx).is_ready() => {
                    budget -= 1;
                    this.arrived.push(LinkEvent::Tick);
                }
                _ => return Poll::Pending,
            }
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if !self.over {
            self.arrived.clear();
            self.arrived.push(LinkEvent::Closed(None));
            self.round();
        }
    }
}
