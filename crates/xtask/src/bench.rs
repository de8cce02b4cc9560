//! Our latencies beside those of the peers, measured side by side in one run, and what they must be.
//!
//! Times on a shared machine mean little, ratios of alternating rounds mean more: each row runs once
//! per round, the median of the rounds is compared.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::run::{self, Run};
use crate::{pack, paths, setup, wasm};

const USAGE: &str = "usage: cargo xtask bench [--json] [--check] [--quick] [memory] [node] [native]";

/// What was asked for.
#[derive(Debug, Default)]
struct Options {
    json: bool,
    /// A missed requirement is an error.
    check: bool,
    /// Short rounds: shows that everything runs.
    quick: bool,
    memory: bool,
    node: bool,
    native: bool,
}

/// One subject and its rounds, in microseconds a call unless it says otherwise.
#[derive(Debug, Default)]
struct Row {
    what: String,
    unit: Option<String>,
    rounds: Vec<f64>,
}

impl Row {
    fn median(&self) -> f64 {
        let mut sorted = self.rounds.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
    }

    /// The distance between the slowest and the fastest round, as a share of the median.
    fn spread(&self) -> f64 {
        let least = self.rounds.iter().copied().fold(f64::INFINITY, f64::min);
        let most = self.rounds.iter().copied().fold(0.0, f64::max);
        (most - least) / self.median()
    }
}

type Rows = BTreeMap<String, Row>;

/// How a row of ours must compare with a row of a peer.
#[derive(Debug)]
struct Comparison {
    ours: &'static str,
    /// Nobody, where the figure itself counts.
    peer: Option<&'static str>,
    measure: Measure,
    required: Option<f64>,
    aim: Option<f64>,
}

#[derive(Debug, Clone, Copy)]
enum Measure {
    /// The peer's time over ours: this or more.
    TimesFaster,
    /// Our time over the peer's: this or less.
    Share,
    /// Our figure: this or less.
    Figure,
}

impl Comparison {
    const fn faster(ours: &'static str, peer: &'static str, required: Option<f64>, aim: Option<f64>) -> Self {
        Self { ours, peer: Some(peer), measure: Measure::TimesFaster, required, aim }
    }

    const fn share(ours: &'static str, peer: &'static str, required: Option<f64>, aim: Option<f64>) -> Self {
        Self { ours, peer: Some(peer), measure: Measure::Share, required, aim }
    }

    const fn at_most(ours: &'static str, required: f64) -> Self {
        Self { ours, peer: None, measure: Measure::Figure, required: Some(required), aim: None }
    }
}

/// What the figures in one native process have to be. `rmcp` goes through a byte duplex; we hand messages over where
/// both ends are in one process, and go through a byte pipe in the rows that say so.
const MEMORY: &[Comparison] = &[
    Comparison::faster("memory", "rmcp", Some(10.0), None),
    Comparison::faster("memory_legacy", "rmcp", Some(10.0), None),
    Comparison::faster("joined", "rmcp", Some(7.0), Some(9.0)),
    Comparison::faster("joined_legacy", "rmcp", Some(7.0), Some(9.0)),
    Comparison::faster("pipe", "rmcp", Some(4.0), None),
    Comparison::faster("pipe_legacy", "rmcp", Some(4.0), None),
];

/// What the figures in Node have to be, in the same era on both sides.
const NODE: &[Comparison] = &[
    Comparison::faster("wasm_memory", "ts2_memory", Some(10.0), None),
    Comparison::faster("wasm_port", "ts2_memory", Some(1.0), None),
    Comparison::share("js_legacy_call", "ts2_call", Some(0.75), None),
    Comparison::share("js_legacy_list", "ts2_list", Some(0.6), None),
    Comparison::share("js_call", "ts2_modern_call", Some(0.75), None),
    Comparison::share("js_list", "ts2_modern_list", Some(0.6), None),
    Comparison::share("js_legacy_call", "ts1_call", None, Some(1.0)),
    Comparison::share("js_legacy_list", "ts1_list", None, Some(1.0)),
    // The eras that both speak unless told otherwise: ours the modern one, with more in every message.
    Comparison::share("js_call", "ts2_call", None, Some(0.75)),
    Comparison::share("js_list", "ts2_list", None, Some(0.6)),
];

/// What the figures between processes have to be.
const NATIVE: &[Comparison] = &[
    Comparison::faster("stdio", "rmcp_stdio", Some(2.0), Some(3.0)),
    Comparison::faster("stdio", "rmcp_pipes", None, Some(2.0)),
    Comparison::faster("stdio_thread", "rmcp_stdio", None, Some(2.0)),
    Comparison::faster("http", "rmcp_http", Some(1.2), Some(1.5)),
    Comparison::faster("http", "axum_http", None, Some(0.85)),
    Comparison::share("rows", "parse_rows", Some(1.5), None),
    Comparison::share("rows_http", "parse_rows", Some(1.5), None),
    Comparison::share("rows", "parse_rows_typed", None, Some(1.5)),
    Comparison::share("rows_http", "parse_rows_typed", None, Some(1.5)),
    Comparison::share("text", "parse_text", None, Some(1.5)),
    Comparison::share("text_http", "parse_text", None, Some(1.5)),
    Comparison::at_most("session", 4096.0),
];

/// Measures, and prints a table or, with `--json`, one JSON document.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let options = parse(args)?;
    let mut rows = Rows::new();
    let mut compared = Vec::new();
    if options.memory {
        add(&mut rows, &memory(&options)?, 1e-3)?;
        compared.extend(compare(MEMORY, &rows)?);
    }
    if options.node {
        add(&mut rows, &node(&options)?, 1.0)?;
        compared.extend(compare(NODE, &rows)?);
    }
    if options.native {
        add(&mut rows, &native(&options)?, 1e-3)?;
        compared.extend(compare(NATIVE, &rows)?);
    }
    if options.json {
        println!("{}", document(&rows, &compared));
    } else {
        print!("{}", table(&rows, &compared));
    }
    let missed = compared.iter().filter(|compared| compared.misses()).count();
    if options.check && missed > 0 {
        bail!("{missed} of the required ratios are missed");
    }
    Ok(())
}

/// A comparison and how it came out.
#[derive(Debug)]
struct Compared {
    comparison: &'static Comparison,
    ratio: f64,
}

impl Compared {
    fn meets(&self, wanted: f64) -> bool {
        match self.comparison.measure {
            Measure::TimesFaster => self.ratio >= wanted,
            Measure::Share | Measure::Figure => self.ratio <= wanted,
        }
    }

    fn misses(&self) -> bool {
        self.comparison.required.is_some_and(|wanted| !self.meets(wanted))
    }
}

/// Compares what was measured; a row that is missing is an error.
fn compare(comparisons: &'static [Comparison], rows: &Rows) -> Result<Vec<Compared>> {
    let median = |key| match rows.get(key) {
        Some(row) if !row.rounds.is_empty() => Ok(row.median()),
        _ => bail!("the bench measured no `{key}`"),
    };
    comparisons
        .iter()
        .map(|comparison| {
            let ours = median(comparison.ours)?;
            let peer = comparison.peer.map_or(Ok(1.0), median)?;
            let ratio = match comparison.measure {
                Measure::TimesFaster => peer / ours,
                Measure::Share | Measure::Figure => ours / peer,
            };
            Ok(Compared { comparison, ratio })
        })
        .collect()
}

fn parse(args: &[String]) -> Result<Options> {
    let mut options = Options::default();
    for arg in args {
        match arg.as_str() {
            "--json" => options.json = true,
            "--check" => options.check = true,
            "--quick" => options.quick = true,
            "memory" => options.memory = true,
            "node" => options.node = true,
            "native" => options.native = true,
            _ => bail!(USAGE),
        }
    }
    if !options.memory && !options.node && !options.native {
        (options.memory, options.node) = (true, true);
    }
    Ok(options)
}

/// Both ends in one process.
fn memory(options: &Options) -> Result<Value> {
    let program = program("bench", "sandwire-bench")?;
    let (rounds, milliseconds) = if options.quick { ("1", "20") } else { ("5", "500") };
    eprintln!("measuring in memory");
    let text = program.args([rounds, milliseconds]).read()?;
    serde_json::from_str(&text).context("reading what the bench in memory printed")
}

/// Both ends in processes of their own.
fn native(options: &Options) -> Result<Value> {
    let (npm, python) = (setup::npm("native")?, setup::python(setup::PYTHON)?);
    let program = program("bench-native", "sandwire-bench-native")?;
    let (rounds, milliseconds) = if options.quick { ("1", "50") } else { ("7", "1000") };
    eprintln!("measuring between processes");
    let text = program.args([rounds, milliseconds]).arg(npm).arg(python).read()?;
    serde_json::from_str(&text).context("reading what the native bench printed")
}

/// A bench crate's program. It has its own lock file and is compiled for nothing else.
fn program(folder: &str, name: &str) -> Result<Run> {
    let target = paths::target().join(folder);
    eprintln!("building tests/{folder}, rmcp included: some minutes the first time");
    run::cargo()
        .args(["build", "--quiet", "--release", "--locked"])
        .arg(format!("--manifest-path=tests/{folder}/Cargo.toml"))
        .arg("--target-dir")
        .arg(&target)
        .run()?;
    Ok(run::program(target.join("release").join(name)))
}

fn node(options: &Options) -> Result<Value> {
    let folder = node_folder()?;
    let (rounds, seconds) = if options.quick { ("1", "0.02") } else { ("5", "0.5") };
    eprintln!("measuring in Node");
    let text = run::program("node").args(["main.mjs", "--rounds", rounds, "--seconds", seconds]).dir(&folder).read()?;
    serde_json::from_str(&text).context("reading what the Node bench printed")
}

/// The programs beside a `node_modules` that holds the peers and our packed package.
fn node_folder() -> Result<PathBuf> {
    let peers = setup::npm("bench")?;
    let package = pack::package()?;
    let folder = paths::target().join("bench/node");
    let _ = fs::remove_dir_all(&folder);
    let modules = folder.join("node_modules");
    fs::create_dir_all(&modules)?;
    for entry in fs::read_dir(peers.join("node_modules"))? {
        let entry = entry?;
        link(entry.path(), modules.join(entry.file_name()))?;
    }
    pack::copy(&package, &modules.join("sandwire"))?;
    let server = wasm::Source { package: "edge-server", features: &["worker"], made: wasm::Made::Small };
    let pair = wasm::Source { package: "bench-pair", features: &[], made: wasm::Made::Fast };
    for source in [server, pair] {
        wasm::build(source, source.package, &folder)?;
    }
    for entry in fs::read_dir(paths::root().join("tests/bench/node"))? {
        let entry = entry?;
        fs::copy(entry.path(), folder.join(entry.file_name()))?;
    }
    Ok(folder)
}

#[cfg(unix)]
fn link(original: PathBuf, link: PathBuf) -> Result<()> {
    Ok(std::os::unix::fs::symlink(original, link)?)
}

#[cfg(windows)]
fn link(original: PathBuf, link: PathBuf) -> Result<()> {
    Ok(std::os::windows::fs::symlink_dir(original, link)?)
}

/// Takes over the rows of one program; `unit` is its unit in microseconds, for rows that are times.
fn add(rows: &mut Rows, document: &Value, unit: f64) -> Result<()> {
    let list = document.get("rows").and_then(Value::as_array).context("a bench printed no rows")?;
    for row in list {
        let text = |key| row.get(key).and_then(Value::as_str).context("a row without a name");
        let own = row.get("unit").and_then(Value::as_str).filter(|own| *own != "ns").map(str::to_owned);
        let unit = if own.is_some() { 1.0 } else { unit };
        let rounds = row.get("rounds").and_then(Value::as_array).into_iter().flatten();
        let rounds = rounds.filter_map(Value::as_f64).map(|time| time * unit).collect();
        let what = text("what")?.to_owned();
        rows.insert(text("key")?.to_owned(), Row { what, unit: own, rounds });
    }
    Ok(())
}

fn table(rows: &Rows, compared: &[Compared]) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{:<18} {:>12} {:>10} {:>8}  what", "row", "us a call", "calls/s", "spread");
    for (key, row) in rows {
        let (median, spread) = (row.median(), row.spread() * 100.0);
        let (rate, unit) = match &row.unit {
            None => (format!("{:.0}", 1e6 / median), String::new()),
            Some(unit) => (String::new(), format!(" ({unit})")),
        };
        let _ = writeln!(text, "{key:<18} {median:>12.3} {rate:>10} {spread:>6.0} %  {}{unit}", row.what);
    }
    let _ = writeln!(text, "\n{:<18} {:<16} {:>18}  required, aim", "ours", "peer", "ratio");
    for one in compared {
        let Comparison { ours, peer, measure, required, aim } = one.comparison;
        let shown = match measure {
            Measure::TimesFaster => format!("{:.2} times faster", one.ratio),
            Measure::Share => format!("{:.2} of its time", one.ratio),
            Measure::Figure => format!("{:.0}", one.ratio),
        };
        let _ = write!(text, "{ours:<18} {:<16} {shown:>18}", peer.unwrap_or("-"));
        for (kind, wanted) in [("required", *required), ("aim", *aim)] {
            let Some(wanted) = wanted else { continue };
            let verdict = if one.meets(wanted) { "met" } else { "MISSED" };
            let _ = write!(text, "  {kind} {wanted}: {verdict}");
        }
        text.push('\n');
    }
    text
}

fn document(rows: &Rows, compared: &[Compared]) -> Value {
    let rows: Vec<Value> = rows
        .iter()
        .map(|(key, row)| {
            json!({
                "key": key, "what": row.what, "unit": row.unit.as_deref().unwrap_or("us"), "rounds": row.rounds,
                "median": row.median(), "spread": row.spread(),
            })
        })
        .collect();
    let compared: Vec<Value> = compared
        .iter()
        .map(|one| {
            let verdict =
                |wanted: Option<f64>| wanted.map(|wanted| json!({ "ratio": wanted, "met": one.meets(wanted) }));
            json!({
                "ours": one.comparison.ours, "peer": one.comparison.peer, "ratio": one.ratio,
                "measure": match one.comparison.measure {
                    Measure::TimesFaster => "peer / ours, at least",
                    Measure::Share => "ours / peer, at most",
                    Measure::Figure => "ours, at most",
                },
                "required": verdict(one.comparison.required), "aim": verdict(one.comparison.aim),
            })
        })
        .collect();
    json!({ "rows": rows, "comparisons": compared })
}

#[cfg(test)]
mod tests {
    use super::*;

    static FASTER: [Comparison; 1] = [Comparison::faster("memory", "rmcp", Some(10.0), Some(13.0))];
    static SHARE: [Comparison; 1] = [Comparison::share("js_call", "ts2_call", Some(0.75), None)];
    static FIGURE: [Comparison; 1] = [Comparison::at_most("session", 4096.0)];

    fn rows(pairs: &[(&str, f64)]) -> Rows {
        let row = |median: f64| Row { rounds: vec![median * 2.0, median, median / 2.0], ..Row::default() };
        pairs.iter().map(|(key, median)| ((*key).to_owned(), row(*median))).collect()
    }

    #[test]
    fn medians_are_compared() -> Result<()> {
        let rows = rows(&[("memory", 1.0), ("rmcp", 12.0), ("js_call", 3.0), ("ts2_call", 4.0)]);
        for one in compare(&FASTER, &rows)? {
            assert_eq!(one.ratio, 12.0);
            assert!(!one.misses() && !one.meets(13.0));
        }
        for one in compare(&SHARE, &rows)? {
            assert_eq!(one.ratio, 0.75);
            assert!(!one.misses() && !one.meets(0.74));
        }
        Ok(())
    }

    #[test]
    fn a_figure_can_be_required_by_itself() -> Result<()> {
        for (bytes, misses) in [(4096.0, false), (4097.0, true)] {
            let compared = compare(&FIGURE, &rows(&[("session", bytes)]))?;
            assert!(compared.iter().all(|one| one.misses() == misses));
        }
        Ok(())
    }

    #[test]
    fn a_row_that_was_not_measured_is_an_error() {
        let error = compare(&FASTER, &rows(&[("memory", 1.0)])).map(drop);
        assert!(error.is_err_and(|error| error.to_string().contains("`rmcp`")));
    }

    #[test]
    fn every_comparison_wants_something() {
        let mut all = MEMORY.iter().chain(NODE).chain(NATIVE);
        assert!(all.all(|one| one.required.is_some() || one.aim.is_some()));
    }
}
