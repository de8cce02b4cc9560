//! What a page loads, weighed against the budgets of `crates/sandwire-js/size.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use crate::wasm::{self, Made, Source};
use crate::{pack, paths};

/// Prints the table; fails when a module is above its budget.
///
/// `--where <module>` lists where the bytes of a module are instead.
pub(crate) fn run(args: &[String]) -> Result<()> {
    match args {
        [] => weigh(),
        [flag, module] if flag == "--where" => listing(module),
        _ => bail!("usage: cargo xtask size [--where <module>]"),
    }
}

#[derive(Debug, Default, Clone, Copy)]
struct Weight {
    raw: usize,
    gzip: usize,
    brotli: usize,
}

impl Weight {
    fn of(path: &Path) -> Result<Self> {
        let bytes = fs::read(path).with_context(|| format!("reading {}", path.display()))?;
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        gzip.write_all(&bytes)?;
        let mut brotli = brotli::CompressorWriter::new(Vec::new(), 4096, 11, 22);
        brotli.write_all(&bytes)?;
        Ok(Self { raw: bytes.len(), gzip: gzip.finish()?.len(), brotli: brotli.into_inner().len() })
    }

    fn add(self, other: Self) -> Self {
        Self { raw: self.raw + other.raw, gzip: self.gzip + other.gzip, brotli: self.brotli + other.brotli }
    }
}

fn weigh() -> Result<()> {
    let budgets = budgets()?;
    let package = pack::package()?.join("dist");
    let edge = edge()?;
    println!("{:<28} {:>9} {:>9} {:>9} {:>9} {:>9}", "", "raw", "gzip -9", "brotli 11", "budget", "aim");
    let mut over = Vec::new();
    for (name, table) in &budgets {
        let folder = if name == "edge" { &edge } else { &package };
        let entry = format!("{name}.js");
        let mut javascript = Weight::default();
        for file in loaded(folder, &entry)? {
            javascript = javascript.add(Weight::of(&folder.join(file))?);
        }
        let wasm = Weight::of(&folder.join(format!("{name}.wasm")))?;
        let total = wasm.add(javascript);
        let limit = |key| table.get(key).and_then(toml::Value::as_integer).and_then(|n| usize::try_from(n).ok());
        let budget = limit("gzip").with_context(|| format!("size.toml: {name} has no `gzip`"))?;
        for (part, weight) in [("wasm", wasm), ("JavaScript", javascript)] {
            let part = format!("{name}, {part}");
            println!("{part:<28} {:>9} {:>9} {:>9}", weight.raw, weight.gzip, weight.brotli);
        }
        let aim = limit("aim").map_or_else(String::new, |aim| aim.to_string());
        println!("{name:<28} {:>9} {:>9} {:>9} {budget:>9} {aim:>9}", total.raw, total.gzip, total.brotli);
        if total.gzip > budget {
            over.push(format!("{name} is {} bytes above its budget", total.gzip - budget));
        }
    }
    println!("{} passed, {} failed", budgets.len() - over.len(), over.len());
    ensure!(over.is_empty(), "{}", over.join("; "));
    Ok(())
}

/// The modules of the size file.
fn budgets() -> Result<Vec<(String, toml::Table)>> {
    let path = paths::root().join("crates/sandwire-js/size.toml");
    let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    let file: toml::Table = text.parse()?;
    file.into_iter()
        .map(|(name, value)| match value {
            toml::Value::Table(table) => Ok((name, table)),
            _ => bail!("size.toml: `{name}` is not a table"),
        })
        .collect()
}

/// The server of `tests/edge-server` as an edge module, which is weighed, and as a worker.
pub(crate) const EDGE: &[(&str, Source<'_>)] = &[
    ("edge", Source { package: "edge-server", features: &[], made: Made::Smallest }),
    ("worker", Source { package: "edge-server", features: &["worker"], made: Made::Small }),
];

/// Builds and bundles the modules of [`EDGE`].
pub(crate) fn edge() -> Result<std::path::PathBuf> {
    let sources = paths::root().join("tests/edge-server");
    let work = paths::target().join("npm/edge-work");
    let folder = paths::target().join("npm/edge");
    let _ = fs::remove_dir_all(&folder);
    wasm::build_all(EDGE, &work)?;
    for (name, _) in EDGE {
        let script = format!("{name}.js");
        fs::copy(sources.join(&script), work.join(&script))?;
    }
    pack::bundle(["edge.js", "worker.js"].map(|file| work.join(file)), &folder)?;
    for file in ["edge.wasm", "worker.wasm"] {
        fs::copy(work.join(file), folder.join(file))?;
    }
    Ok(folder)
}

/// A bundled file and the files that it loads with it.
fn loaded(folder: &Path, entry: &str) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    let mut open = vec![entry.to_owned()];
    while let Some(file) = open.pop() {
        let path = folder.join(&file);
        let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        open.extend(
            text.split('"')
                .filter_map(|word| word.strip_prefix("./").filter(|name| name.ends_with(".js")))
                .filter(|name| !found.contains(*name))
                .map(str::to_owned),
        );
        found.insert(file);
    }
    Ok(found)
}

/// Prints the functions and the data of a module, the largest first.
fn listing(module: &str) -> Result<()> {
    let known = pack::ENTRIES.iter().chain(EDGE).find(|(name, _)| *name == module);
    let (_, source) = known.with_context(|| format!("there is no module `{module}`"))?;
    let module = wasm::module(*source, wasm::Names::Kept)?;
    let mut items = items(&module.wasm).context("the module cannot be read")?;
    items.sort_by_key(|(size, _)| std::cmp::Reverse(*size));
    for (size, name) in items {
        println!("{size:>7} {name}");
    }
    Ok(())
}

/// The functions of a wasm module under the names of its name section, and its other sections.
fn items(wasm: &[u8]) -> Option<Vec<(usize, String)>> {
    let (mut sizes, mut names, mut items) = (Vec::new(), BTreeMap::new(), Vec::new());
    let mut imported = 0;
    let mut module = Bytes(wasm.get(8..)?);
    while let Some(id) = module.byte() {
        let mut section = Bytes(module.counted()?);
        match id {
            0 if section.counted()? == b"name" => {
                while let Some(kind) = section.byte() {
                    let mut map = Bytes(section.counted()?);
                    if kind != 1 {
                        continue;
                    }
                    for _ in 0..map.number()? {
                        let index = map.number()?;
                        let name = String::from_utf8_lossy(map.counted()?);
                        names.insert(index, format!("{:#}", rustc_demangle(&name)));
                    }
                }
            }
            0 => {}
            2 => imported = functions_imported(&mut section)?,
            10 => {
                for _ in 0..section.number()? {
                    sizes.push(section.counted()?.len());
                }
            }
            11 => items.push((section.0.len(), "(data)".to_owned())),
            _ => items.push((section.0.len(), format!("(section {id})"))),
        }
    }
    for (index, size) in sizes.into_iter().enumerate() {
        let name = names.remove(&(imported + index)).unwrap_or_else(|| format!("function {index}"));
        items.push((size, name));
    }
    Some(items)
}

fn functions_imported(section: &mut Bytes<'_>) -> Option<usize> {
    let mut functions = 0;
    for _ in 0..section.number()? {
        section.counted()?;
        section.counted()?;
        if section.byte()? != 0 {
            return None;
        }
        section.number()?;
        functions += 1;
    }
    Some(functions)
}

/// The path of a mangled symbol, without its hash.
fn rustc_demangle(symbol: &str) -> String {
    let Some(mut rest) = symbol.strip_prefix("_ZN") else {
        return symbol.to_owned();
    };
    let mut path: Vec<&str> = Vec::new();
    loop {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
        let Ok(length) = rest.get(..digits).unwrap_or_default().parse::<usize>() else {
            break;
        };
        let Some(part) = rest.get(digits..digits + length) else {
            break;
        };
        path.push(part);
        rest = rest.get(digits + length..).unwrap_or_default();
    }
    if path.last().is_some_and(|last| last.len() == 17 && last.starts_with('h')) {
        path.pop();
    }
    path.join("::").replace("$LT$", "<").replace("$GT$", ">").replace("$u20$", " ").replace("..", "::")
}

struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn number(&mut self) -> Option<usize> {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = self.byte()?;
            value |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
            shift += 7;
        }
    }

    fn counted(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(head)
    }
}
