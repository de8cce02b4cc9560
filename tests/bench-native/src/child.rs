//! Servers as processes of their own.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A server that listens on loopback; it ends with this value.
pub struct Listening {
    child: Child,
    pub address: SocketAddr,
}

impl Listening {
    /// Starts a server that prints a line which ends in the port that it took.
    pub fn start(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("a peer's server starts");
        let output = child.stdout.take().expect("its output is piped");
        Self::told(child, output)
    }

    /// The same for one that tells standard error.
    pub fn start_telling(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().expect("our server starts");
        let output = child.stderr.take().expect("its output is piped");
        Self::told(child, output)
    }

    fn told(child: Child, output: impl Read + Send + 'static) -> Self {
        let mut output = BufReader::new(output);
        let port = loop {
            let mut line = String::new();
            let length = output.read_line(&mut line).expect("the server says its port");
            assert!(length > 0, "the server said no port");
            let number = line.trim().trim_end_matches('/').rsplit(':').next().unwrap_or_default();
            if let Ok(port) = number.parse::<u16>() {
                break port;
            }
        };
        // Kept open, so that a server which prints more does not fail.
        std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
        Self { child, address: SocketAddr::from(([127, 0, 0, 1], port)) }
    }

    /// The memory that is resident, in bytes.
    pub fn resident(&self) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("Linux tells of memory");
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line on resident memory");
        let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number of kilobytes");
        kilobytes * 1024
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// This program in another role.
pub fn own(role: &str) -> Command {
    let mut command = Command::new(own_path());
    command.arg(role);
    command
}

/// Where this program is.
pub fn own_path() -> PathBuf {
    std::env::current_exe().expect("a program knows where it is")
}
