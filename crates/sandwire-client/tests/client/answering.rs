use crate::stage::Stage;
use sandwire_client::{ErrorKind, Mode, Options, apply_defaults, form_defaults};
use sandwire_json::{Raw, to_raw};
use sandwire_types::{
    ErrorCode, ErrorObject, Message, Method,
    model::{CreateMessageResult, ElicitAction, ElicitRequestFormParams, ElicitRequestParams, ElicitResult, Root},
};
use std::sync::{Arc, Mutex};

const FORM: &str = r#"{"message":"?","requestedSchema":{"type":"object","properties":{
    "name":{"type":"string","default":"Ada"},
    "age":{"type":"integer","default":30},
    "score":{"type":"number","default":95.5},
    "ok":{"type":"boolean","default":false},
    "plain":{"type":"string","enum":["a","b"],"default":"b"},
    "named":{"type":"string","enum":["a","b"],"enumNames":["A","B"],"default":"a"},
    "titled":{"type":"string","oneOf":[{"const":"x","title":"X"}],"default":"x"},
    "many":{"type":"array","items":{"type":"string","enum":["p","q"]},"default":["p","q"]},
    "manyTitled":{"type":"array","items":{"anyOf":[{"const":"r","title":"R"}]},"default":["r"]},
    "none":{"type":"string"}}}}"#;

const FILLED: &str = r#"{"name":"Ada","age":30,"score":95.5,"ok":false,"plain":"b","named":"a","titled":"x","many":["p","q"],"manyTitled":["r"]}"#;

fn accept(content: &str) -> ElicitResult {
    let mut result = ElicitResult::new(ElicitAction::Accept);
    result.content = Some(sandwire_json::from_str(content).unwrap());
    result
}

#[test]
fn every_kind_of_field_is_filled_with_its_default() {
    let form: ElicitRequestFormParams = sandwire_json::from_str(FORM).unwrap();
    assert_eq!(to_raw(&form_defaults(&form)).as_str(), FILLED);
    let mut answer = accept(r#"{"age":31,"none":"x"}"#);
    apply_defaults(&form, &mut answer);
    let content = answer.content.unwrap();
    assert_eq!(content.get("age").unwrap().as_str(), "31");
    assert_eq!(content.get("many").unwrap().as_str(), r#"["p","q"]"#);
    let mut declined = ElicitResult::new(ElicitAction::Decline);
    apply_defaults(&form, &mut declined);
    assert_eq!(declined, ElicitResult::new(ElicitAction::Decline));
}

#[test]
fn defaults_are_applied_to_what_the_handler_leaves_out_and_that_is_declared() {
    let options = || {
        Options::new("c", "1")
            .on_elicitation(|asked| async move {
                Ok(match asked {
                    ElicitRequestParams::Form(form) if form.message == "no" => ElicitResult::new(ElicitAction::Decline),
                    _ => ElicitResult::new(ElicitAction::Accept),
                })
            })
            .elicitation_by_url()
            .apply_form_defaults()
    };
    let mut stage = Stage::new(options().mode(Mode::Legacy));
    let declared = stage.request().params.unwrap().get("capabilities").unwrap();
    assert_eq!(declared.as_str(), r#"{"elicitation":{"form":{"applyDefaults":true},"url":{}}}"#);

    let mut stage = Stage::legacy(options());
    let answer = stage.ask(Method::ElicitationCreate, FORM).unwrap();
    assert_eq!(answer.value.as_str(), format!(r#"{{"action":"accept","content":{FILLED}}}"#));
    let declined = stage.ask(Method::ElicitationCreate, &FORM.replace(r#""?""#, r#""no""#)).unwrap();
    assert_eq!(declined.value.as_str(), r#"{"action":"decline"}"#);
    let url = r#"{"mode":"url","message":"m","url":"https://example.com","elicitationId":"e"}"#;
    assert_eq!(stage.ask(Method::ElicitationCreate, url).unwrap().value.as_str(), r#"{"action":"accept"}"#);
}

#[test]
fn a_mode_that_was_not_declared_is_refused() {
    let options = Options::new("c", "1").on_elicitation(|_| async { panic!("asked") });
    let mut stage = Stage::legacy(options);
    let url = r#"{"mode":"url","message":"m","url":"https://example.com","elicitationId":"e"}"#;
    assert_eq!(stage.ask(Method::ElicitationCreate, url).unwrap_err().code, ErrorCode::INVALID_PARAMS);
}

#[test]
fn roots_are_files_or_are_not_told() {
    let mut stage = Stage::legacy(Options::new("c", "1").roots(vec![Root::new("file:///a"), Root::new("https://b")]));
    let refused = stage.ask(Method::RootsList, "{}").unwrap_err();
    assert_eq!(refused.code, ErrorCode::INTERNAL_ERROR);
    assert!(refused.message.contains("file://"), "{refused:?}");
}

#[test]
fn roots_that_change_are_declared_and_told() {
    let options = || Options::new("c", "1").changing_roots(|| async { Ok(vec![Root::new("file:///a")]) });
    let mut stage = Stage::new(options().mode(Mode::Legacy));
    let declared = stage.request().params.unwrap().get("capabilities").unwrap();
    assert_eq!(declared.as_str(), r#"{"roots":{"listChanged":true}}"#);
    let mut stage = Stage::legacy(options());
    stage.client.roots_changed().unwrap();
    stage.run();
    assert!(matches!(stage.next(), Some(Message::Notification(told)) if told.method == Method::RootsListChanged));
}

#[test]
fn a_model_is_asked_with_everything_that_limits_it() {
    let seen = Arc::new(Mutex::new(None));
    let heard = Arc::clone(&seen);
    let options = Options::new("c", "1")
        .on_sampling(move |params| {
            *heard.lock().unwrap() = Some(to_raw(&params.max_tokens));
            let tools = params.tools.map_or(0, |tools| tools.len());
            let answer = format!(r#"{{"role":"assistant","content":{{"type":"text","text":"{tools}"}},"model":"m"}}"#);
            async move { Ok(sandwire_json::from_str::<CreateMessageResult>(&answer).unwrap()) }
        })
        .sampling_with_tools();
    let mut stage = Stage::legacy(options);
    let params = r#"{"messages":[],"maxTokens":17,"tools":[{"name":"t","inputSchema":{"type":"object"}}],"toolChoice":{"mode":"auto"}}"#;
    let answer = stage.ask(Method::SamplingCreateMessage, params).unwrap();
    assert!(answer.value.as_str().contains(r#""text":"1""#));
    assert_eq!(seen.lock().unwrap().as_ref().unwrap().as_str(), "17");
    let mixed =
        r#"{"messages":[{"role":"user","content":{"type":"tool_result","toolUseId":"a","content":[]}}],"maxTokens":1}"#;
    assert_eq!(stage.ask(Method::SamplingCreateMessage, mixed).unwrap_err().code, ErrorCode::INVALID_PARAMS);
}

#[test]
fn visits_that_an_error_asks_for_are_given_with_it_and_their_end_is_told() {
    let ended = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&ended);
    let mut stage = Stage::legacy(Options::new("c", "1").on_visited(move |id| heard.lock().unwrap().push(id)));
    let call = stage.client.call_tool("t", &());
    let result = stage.begin(call);
    let sent = stage.request();
    let mut error = ErrorObject::new(ErrorCode::URL_ELICITATION_REQUIRED, "visit first");
    let data =
        r#"{"elicitations":[{"mode":"url","message":"m","url":"https://example.com/a","elicitationId":"e1"},7]}"#;
    error.data = Some(Raw::parse(data).unwrap());
    stage.refuse(sent.id, error);
    stage.run();
    let error = result.take().unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Server);
    let visits = error.elicitations();
    assert_eq!((visits.len(), visits[0].url.as_str()), (1, "https://example.com/a"));
    for id in ["e2", "e1", "e1"] {
        stage.tell(Method::ElicitationComplete, &format!(r#"{{"elicitationId":"{id}"}}"#), None);
    }
    assert_eq!(*ended.lock().unwrap(), ["e1"]);
}
