//! Lines of bytes.

use crate::{
    servers::{Doors, echo},
    stage::{Caller, ERAS, LineServer, MODERN, Pipe, Said, request, result},
};
use futures::{
    executor::{LocalPool, block_on},
    task::LocalSpawnExt,
};
use proptest::prelude::*;
use sandwire_client::{Client, Options};
use sandwire_io::{TextLink, lines::Lines, testing::SimEnv};
use std::sync::Arc;

/// A server whose client of this version is ready.
fn ready(version: &str) -> LineServer {
    let mut server = LineServer::new(echo());
    if version != MODERN {
        server.initialize(version);
    }
    server
}

fn echoed(server: &mut LineServer, version: &str, text: &str) -> Said {
    let params = format!(r#""name":"echo","arguments":{{"text":"{text}"}}"#);
    server.say(&request(version, "1", "tools/call", &params));
    server.hear()
}

/// Lines that are no message.
const GARBAGE: [&[u8]; 9] = [
    b"not json",
    b"{",
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"",
    b"Server started on port 3000",
    b"[1,2",
    b"\x1b[31mwarning\x1b[0m",
    b"\xff\xfe",
    b"\"",
    b"\0\0\0",
];

#[test]
fn b09_a_line_that_is_no_message_ends_nothing() {
    for garbage in GARBAGE {
        let mut server = LineServer::new(echo());
        server.write(&[garbage, b"\n"].concat());
        // What begins as a message does is answered once, by an error that belongs to no request; the rest is noise.
        let answers =
            usize::from(matches!(garbage.first(), Some(b'{' | b'[')) || std::str::from_utf8(garbage).is_err());
        let told = server.heard_unjudged();
        assert!(told.len() == answers && told.iter().all(|told| told.code() == -32700), "{told:?}");
        assert!(told.iter().all(|told| told.get("id").is_none_or(|id| id == "null")), "{told:?}");
        server.initialize("2025-11-25");
        for version in ERAS {
            let mut server = ready(version);
            server.write(&[garbage, b"\n"].concat());
            assert_eq!(server.heard_unjudged().len(), answers);
            assert_eq!(echoed(&mut server, version, "alive").at("/result/content/0/text"), "alive");
        }
    }
    // Blank lines are nothing at all.
    let mut server = ready(MODERN);
    server.write(b"\n\r\n  \n\t\n");
    assert!(server.heard().is_empty());
    // A client answers none of it, and goes on.
    for version in ERAS {
        let mut client = Caller::open(version);
        for garbage in GARBAGE {
            client.say_unnoted(&String::from_utf8_lossy(garbage));
        }
        assert!(client.heard().is_empty(), "{version}");
        client.assert_lives();
    }
}

#[test]
fn b11_a_byte_order_mark_is_passed_over() {
    for version in ERAS {
        let mut server = LineServer::new(echo());
        server.write(b"\xef\xbb\xbf");
        match version {
            MODERN => assert_eq!(echoed(&mut server, version, "x").at("/result/content/0/text"), "x"),
            _ => server.initialize(version),
        }
    }
    let mut server = LineServer::new(echo());
    for piece in [&b"\xef"[..], b"\xbb", b"\xbf"] {
        server.write(piece);
    }
    server.initialize("2025-11-25");
}

/// What ends a line elsewhere.
const ENDS: [char; 6] = ['\u{2028}', '\u{2029}', '\u{85}', '\u{1f980}', '\u{feff}', '\u{a0}'];

#[test]
fn b12_only_a_line_feed_ends_a_line() {
    for version in ERAS {
        for end in ENDS {
            let text = format!("before{end}after{end}end");
            let mut server = ready(version);
            assert_eq!(echoed(&mut server, version, &text).at("/result/content/0/text"), text.as_str(), "{version}");
            // Written in pieces of one byte, with a carriage return before the line feed.
            let mut server = ready(version);
            let params = format!(r#""name":"echo","arguments":{{"text":"{text}"}}"#);
            let line = request(version, "1", "tools/call", &params);
            server.judge.theirs(&line);
            for byte in line.bytes().chain(*b"\r\n") {
                server.write(&[byte]);
            }
            assert_eq!(server.hear().at("/result/content/0/text"), text.as_str());
        }
    }
}

#[test]
fn b12_a_client_reads_lines_the_same_way() {
    for end in ENDS {
        let text = format!("before{end}after{end}end");
        let (input, output) = (Pipe::default(), Pipe::default());
        let options =
            Options::new("c", "1").mode(sandwire_client::Mode::Pinned(sandwire_types::ProtocolVersion::LATEST));
        let link = TextLink::new(Lines::new(input.clone(), output.clone(), 1 << 20), options.get_limits().clone());
        let (client, driver) = Client::connect(link, Arc::new(SimEnv::new(1)), options);
        let mut pool = LocalPool::new();
        pool.spawner().spawn_local(driver).unwrap();
        pool.run_until_stalled();
        let probe = Said(String::from_utf8(output.take()).unwrap());
        input.put(format!("{}\n", result(probe.id(), crate::stage::DISCOVERY)).as_bytes());
        pool.run_until_stalled();
        let mut call =
            Box::pin(std::future::IntoFuture::into_future(client.call_tool("t", &serde_json::json!({ "a": &text }))));
        assert!(block_on(futures::future::poll_immediate(&mut call)).is_none());
        pool.run_until_stalled();
        let written = String::from_utf8(output.take()).unwrap();
        assert_eq!(written.matches('\n').count(), 1, "{written:?}");
        let asked = Said(written);
        assert_eq!(asked.at("/params/arguments/a"), text.as_str());
        let answer = result(
            asked.id(),
            &format!(r#"{{"content":[{{"type":"text","text":"{text}"}}],"resultType":"complete"}}"#),
        );
        input.put(format!("{answer}\n").as_bytes());
        pool.run_until_stalled();
        assert_eq!(block_on(call).unwrap().content[0].as_text(), Some(&*text));
    }
}

#[test]
fn b13_bytes_that_are_no_text_spoil_their_line_only() {
    for version in ERAS {
        for bad in [&b"\xff"[..], b"\xc3", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"\xc0\x80", b"\xe4\xb8"] {
            let mut server = ready(version);
            let (before, after) = (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","x":""#, "\"}\n");
            server.write(&[before.as_bytes(), bad, after.as_bytes()].concat());
            let told = server.heard_unjudged();
            assert!(told.iter().all(|told| told.get("result").is_none()), "{told:?}");
            assert_eq!(echoed(&mut server, version, "alive").at("/result/content/0/text"), "alive");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn b103_a_request_may_come_in_any_pieces_while_an_answer_is_written(
        room in 1_usize..5000,
        cuts in proptest::collection::vec(0_usize..400, 0..6),
        modern in any::<bool>(),
    ) {
        let version = if modern { MODERN } else { "2025-11-25" };
        let mut server = ready(version);
        let large = "x".repeat(20_000);
        let params = |text: &str| format!(r#""name":"echo","arguments":{{"text":"{text}"}}"#);
        server.output.narrow(room);
        server.say(&request(version, "1", "tools/call", &params(&large)));
        let line = format!("{}\n", request(version, "2", "tools/call", &params("small")));
        server.judge.theirs(&line);
        let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(line.len())).collect();
        cuts.sort_unstable();
        let mut heard = Vec::new();
        let mut from = 0;
        for to in cuts.into_iter().chain([line.len()]) {
            server.write(&line.as_bytes()[from..to]);
            // Room for a part of the answer, between two parts of the request.
            heard.extend(server.output.take());
            server.pool.run_until_stalled();
            from = to;
        }
        loop {
            server.pool.run_until_stalled();
            let more = server.output.take();
            if more.is_empty() {
                break;
            }
            heard.extend(more);
        }
        let text = String::from_utf8(heard).unwrap();
        let mut texts: Vec<_> = text.lines().map(|line| Said(line.to_owned()).at("/result/content/0/text")).collect();
        texts.sort_by_key(|text| text.to_string().len());
        prop_assert_eq!(texts, ["small".to_owned(), large]);
    }
}

#[test]
fn b103_at_every_single_point() {
    let line = format!("{}\n", request(MODERN, "2", "tools/call", r#""name":"echo","arguments":{"text":"世界"}"#));
    for at in 0..=line.len() {
        let mut server = ready(MODERN);
        server.output.narrow(10);
        let large = format!(r#""name":"echo","arguments":{{"text":"{}"}}"#, "x".repeat(200));
        server.say(&request(MODERN, "1", "tools/call", &large));
        server.judge.theirs(&line);
        server.write(&line.as_bytes()[..at]);
        let some = server.output.take();
        server.write(&line.as_bytes()[at..]);
        assert_eq!(some.len(), 10);
        let mut told = some;
        loop {
            server.pool.run_until_stalled();
            let more = server.output.take();
            if more.is_empty() {
                break;
            }
            told.extend(more);
        }
        let told = String::from_utf8(told).unwrap();
        assert!(told.lines().count() == 2 && told.contains("世界"), "{at}: {told}");
    }
}

#[test]
fn b104_what_is_under_way_is_answered_after_the_end_of_the_input() {
    for version in ERAS {
        let doors = Doors::default();
        let mut server = LineServer::new(doors.server());
        if version != MODERN {
            server.initialize(version);
        }
        for (id, door) in [("1", "a"), ("2", "b")] {
            let params = format!(r#""name":"door","arguments":{{"name":"{door}"}}"#);
            server.say(&request(version, id, "tools/call", &params));
        }
        server.say(&request(version, "3", "tools/list", ""));
        server.input.end();
        assert_eq!(server.hear().id(), "3", "{version}");
        server.env.advance(100);
        for (id, door) in [("2", "b"), ("1", "a")] {
            doors.open(door);
            let told = server.hear();
            assert_eq!((told.id(), told.at("/result/content/0/text")), (id, door.into()), "{version}");
        }
        // A last line may lack its end.
        let mut server = ready(version);
        server.judge.theirs(&request(version, "4", "tools/list", ""));
        server.write(request(version, "4", "tools/list", "").as_bytes());
        server.input.end();
        assert_eq!(server.hear().id(), "4", "{version}");
    }
}
