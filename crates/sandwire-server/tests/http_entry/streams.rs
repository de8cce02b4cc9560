use crate::site::{Site, chunk, modern, modern_as, post, tool};
use sandwire_io::HttpService;
use sandwire_proto::server::Change;
use std::{
    sync::atomic::Ordering,
    task::{Context, Poll, Waker},
};

const LOUD: &str = r#","progressToken":"t","io.modelcontextprotocol/logLevel":"info""#;

#[test]
fn the_first_notification_makes_it_a_stream() {
    let (head, body) = modern_as("tools/call", &tool("loud"), "{}", LOUD);
    let got = Site::new().send(head, &body);
    assert_eq!(got.head.status, 200);
    assert_eq!(got.header("content-type"), "text/event-stream");
    assert_eq!(got.header("x-accel-buffering"), "no");
    let events: Vec<_> = got.body.split_terminator("\n\n").collect();
    assert_eq!(events.len(), 3, "{}", got.body);
    assert_eq!(
        events[0],
        r#"data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}"#
    );
    assert!(events[1].contains(r#""level":"warning","data":"a\nb""#), "{}", events[1]);
    assert!(events[2].contains(r#""id":7,"result""#), "{}", events[2]);
}

#[test]
fn without_being_asked_for_there_are_no_notifications_and_no_stream() {
    let got = Site::new().modern("tools/call", &tool("loud"));
    assert_eq!(got.header("content-type"), "application/json");
}

#[test]
fn events_are_there_before_the_call_is_done_and_dropping_the_body_cancels() {
    let site = Site::new();
    let (head, body) = modern_as("tools/call", &tool("wait"), "{}", LOUD);
    let (head, mut body) = site.start(head, &body);
    assert_eq!(head.headers.get("content-type"), Some("text/event-stream"));
    assert!(matches!(chunk(&mut body), Poll::Ready(Some(event)) if event.contains("notifications/progress")));
    assert!(chunk(&mut body).is_pending());
    assert!(!site.server.dropped.load(Ordering::SeqCst));
    drop(body);
    assert!(site.server.dropped.load(Ordering::SeqCst));
}

#[test]
fn dropping_the_response_before_its_head_cancels_too_and_a_watching_handler_sees_it() {
    let site = Site::new();
    let (head, body) = modern("tools/call", &tool("watch"));
    let mut response = site.entry.handle(head, Box::new(sandwire_io::Bytes::new(body)));
    assert!(response.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    assert!(!site.server.saw_cancel.load(Ordering::SeqCst));
    drop(response);
    assert!(site.server.saw_cancel.load(Ordering::SeqCst));
}

#[test]
fn a_silent_call_becomes_a_stream_kept_alive_by_comments() {
    let site = Site::new();
    let (head, body) = modern("tools/call", &tool("watch"));
    let mut response = site.entry.handle(head, Box::new(sandwire_io::Bytes::new(body)));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(response.as_mut().poll(&mut cx).is_pending());
    site.env.advance(14_999);
    assert!(response.as_mut().poll(&mut cx).is_pending());
    site.env.advance(1);
    let Poll::Ready((head, mut body)) = response.as_mut().poll(&mut cx) else { panic!("no head after the time") };
    assert_eq!(head.headers.get("content-type"), Some("text/event-stream"));
    assert_eq!(chunk(&mut body), Poll::Ready(Some(":\n\n".into())));
    assert!(chunk(&mut body).is_pending());
    site.env.advance(15_000);
    assert_eq!(chunk(&mut body), Poll::Ready(Some(":\n\n".into())));
}

#[test]
fn a_subscription_is_a_stream_that_begins_with_its_acknowledgement() {
    let site = Site::new();
    let (head, body) =
        modern("subscriptions/listen", r#""notifications":{"toolsListChanged":true,"promptsListChanged":true}"#);
    let (head, mut body) = site.start(head, &body);
    assert_eq!(head.headers.get("content-type"), Some("text/event-stream"));
    let Poll::Ready(Some(first)) = chunk(&mut body) else { panic!("no acknowledgement") };
    assert!(first.contains("subscriptions/acknowledged") && first.contains(r#"{"toolsListChanged":true}"#), "{first}");
    assert!(chunk(&mut body).is_pending());
    site.server.announce(&Change::Prompts);
    assert!(chunk(&mut body).is_pending());
    site.server.announce(&Change::Tools);
    let Poll::Ready(Some(told)) = chunk(&mut body) else { panic!("nothing told") };
    assert!(told.contains("tools/list_changed") && told.contains(r#"subscriptionId":7"#), "{told}");
    drop(body);
    site.server.announce(&Change::Tools);
}

#[test]
fn a_legacy_request_streams_what_it_says_as_well() {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{{},"_meta":{{"progressToken":5}}}}}}"#,
        tool("loud")
    );
    let got = Site::new().send(post(&[("MCP-Protocol-Version", "2025-06-18")]), &body);
    assert_eq!(got.header("content-type"), "text/event-stream");
    assert!(got.body.contains(r#""progressToken":5"#), "{}", got.body);
    assert!(
        got.body.ends_with("\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"loud\"}]}}\n\n"),
        "{}",
        got.body
    );
}
