//! Event streams.

use crate::stage::{Asked, ERAS, HttpCaller, MODERN, notification, result};
use sandwire_client::{Error, Options};
use sandwire_types::model::CallToolResult;
use std::sync::{Arc, Mutex};

const RESULT: &str = r#"{"content":[{"type":"text","text":"a 世界 \u00e4"}],"resultType":"complete"}"#;

/// Makes a call that is answered by these pieces of a stream, which then ends or goes on.
fn streamed(
    version: &str,
    pieces: impl Fn(&Asked) -> Vec<Vec<u8>>,
    ends: bool,
) -> Option<Result<CallToolResult, Error>> {
    let mut client = HttpCaller::open(version);
    let call = client.start(client.client.call_tool("t", &()));
    let asked = client.next();
    asked.stream();
    for piece in pieces(&asked) {
        asked.chunk(piece);
        client.run();
    }
    if ends {
        asked.end();
    }
    client.run();
    call.is_there().then(|| call.get())
}

#[test]
fn b83_a_stream_that_ends_without_an_answer_ends_its_call_at_once() {
    for version in ERAS {
        for events in ["", ": bye\n\n", "data: \n\n", "event: message\n", "data: {", "retry: 5\n\n"] {
            let got = streamed(version, |_| vec![events.as_bytes().to_vec()], true);
            assert!(got.is_some_and(|got| got.is_err()), "{version}: {events:?}");
        }
        // And before its head, and by a fault.
        for failing in [false, true] {
            let mut client = HttpCaller::open(version);
            let call = client.start(client.client.call_tool("t", &()));
            let asked = client.next();
            if failing {
                asked.stream();
                client.run();
            }
            let reset = sandwire_proto::TransportErrorKind::Closed;
            asked.fail(sandwire_proto::TransportError::new(reset, "connection reset"));
            client.run();
            assert!(call.get().is_err(), "{version}");
            assert!(client.try_next().is_none());
        }
    }
}

#[test]
fn b91_events_that_are_nothing_are_passed_over() {
    for nothing in ["data: not json\n\n", "data\n\n", "\n\n", ":\n\n", "event: ping\ndata: {}\n\n", "id: 1\n\n"] {
        let mut client = HttpCaller::open(MODERN);
        let call = client.start(client.client.call_tool("t", &()));
        let other = client.start(client.client.call_tool("t", &()));
        let (flooded, asked) = (client.next(), client.next());
        flooded.stream();
        flooded.chunk(nothing.repeat(100_000));
        flooded.event("", &result(flooded.id(), RESULT));
        asked.reply(RESULT);
        client.run();
        assert!(other.get().is_ok(), "{nothing:?}");
        assert!(call.get().is_ok(), "{nothing:?}");
    }
}

/// An event in one of the three ways to end lines.
fn event(message: &str, end: &str) -> String {
    [&format!(": hello{end}event: message{end}id: 7{end}data: "), message, end, end].concat()
}

#[test]
fn b92_lines_end_in_three_ways_wherever_they_are_cut() {
    for end in ["\n", "\r\n", "\r"] {
        for version in ERAS {
            let whole = |asked: &Asked| event(&result(asked.id(), RESULT), end).into_bytes();
            for at in 0..=whole_length(end) {
                let cut = |asked: &Asked| {
                    let bytes = whole(asked);
                    let (first, second) = bytes.split_at(at.min(bytes.len()));
                    vec![first.to_vec(), second.to_vec()]
                };
                // A lone carriage return at the end may have its line feed to come, and is an end all the same.
                let got = streamed(version, cut, false).unwrap_or_else(|| panic!("{version} {end:?} {at}"));
                assert!(got.is_ok(), "{version} {end:?} {at}: {got:?}");
            }
        }
    }
}

fn whole_length(end: &str) -> usize {
    event(&result("1", RESULT), end).len()
}

#[test]
fn b93_data_in_many_lines_is_one_text_wherever_it_is_cut() {
    for version in ERAS {
        let lines = |asked: &Asked| {
            let id = asked.id();
            let lines = [
                format!("data: {{\"jsonrpc\":\"2.0\",\"id\":{id},"),
                "data:\"result\":{\"content\":[".to_owned(),
                "data:  {\"type\":\"text\",\"text\":\"a 世界 \u{1f980}\"}".to_owned(),
                "data".to_owned(),
                "data: ],\"resultType\":\"complete\"}}".to_owned(),
            ];
            format!("{}\n\n", lines.join("\n")).into_bytes()
        };
        for at in 0..170 {
            let cut = |asked: &Asked| {
                let bytes = lines(asked);
                let (first, second) = bytes.split_at(at.min(bytes.len()));
                vec![first.to_vec(), second.to_vec()]
            };
            let got = streamed(version, cut, false).unwrap_or_else(|| panic!("{version} {at}")).unwrap();
            assert_eq!(got.content[0].as_text(), Some("a 世界 \u{1f980}"), "{version} {at}");
        }
        let bytes = |asked: &Asked| lines(asked).into_iter().map(|byte| vec![byte]).collect();
        assert!(streamed(version, bytes, false).unwrap().is_ok(), "byte by byte");
    }
}

#[test]
fn b94_an_event_without_data_is_a_place_and_no_message() {
    let empty = ["id: 1\ndata:\n\n", "id: 1\ndata: \n\n", "id: 1\ndata\n\n", "id: 1\n\n: ping\n\n"];
    for version in ERAS {
        for event in empty {
            let got = streamed(
                version,
                |asked| {
                    vec![
                        event.into(),
                        b": ping\n\n".to_vec(),
                        format!("data: {}\n\n", result(asked.id(), RESULT)).into(),
                    ]
                },
                false,
            );
            assert!(got.unwrap().is_ok(), "{version}: {event:?}");
        }
    }
    // Where streams are taken up again, it is from there.
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        for event in empty.into_iter().take(3) {
            let (mut client, stream) = HttpCaller::open_session(version, Options::new("c", "1"));
            stream.unwrap().stream();
            let call = client.start(client.client.call_tool("t", &()));
            let asked = client.next();
            asked.stream();
            asked.chunk(event);
            asked.end();
            client.run();
            client.advance(5000);
            let back = client.try_next().unwrap_or_else(|| panic!("{version}: {event:?}: not asked for again"));
            assert_eq!((back.method(), back.header("last-event-id")), ("GET", Some("1")), "{version}: {event:?}");
            back.stream();
            back.event("2", &result(asked.id(), RESULT));
            client.run();
            assert!(call.get().is_ok());
        }
    }
}

#[test]
fn b94_messages_between_the_empty_events_are_told_in_order() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&told);
    let options = Options::new("c", "1");
    let options =
        options.on_notification(move |it| heard.lock().unwrap().push(it.params.map(|it| it.as_str().to_owned())));
    let (mut client, stream) = HttpCaller::open_session("2025-11-25", options);
    let stream = stream.unwrap();
    stream.stream();
    for step in 0..3 {
        stream.chunk("id: x\ndata:\n\n: \n\n");
        stream.event("", &notification("notifications/message", &format!(r#""level":"info","data":{step}"#)));
    }
    client.run();
    let expected: Vec<_> = (0..3).map(|step| Some(format!(r#"{{"level":"info","data":{step}}}"#))).collect();
    assert_eq!(*told.lock().unwrap(), expected);
}
