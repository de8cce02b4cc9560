//! What each crate promises, as text in `crates/<name>/api.txt`: a change of the public interface is
//! a change that a reader of the diff sees.

mod module;
mod surface;

use std::fs;

use anyhow::{Context, Result, bail, ensure};

use crate::paths;
use crate::tidy::LAYERS;

/// Compares every crate with its snapshot, or with `--bless` writes them anew.
pub fn run(args: &[String]) -> Result<()> {
    let bless = match args {
        [] => false,
        [flag] if flag == "--bless" => true,
        _ => bail!("usage: cargo xtask api [--bless]"),
    };
    let mut differing = 0;
    for known in LAYERS {
        let folder = paths::root().join("crates").join(known.name);
        let file = folder.join("api.txt");
        let now = surface::of(&folder, known.name)?;
        let before = fs::read_to_string(&file).unwrap_or_default();
        if now == before {
            continue;
        }
        differing += 1;
        println!("{}:\n{}", paths::show(&file), difference(&before, &now));
        if bless {
            fs::write(&file, now).with_context(|| format!("writing {}", file.display()))?;
        }
    }
    if bless {
        return Ok(());
    }
    println!("{} passed, {differing} failed", LAYERS.len() - differing);
    ensure!(differing == 0, "if this is meant, run `cargo xtask api --bless`");
    Ok(())
}

/// The lines that only one side has.
fn difference(before: &str, now: &str) -> String {
    let only = |sign: char, these: &str, those: &str| {
        let those: std::collections::HashSet<_> = those.lines().collect();
        let lines = these.lines().filter(|line| !line.trim().is_empty() && !those.contains(line));
        lines.map(|line| format!("{sign} {line}\n")).collect::<String>()
    };
    let text = only('-', before, now) + &only('+', now, before);
    if text.is_empty() { "  the same lines in another order\n".to_owned() } else { text }
}
