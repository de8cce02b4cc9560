use crate::scene::{Scene, code_of, config, input_required, legacy, modern, modern_as, notification};
use sandwire_json::{Raw, find};
use sandwire_proto::{
    PeerInfo,
    server::{AskError, AskStep, CallKey, HmacSealer, Machine},
};
use sandwire_types::{ErrorObject, Method, ProtocolVersion};
use std::sync::Arc;

const CAN: &str = r#"{"elicitation":{},"sampling":{},"roots":{}}"#;

fn ask(scene: &mut Scene, key: CallKey, name: &str) -> Result<AskStep, AskError> {
    ask_with(scene, key, name, Method::ElicitationCreate, r#"{"message":"?"}"#)
}

fn ask_with(scene: &mut Scene, key: CallKey, name: &str, method: Method, params: &str) -> Result<AskStep, AskError> {
    let sealer = Arc::clone(&scene.sealer);
    let clock = sandwire_proto::server::Clock { sealer: &sealer, unix_time: scene.unix_time };
    scene.machine.ask(key, name, &method, &Raw::from_valid(params), clock)
}

fn record(scene: &mut Scene, key: CallKey, name: &str, value: &str) {
    let sealer = Arc::clone(&scene.sealer);
    let clock = sandwire_proto::server::Clock { sealer: &sealer, unix_time: scene.unix_time };
    scene.machine.record(key, name, Raw::from_valid(value), clock).unwrap();
}

fn recorded(scene: &mut Scene, key: CallKey, name: &str) -> Result<Option<Raw>, AskError> {
    let sealer = Arc::clone(&scene.sealer);
    let clock = sandwire_proto::server::Clock { sealer: &sealer, unix_time: scene.unix_time };
    scene.machine.recorded(key, name, clock)
}

fn suspend(scene: &mut Scene, key: CallKey) -> String {
    assert!(scene.machine.is_suspended(key));
    scene.machine.suspend(key);
    let mut sent = scene.drain();
    assert_eq!(sent.len(), 1);
    sent.remove(0)
}

fn state_of(answer: &str) -> String {
    let result = find(answer, "result").unwrap();
    find(result, "requestState").unwrap().to_owned()
}

fn call(id: &str, params: &str) -> String {
    modern_as(id, "tools/call", &format!(r#""name":"t","arguments":{{"x":1}}{params}"#), CAN, "")
}

fn code(error: AskError) -> i64 {
    ErrorObject::from(error).code.0
}

#[test]
fn a_legacy_client_is_asked_and_the_call_waits() {
    let mut scene = Scene::legacy_with(config(), "2025-11-25", CAN);
    let key = scene.begin(&legacy("1", "tools/call", ""));
    let Ok(AskStep::Sent(first)) = ask(&mut scene, key, "who") else { panic!("not sent") };
    assert_eq!(scene.drain(), [r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"?"}}"#]);
    let Ok(AskStep::Sent(second)) = ask_with(&mut scene, key, "model", Method::SamplingCreateMessage, "{}") else {
        panic!("not sent")
    };
    scene.drain();
    scene.tell(r#"{"jsonrpc":"2.0","id":2,"error":{"code":-1,"message":"no"}}"#);
    scene.tell(r#"{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}"#);
    assert!(matches!(&scene.answers[0], (ask, Err(AskError::Refused(error))) if *ask == second && error.code.0 == -1));
    assert!(
        matches!(&scene.answers[1], (ask, Ok(answer)) if *ask == first && answer.as_str() == r#"{"action":"accept"}"#)
    );
    assert!(matches!(ask(&mut scene, key, "who"), Ok(AskStep::Answered(_))), "the same question is not asked twice");
    assert_eq!(scene.tell(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#), [""; 0]);
    assert_eq!(scene.answers.len(), 2);
    assert_eq!(scene.reply(key, "{}").len(), 1);
}

#[test]
fn questions_end_with_their_call() {
    let mut scene = Scene::legacy_with(config(), "2025-11-25", CAN);
    let key = scene.begin(&legacy("7", "tools/call", ""));
    let _ = ask(&mut scene, key, "who");
    scene.drain();
    let told = scene.tell(&notification("notifications/cancelled", r#""requestId":7"#));
    assert_eq!(told, [r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#]);
    assert!(matches!(scene.answers.as_slice(), [(_, Err(AskError::Over))]));
    assert!(matches!(ask(&mut scene, key, "again"), Err(AskError::Over)));

    let key = scene.begin(&legacy("8", "tools/call", ""));
    let Ok(AskStep::Sent(question)) = ask(&mut scene, key, "who") else { panic!("not sent") };
    scene.drain();
    scene.machine.unask(question);
    assert!(scene.drain()[0].contains("notifications/cancelled"));
    assert_eq!(scene.tell(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#), [""; 0]);
}

#[test]
fn what_the_client_did_not_declare_is_not_asked() {
    for (declared, method, params, required) in [
        ("{}", Method::RootsList, "{}", r#"{"roots":{}}"#),
        ("{}", Method::SamplingCreateMessage, "{}", r#"{"sampling":{}}"#),
        (r#"{"sampling":{}}"#, Method::SamplingCreateMessage, r#"{"tools":[]}"#, r#"{"sampling":{"tools":{}}}"#),
        ("{}", Method::ElicitationCreate, "{}", r#"{"elicitation":{"form":{}}}"#),
        (r#"{"elicitation":{"url":{}}}"#, Method::ElicitationCreate, "{}", r#"{"elicitation":{"form":{}}}"#),
        (r#"{"elicitation":{}}"#, Method::ElicitationCreate, r#"{"mode":"url"}"#, r#"{"elicitation":{"url":{}}}"#),
    ] {
        let mut scene = Scene::modern();
        let key = scene.begin(&modern_as("1", "tools/call", "", declared, ""));
        let Err(error) = ask_with(&mut scene, key, "q", method.clone(), params) else { panic!("{method}") };
        let answer = scene.finish(key, Err(error.into())).remove(0);
        assert_eq!(code_of(&answer), -32021);
        assert!(answer.contains(&format!(r#""requiredCapabilities":{required}"#)), "{answer}");

        let mut scene = Scene::legacy_with(config(), "2025-11-25", declared);
        let key = scene.begin(&legacy("1", "tools/call", ""));
        let Err(error) = ask_with(&mut scene, key, "q", method.clone(), params) else { panic!("{method}") };
        assert_eq!(code_of(&scene.finish(key, Err(error.into()))[0]), -32600);
    }
}

#[test]
fn versions_without_elicitation_are_not_asked_for_it() {
    for version in ["2024-11-05", "2025-03-26"] {
        let mut scene = Scene::legacy_with(config(), version, CAN);
        let key = scene.begin(&legacy("1", "tools/call", ""));
        assert!(matches!(ask(&mut scene, key, "q"), Err(AskError::NotInVersion)));
        assert!(matches!(ask_with(&mut scene, key, "q", Method::RootsList, "{}"), Ok(AskStep::Sent(_))));
        assert!(matches!(ask_with(&mut scene, key, "q", Method::ToolsCall, "{}"), Err(AskError::NotInVersion)));
    }
}

#[test]
fn questions_are_put_in_the_words_of_the_version() {
    const ABLE: &str = r#"{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}}}"#;
    let sampling = r#"{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image","data":"","mimeType":"image/png"}]}],"maxTokens":1,"tools":[]}"#;
    let form = r#"{"mode":"form","message":"?","requestedSchema":{"type":"object","properties":{"a":{"type":"array","items":{"type":"string","enum":["x"]}}}}}"#;
    let visit = r#"{"mode":"url","message":"?","url":"https://a.test","elicitationId":"e"}"#;
    let asked = |version: &str, method: &Method, params: &str| {
        let mut scene = Scene::legacy_with(config(), version, ABLE);
        let key = scene.begin(&legacy("1", "tools/call", ""));
        let Ok(AskStep::Sent(_)) = ask_with(&mut scene, key, "q", method.clone(), params) else { panic!("{version}") };
        find(&scene.drain()[0], "params").unwrap().to_owned()
    };
    assert_eq!(asked("2025-11-25", &Method::SamplingCreateMessage, sampling), sampling);
    assert_eq!(asked("2025-11-25", &Method::ElicitationCreate, form), form);
    assert_eq!(asked("2025-11-25", &Method::ElicitationCreate, visit), visit);
    for version in ["2024-11-05", "2025-03-26", "2025-06-18"] {
        assert_eq!(
            asked(version, &Method::SamplingCreateMessage, sampling),
            r#"{"messages":[{"role":"user","content":{"type":"text","text":"a"}},{"role":"user","content":{"type":"image","data":"","mimeType":"image/png"}}],"maxTokens":1}"#
        );
    }
    assert_eq!(
        asked("2025-06-18", &Method::ElicitationCreate, form),
        r#"{"message":"?","requestedSchema":{"type":"object","properties":{"a":{"type":"string","enum":["x"]}}}}"#
    );

    let mut scene = Scene::legacy_with(config(), "2025-06-18", ABLE);
    let key = scene.begin(&legacy("1", "tools/call", ""));
    let refused = ask_with(&mut scene, key, "q", Method::ElicitationCreate, visit);
    assert!(matches!(refused, Err(AskError::NotInVersion)), "there is no older word for an address to visit");

    let mut scene = Scene::modern();
    let key = scene.begin(&modern_as("1", "tools/call", "", ABLE, ""));
    let suspended = ask_with(&mut scene, key, "q", Method::ElicitationCreate, visit);
    assert!(matches!(suspended, Ok(AskStep::Suspended)));
    let sent = suspend(&mut scene, key);
    assert!(sent.contains(r#""params":{"mode":"url","message":"?","url":"https://a.test"}"#), "{sent}");
}

#[test]
fn a_legacy_exchange_without_a_session_cannot_ask() {
    let peer = PeerInfo::new(ProtocolVersion::V2025_11_25, Raw::from_valid(CAN));
    let mut scene = Scene::of(Machine::for_exchange(Arc::new(config()), Some(Arc::new(peer)), None));
    let key = scene.begin(&legacy("1", "tools/call", ""));
    assert!(matches!(ask(&mut scene, key, "q"), Err(AskError::NoWayBack)));
}

#[test]
fn a_modern_call_ends_with_its_questions_and_comes_back_with_the_answers() {
    let mut scene = Scene::modern();
    let key = scene.begin(&call("1", ""));
    assert!(matches!(ask(&mut scene, key, "who"), Ok(AskStep::Suspended)));
    assert!(matches!(ask_with(&mut scene, key, "roots", Method::RootsList, "{}"), Ok(AskStep::Suspended)));
    record(&mut scene, key, "paid", "true");
    let first = suspend(&mut scene, key);
    assert!(first.contains(r#""resultType":"input_required""#), "{first}");
    assert!(
        first.contains(r#""inputRequests":{"who":{"method":"elicitation/create","params":{"message":"?"}},"roots":{"method":"roots/list","params":{}}}"#),
        "{first}"
    );

    let state = state_of(&first);
    let answers = format!(r#","requestState":{state},"inputResponses":{{"who":{{"action":"accept"}},"unknown":1}}"#);
    let key = scene.begin(&call("2", &answers));
    assert_eq!(recorded(&mut scene, key, "paid").unwrap().unwrap().as_str(), "true");
    assert!(
        matches!(ask(&mut scene, key, "who"), Ok(AskStep::Answered(answer)) if answer.as_str() == r#"{"action":"accept"}"#)
    );
    assert!(
        matches!(ask_with(&mut scene, key, "roots", Method::RootsList, "{}"), Ok(AskStep::Suspended)),
        "asked again"
    );
    let second = suspend(&mut scene, key);

    let state = state_of(&second);
    let key =
        scene.begin(&call("3", &format!(r#","requestState":{state},"inputResponses":{{"roots":{{"roots":[]}}}}"#)));
    assert!(matches!(ask(&mut scene, key, "who"), Ok(AskStep::Answered(_))), "earlier answers are kept");
    assert!(matches!(ask_with(&mut scene, key, "roots", Method::RootsList, "{}"), Ok(AskStep::Answered(_))));
    assert_eq!(scene.reply(key, "{}").len(), 1);
}

#[test]
fn a_state_that_is_not_ours_is_refused() {
    let mut scene = Scene::modern();
    let key = scene.begin(&call("1", ""));
    let _ = ask(&mut scene, key, "who");
    let good = state_of(&suspend(&mut scene, key));
    let mut tampered = good.clone();
    tampered.replace_range(1..2, if good.as_bytes()[1] == b'A' { "B" } else { "A" });
    let refused = |scene: &mut Scene, text: &str| {
        let key = scene.begin(text);
        let Err(error) = ask(scene, key, "who") else { panic!("accepted: {text}") };
        let answer = scene.finish(key, Err(error.into())).remove(0);
        assert_eq!(code_of(&answer), -32602);
        assert!(answer.contains("invalid_request_state"), "{answer}");
    };
    for state in [&tampered, "\"\"", "7", "{}", "\"AAAA\""] {
        refused(&mut scene, &call("2", &format!(r#","requestState":{state}"#)));
    }
    let other_arguments = call("2", &format!(r#","requestState":{good}"#)).replace("\"x\":1", "\"x\":2");
    refused(&mut scene, &other_arguments);
    let other_tool = call("2", &format!(r#","requestState":{good}"#)).replace("\"name\":\"t\"", "\"name\":\"u\"");
    refused(&mut scene, &other_tool);
    scene.unix_time = Some(1000 + 601);
    refused(&mut scene, &call("2", &format!(r#","requestState":{good}"#)));
    scene.unix_time = Some(1000 + 600);
    let key = scene.begin(&call("3", &format!(r#","requestState":{good}"#)));
    assert!(matches!(ask(&mut scene, key, "who"), Ok(AskStep::Suspended)));
    scene.machine.end(key);
    scene.sealer = Arc::new(HmacSealer::new([2; 32]));
    refused(&mut scene, &call("2", &format!(r#","requestState":{good}"#)));
}

#[test]
fn malformed_answers_are_refused() {
    let mut scene = Scene::modern();
    let key = scene.begin(&call("1", r#","inputResponses":[]"#));
    let Err(error) = ask(&mut scene, key, "who") else { panic!("accepted") };
    assert_eq!(code(error), -32602);
}

#[test]
fn only_some_methods_can_ask() {
    let mut scene = Scene::modern();
    let key = scene.begin(&modern_as("1", "tools/list", "", CAN, ""));
    assert!(ask(&mut scene, key, "who").is_err());
    let key = scene.begin(&modern("2", "tools/call", ""));
    assert!(scene.finish(key, Ok(input_required(r#"{"requestState":"own"}"#)))[0].contains("input_required"));
}

/// The client brings `answer` to a question of this kind; what the handler hears.
fn brought(method: Method, answer: &str) -> Result<AskStep, AskError> {
    let mut scene = Scene::new(config());
    let key = scene.begin(&call("1", &format!(r#","inputResponses":{{"who":{answer}}}"#)));
    ask_with(&mut scene, key, "who", method, "{}")
}

#[test]
fn what_is_no_answer_never_answers_a_question() {
    for (method, good, bad) in [
        (
            Method::ElicitationCreate,
            r#"{"action":"cancel"}"#,
            ["7", "null", r#""accept""#, "{}", r#"{"action":"agree"}"#, "[]"],
        ),
        (
            Method::SamplingCreateMessage,
            r#"{"role":"assistant","content":{"type":"text","text":"x"},"model":"m"}"#,
            ["7", "null", "{}", r#"{"content":"x","role":"user"}"#, r#"{"content":{}}"#, "true"],
        ),
        (Method::RootsList, r#"{"roots":[]}"#, ["7", "null", "{}", r#"{"roots":{}}"#, "[]", r#"{"roots":null}"#]),
    ] {
        assert!(matches!(brought(method.clone(), good), Ok(AskStep::Answered(_))));
        for answer in bad {
            assert_eq!(code(brought(method.clone(), answer).unwrap_err()), -32602, "{method} {answer}");
        }
    }
    for responses in ["null", "7", "[]", r#""who""#] {
        let mut scene = Scene::new(config());
        let key = scene.begin(&call("1", &format!(r#","inputResponses":{responses}"#)));
        assert_eq!(code(ask(&mut scene, key, "who").unwrap_err()), -32602, "{responses}");
    }

    let mut scene = Scene::legacy_with(config(), "2025-11-25", CAN);
    let key = scene.begin(&legacy("1", "tools/call", ""));
    let Ok(AskStep::Sent(_)) = ask(&mut scene, key, "who") else { panic!("not sent") };
    scene.drain();
    scene.tell(r#"{"jsonrpc":"2.0","id":1,"result":{"action":7}}"#);
    assert!(matches!(&scene.answers[..], [(_, Err(AskError::Refused(error)))] if error.code.0 == -32602));
}

#[test]
fn other_answers_than_those_asked_for_are_passed_over_and_those_that_lack_are_asked_for_again() {
    let mut scene = Scene::new(config());
    let answers = r#","inputResponses":{"other":{"action":"accept"}}"#;
    let key = scene.begin(&call("1", answers));
    assert!(matches!(ask(&mut scene, key, "who"), Ok(AskStep::Suspended)));
    let answer = suspend(&mut scene, key);
    assert!(answer.contains(r#""inputRequests":{"who":"#), "{answer}");
}

#[test]
fn nobody_is_asked_before_being_initialized() {
    let mut scene = Scene::new(config());
    scene.tell(&crate::scene::initialize_with("2025-11-25", CAN));
    let key = scene.begin(&legacy("1", "tools/call", ""));
    let Ok(AskStep::Sent(first)) = ask(&mut scene, key, "who") else { panic!("not sent") };
    let Ok(AskStep::Sent(_)) = ask(&mut scene, key, "what") else { panic!("not sent") };
    assert_eq!(scene.drain(), [""; 0]);
    scene.machine.unask(first);
    assert_eq!(scene.drain(), [""; 0], "what was not sent needs no withdrawal");
    assert!(scene.ask(&legacy("2", "ping", "")).contains(r#""result":{}"#));
    assert!(scene.ask(&legacy("3", "logging/setLevel", r#""level":"debug""#)).contains(r#""result":{}"#));
    let sent = scene.tell(&notification("notifications/initialized", ""));
    assert_eq!(sent.len(), 1);
    assert!(sent[0].contains("elicitation/create"), "{sent:?}");
}

#[test]
fn a_key_can_be_replaced_while_calls_wait_for_answers() {
    let answers = r#","inputResponses":{"who":{"action":"cancel"}}"#;
    let mut scene = Scene::new(config());
    let key = scene.begin(&call("1", ""));
    assert!(matches!(ask(&mut scene, key, "who"), Ok(AskStep::Suspended)));
    let state = state_of(&suspend(&mut scene, key));
    let again = call("2", &format!(r#","requestState":{state}{answers}"#));
    for (sealer, opens) in [
        (HmacSealer::new([2; 32]).or([1; 32]), true),
        (HmacSealer::new([1; 32]).or([2; 32]), true),
        (HmacSealer::new([2; 32]), false),
    ] {
        let mut scene = Scene::new(config());
        scene.sealer = Arc::new(sealer);
        let key = scene.begin(&again);
        assert_eq!(matches!(ask(&mut scene, key, "who"), Ok(AskStep::Answered(_))), opens);
    }
}
