use crate::scene::{Scene, Sent, call, notification};
use sandwire_proto::{
    Wire,
    client::{CallError, CallKey, Output},
};
use sandwire_types::{Message, Method, RequestId};

fn listen(scene: &mut Scene) -> (CallKey, Sent) {
    let key = scene.call(call("subscriptions/listen", r#"{"notifications":{"toolsListChanged":true}}"#));
    (key, scene.request())
}

fn tell(scene: &mut Scene, sent: &Sent, method: &str) {
    let mut told = notification(method, "");
    told.subscription = Some(sent.request.id.clone());
    scene.receive(sent.via, Message::Notification(told));
}

fn event(scene: &mut Scene) -> (CallKey, Method) {
    match scene.must() {
        Output::Event { key, notification } => (key, notification.method),
        other => panic!("{other:?}"),
    }
}

#[test]
fn notifications_reach_the_subscription_they_name() {
    let mut scene = Scene::modern(Wire::Pipe);
    let (first, a) = listen(&mut scene);
    let (second, b) = listen(&mut scene);
    assert_ne!(a.request.id, RequestId::Number(0));
    tell(&mut scene, &b, "notifications/subscriptions/acknowledged");
    tell(&mut scene, &a, "notifications/subscriptions/acknowledged");
    tell(&mut scene, &b, "notifications/tools/list_changed");
    assert_eq!(event(&mut scene), (second, Method::SubscriptionsAcknowledged));
    assert_eq!(event(&mut scene), (first, Method::SubscriptionsAcknowledged));
    assert_eq!(event(&mut scene), (second, Method::ToolsListChanged));
}

#[test]
fn a_subscription_lasts_until_either_side_ends_it() {
    let mut scene = Scene::modern(Wire::Pipe);
    let (first, a) = listen(&mut scene);
    let (second, b) = listen(&mut scene);
    let (third, c) = listen(&mut scene);
    scene.wait(100_000_000);
    scene.quiet();
    scene.reply(&a, r#"{"resultType":"complete"}"#);
    let (ended, result) = scene.done();
    assert_eq!(ended, first);
    assert!(result.is_ok());
    scene.machine.cancel(scene.now, second, None);
    assert_eq!(scene.notification_sent().1.method, Method::Cancelled);
    assert_eq!(scene.done().0, second);
    let id = c.request.id.to_string();
    scene.server_notification("notifications/cancelled", &format!(r#"{{"requestId":{id}}}"#));
    let (ended, result) = scene.done();
    assert_eq!(ended, third);
    assert!(matches!(result, Err(CallError::Unsubscribed)));
    // Nothing of it is told afterwards.
    for sent in [&a, &b, &c] {
        tell(&mut scene, sent, "notifications/tools/list_changed");
    }
    scene.quiet();
}

#[test]
fn over_http_ending_a_subscription_closes_its_stream() {
    let mut scene = Scene::modern(Wire::Http);
    let (key, sent) = listen(&mut scene);
    scene.head_of(sent.exchange(), 200, Some("text/event-stream"));
    tell(&mut scene, &sent, "notifications/subscriptions/acknowledged");
    assert_eq!(event(&mut scene).0, key);
    scene.machine.cancel(scene.now, key, None);
    assert!(matches!(scene.must(), Output::Abandon(exchange) if exchange == sent.exchange()));
    scene.done_error();
}
