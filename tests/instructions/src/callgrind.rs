//! Counting with valgrind's callgrind, which runs the program on a processor of its own making.

use std::process::Command;

const WARM_UP: u64 = 20;
const RUNS: u64 = 50;

/// Runs `path` so that callgrind sees only warm runs.
pub fn count(path: &mut dyn FnMut()) {
    for _ in 0..WARM_UP {
        path();
    }
    sandwire_counted(path);
}

/// Callgrind counts from the entry of this function to its end.
#[inline(never)]
#[unsafe(no_mangle)]
fn sandwire_counted(path: &mut dyn FnMut()) {
    for _ in 0..RUNS {
        path();
    }
}

/// Instructions of one run of the path of that name, which this same program runs under callgrind.
pub fn measure(name: &str) -> Result<u64, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let file = std::env::temp_dir().join(format!("sandwire-instructions-{}", std::process::id()));
    let ended = Command::new("valgrind")
        .arg("--tool=callgrind")
        .arg("--toggle-collect=sandwire_counted")
        .arg(format!("--callgrind-out-file={}", file.display()))
        .arg(program)
        .args(["--run", name])
        .output()
        .map_err(|_| "valgrind is missing: run `apt-get install valgrind`")?;
    let profile = std::fs::read_to_string(&file).unwrap_or_default();
    let _ = std::fs::remove_file(&file);
    if !ended.status.success() {
        return Err(String::from_utf8_lossy(&ended.stderr).into_owned());
    }
    let total = profile
        .lines()
        .find_map(|line| line.strip_prefix("totals: "))
        .and_then(|total| total.trim().parse::<u64>().ok())
        .filter(|total| *total > 0)
        .ok_or("callgrind wrote no total")?;
    Ok(total / RUNS)
}
