//! From a crate to a small wasm module with its glue: compile, bind, optimise, shorten names.
//!
//! wasm-bindgen names each import after its source and a hash. The names stand in the module and
//! again in the glue, and weigh about 2.4 kB compressed. `wasm-opt` replaces those in the module and
//! prints what it did; [`rename`] applies the same map to the glue.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context, Result, anyhow, bail, ensure};
use sha2::{Digest, Sha256};
use wasm_bindgen_cli_support::Bindgen;

use crate::{paths, run, setup};

/// What to compile: a `cdylib` of this workspace.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) package: &'a str,
    /// The default features are left out.
    pub(crate) features: &'a [&'a str],
    pub(crate) made: Made,
}

/// What a module is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Made {
    /// Size, in every crate.
    Smallest,
    /// Size; the reader of JSON, which long lists go through, for speed. That weighs 1.1 kB, compressed.
    Small,
    /// Speed.
    Fast,
}

/// A module and the glue that instantiates it.
#[derive(Debug)]
pub(crate) struct Module {
    pub(crate) wasm: Vec<u8>,
    /// An ES module, not minified. It exports the bindings, `imports()` (what to instantiate the
    /// module with) and `start(instance)`. Empty for a module without bindings of wasm-bindgen, whose imports and
    /// exports somebody wrote the other side of.
    pub(crate) glue: String,
}

/// Whether functions keep their names, for a listing of where the bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    Short,
    Kept,
}

/// Compiles `source`; writes `<name>.wasm`, and the glue as `<name>.glue.js`, into `folder`.
pub(crate) fn build(source: Source<'_>, name: &str, folder: &Path) -> Result<()> {
    build_all(&[(name, source)], folder)
}

/// Builds several modules: while one is compiled, those before it are bound and optimised.
pub(crate) fn build_all(sources: &[(&str, Source<'_>)], folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    thread::scope(|scope| {
        let mut finishing = Vec::new();
        for (name, source) in sources {
            let compiled = compile(*source, Names::Short)?;
            finishing.push(scope.spawn(move || -> Result<()> {
                let module = finish(*source, &compiled, Names::Short)?;
                fs::write(folder.join(format!("{name}.wasm")), module.wasm)?;
                if !module.glue.is_empty() {
                    fs::write(folder.join(format!("{name}.glue.js")), module.glue)?;
                }
                Ok(())
            }));
        }
        finishing.into_iter().try_for_each(|thread| thread.join().map_err(|_| anyhow!("wasm-bindgen panicked"))?)
    })
}

/// Compiles `source`.
pub(crate) fn module(source: Source<'_>, names: Names) -> Result<Module> {
    finish(source, &compile(source, names)?, names)
}

/// Makes a module of what was compiled. What was made of the same before is used again.
fn finish(source: Source<'_>, compiled: &[u8], names: Names) -> Result<Module> {
    let made = made_of(compiled, names)?;
    let (wasm, glue) = (made.with_extension("wasm"), made.with_extension("glue.js"));
    if let (Ok(wasm), Ok(glue)) = (fs::read(&wasm), fs::read_to_string(&glue)) {
        return Ok(Module { wasm, glue });
    }
    fs::create_dir_all(made.parent().unwrap_or(&made))?;
    let module = bind(source, compiled, names, &made)?;
    fs::write(&wasm, &module.wasm)?;
    fs::write(&glue, &module.glue)?;
    Ok(module)
}

/// Where the module made of a compiled one is kept: a path that changes with all that it depends on.
fn made_of(compiled: &[u8], names: Names) -> Result<PathBuf> {
    let mut hash = Sha256::new();
    hash.update(compiled);
    hash.update(fs::read(std::env::current_exe()?)?);
    hash.update(format!("{names:?} {}", tools()?.display()));
    let name: String = hash.finalize().iter().take(12).map(|byte| format!("{byte:02x}")).collect();
    Ok(paths::target().join("npm/modules").join(name))
}

fn bind(source: Source<'_>, compiled: &[u8], names: Names, work: &Path) -> Result<Module> {
    const BINDINGS: &[u8] = b"__wasm_bindgen_unstable";
    if !compiled.windows(BINDINGS.len()).any(|bytes| bytes == BINDINGS) {
        let (wasm, _) = optimise(compiled, names, Linked::ByHand, work)?;
        return Ok(Module { wasm, glue: String::new() });
    }
    let mut output = Bindgen::new()
        .input_bytes(source.package, compiled.to_vec())
        .web(true)?
        .typescript(false)
        .omit_default_module_path(true)
        .remove_name_section(names == Names::Short)
        .remove_producers_section(true)
        .generate_output()
        .with_context(|| format!("wasm-bindgen refused the module of {}", source.package))?;
    ensure!(
        output.snippets().values().all(Vec::is_empty) && output.local_modules().is_empty(),
        "{}: JavaScript snippets are not part of the glue",
        source.package
    );
    let bound = output.wasm_mut().emit_wasm();
    let glue = open(output.js())?;
    let (wasm, map) = optimise(&bound, names, Linked::ByGlue, work)?;
    let glue = match names {
        Names::Short => rename(&glue, &map)?,
        Names::Kept => glue,
    };
    Ok(Module { wasm, glue })
}

/// The standard library is compiled anew, for size too, and without what a panic would say before it stops the module:
/// nobody hears it. Both together save 4 of 60 kB, compressed.
fn compile(source: Source<'_>, names: Names) -> Result<Vec<u8>> {
    let target = match names {
        Names::Short => paths::target(),
        Names::Kept => paths::target().join("named"),
    };
    let mut cargo = setup::std_cargo()?
        .args(["build", "--quiet", "--profile", "wasm", "--target", setup::TARGET])
        .args(["-Zbuild-std=std,panic_abort", "-Zbuild-std-features=optimize_for_size"])
        .args(["--package", source.package, "--lib", "--no-default-features"])
        .arg(format!("--features={}", source.features.join(",")))
        .arg("--target-dir")
        .arg(&target)
        .env("CARGO_ENCODED_RUSTFLAGS", flags(source.made).join("\u{1f}"));
    let profile = match source.made {
        Made::Smallest => "profile.wasm.package.sandwire-json.opt-level=\"z\"",
        Made::Small => "profile.wasm.package.sandwire-json.opt-level=3",
        Made::Fast => "profile.wasm.opt-level=3",
    };
    cargo = cargo.args(["--config", profile]);
    if names == Names::Kept {
        cargo = cargo.args(["--config", "profile.wasm.strip=\"none\""]);
    }
    cargo.run()?;
    let file = format!("{}.wasm", source.package.replace('-', "_"));
    let file = target.join(setup::TARGET).join("wasm").join(file);
    fs::read(&file).with_context(|| format!("reading {}", file.display()))
}

fn flags(made: Made) -> Vec<String> {
    let mut flags = remaps();
    flags.extend(["-Zunstable-options", "-Cpanic=immediate-abort"].map(str::to_owned));
    if made != Made::Fast {
        // Inlining only what gets smaller by it saves 1.5 kB of 62, compressed.
        flags.push("-Cllvm-args=-inline-threshold=0".to_owned());
    }
    flags
}

/// Panic locations name source files; the folders of this machine tell a user nothing, and weigh.
fn remaps() -> Vec<String> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| {
        let home = std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE"))?;
        Some(PathBuf::from(home).join(".cargo"))
    });
    let registries = home.iter().flat_map(|home| fs::read_dir(home.join("registry/src"))).flatten().flatten();
    let registries: Vec<PathBuf> = registries.map(|entry| entry.path()).collect();
    // The last one that fits is used.
    let folders = [paths::root().to_path_buf()].into_iter().chain(home).chain(registries);
    folders.map(|path| format!("--remap-path-prefix={}/=", path.display())).collect()
}

/// Replaces the glue's own loader, which we do not use, by its two halves.
fn open(glue: &str) -> Result<String> {
    const LOADER: &str = "export { initSync, __wbg_init as default };";
    ensure!(glue.contains(LOADER), "the glue does not end as wasm-bindgen 0.2.130 writes it");
    Ok(glue.replace(LOADER, "export { __wbg_get_imports as imports, __wbg_finalize_init as start };"))
}

/// The old name and the new one.
type Renamed = (String, String);

/// What `wasm-opt` renamed.
#[derive(Debug, Default)]
struct Map {
    /// The module that the imports come from.
    module: String,
    imports: Vec<Renamed>,
    exports: Vec<Renamed>,
}

/// Who knows the names of a module's imports and exports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Linked {
    /// The glue, in which they can be replaced.
    ByGlue,
    /// Code that somebody wrote. They stay.
    ByHand,
}

fn optimise(wasm: &[u8], names: Names, linked: Linked, work: &Path) -> Result<(Vec<u8>, Map)> {
    let (input, output) = (work.with_extension("in.wasm"), work.with_extension("out.wasm"));
    fs::write(&input, wasm)?;
    // The linker puts the stack first, so nothing lives in the lowest kilobyte.
    let command = tool("wasm-opt")?.arg(&input).arg("-o").arg(&output).args(["-Oz", "--low-memory-unused"]);
    let command = match names {
        Names::Short => command.args(["--strip-debug", "--strip-producers", "--strip-target-features"]),
        Names::Kept => command.arg("-g"),
    };
    let renames = names == Names::Short && linked == Linked::ByGlue;
    let map = match renames {
        true => parse_map(&command.arg("--minify-imports-and-exports-and-modules").read()?)?,
        false => command.read().map(|_| Map::default())?,
    };
    let optimised = fs::read(&output)?;
    for file in [input, output] {
        fs::remove_file(file)?;
    }
    Ok((optimised, map))
}

/// The folder with the npm packages that build ours.
pub(crate) fn tools() -> Result<PathBuf> {
    setup::npm("tools")
}

/// A program of the npm packages in `tests/npm/tools`.
pub(crate) fn tool(name: &str) -> Result<run::Run> {
    let script = tools()?.join("node_modules").join(match name {
        "esbuild" => "esbuild/bin/esbuild",
        "tsc" => "typescript/bin/tsc",
        "wasm-opt" => "binaryen/bin/wasm-opt",
        _ => bail!("{name} is not one of the tools"),
    });
    Ok(run::program("node").arg(script))
}

/// Reads `{"imports": [["module", "old", "new"], …], "exports": [["old", "new"], …]}`, which may have
/// trailing commas.
fn parse_map(text: &str) -> Result<Map> {
    let mut map = Map::default();
    for line in text.lines() {
        let words: Vec<&str> = line.split('"').skip(1).step_by(2).collect();
        match words.as_slice() {
            [module, old, new] => {
                ensure!(
                    map.module.is_empty() || map.module == *module,
                    "imports from two modules, {} and {module}",
                    map.module
                );
                map.module = (*module).to_owned();
                map.imports.push(((*old).to_owned(), (*new).to_owned()));
            }
            [old, new] => map.exports.push(((*old).to_owned(), (*new).to_owned())),
            [] | ["imports"] | ["exports"] => {}
            _ => bail!("wasm-opt printed `{line}`"),
        }
    }
    ensure!(!map.imports.is_empty(), "wasm-opt printed no map of names");
    Ok(map)
}

fn rename(glue: &str, map: &Map) -> Result<String> {
    let mut glue = replace_once(glue, &format!("\"{}\": import0", map.module), "\"a\": import0")?;
    for (old, new) in &map.imports {
        glue = replace_once(&glue, &format!("{old}: function("), &format!("{new}: function("))
            .with_context(|| format!("the import `{old}`"))?;
    }
    // Exports are read as members of `wasm`; the longest first, for some are prefixes of others.
    let mut exports: Vec<&Renamed> = map.exports.iter().collect();
    exports.sort_by_key(|(old, _)| std::cmp::Reverse(old.len()));
    for (old, new) in exports {
        glue = glue.replace(&format!("wasm.{old}"), &format!("wasm.\u{0}{new}"));
    }
    if let Some(at) = glue
        .match_indices("wasm.")
        .map(|(at, found)| at + found.len())
        .find(|&at| !glue.get(at..).is_some_and(|rest| rest.starts_with('\u{0}')))
    {
        let rest: String = glue.get(at..).unwrap_or_default().chars().take(40).collect();
        bail!("the glue reads an export that the module lacks: {rest}");
    }
    Ok(glue.replace('\u{0}', ""))
}

fn replace_once(text: &str, old: &str, new: &str) -> Result<String> {
    let found = text.matches(old).count();
    ensure!(found == 1, "`{}` stands {found} times in the glue", old.trim());
    Ok(text.replace(old, new))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = r#"{
 "imports": [
  ["./m_bg.js", "__wbg_now_46", "a"],
  ["./m_bg.js", "__wbg_now_4", "b"],
 ],
"exports": [
  ["memory", "c"],
  ["call", "d"],
  ["call_with", "e"],
 ]
}"#;

    #[test]
    fn names_of_the_module_and_of_the_glue_are_shortened_alike() -> Result<()> {
        let map = parse_map(PRINTED)?;
        let glue = "const import0 = {\n__wbg_now_46: function() {\n},\n__wbg_now_4: function() {\n},\n};\n\
                    return { \"./m_bg.js\": import0, };\nwasm.call(1); wasm.call_with(wasm.memory);";
        let short = rename(glue, &map)?;
        assert_eq!(
            short,
            "const import0 = {\na: function() {\n},\nb: function() {\n},\n};\n\
             return { \"a\": import0, };\nwasm.d(1); wasm.e(wasm.c);"
        );
        Ok(())
    }

    #[test]
    fn an_export_the_module_lacks_is_an_error() -> Result<()> {
        let map = parse_map(PRINTED)?;
        let glue = "\n__wbg_now_46: function(\n__wbg_now_4: function(\"./m_bg.js\": import0 wasm.gone()";
        assert!(rename(glue, &map).is_err());
        Ok(())
    }
}
