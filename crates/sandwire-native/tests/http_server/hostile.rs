//! Clients that mean no good. Somebody who does is answered all the time, and memory stays what it was.

use std::{
    io::{ErrorKind, Read, Write},
    time::{Duration, Instant},
};

use crate::{
    client::Client,
    service::{Event, MOST},
    stage::{Stage, quick},
};
use sandwire_native::http::Limits;

/// How much memory the process may take at most while others attack: the clients' and the harness's included.
const MEMORY_KB: u64 = 128 * 1024;

/// The most memory that the process ever had, where the system says.
fn peak_kb() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

fn assert_small() {
    if let Some(peak) = peak_kb() {
        assert!(peak < MEMORY_KB, "{peak} kB");
    }
}

/// Sends until the server takes no more, or `most` bytes are gone; how many went.
fn pour(client: &mut Client, piece: &[u8], most: usize) -> usize {
    client.socket.set_write_timeout(Some(Duration::from_secs(5))).unwrap();
    let mut sent = 0;
    while sent < most {
        match client.socket.write(piece) {
            Ok(bytes) => sent += bytes,
            Err(_) => break,
        }
    }
    sent
}

#[test]
fn a_thousand_slow_clients_wait_for_themselves_alone() {
    sandwire_native::raise_descriptor_limit();
    let stage = Stage::with(Limits { head_time: Duration::from_secs(2), ..quick() });
    let mut slow = Vec::new();
    let began = Instant::now();
    for index in 0..1000 {
        // As many as there are descriptors for.
        let Ok(socket) = std::net::TcpStream::connect(stage.address) else { break };
        let mut client = Client::over(socket);
        let text = "POST /echo HTTP/1.1\r\nHost: a\r\nX-Slow: ";
        client.send(&text[..index % text.len()]);
        slow.push(client);
        if index % 100 == 0 {
            stage.assert_healthy();
        }
    }
    assert!(slow.len() > 100, "{}", slow.len());
    stage.assert_healthy();
    for client in &mut slow {
        client.socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let text = String::from_utf8(client.rest()).unwrap();
        assert!(text.is_empty() || text.starts_with("HTTP/1.1 408 "), "{text}");
    }
    assert!(began.elapsed() >= Duration::from_secs(2));
    stage.assert_healthy();
    assert_small();
}

#[test]
fn heads_without_an_end_are_refused() {
    let stage = Stage::new();
    for (start, line) in [("GET / HTTP/1.1\r\n", "X-Flood: 0123456789\r\n"), ("GET /", "/0123456789")] {
        let mut client = stage.connect();
        client.send(start);
        let sent = pour(&mut client, line.repeat(50).as_bytes(), 1 << 30);
        assert!(sent < 64 << 20, "{sent}");
        let mut client = stage.connect();
        client.send(start);
        client.send(line.repeat(2000));
        assert!(matches!(client.response().status, 414 | 431));
        client.assert_closed();
    }
    stage.assert_healthy();
    assert_small();
}

#[test]
fn bodies_without_an_end_are_refused() {
    let stage = Stage::new();
    let declared = "POST /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: 1073741824\r\n\r\n";
    let limited = "POST /limited HTTP/1.1\r\nHost: a\r\nContent-Length: 1073741824\r\n\r\n";
    let chunked = "POST /limited HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
    for (head, piece) in [(declared, "x".repeat(0x10000)), (limited, "x".repeat(0x10000)), (chunked, chunk)] {
        let mut client = stage.connect();
        client.send(head);
        client.send(piece.repeat(2 * MOST / piece.len()));
        let response = client.response();
        assert_eq!(response.status, 413, "{head}");
        assert!(response.head.contains("connection: close"));
        let sent = pour(&mut client, piece.as_bytes(), 1 << 30);
        assert!(sent < 128 << 20, "{sent}");
        stage.assert_healthy();
    }
    assert_small();
}

#[test]
fn a_body_that_trickles_is_given_up() {
    let stage = Stage::with(quick());
    for framing in ["Content-Length: 100000", "Transfer-Encoding: chunked"] {
        let mut client = stage.connect();
        client.send(format!("POST /echo HTTP/1.1\r\nHost: a\r\n{framing}\r\n\r\n"));
        client.socket.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        let began = Instant::now();
        // One byte now and then: the rate counts, not that something comes.
        let text = loop {
            let piece = if framing.contains("chunked") { "1\r\nx\r\n" } else { "x" };
            let _ = client.socket.write(piece.as_bytes());
            let mut bytes = [0; 4096];
            match client.socket.read(&mut bytes) {
                Ok(count) => break String::from_utf8_lossy(&bytes[..count]).into_owned(),
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
            }
            assert!(began.elapsed() < Duration::from_secs(10));
        };
        assert!(text.starts_with("HTTP/1.1 400 ") && text.contains("connection: close"), "{text}");
    }
}

#[test]
fn a_body_that_came_late_once_is_not_held_against_the_next() {
    let stage = Stage::with(quick());
    let mut client = stage.connect();
    for _ in 0..3 {
        client.send("POST /later HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nh");
        std::thread::sleep(Duration::from_millis(50));
        client.send("ell");
        std::thread::sleep(Duration::from_millis(50));
        client.send("o");
        // The service takes longer than a client may.
        assert_eq!(client.response().body, b"hello");
    }
}

#[test]
fn a_body_that_breaks_off_is_told_to_nobody_else() {
    let stage = Stage::new();
    let mut client = stage.connect();
    client.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloXX");
    let response = client.response();
    assert!(response.status == 400 && response.head.contains("connection: close"), "{response:?}");
    client.assert_closed();
    let mut client = stage.connect();
    client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\n\r\nhello");
    client.socket.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(client.response().status, 400);
    client.assert_closed();
    stage.assert_healthy();
}

#[test]
fn a_client_that_reads_nothing_is_let_go() {
    let stage = Stage::with(quick());
    let mut clients = Vec::new();
    for _ in 0..20 {
        let mut client = stage.connect();
        client.post("/flood", "");
        assert_eq!(stage.next_event(), Event::Began("/flood".into()));
        clients.push(client);
    }
    stage.assert_healthy();
    for _ in &clients {
        assert_eq!(stage.next_event(), Event::Dropped("/flood".into()));
    }
    assert_small();
}

#[test]
fn a_reset_in_the_middle_of_a_stream_ends_it() {
    let stage = Stage::new();
    for _ in 0..50 {
        let mut client = stage.connect();
        client.post("/flood", "");
        client.head();
        assert_eq!(stage.next_event(), Event::Began("/flood".into()));
        // Closing a socket with unread bytes resets the connection.
        drop(client);
        assert_eq!(stage.next_event(), Event::Dropped("/flood".into()));
    }
    stage.assert_healthy();
    assert_small();
}

#[test]
fn garbage_is_answered_and_forgotten() {
    let stage = Stage::with(quick());
    let mut state = 1_u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    let mut texts: Vec<Vec<u8>> = (0..100).map(|length| (0..length * 5).map(|_| random()).collect()).collect();
    texts.push(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec());
    texts.push(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec());
    texts.push(b"GET / HTTP/1.1\r\nHost: a\r\nX: \x00\r\n\r\n".to_vec());
    texts.push(b"GET / HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n".to_vec());
    texts.push(vec![b'\n'; 100_000]);
    texts.push(vec![0; 100_000]);
    for text in &texts {
        let mut client = stage.connect();
        let _ = client.socket.write_all(text);
        let _ = client.socket.shutdown(std::net::Shutdown::Write);
        let answer = String::from_utf8(client.rest()).unwrap();
        let is_refusal =
            ["400", "505", "414", "431"].iter().any(|status| answer.starts_with(&format!("HTTP/1.1 {status} ")));
        assert!(answer.is_empty() || is_refusal, "{answer} for {text:?}");
    }
    stage.assert_healthy();
}

#[test]
fn connections_that_come_and_go_leave_nothing() {
    let stage = Stage::with(Limits { connections: 64, ..quick() });
    for _ in 0..1000 {
        drop(stage.connect());
    }
    // The server hears of the last ones when it gets to them.
    let began = Instant::now();
    loop {
        let mut client = stage.connect();
        client.post("/echo", "hello");
        if client.response().status == 200 {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(10));
    }
}
