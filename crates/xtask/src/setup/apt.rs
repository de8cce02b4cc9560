//! Packages of the system, where it is Debian's kind and we are allowed to.

use anyhow::{Result, bail};

use crate::run;

/// Installs a package. The error is one line that says what to run by hand.
pub fn install(package: &str, advice: &str) -> Result<()> {
    if !run::exists("apt-get") {
        bail!("{advice}");
    }
    println!("setup: apt-get install {package}");
    let refused = [&["update"][..], &["install", "-y", "--no-install-recommends", package]]
        .into_iter()
        .find_map(|step| apt_get(step).err());
    match refused {
        None => Ok(()),
        Some(error) => {
            let said = format!("{error:#}");
            bail!("{advice} (apt-get said: {})", said.lines().last().unwrap_or("nothing"))
        }
    }
}

fn apt_get(step: &[&str]) -> Result<()> {
    let root = run::program("id").arg("-u").read().is_ok_and(|id| id.trim() == "0");
    let apt = if root { run::program("apt-get") } else { run::program("sudo").args(["-n", "apt-get"]) };
    apt.env("DEBIAN_FRONTEND", "noninteractive").args(["-q", "-oDPkg::Lock::Timeout=300"]).args(step).read().map(drop)
}
