//! Where things are: the checkout, cargo's target folder, the cache.

use std::path::{Path, PathBuf};

/// The root of the workspace.
pub fn root() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.ancestors().nth(2).unwrap_or(xtask)
}

/// Cargo's target folder, where everything built goes.
pub fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) if !dir.is_empty() => root().join(dir),
        _ => root().join("target"),
    }
}

/// Where set-up keeps what it installed: `SANDWIRE_CACHE`, else the user's cache folder.
pub fn cache() -> PathBuf {
    if let Some(dir) = folder("SANDWIRE_CACHE") {
        return root().join(dir);
    }
    folder("XDG_CACHE_HOME")
        .or_else(|| folder("LOCALAPPDATA"))
        .or_else(|| folder("HOME").map(|home| home.join(".cache")))
        .unwrap_or_else(std::env::temp_dir)
        .join("sandwire")
}

/// The official schemas and examples, which some tests compare with: `SANDWIRE_SPEC`, else a folder beside the
/// checkout.
pub fn spec() -> PathBuf {
    folder("SANDWIRE_SPEC").map_or_else(|| root().join("../shared/spec"), |dir| root().join(dir))
}

/// A path as a reader of the output likes it: relative to the checkout where it is inside.
pub fn show(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

fn folder(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}
