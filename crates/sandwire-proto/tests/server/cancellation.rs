use crate::scene::{Scene, config, legacy, modern, notification};
use sandwire_proto::{Ended, ExchangeId, Input, Time, Via, server::Machine};
use sandwire_types::{Message, Method, Request};
use std::sync::Arc;

type Written = fn(&str, &str, &str) -> String;

fn both() -> [(Scene, Written); 2] {
    [(Scene::modern(), modern), (Scene::legacy("2025-11-25"), legacy)]
}

#[test]
fn a_cancelled_call_says_nothing_more() {
    for (mut scene, request) in both() {
        let key = scene.begin(&request("\"a\"", "tools/call", ""));
        scene.tell(&notification("notifications/cancelled", r#""requestId":"a","reason":"why not""#));
        assert_eq!(scene.cancelled, [key]);
        assert!(!scene.machine.is_running(key));
        assert_eq!(scene.reply(key, "{}"), [""; 0]);
        assert_eq!(scene.machine.in_flight(), 0);
    }
}

#[test]
fn cancelling_what_is_not_under_way_does_nothing() {
    for (mut scene, request) in both() {
        let key = scene.begin(&request("1", "tools/call", ""));
        for params in ["", r#""requestId":"1""#, r#""requestId":2"#, r#""requestId":null"#, r#""requestId":{}"#] {
            assert_eq!(scene.tell(&notification("notifications/cancelled", params)), [""; 0]);
        }
        assert!(scene.cancelled.is_empty());
        assert_eq!(scene.reply(key, "{}").len(), 1);
        scene.tell(&notification("notifications/cancelled", r#""requestId":1"#));
        assert!(scene.cancelled.is_empty());
    }
}

#[test]
fn an_id_is_free_again_once_its_call_was_cancelled_or_answered() {
    let mut scene = Scene::modern();
    let first = scene.begin(&modern("1", "tools/call", ""));
    scene.tell(&notification("notifications/cancelled", r#""requestId":1"#));
    let second = scene.begin(&modern("1", "tools/call", ""));
    assert_eq!(scene.reply(first, "{}"), [""; 0]);
    assert_eq!(scene.reply(second, "{}").len(), 1);
    let third = scene.begin(&modern("1", "tools/call", ""));
    scene.tell(&notification("notifications/cancelled", r#""requestId":1"#));
    scene.tell(&notification("notifications/cancelled", r#""requestId":1"#));
    assert_eq!(scene.cancelled, [first, third]);
}

#[test]
fn the_end_of_an_exchange_cancels_what_it_began_and_nothing_else() {
    let mut machine = Machine::for_exchange(Arc::new(config()), None, None);
    let envelope = crate::scene::modern("1", "tools/call", "");
    let Ok(sandwire_types::wire::Incoming::One(Message::Request(request))) =
        sandwire_types::wire::decode(&envelope, &mut Default::default())
    else {
        panic!("no request");
    };
    for exchange in [1, 2] {
        let message = Message::Request(Request { id: exchange.into(), ..request.clone() });
        machine.handle(Time(0), Input::Message { via: Via::Exchange(ExchangeId(exchange as u64)), message });
    }
    machine.handle(Time(0), Input::Ended { exchange: ExchangeId(2), how: Ended::Finished });
    let mut scene = Scene::of(machine);
    scene.drain();
    assert_eq!(scene.cancelled, [scene.calls[1].0]);
    assert_eq!(scene.calls[0].1.method, Method::ToolsCall);
}

#[test]
fn the_end_of_the_link_cancels_everything() {
    for (mut scene, request) in both() {
        let first = scene.begin(&request("1", "tools/call", ""));
        let second = scene.begin(&request("2", "tools/call", ""));
        scene.input(Input::Closed(None));
        assert_eq!(scene.cancelled, [first, second]);
        assert_eq!(scene.reply(first, "{}"), [""; 0]);
        assert_eq!(scene.tell(&request("3", "tools/call", "")), [""; 0]);
        assert!(scene.calls.is_empty());
    }
}
