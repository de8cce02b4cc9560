use crate::scene::{ERAS, Scene, Server, config, once, ready, tool, value, waits};
use sandwire_io::{
    client::{Call, Hooks, NoHooks, connect},
    in_memory, memory, serve,
    testing::SimEnv,
};
use sandwire_proto::server::{Change, Progress};
use sandwire_types::{Method, Notification};
use std::{
    sync::{Arc, Mutex},
    task::Poll,
};

#[test]
fn progress_comes_before_the_answer_and_in_order() {
    let server = || {
        let handler = ready(|call| {
            for step in 1..=3 {
                call.outlet.progress(Progress { progress: f64::from(step), ..Progress::default() });
            }
            value("{}")
        });
        Server::new(vec![("steps", handler)])
    };
    for mut scene in Scene::all(server) {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let told = seen.clone();
        let call = Call::from(tool("steps")).with_progress(Arc::new(move |params| {
            told.lock().unwrap().push(params.get("progress").unwrap().as_str().to_owned());
        }));
        let mut call = scene.client.call(call);
        while once(&mut call).is_pending() {
            scene.run();
        }
        assert_eq!(*seen.lock().unwrap(), ["1", "2", "3"]);
    }
}

#[test]
fn a_result_waits_for_its_caller_while_later_calls_come_and_go() {
    let server = || {
        let named = |name: &'static str| (name, ready(move |_| value(&format!(r#"{{"is":"{name}"}}"#))));
        let (a, b) = (named("a"), named("b"));
        Server::new(vec![a, b])
    };
    for mut scene in Scene::all(server) {
        scene.run();
        let mut first = scene.client.call(tool("a"));
        let mut second = scene.client.call(tool("a"));
        // Somebody else carries the messages; the callers do not look yet.
        let _ = scene.client.notify(Notification::new(Method::RootsListChanged, None));
        scene.run();
        for _ in 0..3 {
            assert_eq!(scene.call("b").unwrap(), r#"{"is":"b"}"#);
        }
        for call in [&mut second, &mut first] {
            assert!(matches!(once(call), Poll::Ready(Ok(reply)) if reply.value.as_str() == r#"{"is":"a"}"#));
        }
    }
}

struct Listening(Arc<Mutex<Vec<String>>>);

impl Hooks for Listening {
    fn notification(&mut self, notification: Notification) {
        self.0.lock().unwrap().push(notification.method.as_str().into());
    }
}

#[test]
fn changes_reach_a_legacy_client() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    for two in [false, true] {
        let server = Server::new(vec![]);
        let hooks = Box::new(Listening(heard.clone()));
        let mut scene = if two {
            Scene::two_drivers_with(&server, ERAS[1], hooks)
        } else {
            Scene::one_driver_with(&server, ERAS[1], hooks)
        };
        scene.run();
        scene.forget_wakes();
        server.changes().announce(&Change::Tools);
        assert!(scene.is_woken());
        scene.run();
        assert_eq!(std::mem::take(&mut *heard.lock().unwrap()), ["notifications/tools/list_changed"]);
        drop(scene);
        server.changes().announce(&Change::Tools);
        assert_eq!(server.heard(), ["notifications/initialized"]);
    }
}

#[test]
fn changes_reach_a_modern_client_that_listens() {
    for two in [false, true] {
        let server = Server::new(vec![]);
        let mut scene = if two { Scene::two_drivers(&server, ERAS[0]) } else { Scene::one_driver(&server, ERAS[0]) };
        let heard = Arc::new(Mutex::new(Vec::new()));
        let told = heard.clone();
        let filter = sandwire_json::Raw::from_valid(r#"{"notifications":{"toolsListChanged":true}}"#);
        let listen = sandwire_proto::client::Call::new(Method::SubscriptionsListen, Some(filter));
        let listen = Call::from(listen).with_events(Arc::new(move |notification: Notification| {
            told.lock().unwrap().push(notification.method.as_str().to_owned());
        }));
        let mut listening = scene.client.call(listen);
        assert!(once(&mut listening).is_pending());
        scene.run();
        server.changes().announce(&Change::Tools);
        server.changes().announce(&Change::Prompts);
        scene.run();
        let both = ["notifications/subscriptions/acknowledged", "notifications/tools/list_changed"];
        assert_eq!(*heard.lock().unwrap(), both);
        drop(listening);
        scene.run();
        server.changes().announce(&Change::Tools);
        scene.run();
        assert_eq!(heard.lock().unwrap().len(), 2);
    }
}

#[test]
#[allow(clippy::disallowed_methods, reason = "natively there are threads")]
fn threads_share_a_connection() {
    for version in ERAS {
        let server = Server::new(vec![("ready", ready(|_| value("{}"))), ("waits", waits(async |_| value("{}")))]);
        let (apart, env) = (server.clone(), Arc::new(SimEnv::new(1)));
        let (near, far) = memory::pair();
        let served = serve(Arc::new(apart), env.clone(), Box::new(far));
        let joined = in_memory(Arc::new(server), config(version), env.clone(), Box::new(NoHooks));
        let linked = connect(config(version), env, Box::new(near), Box::new(NoHooks));
        let serving = std::thread::spawn(move || futures::executor::block_on(served));
        for (client, driver) in [joined, linked] {
            let driver = std::thread::spawn(move || futures::executor::block_on(driver));
            let callers: Vec<_> = (0..4)
                .map(|_| {
                    let client = client.clone();
                    std::thread::spawn(move || {
                        for name in ["ready", "waits"].repeat(200) {
                            assert!(futures::executor::block_on(client.call(tool(name))).is_ok());
                        }
                    })
                })
                .collect();
            callers.into_iter().for_each(|caller| caller.join().unwrap());
            drop(client);
            driver.join().unwrap();
        }
        serving.join().unwrap();
    }
}
