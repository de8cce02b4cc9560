//! The official tests of JSON Schema, which a Python package carries in its sources.

use std::path::PathBuf;
use std::sync::Mutex;

use anyhow::{Context, Result, ensure};

use super::{PYTHON, python};
use crate::{paths, run};

/// The folder in the package's archive; `crates/sandwire-schema/tests` look for it.
const PACKAGE: &str = "jsonschema-4.26.0";

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The folder of the tests in the cache. The archive is the one whose digest is in `tests/python/schema-tests.txt`.
pub fn schema_tests() -> Result<PathBuf> {
    let _guard = ONE_AT_A_TIME.lock();
    let folder = paths::cache().join("schema-tests");
    let tests = folder.join(PACKAGE).join("json/tests");
    if tests.is_dir() {
        return Ok(tests);
    }
    let list = paths::root().join("tests/python/schema-tests.txt");
    println!("setup: the tests of {}", paths::show(&list));
    let python = python(PYTHON)?;
    let fresh = folder.with_extension(format!("{}.tmp", std::process::id()));
    let _ = std::fs::remove_dir_all(&fresh);
    std::fs::create_dir_all(&fresh)?;
    run::program(&python)
        .args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-binary=:all:"])
        .arg("--requirement")
        .arg(&list)
        .arg("--dest")
        .arg(&fresh)
        .read()
        .with_context(|| format!("run `pip download --no-deps --no-binary=:all: -r {}`", paths::show(&list)))?;
    let archive = fresh.join(format!("{PACKAGE}.tar.gz"));
    run::program(&python).args(["-m", "tarfile", "--extract"]).arg(&archive).arg(&fresh).read()?;
    ensure!(fresh.join(PACKAGE).join("json/tests").is_dir(), "{} has no tests", archive.display());
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::rename(&fresh, &folder)?;
    Ok(tests)
}
