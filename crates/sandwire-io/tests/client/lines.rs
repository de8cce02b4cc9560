use crate::stage::{DISCOVERY, Stage, tool_call};
use futures::{
    executor::block_on,
    future::{poll_fn, poll_immediate},
    io::{AsyncRead, AsyncWrite},
};
use proptest::prelude::*;
use sandwire_io::{Link, LinkEvent, TextLink, TextPort, client::Config, fuzzing, lines::Lines};
use sandwire_proto::{Limits, TransportErrorKind};
use std::{
    collections::VecDeque,
    io,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

/// A pipe whose far end the test holds.
#[derive(Clone, Default)]
struct Pipe(Arc<Mutex<Flow>>);

#[derive(Default)]
struct Flow {
    incoming: VecDeque<u8>,
    outgoing: Vec<u8>,
    ended: bool,
    /// How much a write takes; none waits.
    takes: Option<usize>,
    waker: Option<Waker>,
}

impl Pipe {
    fn feed(&self, bytes: &[u8]) {
        let mut flow = self.0.lock().unwrap();
        flow.incoming.extend(bytes);
        if let Some(waker) = flow.waker.take() {
            waker.wake();
        }
    }

    fn end(&self) {
        let mut flow = self.0.lock().unwrap();
        flow.ended = true;
        if let Some(waker) = flow.waker.take() {
            waker.wake();
        }
    }

    fn written(&self) -> String {
        String::from_utf8(std::mem::take(&mut self.0.lock().unwrap().outgoing)).unwrap()
    }
}

impl AsyncRead for Pipe {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut flow = self.0.lock().unwrap();
        if flow.incoming.is_empty() && !flow.ended {
            flow.waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let count = flow.incoming.len().min(buffer.len());
        for (place, byte) in buffer.iter_mut().zip(flow.incoming.drain(..count)) {
            *place = byte;
        }
        Poll::Ready(Ok(count))
    }
}

impl AsyncWrite for Pipe {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut flow = self.0.lock().unwrap();
        let count = flow.takes.unwrap_or(usize::MAX).min(bytes.len());
        if count == 0 {
            flow.waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        flow.outgoing.extend_from_slice(&bytes[..count]);
        Poll::Ready(Ok(count))
    }
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

fn port(limit: usize) -> (Pipe, Lines<Pipe, Pipe>) {
    let pipe = Pipe::default();
    (pipe.clone(), Lines::new(pipe.clone(), pipe, limit))
}

fn next(port: &mut impl TextPort) -> Option<Option<Result<String, TransportErrorKind>>> {
    block_on(poll_immediate(poll_fn(|cx| port.poll(cx)))).map(|line| line.map(|line| line.map_err(|e| e.kind())))
}

#[test]
fn blank_lines_carriage_returns_and_a_byte_order_mark_are_nothing() {
    let (pipe, mut port) = port(100);
    pipe.feed(b"\xef\xbb\xbf{\"a\":1}\r\n\n \t\r\n{\"b\":");
    assert_eq!(next(&mut port), Some(Some(Ok("{\"a\":1}".into()))));
    assert_eq!(next(&mut port), None);
    pipe.feed(b"2}\n{\"last\":3}");
    assert_eq!(next(&mut port), Some(Some(Ok("{\"b\":2}".into()))));
    pipe.end();
    assert_eq!(next(&mut port), Some(Some(Ok("{\"last\":3}".into()))));
    assert_eq!(next(&mut port), Some(None));
}

#[test]
fn a_bad_line_is_reported_and_the_next_one_read() {
    let (pipe, mut port) = port(8);
    pipe.feed(b"0123456789");
    assert_eq!(next(&mut port), Some(Some(Err(TransportErrorKind::TooLarge))));
    pipe.feed(b"0123456789\n\xff\xfe\n{}\n");
    assert_eq!(next(&mut port), Some(Some(Err(TransportErrorKind::Malformed))));
    assert_eq!(next(&mut port), Some(Some(Ok("{}".into()))));
}

#[test]
fn a_text_is_one_line_even_if_it_was_several() {
    let (pipe, mut port) = port(100);
    port.send("{\n  \"a\": \"\\n\"\r\n}".into());
    assert_eq!(next(&mut port), None);
    assert_eq!(pipe.written(), "{   \"a\": \"\\n\"  }\n");
}

#[test]
fn a_slow_reader_gets_everything_in_order_and_a_dead_one_is_given_up() {
    let (pipe, mut port) = port(100);
    pipe.0.lock().unwrap().takes = Some(3);
    port.send("first line".into());
    port.send("second".into());
    assert_eq!(next(&mut port), None);
    assert_eq!(pipe.written(), "first line\nsecond\n");

    pipe.0.lock().unwrap().takes = Some(0);
    for _ in 0..40 {
        port.send("x".repeat(90));
    }
    assert_eq!(next(&mut port), Some(Some(Err(TransportErrorKind::Closed))));
    assert_eq!(next(&mut port), Some(None));
}

#[test]
fn closing_waits_for_what_was_sent() {
    let (pipe, mut port) = port(100);
    pipe.0.lock().unwrap().takes = Some(0);
    port.send("bye".into());
    port.close();
    assert_eq!(next(&mut port), None);
    pipe.0.lock().unwrap().takes = None;
    assert_eq!(next(&mut port), Some(None));
    assert_eq!(pipe.written(), "bye\n");
}

#[test]
fn garbage_on_a_link_is_an_event_and_not_its_end() {
    let (pipe, port) = port(1000);
    let mut link = TextLink::new(port, Limits::default());
    pipe.feed(b"{\"jsonrpc\":\n[]\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
    let mut poll = || block_on(poll_immediate(poll_fn(|cx| link.poll(cx))));
    assert!(matches!(poll(), Some(LinkEvent::Garbage { .. })));
    assert!(matches!(poll(), Some(LinkEvent::Garbage { .. })));
    assert!(matches!(poll(), Some(LinkEvent::Message { .. })));
    assert!(poll().is_none());
}

#[test]
fn a_client_over_lines_calls_and_sees_the_end() {
    let (pipe, port) = port(100_000);
    let mut stage = Stage::new(Config::new("t", "1"), Box::new(TextLink::new(port, Limits::default())));
    stage.run();
    let id = crate::stage::id_of(&pipe.written());
    pipe.feed(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{DISCOVERY}}}\n").as_bytes());
    let result = stage.call(tool_call());
    stage.run();
    let sent = pipe.written();
    assert_eq!(sent.matches('\n').count(), 1);
    let id = crate::stage::id_of(&sent);
    pipe.feed(format!("noise\n{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[]}}}}\n").as_bytes());
    stage.run();
    assert_eq!(result.lock().unwrap().as_deref(), Some(r#"{"content":[]}"#));
    let lost = stage.call(tool_call());
    stage.run();
    pipe.end();
    stage.run();
    assert!(lost.lock().unwrap().as_ref().unwrap().contains("closed"));
    assert_eq!(stage.told(), ["opened 2026-07-28", "closed"]);
}

proptest! {
    #[test]
    fn cutting_a_stream_anywhere_gives_the_same_lines(bytes in prop::collection::vec(prop::sample::select(
        b"\n\r \t{}\xef\xbb\xbf\xffabc".to_vec()), 0..300)) {
        fuzzing::lines(&bytes);
    }
}
