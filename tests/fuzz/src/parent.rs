//! Starts a process for each target, watches it, and says how it ended.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::Options;
use crate::child::{self, Current};
use crate::targets::Target;

/// How one target ended.
struct Verdict {
    failed: bool,
    text: String,
}

pub fn run(options: &Options) -> ExitCode {
    let next = AtomicUsize::new(0);
    let failures = AtomicUsize::new(0);
    let output = Mutex::new(());
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.min(options.targets.len()) {
            scope.spawn(|| {
                while let Some(target) = options.targets.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let verdict = fuzz(target, options);
                    failures.fetch_add(usize::from(verdict.failed), Ordering::Relaxed);
                    let _whole = output.lock();
                    println!("{}", verdict.text);
                }
            });
        }
    });
    let failed = failures.into_inner();
    println!("{} passed, {failed} failed", options.targets.len() - failed);
    ExitCode::from(u8::from(failed > 0))
}

fn fuzz(target: &Target, options: &Options) -> Verdict {
    match try_fuzz(target, options) {
        Ok(verdict) => verdict,
        Err(error) => Verdict { failed: true, text: format!("fuzz {} ... FAILED: {error}", target.name) },
    }
}

fn try_fuzz(target: &Target, options: &Options) -> std::io::Result<Verdict> {
    let folder = crash_folder()?;
    let current = folder.join(format!("{}.{}.current", target.name, std::process::id()));
    let ended = Command::new(std::env::current_exe()?)
        .arg("--child")
        .arg(&current)
        .args(["--seconds", &options.time.as_secs().to_string()])
        .args(["--seed", &options.seed.to_string()])
        .arg(target.name)
        .stdin(Stdio::null())
        .output()?;
    let said = String::from_utf8_lossy(&ended.stdout);
    let summary = said.lines().last().unwrap_or_default();
    let verdict = if ended.status.success() {
        Verdict { failed: false, text: format!("fuzz {} ... ok ({summary})", target.name) }
    } else {
        let input = Current::read(&current)?;
        let file = folder.join(format!("{}-{:016x}", target.name, child::fingerprint(&input)));
        std::fs::write(&file, &input)?;
        let complaint = String::from_utf8_lossy(&ended.stderr);
        Verdict {
            failed: true,
            text: format!(
                "fuzz {name} ... FAILED ({status}, seed {seed}, {bytes} bytes of input)\n{complaint}\
                 replay: cargo run --release -- --replay {file} {name}",
                name = target.name,
                status = ended.status,
                seed = options.seed,
                bytes = input.len(),
                file = show(&file),
            ),
        }
    };
    let _ = std::fs::remove_file(&current);
    Ok(verdict)
}

/// Where inputs that crashed are kept: beside what was built.
fn crash_folder() -> std::io::Result<PathBuf> {
    let folder = std::env::current_exe()?.parent().map_or_else(std::env::temp_dir, Path::to_path_buf).join("crashes");
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

fn show(file: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    file.strip_prefix(&here).unwrap_or(file).display().to_string()
}
