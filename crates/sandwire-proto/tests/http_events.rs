//! Event streams, cut anywhere.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use proptest::prelude::*;
use sandwire_proto::http::sse::{DecodeError, Decoder, Event, encode};

type Decoded = Vec<Result<Event, DecodeError>>;

fn decode(chunks: &[&[u8]], limit: usize) -> Decoded {
    let mut decoder = Decoder::new(limit);
    let mut events = Vec::new();
    for chunk in chunks {
        decoder.push(chunk);
        events.extend(std::iter::from_fn(|| decoder.next()));
    }
    events
}

fn whole(text: &[u8]) -> Decoded {
    decode(&[text], 1024)
}

fn data(text: &str) -> Event {
    Event { data: Some(text.into()), ..Event::default() }
}

#[test]
fn the_standard_s_own_examples() {
    assert_eq!(whole(b"data: YHOO\ndata: +2\ndata: 10\n\n"), [Ok(data("YHOO\n+2\n10"))]);
    assert_eq!(
        whole(b": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n"),
        [
            Ok(Event { id: Some("1".into()), ..data("first event") }),
            Ok(Event { id: Some(String::new()), ..data("second event") }),
            Ok(data(" third event")),
        ]
    );
    // The last event has no end.
    assert_eq!(whole(b"data\n\ndata\ndata\n\ndata:"), [Ok(data("")), Ok(data("\n"))]);
    assert_eq!(whole(b"data:test\n\ndata: test\n\n"), [Ok(data("test")), Ok(data("test"))]);
}

#[test]
fn every_line_ending_ends_a_line() {
    for ending in ["\n", "\r", "\r\n"] {
        let text =
            format!("\u{feff}event: message{ending}data: a{ending}{ending}: note{ending}retry: 15{ending}{ending}");
        let expected = [
            Ok(Event { name: Some("message".into()), ..data("a") }),
            Ok(Event { retry_ms: Some(15), ..Event::default() }),
        ];
        assert_eq!(whole(text.as_bytes()), expected, "{ending:?}");
    }
}

#[test]
fn a_stream_may_be_cut_at_every_byte() {
    let text = "\u{feff}: hi\r\nid: 7\r\nretry: 20\r\ndata: {\"é\":\r\ndata: 1}\r\n\r\r\nevent: ping\ndata: x\n\n\rdata: y\r\r".as_bytes();
    let expected = whole(text);
    assert_eq!(expected.len(), 3);
    assert_eq!(decode(&text.chunks(1).collect::<Vec<_>>(), 1024), expected);
    for first in 0..=text.len() {
        for second in first..=text.len() {
            let chunks = [&text[..first], &text[first..second], &text[second..]];
            assert_eq!(decode(&chunks, 1024), expected, "cut at {first} and {second}");
        }
    }
}

#[test]
fn an_event_is_there_with_its_last_byte() {
    let mut decoder = Decoder::new(64);
    for byte in b"data: 1\n" {
        decoder.push(&[*byte]);
        assert_eq!(decoder.next(), None);
    }
    decoder.push(b"\n");
    assert_eq!(decoder.next(), Some(Ok(data("1"))));
}

#[test]
fn what_is_no_message_dispatches_nothing() {
    assert_eq!(whole(b": keep-alive\n\n\n\nevent: x\n\nunknown: y\n\nretry: 1x\nretry:\nretry: -1\n\n"), []);
    let priming = whole(b"id: 3\ndata:\n\n");
    assert_eq!(priming, [Ok(Event { id: Some("3".into()), ..data("") })]);
    assert_eq!(priming[0].as_ref().unwrap().message(), None);
    let other = whole(b"event: endpoint\ndata: /x\n\n");
    assert_eq!(other[0].as_ref().unwrap().message(), None);
    assert_eq!(whole(b"id: a\0b\ndata: 1\n\n"), [Ok(data("1"))]);
}

#[test]
fn an_event_over_the_limit_is_skipped_and_the_next_one_read() {
    let long = "x".repeat(40);
    let text = format!("data: {long}\ndata: more\n\ndata: 1\n\n");
    let expected = [Err(DecodeError::TooLarge), Ok(data("1"))];
    assert_eq!(decode(&[text.as_bytes()], 20), expected);
    assert_eq!(decode(&text.as_bytes().chunks(1).collect::<Vec<_>>(), 20), expected);
    let many = "data: 123456\n".repeat(5) + "\ndata: 1\n\n";
    assert_eq!(decode(&[many.as_bytes()], 20), expected);
    let comment = format!(": {long}\ndata: 1\n\n");
    assert_eq!(decode(&[comment.as_bytes()], 60), [Ok(data("1"))]);
}

#[test]
fn bytes_that_are_no_text_spoil_their_event_only() {
    assert_eq!(whole(b"data: \xff\n\ndata: 1\n\n"), [Err(DecodeError::NotUtf8), Ok(data("1"))]);
    assert_eq!(whole(b"event: \xff\ndata: 2\n\ndata: 1\n\n"), [Err(DecodeError::NotUtf8), Ok(data("1"))]);
}

proptest! {
    #[test]
    fn cutting_changes_nothing(text in prop::collection::vec(prop::sample::select(
        b"data: id:retry:event\n\r\n\n:1x\xef\xbb\xbf\0".to_vec()), 0..200), size in 1usize..7) {
        let chunks: Vec<&[u8]> = text.chunks(size).collect();
        prop_assert_eq!(decode(&chunks, 24), decode(&[&text], 24));
    }

    #[test]
    fn what_is_encoded_is_decoded(lines in "[^\r]{0,40}", id in prop::option::of("[a-z0-9]{0,8}"), retry_ms in prop::option::of(any::<u64>())) {
        let event = Event { name: None, data: Some(lines), id, retry_ms };
        prop_assert_eq!(whole(encode(&event).as_bytes()), vec![Ok(event)]);
    }
}
