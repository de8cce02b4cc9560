//! What is a message, and what becomes of what is none.

use crate::{
    servers::echo,
    stage::{Answerer, Caller, ERAS, House, HttpCaller, LEGACY, LineServer, MODERN, VERSIONS, complete, head, request},
};
use sandwire_client::{ErrorKind, Options};
use sandwire_proto::http::Verb;
use std::sync::{Arc, Mutex};

#[test]
fn b06_an_answer_that_is_a_result_and_an_error_is_neither() {
    let bodies = [
        r#""result":{"prompts":[]},"error":{"code":-1,"message":"x"}"#,
        r#""error":{"code":-1,"message":"x"},"result":{"prompts":[]}"#,
        r#""result":{},"error":{}"#,
    ];
    for version in ERAS {
        for body in bodies {
            let mut client = Caller::open(version);
            let call = client.start(client.client.list_prompts());
            let asked = client.hear();
            client.say(&format!(r#"{{"jsonrpc":"2.0","id":{},{body}}}"#, asked.id()));
            assert_eq!(call.get().unwrap_err().kind(), ErrorKind::Protocol, "{version}: {body}");
            client.assert_lives();

            let mut client = HttpCaller::open(version);
            let call = client.start(client.client.list_prompts());
            let asked = client.next();
            asked.json(200, &format!(r#"{{"jsonrpc":"2.0","id":{},{body}}}"#, asked.id()));
            client.run();
            assert_eq!(call.get().unwrap_err().kind(), ErrorKind::Protocol, "{version}: {body}");
        }
    }
}

/// Arguments that are nested so deep, in objects and in arrays.
fn nested(depth: usize) -> [String; 2] {
    let objects = ["{\"a\":".repeat(depth - 1), "{}".to_owned(), "}".repeat(depth - 1)].concat();
    let arrays = ["{\"a\":".to_owned(), "[".repeat(depth - 1), "]".repeat(depth - 1), "}".to_owned()].concat();
    [objects, arrays]
}

#[test]
fn b16_a_request_too_deep_to_read_is_answered_and_the_next_one_too() {
    for version in ERAS {
        let mut server = Answerer::open(version, echo());
        let mut lines = LineServer::new(echo());
        if version != MODERN {
            lines.initialize(version);
        }
        let house = House::new(echo());
        let session = if version == MODERN { String::new() } else { house.open(version) };
        for arguments in [126, 127, 128, 200, 10_000, 200_000].into_iter().flat_map(nested) {
            let params = format!(r#""name":"echo","arguments":{arguments}"#);
            let text = request(version, "7", "tools/call", &params);
            let next = request(version, "8", "tools/list", "");
            server.say_unnoted(&text);
            let told = server.heard_unjudged();
            assert_eq!((told.len(), told[0].id()), (1, "7"), "{}", arguments.len());
            // What can be read lacks a member; the rest cannot be read.
            let expected = if told[0].get("result").is_some() { None } else { Some(-32600) };
            assert!(expected.is_some() || told[0].at("/result/isError") == true, "{}", told[0].0);
            assert!(expected.is_some() || arguments.len() < 1000, "{}", arguments.len());
            assert!(server.call("8", "tools/list", "").get("result").is_some());

            lines.say(&text);
            let told = lines.heard_unjudged();
            assert_eq!((told.len(), told[0].id()), (1, "7"));
            assert_eq!(told[0].at("/error/code").as_i64(), expected);
            lines.say(&next);
            assert_eq!(lines.hear().id(), "8");

            let head = match version {
                MODERN => crate::stage::modern_head("tools/call", r#""name":"echo""#),
                _ => head(Verb::Post, &[("mcp-session-id", &session), ("mcp-protocol-version", version)]),
            };
            let noted = request(version, "7", "tools/call", r#""name":"echo""#);
            let got = house.begin_as(head, &text, &noted).response().whole();
            assert_eq!((got.said().id(), got.said().at("/error/code").as_i64()), ("7", expected), "{}", got.body);
            assert_eq!(got.status(), if expected.is_some() { 400 } else { 200 });
        }
    }
}

#[test]
fn b18_an_answer_to_nothing_is_not_answered() {
    let strays = [
        r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":"99","result":{"a":null}}"#,
        r#"{"jsonrpc":"2.0","id":99,"error":{"code":-32603,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"x"}}"#,
    ];
    for version in VERSIONS {
        let mut server = Answerer::open(version, echo());
        let mut client = Caller::open(version);
        for stray in strays {
            server.say(stray);
            client.say(stray);
            assert!(server.heard().is_empty() && client.heard().is_empty(), "{version}: {stray}");
        }
        assert!(server.call("99", "tools/list", "").get("result").is_some());
        client.assert_lives();
    }
    let house = House::new(echo());
    let session = house.open("2025-11-25");
    for stray in strays.into_iter().take(3) {
        let got = house.post(&session, "2025-11-25", stray).response().whole();
        assert_eq!((got.status(), &*got.body), (202, ""), "{stray}");
    }
}

#[test]
fn b19_a_message_may_do_without_params() {
    for version in LEGACY {
        let mut server = Answerer::new(echo());
        server.initialize("0", version, "{}");
        server.version = version;
        server.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        for (id, method) in [("1", "ping"), ("2", "tools/list")] {
            server.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#));
            assert!(server.hear().get("result").is_some(), "{version}: {method}");
        }
    }
    for version in VERSIONS {
        let told = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&told);
        let options = Options::new("c", "1");
        let options = options.on_notification(move |it| heard.lock().unwrap().push(it.method.as_str().to_owned()));
        let mut client = Caller::open_with(version, options);
        client.say(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
        assert_eq!(*told.lock().unwrap(), ["notifications/tools/list_changed"], "{version}");
        client.assert_lives();
    }
}

/// What servers say that no version knows, with and without `jsonrpc`.
const FOREIGN: [(&str, &str); 5] = [
    ("notifications/stderr", r#"{"jsonrpc":"2.0","method":"notifications/stderr","params":{"content":"x"}}"#),
    ("window/logMessage", r#"{"jsonrpc":"2.0","method":"window/logMessage","params":{}}"#),
    ("$/progress", r#"{"jsonrpc":"2.0","method":"$/progress","params":{"token":1,"value":{"kind":"end"}}}"#),
    ("", r#"{"method":"notifications/stderr","params":{}}"#),
    ("", r#"{"jsonrpc":"2.0","method":"notifications/odd","params":[1,2]}"#),
];

#[test]
fn b20_a_notification_that_nobody_knows_ends_nothing() {
    for version in VERSIONS {
        let told = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&told);
        let options = Options::new("c", "1");
        let options = options.on_notification(move |it| heard.lock().unwrap().push(it.method.as_str().to_owned()));
        let mut client = Caller::open_with(version, options);
        for (_, text) in FOREIGN {
            client.say_unnoted(text);
        }
        let known: Vec<_> = FOREIGN.iter().map(|(method, _)| *method).filter(|method| !method.is_empty()).collect();
        assert_eq!(*told.lock().unwrap(), known, "{version}");
        assert!(client.heard().is_empty());
        client.assert_lives();

        let mut server = Answerer::open(version, echo());
        for (_, text) in FOREIGN.iter().filter(|(method, _)| !method.is_empty()) {
            server.say_unnoted(text);
            assert!(server.heard().is_empty(), "{version}: {text}");
        }
        assert!(server.call("1", "tools/list", "").get("result").is_some());
    }
}

#[test]
fn b21_an_error_whose_id_could_not_be_read_is_that_of_the_request_it_answers() {
    for version in ERAS {
        for (status, id) in [(400, r#""id":null,"#), (400, ""), (500, r#""id":null,"#), (200, r#""id":null,"#)] {
            let mut client = HttpCaller::open(version);
            let call = client.start(client.client.list_prompts());
            let other = client.start(client.client.list_prompts());
            let asked = client.next();
            let body = format!(r#"{{"jsonrpc":"2.0",{id}"error":{{"code":-32600,"message":"Bad Request"}}}}"#);
            asked.json(status, &body);
            client.run();
            let error = call.get().unwrap_err();
            assert_eq!(error.code().map(|code| code.0), Some(-32600), "{version} {status}: {error:?}");
            assert!(error.to_string().contains("Bad Request"), "{error}");
            client.next().reply(&complete(r#""prompts":[]"#));
            client.run();
            assert!(other.get().is_ok());
        }
    }
}
