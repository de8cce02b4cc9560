use crate::scene::{Scene, config, error, raw, tool_call};
use sandwire_proto::{
    PeerMisbehaved, Wire,
    client::{CallError, Mode, Output},
};
use sandwire_types::{Method, ProtocolVersion, ResultKind};

const ASKS: &str = r#"{"resultType":"input_required","inputRequests":{"who":{"method":"elicitation/create","params":{"message":"Name?"}},"where":{"method":"roots/list"}},"requestState":"s\u00e9\/1"}"#;

#[test]
fn a_call_is_made_again_with_the_answers_under_a_new_id() {
    let mut scene = Scene::modern(Wire::Pipe);
    let key = scene.call(tool_call());
    let first = scene.request();
    scene.reply(&first, ASKS);
    let (who, method, params) = scene.ask();
    assert_eq!((method, params.as_str()), (Method::ElicitationCreate, r#"{"message":"Name?"}"#));
    let (place, method, params) = scene.ask();
    assert_eq!((method, params.as_str()), (Method::RootsList, "{}"));
    scene.machine.answer(scene.now, place, Ok(raw(r#"{"roots":[]}"#))).unwrap();
    scene.quiet();
    scene.machine.answer(scene.now, who, Ok(raw(r#"{"action":"accept"}"#))).unwrap();
    let second = scene.request();
    assert_ne!(second.request.id, first.request.id);
    assert_eq!(
        second.params(),
        concat!(
            r#"{"name":"echo","arguments":{"text":"hi"},"#,
            r#""inputResponses":{"who":{"action":"accept"},"where":{"roots":[]}},"requestState":"s\u00e9\/1"}"#
        )
    );
    // The old id is dead.
    scene.reply(&first, "{}");
    scene.quiet();
    scene.reply(&second, r#"{"content":[]}"#);
    assert_eq!(scene.done().0, key);
}

#[test]
fn a_state_is_not_carried_beyond_the_round_that_gave_it() {
    let mut scene = Scene::modern(Wire::Http);
    scene.call(tool_call());
    let first = scene.request();
    scene.reply(&first, r#"{"resultType":"input_required","requestState":"one"}"#);
    scene.end(&first);
    scene.quiet();
    scene.wait(249);
    scene.quiet();
    scene.wait(1);
    let second = scene.request();
    assert_eq!(second.params(), r#"{"name":"echo","arguments":{"text":"hi"},"requestState":"one"}"#);
    scene.reply(&second, r#"{"resultType":"input_required","inputRequests":{"r":{"method":"roots/list"}}}"#);
    let (ask, ..) = scene.ask();
    scene.machine.answer(scene.now, ask, Ok(raw(r#"{"roots":[]}"#))).unwrap();
    let third = scene.request();
    assert_eq!(third.params(), r#"{"name":"echo","arguments":{"text":"hi"},"inputResponses":{"r":{"roots":[]}}}"#);
}

#[test]
fn other_calls_know_nothing_of_a_call_s_rounds() {
    let mut scene = Scene::modern(Wire::Pipe);
    scene.call(tool_call());
    let first = scene.request();
    scene.reply(&first, r#"{"resultType":"input_required","requestState":"one"}"#);
    scene.call(tool_call());
    assert_eq!(scene.request().params(), r#"{"name":"echo","arguments":{"text":"hi"}}"#);
}

#[test]
fn endless_rounds_end() {
    let mut scene = Scene::modern(Wire::Pipe);
    scene.call(tool_call());
    for _ in 0..11 {
        let sent = scene.request();
        scene.reply(&sent, r#"{"resultType":"input_required","requestState":"again"}"#);
        scene.wait(250);
    }
    assert!(matches!(scene.done_error(), CallError::Misbehaved(PeerMisbehaved::TooManyRounds)));
    scene.quiet();
}

#[test]
fn a_refused_question_ends_the_call_and_withdraws_the_others() {
    let mut scene = Scene::modern(Wire::Pipe);
    scene.call(tool_call());
    let sent = scene.request();
    scene.reply(&sent, ASKS);
    let (who, ..) = scene.ask();
    let (place, ..) = scene.ask();
    scene.machine.answer(scene.now, who, Err(error(-1))).unwrap();
    assert!(matches!(scene.must(), Output::Unask(key) if key == place));
    assert!(matches!(scene.done_error(), CallError::Refused(error) if error.code.0 == -1));
    assert!(scene.machine.answer(scene.now, place, Ok(raw("{}"))).is_err());
    scene.quiet();
}

#[test]
fn cancelling_a_call_withdraws_its_questions_and_sends_nothing() {
    let mut scene = Scene::modern(Wire::Pipe);
    let key = scene.call(tool_call());
    let sent = scene.request();
    scene.reply(&sent, ASKS);
    scene.ask();
    scene.ask();
    scene.machine.cancel(scene.now, key, None);
    assert!(matches!(scene.must(), Output::Unask(_)));
    assert!(matches!(scene.must(), Output::Unask(_)));
    assert!(matches!(scene.done_error(), CallError::Cancelled));
    scene.quiet();
}

#[test]
fn a_person_may_take_longer_to_answer_than_a_server() {
    let mut scene = Scene::modern(Wire::Pipe);
    scene.call(tool_call());
    let sent = scene.request();
    scene.reply(&sent, r#"{"resultType":"input_required","inputRequests":{"r":{"method":"roots/list"}}}"#);
    let (ask, ..) = scene.ask();
    scene.wait(600_000);
    scene.machine.answer(scene.now, ask, Ok(raw("{}"))).unwrap();
    scene.request();
    scene.wait(60_000);
    scene.notification_sent();
    assert!(matches!(scene.done_error(), CallError::Timeout));
}

#[test]
fn what_was_not_declared_may_not_be_asked_for() {
    let mut scene = Scene::opened(config(Wire::Pipe, Mode::Pinned(ProtocolVersion::V2026_07_28)));
    scene.call(tool_call());
    let sent = scene.request();
    scene.reply(&sent, ASKS);
    assert!(matches!(scene.done_error(), CallError::Misbehaved(PeerMisbehaved::UndeclaredInput)));
}

#[test]
fn asking_for_nothing_or_where_nothing_may_be_asked_is_a_fault() {
    let mut scene = Scene::modern(Wire::Pipe);
    scene.call(tool_call());
    let sent = scene.request();
    scene.reply(&sent, r#"{"resultType":"input_required","inputRequests":{}}"#);
    assert!(matches!(scene.done_error(), CallError::Misbehaved(PeerMisbehaved::EmptyInputRequest)));
    scene.call(crate::scene::call("tools/list", ""));
    let sent = scene.request();
    scene.reply(&sent, ASKS);
    assert!(matches!(scene.done_error(), CallError::Misbehaved(PeerMisbehaved::UnknownResultType)));
}

#[test]
fn more_input_at_once_than_the_limit_is_a_fault_of_its_own() {
    let requests = |count: usize| {
        let named: Vec<String> = (0..count).map(|n| format!(r#""{n}":{{"method":"roots/list"}}"#)).collect();
        format!(r#"{{"resultType":"input_required","inputRequests":{{{}}}}}"#, named.join(","))
    };
    let mut scene = Scene::modern(Wire::Pipe);
    scene.call(tool_call());
    let sent = scene.request();
    scene.reply(&sent, &requests(257));
    assert!(matches!(scene.done_error(), CallError::Misbehaved(PeerMisbehaved::TooManyInputRequests)));
    scene.call(tool_call());
    let sent = scene.request();
    scene.reply(&sent, &requests(256));
    for _ in 0..256 {
        scene.ask();
    }
    // No question is left over for another call.
    scene.call(tool_call());
    let sent = scene.request();
    scene.reply(&sent, &requests(1));
    assert!(matches!(scene.done_error(), CallError::Misbehaved(PeerMisbehaved::TooManyInputRequests)));
}

#[test]
fn two_requests_for_input_under_one_name_are_refused() {
    let mut scene = Scene::modern(Wire::Pipe);
    scene.call(tool_call());
    let sent = scene.request();
    scene.reply(
        &sent,
        concat!(
            r#"{"resultType":"input_required","inputRequests":"#,
            r#"{"who":{"method":"roots/list"},"w\u0068o":{"method":"roots/list"}}}"#
        ),
    );
    assert!(matches!(scene.done_error(), CallError::Misbehaved(PeerMisbehaved::InvalidMessage)));
    scene.quiet();
}

#[test]
fn a_caller_may_answer_by_itself_and_make_the_call_again() {
    let mut scene = Scene::modern(Wire::Pipe);
    let manual = |params: &str| {
        let mut call = crate::scene::call("tools/call", params);
        call.manual_rounds = true;
        call
    };
    scene.call(manual(r#"{"name":"echo"}"#));
    let first = scene.request();
    scene.reply(&first, ASKS);
    let (_, asked) = scene.done();
    let asked = asked.unwrap();
    assert_eq!((asked.kind, asked.value.as_str()), (ResultKind::InputRequired, ASKS));
    let again = r#"{"name":"echo","inputResponses":{"who":{"action":"decline"}},"requestState":"s"}"#;
    scene.call(manual(again));
    let second = scene.request();
    assert_eq!(second.params(), again);
    scene.reply(&second, r#"{"content":[]}"#);
    assert_eq!(scene.done().1.unwrap().kind, ResultKind::Complete);
    // What was not declared may not be asked for either.
    scene.call(manual("{}"));
    let third = scene.request();
    scene.reply(&third, r#"{"resultType":"input_required","inputRequests":{"p":{"method":"ping"}}}"#);
    assert!(matches!(scene.done_error(), CallError::Misbehaved(PeerMisbehaved::UndeclaredInput)));
}
