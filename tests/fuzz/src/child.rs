//! One target in one process: the loop.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::Options;
use crate::coverage::Coverage;
use crate::mutate::Mutator;
use crate::random::Random;
use crate::targets::Target;

/// What a wasm module has, so that recursion which would overflow there overflows here.
const STACK_BYTES: usize = 1024 * 1024;

/// One run may not take longer.
const HANG: Duration = Duration::from_secs(5);

/// Larger inputs are cut.
const LONGEST: usize = 128 * 1024;

/// When the pool is full, a newcomer takes the place of another.
const POOL: usize = 4_096;

static RUNS: AtomicU64 = AtomicU64::new(0);

/// Fuzzes until the time is over; does not come back from a crash.
pub fn run(target: &'static Target, options: &Options, current: &Path) -> ExitCode {
    let (seed, time) = (options.seed, options.time);
    let current = match Current::create(current) {
        Ok(current) => current,
        Err(error) => {
            eprintln!("cannot write {}: {error}", current.display());
            return ExitCode::FAILURE;
        }
    };
    watch_for_hangs();
    on_small_stack(move || fuzz(target, seed, time, current))
}

/// Runs the body once, on what a file holds.
pub fn replay(target: &'static Target, file: &Path) -> ExitCode {
    let input = match std::fs::read(file) {
        Ok(input) => input,
        Err(error) => {
            eprintln!("cannot read {}: {error}", file.display());
            return ExitCode::FAILURE;
        }
    };
    watch_for_hangs();
    on_small_stack(move || {
        let begin = Instant::now();
        (target.body)(&input);
        let took = begin.elapsed();
        println!("{}: {} bytes in {took:?}, no crash", target.name, input.len());
    })
}

fn fuzz(target: &Target, seed: u64, time: Duration, mut current: Current) {
    let mut random = Random::new(seed ^ fingerprint(target.name.as_bytes()));
    let mut coverage = Coverage::new();
    let mut pool: Vec<Vec<u8>> = Vec::new();
    let mut slowest = (Duration::ZERO, 0);
    let mut attempt = |input: &[u8], coverage: &mut Coverage| {
        current.write(input);
        let begin = Instant::now();
        let news = coverage.observe(|| (target.body)(input));
        slowest = slowest.max((begin.elapsed(), input.len()));
        RUNS.fetch_add(1, Ordering::Relaxed);
        news
    };

    let begin = Instant::now();
    for input in corpus(target.name).into_iter().chain([Vec::new()]) {
        attempt(&input, &mut coverage);
        pool.push(input);
    }
    let given = pool.len();
    let mutator = Mutator::new(target.grammar);
    while begin.elapsed() < time {
        // Of two the shorter: long inputs say little more and take most of the time.
        let pair = [random.below(pool.len()), random.below(pool.len())];
        let mut input =
            pair.map(|at| &pool[at]).into_iter().min_by_key(|input| input.len()).cloned().unwrap_or_default();
        let other = random.below(pool.len());
        mutator.mutate(&mut input, &pool[other], &mut random);
        input.truncate(LONGEST);
        if attempt(&input, &mut coverage) {
            if pool.len() < POOL {
                pool.push(input);
            } else {
                let place = given + random.below(POOL - given);
                pool[place] = input;
            }
        }
    }
    println!(
        "seed {seed}, {} runs in {:.1} s, {} edges, {} of {} inputs found, slowest {} us on {} bytes",
        RUNS.load(Ordering::Relaxed),
        begin.elapsed().as_secs_f64(),
        coverage.edges(),
        pool.len() - given,
        pool.len(),
        slowest.0.as_micros(),
        slowest.1,
    );
}

/// The committed inputs of a target, in the order of their names.
fn corpus(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
    files.sort();
    files.iter().filter_map(|file| std::fs::read(file).ok()).collect()
}

fn on_small_stack(job: impl FnOnce() + Send + 'static) -> ExitCode {
    let thread = std::thread::Builder::new().name("fuzz".to_owned()).stack_size(STACK_BYTES).spawn(job);
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

/// Ends the process when one run takes too long.
fn watch_for_hangs() {
    std::thread::spawn(|| {
        let mut seen = RUNS.load(Ordering::Relaxed);
        loop {
            std::thread::sleep(HANG);
            let now = RUNS.load(Ordering::Relaxed);
            if now == seen {
                eprintln!("one run took longer than {} s", HANG.as_secs());
                std::process::exit(3);
            }
            seen = now;
        }
    });
}

/// The file that holds the input under way: its length, then its bytes.
pub struct Current {
    file: File,
    buffer: Vec<u8>,
}

impl Current {
    fn create(path: &Path) -> std::io::Result<Self> {
        Ok(Self { file: File::create(path)?, buffer: Vec::new() })
    }

    fn write(&mut self, input: &[u8]) {
        self.buffer.clear();
        self.buffer.extend_from_slice(&(input.len() as u64).to_le_bytes());
        self.buffer.extend_from_slice(input);
        let written = self.file.seek(SeekFrom::Start(0)).and_then(|_| self.file.write_all(&self.buffer));
        written.expect("the input under way can be written down");
    }

    /// What was under way when a child ended.
    pub fn read(path: &Path) -> std::io::Result<Vec<u8>> {
        let mut length = [0; 8];
        let mut file = File::open(path)?;
        if file.read_exact(&mut length).is_err() {
            return Ok(Vec::new());
        }
        let mut input = Vec::new();
        file.take(u64::from_le_bytes(length)).read_to_end(&mut input)?;
        Ok(input)
    }
}

/// FNV-1a.
pub fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}
