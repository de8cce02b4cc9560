//! A server that may have few descriptors open.
#![cfg(unix)]
#![allow(missing_docs, clippy::unwrap_used)]

use executors::unsettled;
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Stdio},
    time::Duration,
};

/// A server that a shell starts after `limit`, and its address.
fn limited(limit: &str) -> (Ended, String) {
    let script = format!("{limit}; exec \"$0\" tools http");
    let mut command = unsettled("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_peer")]).stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(process.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim_end().trim_end_matches('/').rsplit('/').next().unwrap().to_owned();
    (Ended(process), address)
}

/// Killed at the end of a test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn connect(address: &str) -> TcpStream {
    let socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    socket
}

/// The status of an answer after a hundred connections that ask for nothing.
fn status_in_a_crowd(address: &str) -> String {
    let _crowd: Vec<_> = (0..100).map(|_| connect(address)).collect();
    let mut client = connect(address);
    client.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    let _ = client.read_to_string(&mut answer);
    answer.split(' ').nth(1).unwrap_or_default().to_owned()
}

#[test]
fn who_finds_no_descriptor_left_is_told_so() {
    let (_server, address) = limited("ulimit -n 64");
    assert_eq!(status_in_a_crowd(&address), "503");
}

#[test]
fn a_low_limit_is_raised_where_it_may_be() {
    let (_server, address) = limited("ulimit -Sn 64");
    assert_eq!(status_in_a_crowd(&address), "406");
}
