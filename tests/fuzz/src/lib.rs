//! Drives the fuzz bodies: `cargo run --release -- --seconds 10` in this folder.
//!
//! Every target runs in a process of its own. The generator is seeded, keeps what reaches new code,
//! and writes each input down before it runs, so that a crash of any kind leaves it behind.

mod child;
mod coverage;
mod json;
mod machines;
mod mutate;
mod parent;
mod random;
mod targets;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use targets::{TARGETS, Target};

const USAGE: &str = "\
usage: sandwire-fuzz [--seconds N] [--seed N] [--jobs N] [TARGET...]
       sandwire-fuzz --replay FILE TARGET
       sandwire-fuzz --list
       sandwire-fuzz --steps N [--seed N|any] [--faults]
           so many random steps of a client's machine and a server's; with mistakes seeded into them, which must be found
";

/// What was asked for.
#[derive(Debug)]
struct Options {
    time: Duration,
    seed: u64,
    jobs: usize,
    replay: Option<PathBuf>,
    /// Set by the parent: the file that holds the input under way.
    child: Option<PathBuf>,
    targets: Vec<&'static Target>,
    /// How many steps of the machines to take, in place of fuzzing.
    steps: Option<u64>,
    /// Whether mistakes are seeded into them.
    faults: bool,
}

/// The program.
pub fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        for target in TARGETS {
            println!("{}", target.name);
        }
        return ExitCode::SUCCESS;
    }
    let options = match parse(&arguments) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("error: {error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match options.steps {
        Some(steps) if options.faults => return machines::run_with_faults(steps, options.seed),
        Some(steps) => return machines::run(steps, options.seed),
        None => {}
    }
    match (&options.child, &options.replay, options.targets.as_slice()) {
        (Some(current), _, [target]) => child::run(target, &options, current),
        (None, Some(file), [target]) => child::replay(target, file),
        (None, None, _) => parent::run(&options),
        _ => {
            eprintln!("error: name one target\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn parse(arguments: &[String]) -> Result<Options, String> {
    let mut options = Options {
        time: Duration::from_secs(10),
        seed: 1,
        jobs: std::thread::available_parallelism().map_or(1, usize::from),
        replay: None,
        child: None,
        targets: Vec::new(),
        steps: None,
        faults: false,
    };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("`{argument}` needs a value"));
        let number = |text: &String| text.parse::<u64>().map_err(|_| format!("`{text}` is not a number"));
        match argument.as_str() {
            "--seconds" => options.time = Duration::from_secs(number(value()?)?),
            "--seed" => {
                options.seed = match value()?.as_str() {
                    "any" => {
                        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
                        since.map_or(1, |since| since.as_micros() as u64)
                    }
                    text => number(&text.to_owned())?,
                };
            }
            "--jobs" => options.jobs = number(value()?)?.max(1) as usize,
            "--steps" => options.steps = Some(number(value()?)?),
            "--faults" => options.faults = true,
            "--replay" => options.replay = Some(value()?.into()),
            "--child" => options.child = Some(value()?.into()),
            flag if flag.starts_with('-') => return Err(format!("there is no option `{flag}`")),
            name => options
                .targets
                .push(targets::find(name).ok_or_else(|| format!("there is no target `{name}`; --list lists them"))?),
        }
    }
    if options.targets.is_empty() {
        options.targets = TARGETS.iter().collect();
    }
    Ok(options)
}
