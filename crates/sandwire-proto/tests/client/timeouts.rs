use crate::scene::{Scene, notification, tool_call};
use sandwire_proto::{
    Wire,
    client::{CallError, Output, Timeout},
};
use sandwire_types::{Message, Method};

#[test]
fn a_call_without_an_answer_times_out_and_is_cancelled() {
    let mut scene = Scene::legacy(Wire::Pipe);
    scene.call(tool_call());
    scene.request();
    scene.wait(59_999);
    scene.quiet();
    scene.wait(1);
    assert_eq!(scene.notification_sent().1.method, Method::Cancelled);
    assert!(matches!(scene.done_error(), CallError::Timeout));
}

#[test]
fn a_call_may_have_its_own_timeout_or_none() {
    let mut scene = Scene::modern(Wire::Http);
    let mut short = tool_call();
    short.timeout = Timeout::After(5);
    let mut long = tool_call();
    long.timeout = Timeout::Never;
    let short = scene.call(short);
    scene.call(long);
    scene.request();
    scene.request();
    scene.wait(5);
    assert!(matches!(scene.must(), Output::Abandon(_)));
    assert_eq!(scene.done().0, short);
    scene.wait(10_000_000);
    scene.quiet();
}

#[test]
fn progress_begins_the_timeout_anew_up_to_the_cap() {
    let mut scene = Scene::modern(Wire::Pipe);
    let mut call = tool_call();
    call.progress = true;
    call.timeout = Timeout::After(100);
    call.reset_on_progress = true;
    call.total_timeout_ms = Some(250);
    scene.call(call);
    let sent = scene.request();
    let mut told = 0;
    for step in 1..=3 {
        scene.wait(90);
        let params = format!(r#"{{"progressToken":{},"progress":{step}}}"#, sent.request.id);
        scene.receive(sent.via, Message::Notification(notification("notifications/progress", &params)));
        while let Some(output) = scene.next() {
            match output {
                Output::Progress { .. } => told += 1,
                Output::Done { result, .. } => assert!(matches!(result, Err(CallError::TotalTimeout))),
                _ => {}
            }
        }
    }
    assert_eq!(told, 2);
    assert_eq!(scene.machine.calls_under_way(), 0);
}

#[test]
fn progress_alone_does_not_begin_the_timeout_anew() {
    let mut scene = Scene::modern(Wire::Pipe);
    let mut call = tool_call();
    call.progress = true;
    call.timeout = Timeout::After(100);
    scene.call(call);
    let sent = scene.request();
    scene.wait(90);
    let params = format!(r#"{{"progressToken":{},"progress":1}}"#, sent.request.id);
    scene.receive(sent.via, Message::Notification(notification("notifications/progress", &params)));
    assert!(matches!(scene.must(), Output::Progress { .. }));
    scene.wait(10);
    scene.notification_sent();
    assert!(matches!(scene.done_error(), CallError::Timeout));
}
