use crate::scene::{LEGACY, Scene, code_of, config, legacy, modern, notification, with_capabilities};
use sandwire_proto::server::Change;

const ALL: [Change; 3] = [Change::Tools, Change::Prompts, Change::Resources];

fn listen(id: &str, filter: &str) -> String {
    modern(id, "subscriptions/listen", &format!(r#""notifications":{{{filter}}}"#))
}

fn change(scene: &mut Scene, change: Change) -> Vec<String> {
    scene.machine.changed(&change);
    scene.drain()
}

#[test]
fn the_acknowledgement_comes_first_and_names_what_is_honoured() {
    let everything = r#""toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":false,"resourceSubscriptions":["a:b"],"other":{"x":[1]}"#;
    let answer = Scene::new(config()).ask(&listen("\"l\"", everything));
    assert_eq!(
        answer,
        r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["a:b"]},"_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}}"#
    );
    let answer = Scene::new(with_capabilities(r#"{"tools":{"listChanged":true}}"#)).ask(&listen("7", everything));
    assert!(answer.contains(r#""notifications":{"toolsListChanged":true}"#), "{answer}");
    assert!(answer.contains(r#""io.modelcontextprotocol/subscriptionId":7"#), "{answer}");
}

#[test]
fn only_what_was_asked_for_is_delivered() {
    let mut scene = Scene::modern();
    scene.ask(&listen("1", r#""toolsListChanged":true"#));
    scene.ask(&listen("\"1\"", r#""toolsListChanged":true,"resourceSubscriptions":["a:dir"]"#));
    let told = change(&mut scene, Change::Tools);
    assert_eq!(told.len(), 2);
    assert!(told[0].contains(r#"subscriptionId":1}"#) && told[1].contains(r#"subscriptionId":"1"}"#), "{told:?}");
    assert_eq!(change(&mut scene, Change::Prompts), [""; 0]);
    assert_eq!(change(&mut scene, Change::Resource("a:other".into())), [""; 0]);
    assert_eq!(change(&mut scene, Change::Resource("a:directory".into())), [""; 0]);
    let told = change(&mut scene, Change::Resource("a:dir/file".into()));
    assert_eq!(told.len(), 1);
    assert!(told[0].contains(r#""uri":"a:dir/file""#), "{told:?}");
}

#[test]
fn a_cancelled_subscription_is_over() {
    let mut scene = Scene::modern();
    scene.ask(&listen("1", r#""toolsListChanged":true"#));
    assert_eq!(code_of(&scene.ask(&listen("1", ""))), -32600);
    scene.tell(&notification("notifications/cancelled", r#""requestId":1"#));
    assert_eq!(change(&mut scene, Change::Tools), [""; 0]);
    assert_eq!(scene.machine.in_flight(), 0);
    scene.ask(&listen("1", ""));
}

#[test]
fn closing_ends_subscriptions_with_their_result_and_cancels_calls() {
    let mut scene = Scene::modern();
    scene.ask(&listen("\"l\"", r#""toolsListChanged":true"#));
    let key = scene.begin(&modern("1", "tools/call", ""));
    scene.machine.close();
    let told = scene.drain();
    assert_eq!(told.len(), 1);
    assert!(told[0].contains(r#""id":"l","result":{"resultType":"complete","#), "{told:?}");
    assert!(told[0].contains(r#""io.modelcontextprotocol/subscriptionId":"l""#), "{told:?}");
    assert_eq!(scene.cancelled, [key]);
    assert!(scene.closed);
}

#[test]
fn a_filter_that_cannot_be_read_is_refused() {
    let mut scene = Scene::modern();
    assert_eq!(code_of(&scene.ask(&modern("1", "subscriptions/listen", ""))), -32602);
    for filter in [r#""toolsListChanged":1"#, r#""resourceSubscriptions":"a:b""#, r#""resourceSubscriptions":[1]"#] {
        assert_eq!(code_of(&scene.ask(&listen("1", filter))), -32602, "{filter}");
    }
}

#[test]
fn a_legacy_client_hears_of_lists_and_of_what_it_subscribed_to() {
    for version in LEGACY {
        let mut scene = Scene::legacy(version);
        for (change_, name) in ALL.into_iter().zip(["tools", "prompts", "resources"]) {
            let told = change(&mut scene, change_);
            assert_eq!(told, [format!(r#"{{"jsonrpc":"2.0","method":"notifications/{name}/list_changed"}}"#)]);
        }
        assert_eq!(change(&mut scene, Change::Resource("a:b".into())), [""; 0]);
        scene.ask(&legacy("1", "resources/subscribe", r#""uri":"a:b""#));
        scene.ask(&legacy("2", "resources/subscribe", r#""uri":"a:b""#));
        let told = change(&mut scene, Change::Resource("a:b".into()));
        assert_eq!(told, [r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b"}}"#]);
        scene.ask(&legacy("3", "resources/unsubscribe", r#""uri":"a:b""#));
        assert_eq!(change(&mut scene, Change::Resource("a:b".into())), [""; 0]);
        assert_eq!(code_of(&scene.ask(&legacy("4", "resources/subscribe", r#""uri":7"#))), -32602);
    }
}

#[test]
fn nothing_is_announced_before_the_client_is_ready_or_without_the_capability() {
    let mut scene = Scene::new(config());
    assert_eq!(change(&mut scene, Change::Tools), [""; 0]);
    scene.ask(&crate::scene::initialize("2025-11-25"));
    assert_eq!(change(&mut scene, Change::Tools), [""; 0]);
    scene.tell(&notification("notifications/initialized", ""));
    assert_eq!(change(&mut scene, Change::Tools).len(), 1);
    let mut scene = Scene::legacy_with(with_capabilities(r#"{"tools":{}}"#), "2025-11-25", "{}");
    for each in ALL {
        assert_eq!(change(&mut scene, each), [""; 0]);
    }
}

#[test]
fn what_a_slow_client_was_not_told_yet_is_told_once() {
    let mut scene = Scene::modern();
    scene.ask(&listen("1", r#""toolsListChanged":true,"resourceSubscriptions":["a:b"]"#));
    for _ in 0..10_000 {
        scene.machine.changed(&Change::Tools);
        scene.machine.changed(&Change::Resource("a:b".into()));
    }
    assert_eq!(scene.drain().len(), 2);
    assert_eq!(change(&mut scene, Change::Tools).len(), 1);
}

#[test]
fn a_subscription_whose_client_falls_too_far_behind_ends_with_its_result() {
    let mut config = config();
    config.limits.max_queue = 4;
    let mut scene = Scene::new(config);
    scene.ask(&listen("\"l\"", r#""resourceSubscriptions":["a:/"]"#));
    for file in 0..100 {
        scene.machine.changed(&Change::Resource(format!("a:/{file}").into()));
    }
    let told = scene.drain();
    assert_eq!(told.len(), 5);
    assert!(told[4].contains(r#""id":"l","result""#) && told[4].contains(r#"subscriptionId":"l""#), "{told:?}");
    assert_eq!(scene.machine.in_flight(), 0);
}

#[test]
fn what_one_subscription_may_follow_is_bounded() {
    let uris = |count: usize, bytes: usize| {
        let uris: Vec<_> = (0..count).map(|at| format!(r#""a:{at}{}""#, "x".repeat(bytes))).collect();
        format!(r#""resourceSubscriptions":[{}]"#, uris.join(","))
    };
    let mut scene = Scene::modern();
    assert!(scene.ask(&listen("1", &uris(1024, 200))).contains("acknowledged"));
    assert_eq!(code_of(&scene.ask(&listen("2", &uris(1025, 1)))), -32602);
    assert_eq!(code_of(&scene.ask(&listen("3", &uris(300, 1000)))), -32602);
    assert_eq!(scene.machine.in_flight(), 1);
}
