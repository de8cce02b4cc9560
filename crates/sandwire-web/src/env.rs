use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use js_sys::{Function, Reflect};
use sandwire_io::{Env, Timer};
use sandwire_proto::Time;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = performance, js_name = now)]
    fn performance_now() -> f64;

    #[wasm_bindgen(js_namespace = Date, js_name = now)]
    fn date_now() -> f64;

    #[wasm_bindgen(js_name = setTimeout)]
    fn set_timeout(run: &Closure<dyn FnMut()>, milliseconds: f64) -> JsValue;

    #[wasm_bindgen(js_name = clearTimeout)]
    fn clear_timeout(timeout: &JsValue);

    #[wasm_bindgen(js_namespace = crypto, js_name = getRandomValues)]
    fn get_random_values(bytes: &mut [u8]);
}

/// The longest time `setTimeout` takes, in milliseconds. Anything above fires at once.
const LONGEST: u64 = i32::MAX as u64;

/// `getRandomValues` gives at most so many bytes at once.
const MOST_RANDOM_BYTES: usize = 65_536;

/// The host's monotonic clock, timers and cryptographic generator.
#[derive(Clone, Copy, Debug, Default)]
pub struct WebEnv;

impl WebEnv {
    /// The environment as drivers take it.
    #[must_use]
    pub fn shared() -> Arc<dyn Env> {
        Arc::new(Self)
    }
}

impl Env for WebEnv {
    fn now(&self) -> Time {
        now()
    }

    fn timer(&self) -> Box<dyn Timer> {
        Box::new(Timeout::default())
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        bytes.chunks_mut(MOST_RANDOM_BYTES).for_each(get_random_values);
    }

    fn unix_time(&self) -> Option<u64> {
        Some((date_now() / 1000.0) as u64)
    }
}

thread_local! {
    /// What the clock said in the turn that runs; a turn takes less than what anybody times.
    static TURN: Cell<Turn> = const { Cell::new(Turn::None) };
}

#[derive(Clone, Copy)]
enum Turn {
    None,
    Begun,
    At(Time),
}

fn now() -> Time {
    if let Turn::At(time) = TURN.get() {
        return time;
    }
    let time = Time(performance_now() as u64);
    if let Turn::Begun = TURN.get() {
        TURN.set(Turn::At(time));
    }
    time
}

/// Runs one turn of a driver, in which the clock is read at most once.
pub(crate) fn turn<T>(run: impl FnOnce() -> T) -> T {
    let outer = TURN.replace(Turn::Begun);
    let done = run();
    TURN.set(outer);
    done
}

/// One `setTimeout` at a time. A later moment does not re-arm it: when it fires too early its task polls again,
/// so a call that is answered in time costs no timer of its own.
#[derive(Default)]
struct Timeout {
    armed: Option<Armed>,
    waker: Rc<RefCell<Option<Waker>>>,
    fire: Option<Closure<dyn FnMut()>>,
}

struct Armed {
    id: JsValue,
    at: Time,
}

impl Timer for Timeout {
    fn poll(&mut self, at: Time, cx: &mut Context<'_>) -> Poll<()> {
        let now = now();
        if at <= now {
            return Poll::Ready(());
        }
        // Firing takes the waker away. Hosts let timers fire a little too early, too.
        let waits = self.waker.replace(Some(cx.waker().clone())).is_some();
        match &self.armed {
            Some(armed) if waits && armed.at <= at => {}
            _ => self.arm(now, at),
        }
        Poll::Pending
    }
}

impl Timeout {
    fn arm(&mut self, now: Time, at: Time) {
        self.disarm();
        let wait = (at.0 - now.0).min(LONGEST);
        let fire = self.fire.get_or_insert_with(|| {
            let waker = Rc::clone(&self.waker);
            Closure::new(move || {
                let waker = waker.borrow_mut().take();
                waker.iter().for_each(Waker::wake_by_ref);
            })
        });
        let id = set_timeout(fire, wait as f64);
        // Node waits for its timers before it exits; a deadline is no reason to stay.
        if let Ok(unref) = Reflect::get(&id, &"unref".into())
            && let Some(unref) = unref.dyn_ref::<Function>()
        {
            let _ = unref.call0(&id);
        }
        self.armed = Some(Armed { id, at: Time(now.0 + wait) });
    }

    fn disarm(&mut self) {
        if let Some(armed) = self.armed.take() {
            clear_timeout(&armed.id);
        }
    }
}

impl Drop for Timeout {
    fn drop(&mut self) {
        self.disarm();
    }
}
