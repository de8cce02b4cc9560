use crate::scene::{Scene, code_of, config, error_of, legacy, modern, modern_as};
use sandwire_proto::server::Progress;

#[test]
fn an_id_under_way_cannot_be_used_again() {
    for (mut scene, request) in
        [(Scene::modern(), modern as fn(&str, &str, &str) -> String), (Scene::legacy("2025-11-25"), legacy)]
    {
        let key = scene.begin(&request("1", "tools/call", ""));
        assert_eq!(code_of(&scene.ask(&request("1", "tools/call", ""))), -32600);
        let other = scene.begin(&request("\"1\"", "tools/call", ""));
        assert_eq!(scene.reply(key, "{}").len(), 1);
        assert_eq!(scene.reply(other, "{}").len(), 1);
    }
}

#[test]
fn requests_over_the_limit_are_refused_until_others_are_answered() {
    let mut config = config();
    config.limits.max_peer_requests = 2;
    let mut scene = Scene::new(config);
    let first = scene.begin(&modern("1", "tools/call", ""));
    scene.begin(&modern("2", "tools/call", ""));
    let (code, message) = error_of(&scene.ask(&modern("3", "tools/call", "")));
    assert_eq!(code, -32603);
    assert!(message.contains("too many"), "{message}");
    scene.reply(first, "{}");
    scene.begin(&modern("3", "tools/call", ""));
}

#[test]
fn a_cancelled_call_counts_until_its_handler_is_gone() {
    let mut config = config();
    config.limits.max_peer_requests = 1;
    let mut scene = Scene::new(config);
    let key = scene.begin(&modern("1", "tools/call", ""));
    scene.tell(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    assert_eq!(code_of(&scene.ask(&modern("2", "tools/call", ""))), -32603);
    scene.machine.end(key);
    scene.begin(&modern("2", "tools/call", ""));
}

#[test]
fn messages_over_the_size_limit_are_refused_both_ways() {
    let mut config = config();
    config.limits.max_message_bytes = 1000;
    let mut scene = Scene::new(config);
    let long = format!(r#""x":"{}""#, "y".repeat(1000));
    assert_eq!(code_of(&scene.ask(&modern("1", "tools/call", &long))), -32600);
    let key = scene.begin(&modern("1", "tools/call", ""));
    assert_eq!(code_of(&scene.reply(key, &format!("{{{long}}}"))[0]), -32603);
}

#[test]
fn a_client_subscribes_to_so_many_bytes_of_uris() {
    let mut scene = Scene::legacy("2025-11-25");
    let uri = |first: char| format!(r#""uri":"{first}:{}""#, "x".repeat(100_000));
    for first in ['a', 'b', 'a', 'b'] {
        assert!(scene.ask(&legacy("1", "resources/subscribe", &uri(first))).contains("result"));
    }
    let (code, message) = error_of(&scene.ask(&legacy("1", "resources/subscribe", &uri('c'))));
    assert!(code == -32603 && message.contains("unsubscribe"), "{code} {message}");
    scene.ask(&legacy("1", "resources/unsubscribe", &uri('a')));
    assert!(scene.ask(&legacy("1", "resources/subscribe", &uri('c'))).contains("result"));
}

#[test]
fn a_progress_token_is_short_since_it_is_repeated() {
    for (mut scene, legacy_) in [(Scene::modern(), false), (Scene::legacy("2025-11-25"), true)] {
        let call = |bytes: usize| {
            let token = format!(r#""progressToken":"{}""#, "t".repeat(bytes));
            match legacy_ {
                true => legacy("1", "tools/call", &format!(r#""_meta":{{{token}}}"#)),
                false => modern_as("1", "tools/call", "", "{}", &format!(",{token}")),
            }
        };
        let (code, message) = error_of(&scene.ask(&call(1025)));
        assert!(code == -32602 && message.contains("progressToken"), "{code} {message}");
        scene.begin(&call(1024));
    }
}

#[test]
fn progress_is_left_out_when_nobody_takes_the_messages() {
    let mut config = config();
    config.limits.max_queue = 10;
    let mut scene = Scene::new(config);
    let key = scene.begin(&modern_as("1", "tools/call", "", "{}", r#","progressToken":1"#));
    for step in 1..100 {
        scene.machine.progress(key, Progress { progress: f64::from(step), ..Progress::default() });
    }
    let told = scene.reply(key, "{}");
    assert_eq!(told.len(), 11);
    assert!(told[10].contains("result"));
}

#[test]
fn where_every_exchange_is_answered_apart_ids_may_be_the_same_and_the_answers_are_not() {
    use sandwire_proto::{ExchangeId, Input, Time, Via, server::Output};
    use sandwire_types::wire::{Incoming, Memo, decode, encode};

    let mut scene = Scene::legacy("2025-11-25");
    scene.machine.answer_apart(true);
    let tell = |scene: &mut Scene, exchange: u64, text: &str| {
        let Ok(Incoming::One(message)) = decode(text, &mut Memo::new()) else { panic!("no message") };
        scene.machine.handle(Time(0), Input::Message { via: Via::Exchange(ExchangeId(exchange)), message });
        let mut calls = Vec::new();
        while let Some(output) = scene.machine.poll() {
            match output {
                Output::Call { key, .. } => calls.push(key),
                Output::Cancel { .. } => panic!("cancelled"),
                _ => {}
            }
        }
        calls
    };
    let first = tell(&mut scene, 1, &legacy("1", "tools/call", ""));
    let second = tell(&mut scene, 2, &legacy("1", "tools/call", ""));
    assert_eq!(tell(&mut scene, 2, &legacy("1", "tools/call", "")).len(), 0, "refused on the same exchange");
    let cancelled = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    assert_eq!(tell(&mut scene, 3, cancelled).len(), 0, "nobody knows which of them is meant");
    for (key, exchange, value) in [(second[0], 2, r#"{"b":2}"#), (first[0], 1, r#"{"a":1}"#)] {
        scene.machine.reply(key, Ok(sandwire_types::Reply::new(sandwire_json::Raw::from_valid(value))));
        let Some(Output::Send { via, message }) = scene.machine.poll() else { panic!("nothing sent") };
        assert_eq!(via, Via::Exchange(ExchangeId(exchange)));
        assert!(encode(&message).contains(value));
    }
}
