use crate::hall::{Hall, Stream, V, call, ids, request, result};
use sandwire_io::MemoryEvents;
use sandwire_proto::http::Verb;
use sandwire_server::http::Sessions;
use std::sync::Arc;

fn plain() -> Hall {
    Hall::new(Sessions { max_queue: 3, ..Sessions::default() })
}

fn kept() -> Hall {
    Hall::new(Sessions { events: Some(Arc::new(MemoryEvents::default())), retry_ms: 500, ..Sessions::default() })
}

fn change(hall: &Hall) {
    hall.server.tools().disable("ask");
    hall.server.tools().enable("ask");
}

#[test]
fn what_belongs_to_no_request_waits_for_the_stream_and_goes_to_one() {
    let hall = plain();
    let id = hall.open(V);
    let mut slow = hall.post(&id, &call(1, "shout", "a")).response();
    assert!(slow.part().contains("onea"));
    change(&hall);
    let mut stream = hall.get(&id);
    assert_eq!(stream.head.headers.get("content-type"), Some("text/event-stream"));
    let told = stream.part();
    assert_eq!(told.matches("tools/list_changed").count(), 1, "twice is no more than once: {told}");
    assert!(!told.contains("onea"), "{told}");
    assert_eq!(slow.part(), "");
    hall.server.tools().disable("ask");
    assert_eq!(stream.part().matches("tools/list_changed").count(), 1);
    let got = hall.send(hall.head(Verb::Get, &id, V), "");
    assert_eq!((got.head.status, got.code()), (409, -32600));
    drop(stream);
    let mut stream = hall.get(&id);
    assert_eq!(stream.part(), "");
}

#[test]
fn the_oldest_make_room_where_too_many_wait() {
    let hall = plain();
    let id = hall.open(V);
    let watch = request(1, "resources/subscribe", r#""uri":"a:b/""#);
    assert_eq!(hall.post(&id, &watch).response().whole().head.status, 200);
    for n in 0..10 {
        hall.server.resources().updated(&format!("a:b/{n}"));
    }
    let told = hall.get(&id).part();
    assert!(told.contains("a:b/7") && !told.contains("a:b/6"), "{told}");
    assert_eq!(told.matches("resources/updated").count(), 3);
}

#[test]
fn only_streams_that_are_welcome_are_opened() {
    let hall = plain();
    let id = hall.open(V);
    let mut head = hall.head(Verb::Get, &id, V);
    head.headers.set("accept", "application/json");
    assert_eq!(hall.send(head.clone(), "").head.status, 406);
    head.headers.set("accept", "text/event-stream");
    assert_eq!(hall.begin(head, "").response().head.status, 200);
    let mut head = hall.head(Verb::Get, &id, V);
    head.headers.remove("mcp-session-id");
    assert_eq!(hall.send(head, "").head.status, 400);
}

fn answer(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"action":"accept","content":{{"name":"Ada"}}}}}}"#)
}

fn question(stream: &mut Stream) -> String {
    let asked = stream.part();
    let at = asked.find(r#"{"jsonrpc""#).unwrap();
    assert!(asked.contains("elicitation/create"), "{asked}");
    sandwire_json::find(asked[at..].trim(), "id").unwrap().to_owned()
}

#[test]
fn a_question_goes_where_its_call_is_answered_and_its_answer_comes_by_post() {
    let hall = plain();
    let id = hall.open(V);
    let mut other = hall.get(&id);
    let mut asking = hall.post(&id, &call(1, "ask", "")).response();
    let asked = question(&mut asking);
    assert_eq!(other.part(), "");
    assert_eq!(hall.post(&id, &answer(&asked)).response().whole().head.status, 202);
    let got = asking.whole();
    assert!(got.body.contains("Ada"), "{}", got.body);

    let stranger = hall.open(V);
    let mut asking = hall.post(&id, &call(1, "ask", "")).response();
    let asked = question(&mut asking);
    assert_eq!(hall.post(&stranger, &answer(&asked)).response().whole().head.status, 202);
    assert_eq!(asking.part(), "", "the answer of another session is none");
}

#[test]
fn a_question_that_nobody_hears_fails_at_once() {
    let mut hall = plain();
    let id = hall.open(V);
    let mut slow = hall.post(&id, &call(1, "ask", ""));
    let stream = slow.poll().unwrap();
    drop(stream);
    assert!(hall.run().is_pending());
    let mut again = hall.post(&id, &call(1, "ask", "")).response();
    question(&mut again);
}

#[test]
fn events_are_primed_for_those_who_know_it_and_where_they_are_kept() {
    for (hall, version, primed) in
        [(kept(), V, true), (kept(), "2025-06-18", false), (kept(), "2025-03-26", false), (plain(), V, false)]
    {
        let id = hall.open(version);
        let mut slow = hall.begin(hall.head(Verb::Post, &id, version), &call(1, "door", "a"));
        let mut stream = hall.begin(hall.head(Verb::Get, &id, version), "").response();
        let first = stream.part();
        assert_eq!(first.starts_with("id: ") && first.ends_with("\ndata: \n\n"), primed, "{version}: {first}");
        match slow.poll() {
            None => assert!(!primed),
            Some(mut stream) => {
                let first = stream.part();
                assert!(primed && first.starts_with("id: ") && first.ends_with("\ndata: \n\n"), "{version}: {first}");
            }
        }
    }
}

#[test]
fn an_answer_that_is_there_at_once_is_json_all_the_same() {
    let hall = kept();
    let id = hall.open(V);
    assert_eq!(hall.post(&id, &request(1, "ping", "")).response().whole().header("content-type"), "application/json");
}

#[test]
fn a_stream_is_resumed_where_it_broke_and_goes_on() {
    let mut hall = kept();
    let id = hall.open(V);
    let mut stream = hall.post(&id, &call(1, "shout", "a")).response();
    let mut other = hall.post(&id, &call(2, "shout", "b")).response();
    let first = stream.part();
    assert!(other.part().contains("oneb"));
    let seen = ids(&first).len();
    assert_eq!(seen, 2, "{first}");
    drop(stream);
    assert!(hall.run().is_pending());

    let mut back = hall.resume(&id, ids(&first)[0]);
    assert_eq!(back.head.status, 200);
    let rest = back.part();
    assert!(rest.contains("onea") && !rest.contains("oneb") && ids(&rest) == ids(&first)[1..], "{rest}");
    hall.open_doors("a");
    assert!(hall.run().is_pending());
    assert!(back.part().contains("twoa"));
    hall.open_doors("a");
    assert!(hall.run().is_pending());
    let (rest, ended) = back.now();
    assert!(ended && rest.contains(r#""id":1,"result""#), "{rest}");

    let again = hall.resume(&id, ids(&first)[1]).whole();
    assert_eq!(ids(&again.body).len(), 2, "what was said is there for whoever comes once more: {}", again.body);
    assert!(other.part().is_empty());
}

#[test]
fn a_stream_is_read_by_one_connection() {
    let mut hall = kept();
    let id = hall.open(V);
    let mut stream = hall.post(&id, &call(1, "shout", "a")).response();
    let first = stream.part();
    let mut back = hall.resume(&id, ids(&first)[1]);
    assert_eq!(back.part(), "");
    let (last, ended) = stream.now();
    assert!(ended && !last.contains("data"), "{last}");
    hall.open_doors("a");
    assert!(hall.run().is_pending());
    assert!(back.part().contains("twoa"));

    let mut stream = hall.get(&id);
    let first = stream.part();
    let mut back = hall.resume(&id, ids(&first)[0]);
    change(&hall);
    assert_eq!(stream.now(), (String::new(), true));
    assert_eq!(back.part().matches("list_changed").count(), 1);
}

#[test]
fn the_stream_of_a_session_is_resumed_too() {
    let hall = kept();
    let id = hall.open(V);
    let mut stream = hall.get(&id);
    let first = stream.part();
    hall.server.tools().disable("ask");
    let mut told = stream.part();
    hall.server.tools().enable("ask");
    told.push_str(&stream.part());
    assert_eq!(ids(&told).len(), 2, "{told}");
    drop(stream);
    hall.server.tools().disable("ask");
    let rest = hall.resume(&id, ids(&first)[0]).part();
    assert_eq!(rest.matches("list_changed").count(), 3, "{rest}");
    assert_eq!(ids(&rest)[..2], ids(&told)[..], "{rest}");
}

#[test]
fn ids_that_are_none_of_the_session_are_refused() {
    let hall = kept();
    let (one, two) = (hall.open(V), hall.open(V));
    let first = hall.post(&one, &call(1, "shout", "a")).response().part();
    for last in ["s1_999999", "", "1-999999", "garbage", "-", "99999999999999999999-1", ids(&first)[0]] {
        let mut head = hall.head(Verb::Get, &two, V);
        head.headers.push("Last-Event-ID", last);
        let got = hall.send(head, "");
        assert_eq!((got.head.status, got.code()), (400, -32600), "{last}");
    }
    hall.get(&two);
}

#[test]
fn a_call_that_asks_after_its_client_left_has_its_question_kept() {
    let mut hall = kept();
    let id = hall.open(V);
    let mut asking = hall.post(&id, &call(1, "ask", ""));
    let mut stream = asking.poll().unwrap();
    let first = stream.part();
    drop(stream);
    assert!(hall.run().is_pending());
    let mut back = hall.resume(&id, ids(&first)[0]);
    let asked = question(&mut back);
    assert_eq!(hall.post(&id, &answer(&asked)).response().whole().head.status, 202);
    assert!(hall.run().is_pending());
    let got = back.whole();
    assert!(got.body.contains("Ada"), "{}", got.body);
    let plain = hall.post(&id, &request(2, "ping", "")).response().whole();
    assert_eq!(result(&plain), "{}");
}

#[test]
fn a_handler_closes_its_stream_and_the_client_comes_back() {
    let mut hall = kept();
    let id = hall.open(V);
    let mut stream = hall.post(&id, &call(1, "away", "a")).response();
    let (first, ended) = stream.now();
    assert!(ended && first.ends_with("\ndata: \n\nretry: 500\n\n"), "{first}");
    assert!(hall.run().is_pending());
    let mut back = hall.resume(&id, ids(&first)[0]);
    assert_eq!(back.part(), "");
    hall.open_doors("a");
    assert!(hall.run().is_pending());
    let got = back.whole();
    assert!(got.body.contains(r#""id":1,"result""#), "{}", got.body);
}

#[test]
fn a_stream_stays_open_where_nobody_could_come_back() {
    for (hall, version) in [(plain(), V), (kept(), "2025-06-18")] {
        let id = hall.open(version);
        let mut slow = hall.begin(hall.head(Verb::Post, &id, version), &call(1, "away", "a"));
        assert!(slow.poll().is_none());
        hall.open_doors("a");
        assert!(slow.response().whole().body.contains("result"));
    }
}
