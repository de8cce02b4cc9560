//! Where reports contradict each other. README.md says what was decided and why; each decision has a test here.

use crate::{
    servers::echo,
    stage::{
        Answerer, Caller, ERAS, House, HttpCaller, LEGACY, LineServer, MODERN, VERSIONS, complete, modern_head, result,
    },
};
use sandwire_client::{Client, ErrorKind, Options, SessionLoss};
use sandwire_server::Server;

#[test]
fn conflict_1_a_server_answers_what_begins_as_a_message_and_a_client_nothing() {
    for (version, answers_noise) in ERAS.into_iter().flat_map(|version| [(version, false), (version, true)]) {
        let server = Server::builder("s", "1").build_with(|config| config.answers_noise = answers_noise).unwrap();
        let mut server = LineServer::new(server);
        if version != MODERN {
            server.initialize(version);
        }
        for (line, is_answered) in [("a log line\n", answers_noise), ("{\"jsonrpc\":\n", true)] {
            server.write(line.repeat(100).as_bytes());
            let told = server.heard_unjudged();
            assert_eq!(told.len(), if is_answered { 100 } else { 0 }, "{version}: {line}");
            assert!(told.iter().all(|told| told.code() == -32700));
        }
        // What it answered with ends there, if it comes back.
        server.say(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#);
        server.say(r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}"#);
        assert!(server.heard_unjudged().is_empty(), "{version}");

        let mut client = Caller::open(version);
        for _ in 0..100 {
            client.say_unnoted("a log line");
            client.say_unnoted("{\"jsonrpc\":");
        }
        assert!(client.heard().is_empty(), "{version}");
        client.assert_lives();
    }
    let house = House::new(echo());
    let got = house.begin_as(modern_head("tools/list", ""), "not json", "").response().whole();
    assert_eq!((got.status(), got.said().code()), (400, -32700));
}

#[test]
fn conflict_2_an_empty_cursor_is_followed_and_a_repeated_one_ends_the_walk() {
    for (cursors, good) in
        [(&[Some(""), None][..], true), (&[Some(""), Some("")], false), (&[Some("a"), Some(""), Some("a")], false)]
    {
        let mut client = Caller::open(MODERN);
        let all = async |client: Client| client.list_all_tools().await;
        let walk = client.start(all(client.client.clone()));
        for cursor in cursors {
            let asked = client.hear();
            let next = cursor.map_or(String::new(), |cursor| format!(r#","nextCursor":"{cursor}""#));
            client.answer(&asked, &complete(&format!(r#""tools":[]{next}"#)));
        }
        assert!(client.heard().is_empty());
        match walk.get() {
            Ok(_) => assert!(good, "{cursors:?}"),
            Err(error) => assert!(!good && error.kind() == ErrorKind::Protocol, "{cursors:?}: {error}"),
        }
    }
}

#[test]
fn conflict_3_a_second_initialization_is_refused_and_changes_nothing() {
    for version in LEGACY {
        let mut server = Answerer::open_as(version, r#"{"elicitation":{}}"#, crate::decode::asking());
        assert_eq!(server.initialize("5", version, "{}").code(), -32600, "{version}");
        if matches!(version, "2025-06-18" | "2025-11-25") {
            // The first client's capabilities still hold.
            server.ask("6", "tools/call", r#""name":"ask","arguments":{}"#);
            assert_eq!(server.hear().method(), "elicitation/create");
        }
    }
}

#[test]
fn conflict_4_arguments_that_are_null_are_none() {
    for version in VERSIONS {
        let mut server = Answerer::open(version, echo());
        let [null, none] = [r#","arguments":null"#, ""].map(|arguments| {
            server.call("1", "tools/call", &format!(r#""name":"echo"{arguments}"#)).result().to_owned()
        });
        assert_eq!(null, none, "{version}");
        let house = House::new(echo());
        if version == MODERN {
            assert_eq!(house.modern("tools/call", r#""name":"echo","arguments":null"#).status(), 200);
        }
    }
}

#[test]
fn conflict_5_a_client_takes_the_text_of_its_number_for_it_and_nothing_else() {
    for version in ERAS {
        let mut client = Caller::open(version);
        // All ids of ours are numbers: no text is ever the exact id of another call.
        let calls: Vec<_> = (0..3).map(|_| client.start(client.client.list_prompts())).collect();
        let asked = client.heard();
        assert!(asked.iter().all(|said| said.id().parse::<u64>().is_ok()), "{asked:?}");
        let answer = |name: &str| complete(&format!(r#""prompts":[{{"name":"{name}"}}]"#));
        for (said, name) in asked.iter().zip(["a", "b", "c"]) {
            client.judge.theirs(&result(said.id(), "{}"));
            client.say_unnoted(&result(&format!("\" {}\"", said.id()), &answer("wrong")));
            client.say_unnoted(&result(&format!("\"0{}\"", said.id()), &answer("wrong")));
            client.say_unnoted(&result(&format!("\"{}\"", said.id()), &answer(name)));
        }
        for (call, name) in calls.into_iter().zip(["a", "b", "c"]) {
            assert_eq!(call.get().unwrap().prompts[0].name, name, "{version}");
        }
        // A server is strict: what a client asks under a text and under its number are two requests.
        let mut server = Answerer::open(version, echo());
        server.ask("1", "tools/list", "");
        server.ask("\"1\"", "tools/list", "");
        assert_eq!(server.heard().len(), 2);
    }
}

#[test]
fn conflict_6_whether_a_call_is_made_again_in_a_new_session_is_said() {
    for (policy, again) in [(SessionLoss::default(), true), (SessionLoss::CallAgain, true), (SessionLoss::Fail, false)]
    {
        let mut client = HttpCaller::open_with("2025-11-25", Options::new("c", "1").session_loss(policy));
        let call = client.start(client.client.call_tool("t", &()));
        client.next().json(404, "");
        client.run();
        assert_eq!(call.is_there(), !again, "{policy:?}");
        if let Some(initialize) = client.try_next() {
            client.begin_session(&initialize, "2025-11-25", "s-2");
        }
        let calls = client.all().iter().filter(|asked| asked.method() == "tools/call").count();
        assert_eq!(calls, usize::from(again), "{policy:?}");
    }
}

#[test]
fn conflict_7_what_a_failed_tool_says_is_not_held_against_its_schema() {
    for version in ["2025-06-18", "2025-11-25", MODERN] {
        let mut client = Caller::open(version);
        let schema = r#"{"type":"object","required":["sum"]}"#;
        let tool = format!(r#"{{"name":"t","inputSchema":{{"type":"object"}},"outputSchema":{schema}}}"#);
        let list = client.client.list_tools();
        client.call(list, &complete(&format!(r#""tools":[{tool}]"#))).unwrap();
        let call = client.client.call_tool("t", &());
        let got =
            client.call(call, &complete(r#""content":[],"structuredContent":{"why":"x"},"isError":true"#)).unwrap();
        assert_eq!(got.structured_content.unwrap().as_str(), r#"{"why":"x"}"#, "{version}");
    }
}
