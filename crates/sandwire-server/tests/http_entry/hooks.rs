//! Who sends a request, who may, and who hears of it.

use crate::{
    hall::{Hall, V, request, result},
    site::{modern, modern_as, post, tool},
};
use sandwire_io::{MemoryStore, testing::SimEnv};
use sandwire_json::{Raw, find};
use sandwire_proto::http::{RequestHead, Verb};
use sandwire_server::http::{Guard, Hook, Principal, Refused, Sessions};
use std::sync::{Arc, Mutex};

type Log = Arc<Mutex<Vec<(u16, Option<String>, u64)>>>;

/// Knows whoever names themselves, and lets everybody in but eve.
fn guard(log: &Log) -> Guard {
    let log = log.clone();
    Guard {
        hooks: [
            Hook::log(move |seen| {
                let who = seen.principal.map(|principal| principal.id.to_string());
                log.lock().unwrap().push((seen.status, who, seen.ms));
            }),
            Hook::authenticate(|head| {
                let name = head.headers.get("authorization").and_then(|field| field.strip_prefix("Bearer "));
                let (name, scope) = name.unwrap_or_default().split_once(' ').unwrap_or((name.unwrap_or_default(), ""));
                let mut principal = Principal::new(name);
                principal.claims = Raw::string(scope);
                async move {
                    if principal.id.is_empty() {
                        return Err(Refused::unauthorized(r#"Bearer resource_metadata="https://mcp.example""#));
                    }
                    Ok(principal)
                }
            }),
            Hook::limit(|_, principal| {
                let is_eve = principal.is_some_and(|principal| &*principal.id == "eve");
                async move { if is_eve { Err(Refused::too_many(30)) } else { Ok(()) } }
            }),
        ]
        .into(),
        ..Guard::default()
    }
}

fn hall(log: &Log) -> Hall {
    Hall::guarded(SimEnv::new(5), guard(log), |_| Sessions::default())
}

fn by(mut head: RequestHead, who: &str) -> RequestHead {
    head.headers.set("authorization", ["Bearer ", who].concat());
    head
}

#[test]
fn a_handler_sees_who_was_authenticated() {
    let hall = hall(&Log::default());
    let (head, body) = modern("tools/call", &tool("whoami"));
    let got = hall.send(by(head.clone(), "alice read"), &body);
    assert!(got.body.contains(r#"alice\"read\""#), "{}", got.body);

    let got = hall.send(head, &body);
    assert_eq!((got.head.status, got.code()), (401, -32600));
    assert_eq!(got.header("www-authenticate"), r#"Bearer resource_metadata="https://mcp.example""#);
    assert_eq!(got.header("content-type"), "application/json");
}

#[test]
fn a_page_may_read_why_it_was_refused() {
    let hall = hall(&Log::default());
    let (mut head, body) = modern("tools/call", &tool("whoami"));
    head.headers.push("origin", "http://localhost:5173");
    for (who, status, field) in [("", 401, "WWW-Authenticate"), ("eve", 429, "Retry-After")] {
        let got = hall.send(by(head.clone(), who), &body);
        assert_eq!(got.head.status, status);
        assert_eq!(got.header("access-control-allow-origin"), "http://localhost:5173");
        assert!(got.header("access-control-expose-headers").contains(field));
        assert_ne!(got.header(&field.to_ascii_lowercase()), "");
    }
}

#[test]
fn a_preflight_carries_no_credentials_and_needs_none() {
    let log = Log::default();
    let mut head = RequestHead::new(Verb::Options);
    for (name, value) in
        [("host", "localhost"), ("origin", "http://localhost"), ("access-control-request-method", "POST")]
    {
        head.headers.push(name, value);
    }
    assert_eq!(hall(&log).send(head, "").head.status, 204);
    assert_eq!(*log.lock().unwrap(), [(204, None, 0)]);
}

#[test]
fn the_log_hears_of_every_answer() {
    let log = Log::default();
    let hall = hall(&log);
    let (mut head, body) = modern("tools/call", &tool("whoami"));
    hall.send(by(head.clone(), "alice"), &body);
    hall.send(by(head.clone(), "eve"), &body);
    hall.send(by(head.clone(), "bob"), "{");
    hall.send(head.clone(), &body);
    head.headers.set("host", "evil.example");
    hall.send(by(head, "alice"), &body);
    let who = |name: &str| Some(name.to_owned());
    assert_eq!(
        *log.lock().unwrap(),
        [(200, who("alice"), 0), (429, who("eve"), 0), (400, who("bob"), 0), (401, None, 0), (421, None, 0)]
    );

    log.lock().unwrap().clear();
    let (head, body) = modern("tools/call", r#""name":"door","arguments":{"name":"a"}"#);
    let mut waiting = hall.begin(by(head, "alice"), &body);
    assert!(waiting.poll().is_none());
    hall.env.advance(20);
    hall.open_doors("a");
    waiting.response().whole();
    assert_eq!(*log.lock().unwrap(), [(200, who("alice"), 20)]);
}

#[test]
fn a_hook_can_answer_with_a_document() {
    let hook = Hook::limit(|head, _| {
        let wanted = head.path == "/.well-known/oauth-protected-resource";
        async move { if wanted { Err(Refused::answer(200, "application/json", "{}")) } else { Ok(()) } }
    });
    let guard = Guard { hooks: [hook].into(), ..Guard::default() };
    let hall = Hall::guarded(SimEnv::new(5), guard, |_| Sessions::default());
    let mut head = post(&[]);
    (head.method, head.path) = (Verb::Get, "/.well-known/oauth-protected-resource".into());
    let got = hall.send(head, "");
    assert_eq!((got.head.status, &*got.body), (200, "{}"));
}

fn initialize(hall: &Hall, who: &str) -> String {
    let params = format!(r#""protocolVersion":"{V}","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}"#);
    let got = hall.send(by(post(&[]), who), &request(0, "initialize", &params));
    got.header("mcp-session-id").to_owned()
}

const WHOAMI: &str = r#""name":"whoami""#;

#[test]
fn a_session_is_there_for_its_party_only_and_knows_what_each_request_tells() {
    let hall = hall(&Log::default());
    let id = initialize(&hall, "alice read");
    let call = request(1, "tools/call", WHOAMI);
    for scope in ["read", "write"] {
        let got = hall.send(by(hall.head(Verb::Post, &id, V), &format!("alice {scope}")), &call);
        assert!(result(&got).contains(&format!(r#"alice\"{scope}\""#)), "{}", got.body);
    }
    for verb in [Verb::Post, Verb::Get, Verb::Delete] {
        let got = hall.send(by(hall.head(verb, &id, V), "bob read"), &call);
        assert_eq!(got.head.status, 404);
    }
    assert_eq!(hall.entry.sessions(), 1);
}

#[test]
fn a_session_of_another_process_is_there_for_its_party_only() {
    let env = SimEnv::new(5);
    let store = Arc::new(MemoryStore::new(Arc::new(env.clone()), 10));
    let begin = || {
        let store = store.clone();
        Hall::guarded(env.clone(), guard(&Log::default()), |_| Sessions { store: Some(store), ..Sessions::default() })
    };
    let id = initialize(&begin(), "alice");
    let (second, call) = (begin(), request(1, "tools/call", WHOAMI));
    let head = second.head(Verb::Post, &id, V);
    assert_eq!(second.send(by(head.clone(), "bob"), &call).head.status, 404);
    assert_eq!(second.entry.sessions(), 0);
    let got = second.send(by(head, "alice all"), &call);
    assert!(result(&got).contains(r#"alice\"all\""#), "{}", got.body);
}

#[test]
fn a_stream_of_2024_is_there_for_its_party_only() {
    let hall = Hall::guarded(SimEnv::new(5), guard(&Log::default()), |_| Sessions { sse: true, ..Sessions::default() });
    let mut head = RequestHead::new(Verb::Get);
    head.path = "/mcp".into();
    for (name, value) in [("host", "localhost"), ("accept", "text/event-stream")] {
        head.headers.push(name, value);
    }
    let mut stream = hall.begin(by(head, "alice"), "").response();
    let opened = stream.part();
    let address = opened.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
    for (who, status) in [("bob", 404), ("alice", 202)] {
        let mut head = post(&[]);
        head.path = address.to_owned();
        assert_eq!(hall.send(by(head, who), &request(1, "ping", "")).head.status, status, "{who}");
    }
}

#[test]
fn what_a_client_holds_of_a_call_works_for_its_party_only() {
    let hall = hall(&Log::default());
    let can = r#"{"elicitation":{}}"#;
    let (head, body) = modern_as("tools/call", &tool("ask"), can, "");
    let first = hall.send(by(head, "alice"), &body);
    let state = find(result(&first), "requestState").unwrap();
    let answers = r#""inputResponses":{"who":{"action":"accept","content":{"name":"x"}}}"#;
    let (head, body) =
        modern_as("tools/call", &format!(r#"{},"requestState":{state},{answers}"#, tool("ask")), can, "");
    let got = hall.send(by(head.clone(), "bob"), &body);
    assert_eq!(got.code(), -32602);
    assert!(got.body.contains(r#""reason":"invalid_request_state""#), "{}", got.body);
    let got = hall.send(by(head, "alice again"), &body);
    assert!(got.body.contains(r#""text":"x""#), "{}", got.body);
}
