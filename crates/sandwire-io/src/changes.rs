//! Who hears that something of a server changed: its connections, and those of its other instances.

use std::{
    fmt,
    sync::{Arc, Mutex, OnceLock, Weak},
};

use sandwire_json::Raw;
use sandwire_proto::server::{Change, Machine};
use sandwire_types::LoggingLevel;

use crate::{
    MaybeSend, MaybeSync,
    host::{Host, lock},
};

/// Where a server announces that something changed, and its connections hear of it.
///
/// ```
/// use sandwire_io::Changes;
/// use sandwire_proto::server::Change;
///
/// let changes = Changes::default();
/// changes.announce(&Change::Tools);
/// ```
#[derive(Default)]
pub struct Changes {
    hosts: Mutex<Vec<Weak<Host>>>,
    bus: OnceLock<Arc<dyn EventBus>>,
}

/// Carries changes among the instances of a server: a broker, a platform's channel, several servers of one process.
///
/// What is published reaches whoever subscribed, in any process, the publisher included, in the order in which one
/// publisher published. [`Change::write`] makes a text of a change where it has to travel.
pub trait EventBus: MaybeSend + MaybeSync + 'static {
    /// Tells all subscribers of a change. It must not wait.
    fn publish(&self, change: &Change);

    /// Has [`Changes::tell`] called with each change, for as long as there is `changes`.
    fn subscribe(&self, changes: Weak<Changes>);
}

impl fmt::Debug for dyn EventBus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EventBus")
    }
}

/// An [`EventBus`] within one process. Clones are the same bus.
#[derive(Clone, Default)]
pub struct MemoryBus(Arc<Mutex<Vec<Weak<Changes>>>>);

impl EventBus for MemoryBus {
    fn publish(&self, change: &Change) {
        for changes in alive(&self.0) {
            changes.tell(change);
        }
    }

    fn subscribe(&self, changes: Weak<Changes>) {
        lock(&self.0).push(changes);
    }
}

impl fmt::Debug for MemoryBus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MemoryBus")
    }
}

impl Changes {
    /// Has changes go by `bus`, which brings those of others as well. The first one that is given stays.
    pub fn join(self: &Arc<Self>, bus: Arc<dyn EventBus>) {
        if self.bus.set(Arc::clone(&bus)).is_ok() {
            bus.subscribe(Arc::downgrade(self));
        }
    }

    /// Tells every client that wants to hear of it, those of other instances included where there is a bus.
    pub fn announce(&self, change: &Change) {
        match self.bus.get() {
            Some(bus) => bus.publish(change),
            None => self.tell(change),
        }
    }

    /// Tells the connected clients that want to hear of it.
    pub fn tell(&self, change: &Change) {
        self.each(&mut |machine| machine.changed(change));
    }

    /// Sends a log message that belongs to no call to the connected legacy clients that want messages of this level.
    pub fn log(&self, level: &LoggingLevel, logger: Option<&str>, data: &Raw) {
        self.each(&mut |machine| machine.log_beside(level, logger, data));
    }

    /// Tells the connected legacy client that was asked to visit an address under this id that it is done there.
    pub fn elicited(&self, id: &str) {
        self.each(&mut |machine| machine.elicited(id));
    }

    /// Ends all subscriptions of the modern era with their results: the server is about to stop.
    pub fn end(&self) {
        self.each(&mut Machine::end_subscriptions);
    }

    fn each(&self, say: &mut dyn FnMut(&mut Machine)) {
        for host in alive(&self.hosts) {
            host.say(&mut *say);
        }
    }

    pub(crate) fn add(&self, host: &Arc<Host>) {
        let mut hosts = lock(&self.hosts);
        hosts.retain(|host| host.strong_count() > 0);
        hosts.push(Arc::downgrade(host));
    }
}

/// Those that are there still; the others are forgotten.
fn alive<T>(all: &Mutex<Vec<Weak<T>>>) -> Vec<Arc<T>> {
    let mut alive = Vec::new();
    lock(all).retain(|one| one.upgrade().map(|one| alive.push(one)).is_some());
    alive
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Changes")
    }
}
