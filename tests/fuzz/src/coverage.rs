//! The counters that the compiler put at the edges of the code, and what has been seen of them.

use std::sync::atomic::{AtomicUsize, Ordering};

static START: AtomicUsize = AtomicUsize::new(0);
static END: AtomicUsize = AtomicUsize::new(0);

/// Called before `main` by code that the compiler inserts.
#[unsafe(no_mangle)]
extern "C" fn __sanitizer_cov_8bit_counters_init(start: *mut u8, end: *mut u8) {
    START.store(start as usize, Ordering::Relaxed);
    END.store(end as usize, Ordering::Relaxed);
}

/// How many counters are looked at together.
const BLOCK: usize = 256;

/// Which edges were ever taken, and roughly how often within one run.
#[derive(Debug)]
pub struct Coverage {
    /// For each edge a bit for each class of hit counts.
    seen: Vec<u8>,
    edges: usize,
}

impl Coverage {
    pub fn new() -> Self {
        Self { seen: vec![0; counters().len()], edges: 0 }
    }

    /// How many edges were taken so far.
    pub fn edges(&self) -> usize {
        self.edges
    }

    /// Runs `body` and tells whether it reached an edge, or a count at one, that no run did before.
    pub fn observe(&mut self, body: impl FnOnce()) -> bool {
        counters().fill(0);
        body();
        let mut news = false;
        let counts = counters().chunks(BLOCK);
        for (counts, seen) in counts.zip(self.seen.chunks_mut(BLOCK)) {
            // Most blocks were not reached; this is one call of a function that has no counters.
            if counts == &[0; BLOCK][..counts.len()] {
                continue;
            }
            for (&count, seen) in counts.iter().zip(seen) {
                let class = class(count);
                if class & !*seen != 0 {
                    self.edges += usize::from(*seen == 0);
                    *seen |= class;
                    news = true;
                }
            }
        }
        news
    }
}

/// Hit counts in eight classes, one bit each.
fn class(count: u8) -> u8 {
    match count {
        0 => 0,
        1..=3 => 1 << (count - 1),
        4..=7 => 8,
        8..=15 => 16,
        16..=31 => 32,
        32..=127 => 64,
        128..=255 => 128,
    }
}

fn counters() -> &'static mut [u8] {
    let (start, end) = (START.load(Ordering::Relaxed), END.load(Ordering::Relaxed));
    if start == 0 {
        return &mut [];
    }
    // SAFETY: the compiler's start-up code passed the bounds of one live array of bytes. The code
    // under test adds to it through raw pointers, on this thread, never while the slice is in use:
    // each caller lets go of it before `body` runs.
    unsafe { std::slice::from_raw_parts_mut(start as *mut u8, end - start) }
}
