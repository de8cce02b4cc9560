//! Servers as processes of their own.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A server that listens on loopback; it ends with this value.
pub struct Listening {
    child: Child,
    pub address: SocketAddr,
}

impl Listening {
    /// Starts a server which prints the port that it took as its first line.
    pub fn start(command: &mut Command) -> Self {
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("the server of a peer starts");
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().expect("its output is piped"));
        output.read_line(&mut line).expect("the server says its port");
        let port: u16 = line.trim().parse().unwrap_or_else(|_| panic!("no port but {line:?}"));
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
