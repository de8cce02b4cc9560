use crate::scene::{Scene, tool_call};
use sandwire_proto::{Wire, client::Output};

fn tell(scene: &mut Scene, token: &str, progress: &str) {
    scene.server_notification(
        "notifications/progress",
        &format!(r#"{{"progressToken":{token},"progress":{progress},"message":"so far"}}"#),
    );
}

#[test]
fn progress_reaches_the_call_it_belongs_to_as_it_came() {
    let mut scene = Scene::modern(Wire::Pipe);
    let mut call = tool_call();
    call.progress = true;
    let key = scene.call(call);
    let sent = scene.request();
    assert_eq!(sent.request.meta.progress_token.as_ref(), Some(&sent.request.id));
    let token = sent.request.id.to_string();
    tell(&mut scene, &token, "0.10");
    match scene.must() {
        Output::Progress { key: told, params } => {
            assert_eq!(told, key);
            assert_eq!(params.get("progress").unwrap().as_str(), "0.10");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn progress_that_does_not_increase_is_dropped() {
    let mut scene = Scene::legacy(Wire::Pipe);
    let mut call = tool_call();
    call.progress = true;
    scene.call(call);
    let sent = scene.request();
    let token = sent.request.id.to_string();
    let mut told = Vec::new();
    for progress in ["1", "1.0", "0.5", "1.5", "15e-1", "2", "-3", "\"x\"", "null", "10"] {
        tell(&mut scene, &token, progress);
        while let Some(Output::Progress { params, .. }) = scene.next() {
            told.push(params.get("progress").unwrap().to_string());
        }
    }
    assert_eq!(told, ["1", "1.5", "2", "10"]);
}

#[test]
fn progress_is_told_only_while_it_was_asked_for() {
    let mut scene = Scene::modern(Wire::Pipe);
    scene.call(tool_call());
    let sent = scene.request();
    assert_eq!(sent.request.meta.progress_token, None);
    let token = sent.request.id.to_string();
    tell(&mut scene, &token, "1");
    tell(&mut scene, "\"unknown\"", "1");
    tell(&mut scene, "99999999", "1");
    scene.quiet();

    let mut call = tool_call();
    call.progress = true;
    scene.call(call);
    let sent = scene.request();
    scene.reply(&sent, "{}");
    scene.done_value();
    let token = sent.request.id.to_string();
    tell(&mut scene, &token, "1");
    scene.quiet();
}
