use crate::stage::Stage;
use futures::{executor::block_on, future::poll_immediate};
use sandwire_client::{InputRequired, Options, Outcome, SubscriptionEnd};
use sandwire_json::Raw;
use sandwire_types::{
    ErrorObject, Method,
    model::{InputResponses, Root, SubscriptionFilter},
};

const ASKS: &str = r#"{"resultType":"input_required","inputRequests":{"where":{"method":"roots/list"}},"requestState":"\ud800 \u00e9\/1"}"#;

fn options() -> Options {
    Options::new("c", "1").roots(vec![Root::new("file:///a")])
}

#[test]
fn a_caller_may_answer_later_even_over_another_connection() {
    let mut stage = Stage::modern(options());
    let call = stage.client.call_tool("t", &()).manual();
    let result = stage.begin(call);
    let sent = stage.request();
    stage.reply(sent.id, ASKS);
    stage.quiet();
    let Some(Ok(Outcome::InputRequired(asked))) = result.take() else { panic!() };
    assert_eq!(asked.requests().get("where").unwrap().method, "roots/list");
    let kept = asked.as_raw().as_str().to_owned();
    drop(stage);

    let mut stage = Stage::modern(options());
    let asked = InputRequired::from(Raw::parse(&kept).unwrap());
    let answers: InputResponses = [("where", Raw::from_valid(r#"{"roots":[]}"#))].into_iter().collect();
    let call = stage.client.call_tool("t", &()).resume(&asked, answers).manual();
    let result = stage.begin(call);
    let sent = stage.request();
    assert_eq!(
        sent.params.unwrap().as_str(),
        r#"{"name":"t","inputResponses":{"where":{"roots":[]}},"requestState":"\ud800 \u00e9\/1"}"#
    );
    stage.reply(sent.id, r#"{"resultType":"complete","content":[]}"#);
    stage.run();
    assert!(matches!(result.take(), Some(Ok(Outcome::Complete(_)))));
}

fn tools() -> SubscriptionFilter {
    let mut filter = SubscriptionFilter::new();
    filter.tools_list_changed = Some(true);
    filter.prompts_list_changed = Some(true);
    filter
}

#[test]
fn a_subscription_says_what_was_agreed_what_changed_and_how_it_ended() {
    let mut stage = Stage::modern(options());
    let mut changes = stage.client.subscribe(tools());
    assert!(block_on(poll_immediate(changes.acknowledged())).is_none());
    let sent = stage.request();
    let agreed = r#"{"notifications":{"toolsListChanged":true}}"#;
    stage.tell(Method::SubscriptionsAcknowledged, agreed, Some(&sent.id));
    let agreed = block_on(changes.acknowledged()).unwrap();
    assert_eq!((agreed.tools_list_changed, agreed.prompts_list_changed), (Some(true), None));
    assert!(block_on(poll_immediate(changes.next())).is_none());
    for _ in 0..3 {
        stage.tell(Method::ToolsListChanged, "", Some(&sent.id));
    }
    stage.reply(sent.id, r#"{"resultType":"complete"}"#);
    stage.run();
    assert_eq!(block_on(changes.next()).unwrap().method, Method::ToolsListChanged);
    assert!(block_on(changes.next()).is_none());
    assert!(matches!(changes.end(), Some(SubscriptionEnd::Complete)));
    // Nothing is asked again by itself.
    stage.env.advance(10_000_000);
    stage.quiet();
}

#[test]
fn a_bare_result_ends_a_subscription_that_never_began() {
    let mut stage = Stage::modern(options());
    let mut changes = stage.client.subscribe(tools());
    assert!(block_on(poll_immediate(changes.next())).is_none());
    let sent = stage.request();
    stage.reply(sent.id, r#"{"resultType":"complete"}"#);
    stage.run();
    assert!(block_on(changes.acknowledged()).is_none());
    assert!(block_on(changes.next()).is_none());
    assert!(matches!(changes.end(), Some(SubscriptionEnd::Unacknowledged)));
    stage.env.advance(10_000_000);
    stage.quiet();
}

#[test]
fn a_server_may_cancel_or_refuse_a_subscription() {
    let mut stage = Stage::modern(options());
    let mut changes = stage.client.subscribe(tools());
    assert!(block_on(poll_immediate(changes.next())).is_none());
    let sent = stage.request();
    stage.tell(Method::SubscriptionsAcknowledged, r#"{"notifications":{}}"#, Some(&sent.id));
    stage.tell(Method::Cancelled, &format!(r#"{{"requestId":{}}}"#, sent.id), None);
    assert!(block_on(changes.next()).is_none());
    assert!(matches!(changes.end(), Some(SubscriptionEnd::Cancelled)));

    let mut changes = stage.client.subscribe(tools());
    assert!(block_on(poll_immediate(changes.next())).is_none());
    let sent = stage.request();
    stage.refuse(sent.id, ErrorObject::internal("too many"));
    stage.run();
    assert!(block_on(changes.next()).is_none());
    assert!(matches!(changes.end(), Some(SubscriptionEnd::Failed(error)) if error.to_string().contains("too many")));
}

#[test]
fn a_subscription_that_nobody_asks_keeps_little_and_one_that_is_dropped_is_cancelled() {
    let mut stage = Stage::modern(options());
    let mut changes = stage.client.subscribe(tools());
    assert!(block_on(poll_immediate(changes.next())).is_none());
    let sent = stage.request();
    for n in 0..2000 {
        stage.tell(Method::ResourcesUpdated, &format!(r#"{{"uri":"r:{n}"}}"#), Some(&sent.id));
    }
    let first = block_on(changes.next()).unwrap();
    assert_eq!(first.params.unwrap().as_str(), r#"{"uri":"r:976"}"#);
    drop(changes);
    stage.run();
    assert!(
        matches!(stage.next(), Some(sandwire_types::Message::Notification(told)) if told.method == Method::Cancelled)
    );
}
