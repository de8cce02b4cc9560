//! Which answer belongs to which question.

use crate::{
    servers::{Doors, echo},
    stage::{Answerer, Caller, ERAS, House, LEGACY, VERSIONS, complete, error, request, result},
};
use proptest::prelude::*;

/// Ids of every type and size.
const IDS: [&str; 14] = [
    "1",
    "\"1\"",
    "0",
    "-5",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "\"\"",
    "\" 0\"",
    "\"007\"",
    "\"\u{1f980}\"",
    r#""a\"b\\c\n""#,
    "\"6ba7b810-9dad-11d1-80b4-00c04fd430c8\"",
];

#[test]
fn b02_an_id_keeps_its_type_and_a_number_is_not_the_text_of_it() {
    for version in VERSIONS {
        let mut server = Answerer::open(version, echo());
        server.ask("\"1\"", "tools/list", "");
        server.ask("1", "tools/list", "");
        let told = server.heard();
        let ids: Vec<_> = told.iter().map(|told| (told.id(), told.get("result").is_some())).collect();
        assert_eq!(ids, [("\"1\"", true), ("1", true)], "{version}");
    }
}

#[test]
fn b04_every_id_comes_back_as_the_text_that_it_was() {
    for version in VERSIONS {
        let mut server = Answerer::open(version, echo());
        for id in IDS {
            let told = server.call(id, "tools/list", "");
            assert_eq!((told.id(), told.get("error")), (id, None), "{version}");
        }
    }
    // Only in the old era do servers ask by requests of their own.
    for version in LEGACY {
        let mut client = Caller::open(version);
        for id in IDS {
            client.say(&request(version, id, "ping", ""));
            assert_eq!(client.hear().0, result(id, "{}"), "{version}");
        }
    }
}

#[test]
fn b05_a_whole_number_may_be_written_with_a_point_and_a_fraction_is_no_id() {
    for version in VERSIONS {
        let mut server = Answerer::open(version, echo());
        for (written, id) in [("1.0", "1"), ("2e0", "2"), ("30.00e-1", "3"), ("-4.0", "-4")] {
            server.judge.theirs(&request(version, id, "tools/list", ""));
            server.say_unnoted(&request(version, written, "tools/list", ""));
            let told = server.hear();
            assert_eq!((told.id(), told.get("error")), (id, None), "{version}: {written}");
        }
        for fraction in ["1.5", "1e-1"] {
            server.say_unnoted(&request(version, fraction, "tools/list", ""));
            assert_eq!(server.hear().code(), -32600, "{version}: {fraction}");
            assert!(server.call("7", "tools/list", "").get("result").is_some());
        }
    }
    for version in ERAS {
        let mut client = Caller::open(version);
        let call = client.start(client.client.list_prompts());
        let asked = client.hear();
        client.judge.theirs(&result(asked.id(), "{}"));
        client.say_unnoted(&result(&format!("{}.0", asked.id()), &complete(r#""prompts":[]"#)));
        assert!(call.get().is_ok());
    }
}

#[test]
fn b07_two_requests_of_one_id_in_one_session_are_not_mixed_up() {
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        for second in [7, 8] {
            let doors = Doors::default();
            let house = House::new(doors.server());
            let session = house.open(version);
            let call = |id: u8, door: &str| {
                let params = format!(r#""name":"door","arguments":{{"name":"{door}"}}"#);
                house.post(&session, version, &request(version, &id.to_string(), "tools/call", &params))
            };
            let mut slow = call(7, "slow");
            assert!(slow.poll().is_none());
            let mut fast = call(second, "fast");
            assert!(fast.poll().is_none(), "each is answered on a response of its own");
            doors.open("fast");
            assert_eq!(fast.response().whole().said().at("/result/content/0/text"), "fast");
            doors.open("slow");
            let got = slow.response().whole();
            assert_eq!((got.status(), got.said().at("/result/content/0/text")), (200, "slow".into()), "{version}");
            assert!(call(7, "again").poll().is_none(), "the id is free once it is answered");
        }
    }
}

#[test]
fn b07_an_id_under_way_on_a_pipe_is_refused_and_the_first_keeps_its_answer() {
    for version in ERAS {
        let doors = Doors::default();
        let mut server = Answerer::open(version, doors.server());
        server.ask("1", "tools/call", r#""name":"door","arguments":{"name":"a"}"#);
        let again = request(version, "1", "tools/call", r#""name":"door","arguments":{"name":"b"}"#);
        server.say_unnoted(&again);
        let refusal = server.heard_unjudged();
        assert!(refusal.iter().all(|told| told.code() == -32600) && refusal.len() == 1, "{refusal:?}");
        doors.open("a");
        assert_eq!(server.hear().at("/result/content/0/text"), "a", "{version}");
    }
}

/// Who asks: a session, or a request without one.
fn ask(house: &House, version: &str, session: &str, door: &str) -> crate::stage::Waiting {
    let params = format!(r#""name":"door","arguments":{{"name":"{door}"}}"#);
    match session {
        "" => house.begin_modern("tools/call", &params),
        _ => house.post(session, version, &request(version, "2", "tools/call", &params)),
    }
}

#[test]
fn b08_clients_with_the_same_ids_never_see_each_other_s_answers() {
    let doors = Doors::default();
    let house = House::new(doors.server());
    let sessions = [house.open("2025-11-25"), house.open("2025-06-18"), house.open("2025-03-26")];
    let callers = [
        ("2025-11-25", sessions[0].as_str()),
        ("2025-06-18", sessions[1].as_str()),
        ("2025-03-26", sessions[2].as_str()),
        ("2026-07-28", ""),
        ("2026-07-28", ""),
    ];
    let mut runner =
        proptest::test_runner::TestRunner::new(ProptestConfig { cases: 1000, ..ProptestConfig::default() });
    let order = Just(vec![0_usize, 1, 2, 3, 4]).prop_shuffle();
    let played = runner.run(&(order.clone(), order), |(asked, answered)| {
        let mut waiting: Vec<_> = asked
            .iter()
            .map(|who| {
                let door = format!("door {who}");
                let mut call = ask(&house, callers[*who].0, callers[*who].1, &door);
                assert!(call.poll().is_none());
                (*who, Some(call))
            })
            .collect();
        for who in answered {
            let door = format!("door {who}");
            doors.open(&door);
            let call = waiting.iter_mut().find(|(caller, _)| *caller == who).unwrap().1.take();
            let got = call.unwrap().response().whole();
            prop_assert_eq!(got.said().at("/result/content/0/text"), door);
        }
        Ok(())
    });
    played.unwrap();
    assert_eq!(house.entry.sessions(), 3);
}

#[test]
fn b23_nothing_is_taken_for_the_number_zero() {
    for version in ERAS {
        let mut client = Caller::open(version);
        let call = client.start(client.client.list_prompts());
        let asked = client.hear();
        assert!(asked.id().parse::<i64>().is_ok(), "ids of ours are numbers: {}", asked.0);
        for blank in ["\"\"", "\" \"", "\" 0\"", "\"0 \"", "\"00\"", "\"0x0\"", "\"-0\"", "false", "[]", "{}"] {
            client.say_unnoted(&result(blank, r#"{"prompts":[{"name":"wrong"}]}"#));
            client.say_unnoted(&error(blank, -1, "wrong"));
        }
        let padded = format!("\" {}\"", asked.id());
        client.say_unnoted(&result(&padded, r#"{"prompts":[{"name":"wrong"}]}"#));
        client.say_unnoted(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"wrong"}}"#);
        client.say_unnoted(r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"wrong"}}"#);
        assert!(!call.is_there(), "{version}");
        client.answer(&asked, &complete(r#""prompts":[{"name":"right"}]"#));
        assert_eq!(call.get().unwrap().prompts[0].name, "right");
        assert!(client.heard().is_empty());
    }
}
