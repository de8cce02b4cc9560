use crate::scene::{ERAS, Scene, Server, once, ready, tool, value, waits};
use sandwire_io::{
    Link, LinkEvent, TextLink, TextPort,
    client::CallError,
    memory, serve,
    testing::{SimEnv, text_ports},
};
use sandwire_json::Raw;
use sandwire_proto::{Limits, Via};
use sandwire_types::{Envelope, ErrorCode, ErrorObject, Message, Method, Request};
use std::{
    future::pending,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::{Context, Poll, Waker},
};

#[derive(Clone, Default)]
struct Gate(Arc<Mutex<(bool, Option<Waker>)>>);

impl Gate {
    fn open(&self) {
        let mut gate = self.0.lock().unwrap();
        gate.0 = true;
        let waker = gate.1.take();
        drop(gate);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    async fn pass(&self) {
        std::future::poll_fn(|cx| {
            let mut gate = self.0.lock().unwrap();
            gate.1 = Some(cx.waker().clone());
            if gate.0 { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

struct OnDrop(Arc<AtomicBool>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[test]
fn a_call_that_does_not_wait_is_done_in_its_first_poll_and_wakes_nobody() {
    for version in ERAS {
        let server = Server::new(vec![("now", ready(|_| value(r#"{"x":1}"#)))]);
        let mut scene = Scene::one_driver(&server, version);
        scene.run();
        scene.forget_wakes();
        for _ in 0..3 {
            let mut call = scene.client.call(tool("now"));
            assert!(matches!(once(&mut call), Poll::Ready(Ok(reply)) if reply.value.as_str() == r#"{"x":1}"#));
        }
        assert!(!scene.is_woken());
    }
}

#[test]
fn a_handler_that_does_not_wait_needs_no_driver_even_when_it_is_a_future() {
    for version in ERAS {
        let server = Server::new(vec![("now", waits(async |_| value("{}")))]);
        let scene = Scene::one_driver(&server, version);
        assert!(once(&mut scene.client.call(tool("now"))).is_ready());
    }
}

#[test]
fn errors_of_the_handler_reach_the_caller() {
    for mut scene in Scene::all(|| Server::new(vec![])) {
        let Err(CallError::Peer(error)) = scene.call("nobody") else { panic!("not refused") };
        assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
    }
}

#[test]
fn a_handler_that_waits_goes_to_the_driver_which_is_woken() {
    for version in ERAS {
        let gate = Gate::default();
        let inside = gate.clone();
        let handler = waits(move |_| {
            let gate = inside.clone();
            async move {
                gate.pass().await;
                value("{}")
            }
        });
        let server = Server::new(vec![("later", handler)]);
        let mut scene = Scene::one_driver(&server, version);
        scene.run();
        scene.forget_wakes();
        let mut call = scene.client.call(tool("later"));
        assert!(once(&mut call).is_pending());
        assert!(scene.is_woken());
        scene.run();
        assert!(once(&mut call).is_pending());
        scene.forget_wakes();
        gate.open();
        assert!(scene.is_woken());
        scene.run();
        assert!(once(&mut call).is_ready());
    }
}

#[test]
fn dropping_a_call_drops_its_handler() {
    let dropped = Arc::new(AtomicBool::new(false));
    let guard = dropped.clone();
    let server = move || {
        let guard = guard.clone();
        let handler = waits(move |_| {
            let guard = OnDrop(guard.clone());
            async move {
                let _guard = guard;
                pending().await
            }
        });
        Server::new(vec![("never", handler)])
    };
    for mut scene in Scene::all(server) {
        dropped.store(false, Ordering::SeqCst);
        let mut call = scene.client.call(tool("never"));
        assert!(once(&mut call).is_pending());
        scene.run();
        assert!(!dropped.load(Ordering::SeqCst));
        drop(call);
        scene.run();
        assert!(dropped.load(Ordering::SeqCst));
    }
}

#[test]
fn a_handler_that_watches_is_told_and_runs_on() {
    let steps = Arc::new(AtomicUsize::new(0));
    let counted = steps.clone();
    let server = move || {
        let counted = counted.clone();
        let handler = waits(move |outlet| {
            let counted = counted.clone();
            async move {
                outlet.cancelled().await;
                counted.fetch_add(1, Ordering::SeqCst);
                let mut yielded = false;
                std::future::poll_fn(|cx| {
                    if std::mem::replace(&mut yielded, true) {
                        return Poll::Ready(());
                    }
                    cx.waker().wake_by_ref();
                    Poll::Pending
                })
                .await;
                assert!(outlet.is_cancelled());
                counted.fetch_add(1, Ordering::SeqCst);
                Err(ErrorObject::internal("nobody reads this"))
            }
        });
        Server::new(vec![("watch", handler), ("now", ready(|_| value("{}")))])
    };
    for mut scene in Scene::all(server) {
        steps.store(0, Ordering::SeqCst);
        let mut call = scene.client.call(tool("watch"));
        assert!(once(&mut call).is_pending());
        scene.run();
        drop(call);
        scene.run();
        assert_eq!(steps.load(Ordering::SeqCst), 2);
        assert!(scene.call("now").is_ok());
    }
}

#[test]
fn a_timeout_cancels_the_handler() {
    for mut scene in Scene::all(|| Server::new(vec![("never", waits(|_| pending()))])) {
        let mut call = scene.client.call(tool("never"));
        assert!(once(&mut call).is_pending());
        scene.run();
        scene.env.advance(60_000);
        scene.run();
        assert!(matches!(once(&mut call), Poll::Ready(Err(CallError::Timeout))));
    }
}

#[test]
fn closing_ends_the_drivers_and_the_handlers() {
    let dropped = Arc::new(AtomicBool::new(false));
    let guard = dropped.clone();
    let server = move || {
        let guard = guard.clone();
        let handler = waits(move |_| {
            let guard = OnDrop(guard.clone());
            async move {
                let _guard = guard;
                pending().await
            }
        });
        Server::new(vec![("never", handler)])
    };
    for by_hand in [true, false] {
        for mut scene in Scene::all(server.clone()) {
            dropped.store(false, Ordering::SeqCst);
            let mut call = scene.client.call(tool("never"));
            let _ = once(&mut call);
            scene.run();
            if by_hand {
                scene.client.close();
                scene.run();
                assert!(scene.is_over());
            } else {
                scene.drop_drivers();
            }
            assert!(matches!(once(&mut call), Poll::Ready(Err(CallError::Closed(_)))));
            assert!(dropped.load(Ordering::SeqCst));
            let mut late = scene.client.call(tool("never"));
            assert!(once(&mut late).is_ready());
        }
    }
}

#[test]
fn a_server_sends_what_a_handler_answers_in_the_turn_in_which_it_was_asked() {
    let server = Server::new(vec![("quick", waits(async |_| value("{}")))]);
    let (mut near, far) = memory::pair();
    let mut driver = serve(Arc::new(server), Arc::new(SimEnv::new(1)), Box::new(far));
    let mut call = Request::new(1, Method::ToolsCall);
    call.params = Some(Raw::from_valid(r#"{"name":"quick"}"#));
    call.meta.envelope = Some(Arc::new(Envelope::new("2026-07-28", Raw::object(), None)));
    near.send(Via::Pipe, Message::Request(call), None);
    assert!(once(&mut driver).is_pending());
    let mut arrived = std::future::poll_fn(|cx| near.poll(cx));
    assert!(matches!(once(&mut arrived), Poll::Ready(LinkEvent::Message { message: Message::Response(_), .. })));
}

#[test]
fn a_handler_that_waits_does_not_keep_the_rest_of_its_batch_waiting() {
    let begun = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&begun);
    let never = waits(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        pending()
    });
    let server = Server::new(vec![("never", never), ("quick", ready(|_| value("{}")))]);
    let (mut near, far) = text_ports();
    let link = TextLink::new(far, Limits::default());
    let mut driver = serve(Arc::new(server.clone()), Arc::new(SimEnv::new(1)), Box::new(link));
    let request = |id: &str, method: &str, params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"{method}","params":{{{params}}}}}"#)
    };
    let opening = r#""protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"c","version":"1"}"#;
    near.send(request("open", "initialize", opening));
    let call = |id: &str, name: &str| request(id, "tools/call", &format!(r#""name":"{name}""#));
    let note = r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#;
    near.send(format!("[{},{note},{},{}]", call("a", "never"), call("b", "never"), call("c", "quick")));
    assert!(once(&mut driver).is_pending());
    assert_eq!(begun.load(Ordering::SeqCst), 2);
    assert_eq!(server.heard(), ["notifications/roots/list_changed"]);
    let mut arrived = Vec::new();
    while let Poll::Ready(Some(Ok(text))) = near.poll(&mut Context::from_waker(Waker::noop())) {
        arrived.push(text);
    }
    assert_eq!(arrived.len(), 2, "{arrived:?}");
    assert!(arrived.iter().any(|text| text.contains(r#""id":"c","result""#)), "{arrived:?}");
}
