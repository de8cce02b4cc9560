use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sandwire_io::Env;
use sandwire_proto::Time;

use super::{carrier::Carrier, connect::Route, h2::Multiplex};
use crate::NativeEnv;

/// How many connections to one host are kept.
const PER_HOST: usize = 16;

/// How many connections are kept in all.
const IN_ALL: usize = 128;

/// Connections that can take another request, the one used last at the end.
#[derive(Default)]
pub(super) struct Idle(Mutex<Vec<Resting>>);

struct Resting {
    route: Route,
    until: Time,
    carrier: Carrier,
}

impl Idle {
    /// A connection along `route` that is still open.
    pub(super) fn take(&self, route: &Route) -> Option<Carrier> {
        loop {
            let mut carrier = self.take_any(route)?;
            if carrier.is_free() {
                return Some(carrier);
            }
            if let Carrier::Shared(multiplex) = &carrier {
                self.forget(multiplex);
            }
        }
    }

    /// Takes a connection out, or shares one that stays.
    fn take_any(&self, route: &Route) -> Option<Carrier> {
        let expired: Vec<Resting>;
        let found = {
            let mut resting = self.lock();
            expired = expire(&mut resting);
            let at = resting.iter().rposition(|one| one.route == *route);
            at.map(|at| match resting.get(at) {
                Some(Resting { carrier: Carrier::Shared(multiplex), .. }) => Carrier::Shared(multiplex.clone()),
                _ => resting.remove(at).carrier,
            })
        };
        drop(expired);
        found
    }

    /// Keeps a connection for `keep_ms`. Where there are too many, the oldest is closed. Of those that are shared the
    /// last one is enough.
    pub(super) fn put(&self, route: Route, carrier: Carrier, keep_ms: u64) {
        let mut surplus;
        {
            let mut resting = self.lock();
            surplus = expire(&mut resting);
            let same = resting.iter().filter(|one| one.route == route).count();
            let oldest = match () {
                () if carrier.is_shared() => {
                    resting.iter().position(|one| one.route == route && one.carrier.is_shared())
                }
                () if same >= PER_HOST => resting.iter().position(|one| one.route == route),
                () if resting.len() >= IN_ALL => Some(0),
                () => None,
            };
            surplus.extend(oldest.map(|at| resting.remove(at)));
            resting.push(Resting { route, until: NativeEnv.now().after(keep_ms), carrier });
        }
        drop(surplus);
    }

    /// Removes a connection that can be shared no more.
    fn forget(&self, ended: &Arc<Multiplex>) {
        let is_it = |one: &mut Resting| matches!(&one.carrier, Carrier::Shared(shared) if Arc::ptr_eq(shared, ended));
        let forgotten: Vec<Resting> = self.lock().extract_if(.., is_it).collect();
        drop(forgotten);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Resting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn expire(resting: &mut Vec<Resting>) -> Vec<Resting> {
    let now = NativeEnv.now();
    resting.extract_if(.., |one| one.until <= now && !one.carrier.is_used()).collect()
}
