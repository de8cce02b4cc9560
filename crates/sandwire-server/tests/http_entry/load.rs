//! How much may be under way at once.

use crate::site::{Site, modern, modern_as, tool};
use sandwire_io::{Bytes, HttpService};
use sandwire_server::http::{Guard, InFlight};
use std::task::{Context, Waker};

#[test]
fn requests_over_the_limit_are_told_to_come_back_until_one_is_done() {
    let site = Site::guarded(Guard { in_flight: InFlight::at_most(2, 0), ..Guard::default() });
    let (head, body) = modern("tools/call", &tool("watch"));
    let begin = || {
        let mut response = site.entry.handle(head.clone(), Box::new(Bytes::new(body.clone())));
        let begun = response.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        (response, begun)
    };
    let waiting: Vec<_> = (0..2).map(|_| begin().0).collect();
    let got = site.modern("tools/list", "");
    assert_eq!((got.head.status, got.code()), (503, -32603));
    assert_eq!(got.header("retry-after"), "1");
    drop(waiting);
    assert_eq!(site.modern("tools/list", "").head.status, 200);
}

#[test]
fn a_stream_is_under_way_until_it_is_dropped() {
    let site = Site::guarded(Guard { in_flight: InFlight::at_most(1, 0), ..Guard::default() });
    let (head, body) = modern_as("tools/call", &tool("wait"), "{}", r#","progressToken":1"#);
    let (head, stream) = site.start(head, &body);
    assert_eq!(head.status, 200);
    assert_eq!(site.modern("tools/list", "").head.status, 503);
    drop(stream);
    assert_eq!(site.modern("tools/list", "").head.status, 200);
}

#[test]
fn subscriptions_have_a_limit_of_their_own() {
    let site = Site::guarded(Guard { in_flight: InFlight::at_most(1, 2), ..Guard::default() });
    let (head, body) = modern("subscriptions/listen", r#""notifications":{"toolsListChanged":true}"#);
    let mut streams: Vec<_> = (0..2).map(|_| site.start(head.clone(), &body)).collect();
    assert!(streams.iter().all(|(head, _)| head.status == 200));
    assert_eq!(site.modern("tools/list", "").head.status, 200, "they do not count as requests");
    let got = site.send(head.clone(), &body);
    assert_eq!((got.head.status, got.code()), (503, -32603));
    streams.pop();
    assert_eq!(site.start(head, &body).0.status, 200);
}
