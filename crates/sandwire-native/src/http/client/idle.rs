use std::sync::{Mutex, PoisonError};

use sandwire_io::Env;
use sandwire_proto::Time;

use super::{connect::Route, connection::Connection};
use crate::NativeEnv;

/// How many connections to one host are kept.
const PER_HOST: usize = 16;

/// How many connections are kept in all.
const IN_ALL: usize = 128;

/// Connections that wait for their next request, the one used last at the end.
#[derive(Default)]
pub(super) struct Idle(Mutex<Vec<Resting>>);

struct Resting {
    route: Route,
    until: Time,
    connection: Connection,
}

impl Idle {
    /// A connection along `route` that is still open.
    pub(super) fn take(&self, route: &Route) -> Option<Connection> {
        loop {
            let mut connection = self.take_any(route)?;
            if connection.is_free() {
                return Some(connection);
            }
        }
    }

    fn take_any(&self, route: &Route) -> Option<Connection> {
        let expired: Vec<Resting>;
        let found = {
            let mut resting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            expired = expire(&mut resting);
            let at = resting.iter().rposition(|one| one.route == *route);
            at.map(|at| resting.remove(at).connection)
        };
        drop(expired);
        found
    }

    /// Keeps a connection for `keep_ms`. Where there are too many, the oldest is closed.
    pub(super) fn put(&self, route: Route, connection: Connection, keep_ms: u64) {
        let mut surplus;
        {
            let mut resting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            surplus = expire(&mut resting);
            let same = resting.iter().filter(|one| one.route == route).count();
            let oldest = match () {
                () if same >= PER_HOST => resting.iter().position(|one| one.route == route),
                () if resting.len() >= IN_ALL => Some(0),
                () => None,
            };
            surplus.extend(oldest.map(|at| resting.remove(at)));
            resting.push(Resting { route, until: NativeEnv.now().after(keep_ms), connection });
        }
        drop(surplus);
    }
}

fn expire(resting: &mut Vec<Resting>) -> Vec<Resting> {
    let now = NativeEnv.now();
    resting.extract_if(.., |one| one.until <= now).collect()
}
