//! Handlers and hooks use clients, their own among them.

use crate::scene::{ERAS, Scene, Server, once, ready, tool, value, waits};
use sandwire_io::client::{Call, ClientHandle};
use sandwire_proto::server::Progress;
use std::{
    sync::{Arc, Mutex},
    task::Poll,
};

type Slot = Arc<Mutex<Option<ClientHandle>>>;

#[test]
fn a_handler_may_call_its_own_server_and_another() {
    for version in ERAS {
        let other = Server::new(vec![("leaf", ready(|_| value(r#"{"leaf":1}"#)))]);
        let other = Scene::one_driver(&other, version);
        let far = other.client.clone();
        let own: Slot = Slot::default();
        let inside = own.clone();
        let relay = waits(move |_| {
            let near = inside.lock().unwrap().clone().unwrap();
            let far = far.clone();
            async move {
                let near = near.call(tool("leaf")).await.unwrap();
                let far = far.call(tool("leaf")).await.unwrap();
                value(
                    &format!("[{},{}]", near.value.as_str(), far.value.as_str())
                        .replace('[', "{\"a\":")
                        .replace(",{", ",\"b\":{")
                        .replace(']', "}"),
                )
            }
        });
        let server = Server::new(vec![("relay", relay), ("leaf", ready(|_| value(r#"{"leaf":2}"#)))]);
        let scene = Scene::one_driver(&server, version);
        *own.lock().unwrap() = Some(scene.client.clone());
        let mut call = scene.client.call(tool("relay"));
        let Poll::Ready(Ok(reply)) = once(&mut call) else { panic!("not done in the first poll") };
        assert_eq!(reply.value.as_str(), r#"{"a":{"leaf":2},"b":{"leaf":1}}"#);
        *own.lock().unwrap() = None;
    }
}

#[test]
fn a_handler_may_drop_and_close_its_own_client() {
    for close in [false, true] {
        for version in ERAS {
            let own: Slot = Slot::default();
            let inside = own.clone();
            let server = Server::new(vec![(
                "suicide",
                ready(move |_| {
                    let client = inside.lock().unwrap().take();
                    if let Some(client) = client.filter(|_| close) {
                        client.close();
                    }
                    value("{}")
                }),
            )]);
            let mut scene = Scene::one_driver(&server, version);
            scene.run();
            let mut call = scene.client.call(tool("suicide"));
            *own.lock().unwrap() =
                Some(std::mem::replace(&mut scene.client, Scene::one_driver(&server, version).client));
            let polled = once(&mut call);
            assert!(polled.is_ready());
            assert_eq!(matches!(polled, Poll::Ready(Ok(_))), !close);
            scene.run();
            assert_eq!(scene.is_over(), close);
        }
    }
}

#[test]
fn a_progress_callback_may_call_and_cancel() {
    for version in ERAS {
        let steps = ready(|call| {
            call.outlet.progress(Progress { progress: 1.0, ..Progress::default() });
            value("{}")
        });
        let server = Server::new(vec![("steps", steps), ("leaf", ready(|_| value("{}")))]);
        let mut scene = Scene::one_driver(&server, version);
        let client = scene.client.clone();
        let inner = Arc::new(Mutex::new(Vec::new()));
        let kept = inner.clone();
        let call = Call::from(tool("steps")).with_progress(Arc::new(move |_| {
            let mut leaf = client.call(tool("leaf"));
            let _ = once(&mut leaf);
            kept.lock().unwrap().push(leaf);
            drop(client.call(tool("leaf")));
        }));
        let mut call = scene.client.call(call);
        assert!(once(&mut call).is_ready());
        scene.run();
        let mut leaf = inner.lock().unwrap().pop().unwrap();
        assert!(matches!(once(&mut leaf), Poll::Ready(Ok(_))));
    }
}
