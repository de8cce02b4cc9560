//! A connection without a driver: what is to do is done by whoever makes it so.

use std::sync::{Arc, Weak, atomic::Ordering};

use sandwire_proto::{
    Input, PeerInfo, Principal, Time, Via,
    server::{CallKey, Machine, Output, Saved},
};
use sandwire_types::Message;

use super::{Host, Sealing, lock};
use crate::{Endpoint, Env, MaybeSend, MaybeSync};

/// Does at once what a handler, or a change of the server, leaves to do.
pub(crate) trait Woken: MaybeSend + MaybeSync {
    fn woken(&self);

    /// Closes the connection that a stream is sent on, if its client can come back for the rest.
    fn close_stream(&self, via: Via);
}

/// What a connection takes in, in one step.
pub(crate) struct Arrived {
    pub(crate) input: Input,
    /// Who sent it, if that is looked at.
    pub(crate) from: Option<Option<Arc<Principal>>>,
}

impl From<Input> for Arrived {
    fn from(input: Input) -> Self {
        Self { input, from: None }
    }
}

impl Host {
    pub(crate) fn woken_by(
        woken: Weak<dyn Woken>,
        endpoint: Arc<dyn Endpoint>,
        env: Arc<dyn Env>,
        machine: Machine,
        sealer: Sealing,
    ) -> Arc<Self> {
        Arc::new(Self { woken: Some(woken), ..Self::with(endpoint, env, machine, sealer) })
    }

    /// Takes what arrived, has every message sent, and gives what else is to do. All in one step, so that messages are
    /// sent in the order in which they were said.
    pub(crate) fn drain(&self, arrived: Option<Arrived>, send: &mut dyn FnMut(Via, Message)) -> Vec<Output> {
        let mut state = lock(&self.state);
        self.said.store(false, Ordering::Release);
        if let Some(Arrived { input, from }) = arrived {
            if let Some(principal) = from {
                state.machine.identify(principal);
            }
            state.machine.handle(Time(0), input);
        }
        let mut rest = Vec::new();
        while let Some(output) = state.machine.poll() {
            match output {
                Output::Send { via, message } => send(via, message),
                other => rest.push(other),
            }
        }
        rest
    }

    /// Whether the client waits for an answer on this stream.
    pub(crate) fn owes(&self, via: Via) -> bool {
        lock(&self.state).machine.owes(via)
    }

    /// Which stream a call is answered on.
    pub(crate) fn via(&self, key: CallKey) -> Option<Via> {
        lock(&self.state).machine.via(key)
    }

    pub(crate) fn legacy_peer(&self) -> Option<Arc<PeerInfo>> {
        lock(&self.state).machine.legacy_peer().cloned()
    }

    pub(crate) fn saved(&self) -> Option<Saved> {
        lock(&self.state).machine.saved()
    }

    pub(crate) fn close_stream(&self, key: CallKey) {
        if let Some(woken) = self.woken.as_ref().and_then(Weak::upgrade)
            && let Some(via) = self.via(key)
        {
            woken.close_stream(via);
        }
    }
}
