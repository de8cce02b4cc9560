//! How a call ends when its answer does not come, and what is said of it until then.

use crate::{
    servers::Doors,
    stage::{Answerer, Caller, ERAS, House, HttpCaller, LEGACY, MODERN, Said, complete, head, notification, request},
};
use sandwire_client::{ErrorKind, Limits, Options};
use sandwire_proto::http::Verb;
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

const RESULT: &str = r#"{"content":[{"type":"text","text":"done"}],"resultType":"complete"}"#;

fn progress(asked: &Said, step: u64) -> String {
    let token = asked.at("/params/_meta/progressToken");
    notification("notifications/progress", &format!(r#""progressToken":{token},"progress":{step}"#))
}

#[test]
fn b52_a_call_that_reports_progress_is_kept_if_that_is_asked_for() {
    for version in ERAS {
        for keeps in [true, false] {
            let mut client = Caller::open(version);
            let call = client.client.call_tool("slow", &()).on_progress(|_| {});
            let call = client.start(if keeps { call.keep_while_progressing() } else { call });
            let asked = client.hear();
            for step in 1..=14 {
                client.advance(5000);
                assert_eq!(call.is_there(), !keeps && step >= 12, "{version}: {step}");
                client.say(&progress(&asked, step));
            }
            client.answer(&asked, RESULT);
            match call.get() {
                Ok(_) => assert!(keeps, "{version}"),
                Err(error) => assert!(error.is_timeout() && !keeps, "{version}: {error}"),
            }
        }
        // Without word for a minute it is over all the same.
        let mut client = Caller::open(version);
        let call = client.client.call_tool("slow", &()).on_progress(|_| {}).keep_while_progressing();
        let call = client.start(call);
        let asked = client.hear();
        client.advance(59_999);
        client.say(&progress(&asked, 1));
        client.advance(59_999);
        assert!(!call.is_there());
        client.advance(1);
        assert!(call.get().unwrap_err().is_timeout());
    }
}

#[test]
fn b53_the_time_in_all_counts_without_any_progress_too() {
    // Known fault: which of the two times it was cannot be told from the error.
    for version in ERAS {
        for (timeout, total, progresses) in [(1000, 150, false), (1000, 150, true), (100, 150, true)] {
            let mut client = Caller::open(version);
            let call = client.client.call_tool("slow", &()).on_progress(|_| {}).keep_while_progressing();
            let call = call.timeout(Duration::from_millis(timeout)).total_timeout(Duration::from_millis(total));
            let call = client.start(call);
            let asked = client.hear();
            client.advance(90);
            if progresses {
                client.say(&progress(&asked, 1));
            }
            client.advance(59);
            assert!(!call.is_there(), "{version}");
            client.advance(1);
            let error = call.get().unwrap_err();
            assert!(error.is_timeout() && error.to_string().contains("in all"), "{version}: {error}");
            assert_eq!(client.hear().method(), "notifications/cancelled");
        }
    }
}

#[test]
fn b55_a_call_that_is_given_up_leaves_nothing() {
    for version in ERAS {
        let limits = Limits { max_in_flight: 1, ..Limits::default() };
        let mut client = Caller::open_with(version, Options::new("c", "1").limits(limits));
        for _ in 0..100 {
            let mut call = Box::pin(std::future::IntoFuture::into_future(client.client.call_tool("slow", &())));
            let polled = futures::executor::block_on(futures::future::poll_immediate(&mut call));
            assert!(polled.is_none(), "{polled:?}");
            let asked = client.hear();
            drop(call);
            let told = client.hear();
            assert_eq!((told.method(), told.at("/params/requestId")), ("notifications/cancelled", asked.at("/id")));
            // The server never answers, or late.
        }
        client.assert_lives();
    }
    for version in ERAS {
        let limits = Limits { max_in_flight: 1, ..Limits::default() };
        let mut client = HttpCaller::open_with(version, Options::new("c", "1").limits(limits));
        let mut call = Box::pin(std::future::IntoFuture::into_future(client.client.call_tool("slow", &())));
        assert!(futures::executor::block_on(futures::future::poll_immediate(&mut call)).is_none());
        let asked = client.next();
        asked.stream();
        client.run();
        drop(call);
        client.run();
        match version {
            MODERN => assert!(asked.is_aborted() && client.try_next().is_none()),
            _ => assert_eq!(client.next().method(), "notifications/cancelled"),
        }
        let next = client.start(client.client.call_tool("t", &()));
        client.next().reply(RESULT);
        client.run();
        assert!(next.get().is_ok(), "{version}");
    }
}

#[test]
fn b58_a_cancellation_finds_its_call_whichever_way_it_comes() {
    let told = |id: &str| notification("notifications/cancelled", &format!(r#""requestId":{id}"#));
    for version in LEGACY.into_iter().skip(1) {
        for id in ["9", "\"9\"", "-1"] {
            let doors = Doors::default();
            let mut house = House::new(doors.server());
            let session = house.open(version);
            let door = r#""name":"door","arguments":{"name":"a"}"#;
            let mut slow = house.post(&session, version, &request(version, id, "tools/call", door));
            assert!(slow.poll().is_none());
            for other in ["8", "\"8\"", "null"] {
                assert_eq!(house.post(&session, version, &told(other)).response().whole().status(), 202);
                assert!(slow.poll().is_none());
            }
            let got = house.post(&session, version, &told(id)).response().whole();
            assert_eq!((got.status(), &*got.body), (202, ""), "{version}");
            house.run();
            let got = slow.response().whole();
            assert!(!got.body.contains("result"), "{}", got.body);
            assert_eq!(doors.cancelled(), ["a"], "{version}: {id}");
        }
    }
    for version in ERAS {
        let doors = Doors::default();
        let mut server = Answerer::open(version, doors.server());
        server.ask("9", "tools/call", r#""name":"door","arguments":{"name":"a"}"#);
        server.say(&told("9"));
        assert!(server.heard().is_empty());
        assert_eq!(doors.cancelled(), ["a"], "{version}");
    }
}

#[test]
fn b59_a_handler_is_told_when_its_client_hangs_up() {
    let door = r#""name":"door","arguments":{"name":"a"}"#;
    for stateless in [true, false] {
        for waits_for_head in [true, false] {
            let doors = Doors::default();
            let mut house = if stateless { House::stateless(doors.server()) } else { House::new(doors.server()) };
            let mut call = house.begin_modern("tools/call", door);
            assert!(call.poll().is_none());
            if waits_for_head {
                drop(call);
            } else {
                house.env.advance(15_000);
                drop(call.response());
            }
            house.run();
            assert_eq!(doors.cancelled(), ["a"], "{stateless} {waits_for_head}");
        }
    }
    for version in LEGACY.into_iter().skip(1) {
        let doors = Doors::default();
        let house = House::stateless(doors.server());
        let head = head(Verb::Post, &[("mcp-protocol-version", version)]);
        let mut call = house.begin(head, &request(version, "1", "tools/call", door));
        assert!(call.poll().is_none());
        drop(call);
        assert_eq!(doors.cancelled(), ["a"], "{version}");
    }
}

#[test]
fn b60_a_peer_without_ping_is_not_a_dead_one() {
    for version in LEGACY {
        let mut client = Caller::open(version);
        for code in [-32601, -32600, -32603] {
            let ping = client.start(client.client.ping());
            let asked = client.hear();
            client.refuse(&asked, code, "no");
            assert_eq!(ping.get().unwrap_err().kind(), ErrorKind::Server, "{version}");
            client.assert_lives();
        }
        // Nobody pings unasked.
        client.advance(3_600_000);
        assert!(client.heard().is_empty());
    }
    let mut client = Caller::open(MODERN);
    let ping = client.start(client.client.ping());
    assert_eq!(ping.get().unwrap_err().kind(), ErrorKind::Incompatible);
    client.advance(3_600_000);
    assert!(client.heard().is_empty());
}

#[test]
fn b61_progress_of_one_call_holds_up_no_other() {
    for version in ERAS {
        let mut client = Caller::open(version);
        let seen = Arc::new(AtomicUsize::new(0));
        let (heard, again) = (Arc::clone(&seen), client.client.clone());
        let slow = client.client.call_tool("slow", &()).on_progress(move |_| {
            heard.fetch_add(1, Ordering::SeqCst);
            // Whoever hears it may use the client.
            drop(again.server());
        });
        // One whose caller never looks, and one whose caller waits.
        let mut slow = Box::pin(std::future::IntoFuture::into_future(slow));
        assert!(futures::executor::block_on(futures::future::poll_immediate(&mut slow)).is_none());
        let first = client.hear();
        let other = client.start(client.client.call_tool("t", &()).on_progress(|_| {}));
        let second = client.hear();
        for step in 1..=1000 {
            client.say(&progress(&first, step));
            client.say(&progress(&second, step));
        }
        client.answer(&second, RESULT);
        assert!(other.get().is_ok(), "{version}");
        assert_eq!(seen.load(Ordering::SeqCst), 1000);
        client.assert_lives();
        client.answer(&first, &complete(r#""content":[]"#));
        assert!(futures::executor::block_on(slow).is_ok());
    }
}
