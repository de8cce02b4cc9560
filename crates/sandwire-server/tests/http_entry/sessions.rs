use crate::{
    hall::{Hall, V, call, request, result},
    site::{modern, post},
};
use sandwire_proto::http::Verb;
use sandwire_server::http::Sessions;

fn hall() -> Hall {
    Hall::new(Sessions::default())
}

#[test]
fn a_session_begins_with_initialize_and_ends_with_delete() {
    let hall = hall();
    let got = hall.initialize(V);
    let id = got.header("mcp-session-id").to_owned();
    assert!(id.len() >= 32 && id.bytes().all(|byte| byte.is_ascii_graphic()), "{id}");
    assert!(got.body.contains("listChanged"), "{}", got.body);
    assert_eq!(hall.entry.sessions(), 1);
    let got = hall.post(&id, &request(1, "ping", "")).response().whole();
    assert_eq!((got.head.status, got.body.as_str()), (200, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#));
    assert_eq!(hall.delete(&id), 204);
    assert_eq!(hall.entry.sessions(), 0);
    for got in [
        hall.post(&id, &request(2, "ping", "")).response().whole(),
        hall.send(hall.head(Verb::Get, &id, V), ""),
        hall.send(hall.head(Verb::Delete, &id, V), ""),
    ] {
        assert_eq!((got.head.status, got.code()), (404, -32600), "{}", got.body);
    }
    assert!(hall.post(&id, &request(2, "ping", "")).response().whole().body.contains(r#""id":2"#));
}

#[test]
fn requests_name_their_session() {
    let hall = hall();
    for body in [request(1, "tools/list", ""), r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.into()] {
        let got = hall.send(post(&[]), &body);
        assert_eq!((got.head.status, got.code()), (400, -32600));
        assert!(got.body.contains("Mcp-Session-Id"), "{}", got.body);
    }
    for id in ["nobody", "", "../../etc/passwd", "\u{1F600}"] {
        let got = hall.post(id, &request(1, "tools/list", "")).response().whole();
        assert_eq!((got.head.status, got.code()), (404, -32600), "{id}");
    }
}

#[test]
fn a_failed_initialization_leaves_no_session() {
    let hall = hall();
    let got = hall.send(post(&[]), &request(1, "initialize", ""));
    assert_eq!((got.code(), got.header("mcp-session-id")), (-32602, ""));
    assert_eq!(hall.entry.sessions(), 0);
}

#[test]
fn a_second_initialization_changes_nothing() {
    let hall = hall();
    let id = hall.open("2025-06-18");
    let again = request(5, "initialize", r#""protocolVersion":"2025-11-25","capabilities":{}"#);
    assert_eq!(hall.post(&id, &again).response().whole().code(), -32600);
    let asked = hall.post(&id, &call(6, "ask", "")).response().part();
    assert!(asked.contains("elicitation/create") && hall.entry.sessions() == 1, "{asked}");
}

#[test]
fn the_version_header_is_one_that_is_served_or_absent() {
    let hall = hall();
    for version in ["2025-03-26", "2025-06-18", V] {
        let id = hall.open(version);
        let ping = request(1, "ping", "");
        assert_eq!(hall.send(post(&[("Mcp-Session-Id", &id)]), &ping).head.status, 200);
        for (named, status) in [(version, 200), ("2024-01-01", 400), ("", 400)] {
            assert_eq!(hall.send(hall.head(Verb::Post, &id, named), &ping).head.status, status, "{named}");
            if status == 400 {
                assert_eq!(hall.send(hall.head(Verb::Get, &id, named), "").code(), -32022);
            }
        }
    }
}

#[test]
fn modern_requests_know_no_sessions() {
    let hall = hall();
    let (mut head, body) = modern("tools/list", "");
    head.headers.push("Mcp-Session-Id", "nobody");
    let got = hall.send(head, &body);
    assert_eq!((got.head.status, got.header("mcp-session-id")), (200, ""));
    for verb in [Verb::Get, Verb::Delete] {
        let got = hall.send(hall.head(verb, "nobody", "2026-07-28"), "");
        assert_eq!((got.head.status, got.header("allow")), (405, "POST, GET, DELETE, OPTIONS"));
    }
}

#[test]
fn calls_of_the_same_id_on_one_session_get_their_own_answers() {
    let hall = hall();
    let id = hall.open(V);
    let mut calls = ["a", "b", "c"].map(|door| (door, hall.post(&id, &call(1, "door", door))));
    assert!(calls.iter_mut().all(|(_, call)| call.poll().is_none()));
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    assert_eq!(hall.post(&id, cancel).response().head.status, 202, "nobody knows which of them is meant");
    for (door, call) in calls.into_iter().rev() {
        assert_eq!(hall.open_doors(door), 1);
        let got = call.response().whole();
        assert!(got.head.status == 200 && result(&got).contains(&format!(r#""text":"{door}""#)), "{}", got.body);
    }
}

#[test]
fn sessions_never_mix() {
    let hall = hall();
    let (one, two) = (hall.open(V), hall.open(V));
    assert_ne!(one, two);
    let mut seed = 7_u32;
    for round in 0..1000 {
        let mut calls = [(&one, "a"), (&two, "b"), (&one, "c"), (&two, "d")].map(|(session, door)| {
            let id = if matches!(door, "a" | "b") { 2 } else { 3 };
            let mut call = hall.post(session, &call(id, "door", door));
            assert!(call.poll().is_none());
            (door, call)
        });
        for _ in 0..4 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            calls.swap((seed >> 8) as usize % 4, (seed >> 20) as usize % 4);
        }
        for (door, call) in calls {
            assert_eq!(hall.open_doors(door), 1);
            let got = call.response().whole();
            assert!(result(&got).contains(&format!(r#""text":"{door}""#)), "round {round}: {}", got.body);
        }
    }
}

#[test]
fn a_cancellation_on_another_request_finds_its_call() {
    let hall = hall();
    let id = hall.open(V);
    let mut slow = hall.post(&id, &call(9, "door", "a"));
    assert!(slow.poll().is_none());
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}"#;
    assert_eq!(hall.post(&id, cancel).response().whole().head.status, 202);
    let got = slow.response().whole();
    assert_eq!((got.head.status, got.header("content-type"), &*got.body), (200, "text/event-stream", ""));
    assert_eq!(hall.open_doors("a"), 0, "the handler was dropped");
}

#[test]
fn a_client_that_goes_away_cancels_nothing() {
    let mut hall = hall();
    let id = hall.open(V);
    let mut slow = hall.post(&id, &call(1, "door", "a"));
    assert!(slow.poll().is_none());
    drop(slow);
    assert!(hall.run().is_pending());
    assert_eq!(hall.open_doors("a"), 1, "it is still under way");
    assert!(hall.run().is_pending());
}

#[test]
fn calls_that_clients_leave_are_bounded_over_all_sessions() {
    let mut hall = Hall::new(Sessions { max_left: 2, ..Sessions::default() });
    for door in ["a", "b", "c"] {
        let id = hall.open(V);
        let mut slow = hall.post(&id, &call(1, "door", door));
        assert!(slow.poll().is_none());
        drop(slow);
    }
    assert!(hall.run().is_pending());
    assert_eq!(["a", "b", "c"].map(|door| hall.open_doors(door)), [1, 1, 0]);
    assert!(hall.run().is_pending());
    let id = hall.open(V);
    let mut slow = hall.post(&id, &call(1, "door", "d"));
    assert!(slow.poll().is_none());
    drop(slow);
    assert_eq!(hall.open_doors("d"), 1, "those that are done count no more");
}

#[test]
fn without_its_driver_a_call_without_a_client_is_cancelled() {
    let mut hall = hall();
    let id = hall.open(V);
    let mut slow = hall.post(&id, &call(1, "door", "a"));
    assert!(slow.poll().is_none());
    hall.drop_driver();
    drop(slow);
    assert_eq!(hall.open_doors("a"), 0);
}

#[test]
fn the_end_of_a_session_is_the_end_of_its_calls_and_streams() {
    let mut hall = hall();
    let id = hall.open(V);
    let mut stream = hall.get(&id);
    assert_eq!(stream.part(), "");
    let mut slow = hall.post(&id, &call(1, "door", "a"));
    let mut left = hall.post(&id, &call(2, "door", "a"));
    assert!(slow.poll().is_none() && left.poll().is_none());
    drop(left);
    assert!(hall.run().is_pending());
    assert_eq!(hall.delete(&id), 204);
    assert_eq!(stream.now(), (String::new(), true));
    let got = slow.response().whole();
    assert_eq!((got.head.status, got.code()), (200, -32603));
    assert!(got.body.contains(r#""id":1"#) && got.body.contains("initialize"), "{}", got.body);
    assert!(hall.run().is_pending());
    assert_eq!(hall.open_doors("a"), 0);
}

#[test]
fn batches_are_of_one_version() {
    let hall = hall();
    let note = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let batch = format!("[{},{note},7,{}]", request(1, "ping", ""), call(2, "none", ""));
    let id = hall.open("2025-03-26");
    let head = || hall.head(Verb::Post, &id, "2025-03-26");
    let got = hall.send(head(), &batch);
    assert!(got.body.contains(r#"[{"jsonrpc":"2.0","id":1,"result":{}}"#), "{}", got.body);
    assert_eq!(got.body.matches("\"error\"").count(), 2, "{}", got.body);
    assert_eq!(hall.send(head(), &format!("[{note}]")).head.status, 202);
    let id = hall.open(V);
    assert_eq!(hall.post(&id, &batch).response().whole().code(), -32600);
}
