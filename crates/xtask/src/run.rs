//! Running other programs.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::paths;

/// One program with its arguments, run in the workspace root unless told otherwise.
#[derive(Debug)]
pub struct Run {
    command: Command,
}

/// How a watched program ended.
#[derive(Debug)]
pub struct Watched {
    /// It exited with status 0.
    pub ok: bool,
    /// It was stopped because its time was over.
    pub timed_out: bool,
    /// What it printed, both streams in order of arrival.
    pub text: String,
}

/// A program that runs until this is dropped.
#[derive(Debug)]
pub struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A program by name.
pub fn program(name: impl AsRef<OsStr>) -> Run {
    let mut command = Command::new(name);
    command.current_dir(paths::root());
    Run { command }
}

/// The cargo that runs this program.
pub fn cargo() -> Run {
    program(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")))
}

impl Run {
    /// Adds an argument.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    /// Adds arguments.
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.command.args(args);
        self
    }

    /// Sets a variable of the environment.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Sets the folder it runs in.
    pub fn dir(mut self, dir: impl AsRef<Path>) -> Self {
        self.command.current_dir(dir);
        self
    }

    /// Runs it with its output on ours; an exit status other than 0 is an error.
    pub fn run(mut self) -> Result<()> {
        let status = self.command.stdin(Stdio::null()).status();
        let status = status.with_context(|| self.cannot_start())?;
        if !status.success() {
            bail!("`{}` failed ({status})", self.line());
        }
        Ok(())
    }

    /// Runs it and gives what it wrote to its standard output; when it fails, the error holds
    /// everything it wrote.
    pub fn read(mut self) -> Result<String> {
        let output = self.command.stdin(Stdio::null()).output();
        let output = output.with_context(|| self.cannot_start())?;
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            let both = format!("{stdout}{stderr}");
            bail!("`{}` failed ({})\n{}", self.line(), output.status, both.trim_end());
        }
        Ok(stdout)
    }

    /// Runs it with its output on ours and kept too, and stops it with all it started when `limit`
    /// is over.
    pub fn watch(mut self, limit: Duration) -> Result<Watched> {
        self.command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut self.command, 0);
        let mut child = self.command.spawn().with_context(|| self.cannot_start())?;
        let (sender, lines) = mpsc::channel();
        forward(child.stdout.take(), sender.clone());
        forward(child.stderr.take(), sender);

        let end = Instant::now() + limit;
        let mut text = String::new();
        let mut timed_out = false;
        loop {
            match lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    print!("{line}");
                    let _ = std::io::stdout().flush();
                    text.push_str(&line);
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    timed_out = true;
                    stop(&mut child);
                    break;
                }
            }
        }
        let status = child.wait()?;
        Ok(Watched { ok: status.success() && !timed_out, timed_out, text })
    }

    /// Runs it with both its outputs in a file, and stops it when `limit` is over. Whether it exited with status 0.
    pub fn log_to(mut self, file: &Path, limit: Duration) -> Result<bool> {
        let log = std::fs::File::create(file)?;
        self.command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let mut child = self.command.spawn().with_context(|| self.cannot_start())?;
        let end = Instant::now() + limit;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status.success());
            }
            if Instant::now() >= end {
                child.kill()?;
                child.wait()?;
                bail!("`{}` was stopped: its time was over", self.line());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Starts it, waits for a line of its standard output in which `find` finds something, and lets it run until the
    /// value is dropped.
    pub fn start<T>(mut self, find: impl Fn(&str) -> Option<T>) -> Result<(Started, T)> {
        self.command.stdin(Stdio::null()).stdout(Stdio::piped());
        let child = self.command.spawn().with_context(|| self.cannot_start())?;
        let mut started = Started(child);
        let lines = BufReader::new(started.0.stdout.take().context("its output is piped")?).lines();
        let mut lines = lines.map_while(Result::ok);
        let found = lines.find_map(|line| find(&line));
        // What it prints later is read, so that it never waits to print it.
        std::thread::spawn(move || lines.for_each(drop));
        Ok((started, found.with_context(|| format!("`{}` did not say where it is", self.line()))?))
    }

    /// The command as a user would type it.
    pub fn line(&self) -> String {
        let words = std::iter::once(self.command.get_program()).chain(self.command.get_args());
        words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    fn cannot_start(&self) -> String {
        format!("cannot start `{}`", self.command.get_program().to_string_lossy())
    }
}

/// Whether a program of this name can be started.
pub fn exists(name: impl AsRef<OsStr>) -> bool {
    program(name).arg("--version").read().is_ok()
}

fn forward(stream: Option<impl Read + Send + 'static>, lines: mpsc::Sender<String>) {
    let Some(stream) = stream else { return };
    std::thread::spawn(move || {
        let mut stream = BufReader::new(stream);
        let mut line = Vec::new();
        while matches!(stream.read_until(b'\n', &mut line), Ok(1..)) {
            if lines.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                break;
            }
            line.clear();
        }
    });
}

/// Ends a child and what it started: on Unix it leads a process group.
fn stop(child: &mut Child) {
    if cfg!(unix) {
        let group = format!("-{}", child.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
    } else {
        let id = child.id().to_string();
        let _ = Command::new("taskkill").args(["/T", "/F", "/PID", &id]).status();
    }
    let _ = child.kill();
}
