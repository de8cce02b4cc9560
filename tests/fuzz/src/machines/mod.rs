//! A client's machine and a server's, joined, with everything done to them in random order, step by step.
//!
//! Each life is a connection from its beginning to its end. What must hold is said in `world`; `seen` notes which
//! inputs, outputs and endings there were, and a run that missed one has not tested what it says.

mod peer;
mod seen;
mod world;

use std::process::ExitCode;
use std::time::Instant;

use sandwire_proto::faults::Fault;

use crate::random::Random;
use seen::Seen;
use world::World;

/// Commands and inputs of a life.
const LIFE: u64 = 600;

/// Takes so many steps; fails when something does not hold or was not tried.
pub fn run(steps: u64, seed: u64) -> ExitCode {
    let begin = Instant::now();
    let mut seen = Seen::default();
    let (taken, failure) = take(steps, seed, &mut seen);
    println!("{taken} machine steps in {:.1} s, seed {seed}", begin.elapsed().as_secs_f64());
    println!("{seen}");
    let missing = seen.missing();
    if let Some(failure) = &failure {
        println!("FAILED: {failure}");
    }
    if !missing.is_empty() {
        println!("FAILED: never seen: {}", missing.join(", "));
    }
    let failed = usize::from(failure.is_some()) + usize::from(!missing.is_empty());
    println!("{} passed, {failed} failed", 2 - failed);
    ExitCode::from(u8::from(failed > 0))
}

/// Seeds one mistake after the other into the machines; each must be found within so many steps.
pub fn run_with_faults(steps: u64, seed: u64) -> ExitCode {
    let quiet = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let mut failed = 0;
    for fault in Fault::ALL {
        Fault::seed(Some(fault));
        let (taken, failure) = take(steps, seed, &mut Seen::default());
        match failure {
            Some(failure) => println!("{fault:?} found after {taken} steps: {failure}"),
            None => {
                failed += 1;
                println!("{fault:?} NOT FOUND within {taken} steps, seed {seed}");
            }
        }
    }
    Fault::seed(None);
    std::panic::set_hook(quiet);
    println!("{} passed, {failed} failed", Fault::ALL.len() - failed);
    ExitCode::from(u8::from(failed > 0))
}

fn take(steps: u64, seed: u64, seen: &mut Seen) -> (u64, Option<String>) {
    let mut taken = 0;
    let mut lives = 0;
    while taken < steps {
        let life_seed = seed.wrapping_add(lives);
        let mut world = World::new(Random::new(life_seed));
        let lived = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| world.live(LIFE)));
        taken += world.steps;
        seen.add(&world.seen);
        let failure = match lived {
            Ok(Ok(())) => None,
            Ok(Err(broken)) => Some(broken),
            Err(panic) => Some(format!("panic: {}", panic.downcast_ref::<String>().map_or("?", |text| text))),
        };
        if let Some(failure) = failure {
            return (taken, Some(format!("{failure} (life {lives}: --steps 1 --seed {life_seed})")));
        }
        lives += 1;
    }
    (taken, None)
}
