//! Over a link with faults, in virtual time: each call ends in a result or an error within its time, and what is not
//! lost by the link itself is not lost at all.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use std::{cell::Cell, rc::Rc, sync::Arc, time::Duration};

use chaos::{ERAS, Label, server};
use fastrand::Rng;
use futures::{executor::LocalPool, task::LocalSpawnExt};
use sandwire::Client;
use sandwire_client::{Mode, Options};
use sandwire_io::{
    Env, TextLink, serve,
    testing::{ChaosLink, Faults, SimEnv, text_ports},
};
use sandwire_proto::Limits;

const CALLS: u32 = 20;
const TIMEOUT: u64 = 5_000;
/// Two tries to open a connection, and the call.
const LONGEST: u64 = 4 * TIMEOUT;

/// How many of the calls had a result, once all have ended.
fn converse(mode: &Mode, faults: Faults, seed: u64) -> u32 {
    let mut pool = LocalPool::new();
    let env = SimEnv::new(seed);
    let shared: Arc<dyn Env> = Arc::new(env.clone());
    let (near, far) = text_ports();
    let near = ChaosLink::new(Box::new(TextLink::new(near, Limits::default())), faults, seed);
    let serving = serve(Arc::new(server()), Arc::clone(&shared), Box::new(TextLink::new(far, Limits::default())));
    let timeout = Duration::from_millis(TIMEOUT);
    let options = Options::new("chaos", "1").mode(mode.clone()).timeout(timeout).probe_timeout(timeout);
    let (client, driver) = Client::connect(near, shared, options);
    let spawner = pool.spawner();
    spawner.spawn_local(serving).unwrap();
    spawner.spawn_local(driver).unwrap();

    let (right, ended) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    for call in 0..CALLS {
        let label = Label { client: 1, call, pauses: call % 3 };
        let answer = client.call_tool("echo", &label).structured::<Label>().into_future();
        let (right, ended) = (Rc::clone(&right), Rc::clone(&ended));
        let waits = async move {
            if let Ok(answer) = answer.await {
                assert_eq!(answer, label, "an answer went to another call");
                right.set(right.get() + 1);
            }
            ended.set(ended.get() + 1);
        };
        spawner.spawn_local(waits).unwrap();
    }
    pool.run_until_stalled();
    while ended.get() < CALLS {
        let now = env.now();
        assert!(now.0 <= LONGEST, "{} of {CALLS} calls hang, {mode:?} {faults:?} seed {seed}", CALLS - ended.get());
        let next = env.next_timer().unwrap_or_else(|| panic!("nobody waits for the time, {faults:?} seed {seed}"));
        env.advance(next.0.saturating_sub(now.0).max(1));
        pool.run_until_stalled();
    }
    right.get()
}

#[test]
fn what_the_link_does_not_lose_is_not_lost() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    for round in 0..100 {
        for mode in ERAS {
            let faults = Faults { repeat: 200, garble: 200, ..Faults::default() };
            assert_eq!(converse(&mode, faults, seed ^ round), CALLS, "{mode:?} seed {seed} round {round}");
        }
    }
}

#[test]
fn whatever_the_link_does_every_call_ends() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = Rng::with_seed(seed);
    let mut whole = 0;
    const ROUNDS: u32 = 300;
    for round in 0..ROUNDS {
        let mut often = |most: u32| random.u32(0..most);
        let faults =
            Faults { lose: often(200), repeat: often(200), garble: often(200), swap: often(200), cut: often(20) };
        whole += converse(&ERAS[round as usize % 2], faults, random.u64(..));
    }
    println!("{whole} of {} calls had a result", ROUNDS * CALLS);
    assert!((ROUNDS..ROUNDS * CALLS).contains(&whole), "the faults are too many or too few: {whole}");
}
