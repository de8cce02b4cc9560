use crate::stage::{DISCOVERY, HANDSHAKE, Stage, call, tool_call};
use futures::{future::poll_immediate, task::LocalSpawnExt};
use sandwire_io::{
    Link, LinkEvent,
    client::{CallError, Config, Mode, Timeout},
    memory,
    testing::{ChaosLink, Faults},
};
use sandwire_json::Raw;
use sandwire_proto::Via;
use sandwire_types::{Message, Method, Notification, Reply, Request, RequestId, Response};
use std::sync::{Arc, Mutex};

/// The server's end of a pipe, in the test's hand.
struct Server(memory::MemoryLink);

impl Server {
    fn stage(config: Config) -> (Stage, Self) {
        let (client_end, server_end) = memory::pair();
        let mut stage = Stage::new(config, Box::new(client_end));
        stage.run();
        (stage, Self(server_end))
    }

    fn modern() -> (Stage, Self) {
        let (mut stage, mut server) = Self::stage(Config::new("t", "1"));
        let probe = server.request();
        server.reply(probe.id, DISCOVERY);
        stage.run();
        stage.told();
        (stage, server)
    }

    fn next(&mut self) -> Option<LinkEvent> {
        futures::executor::block_on(poll_immediate(futures::future::poll_fn(|cx| self.0.poll(cx))))
    }

    fn request(&mut self) -> Request {
        match self.next() {
            Some(LinkEvent::Message { message: Message::Request(request), .. }) => request,
            other => panic!("{other:?}"),
        }
    }

    fn send(&mut self, message: Message) {
        self.0.send(Via::Pipe, message, None);
    }

    fn reply(&mut self, id: RequestId, result: &str) {
        let reply = Reply::new(Raw::parse(result).unwrap());
        self.send(Message::Response(Response::new(id, Ok(reply))));
    }
}

#[test]
fn calls_begin_when_they_are_made_and_wait_for_the_opening() {
    let (mut stage, mut server) = Server::stage(Config::new("t", "1"));
    let first = stage.call(tool_call());
    let second = stage.call(call("tools/list", ""));
    stage.run();
    let probe = server.request();
    assert!(server.next().is_none());
    server.reply(probe.id, DISCOVERY);
    stage.run();
    let (a, b) = (server.request(), server.request());
    assert_eq!((a.method, b.method), (Method::ToolsCall, Method::ToolsList));
    server.reply(b.id, r#"{"b":1}"#);
    server.reply(a.id, r#"{"a":1}"#);
    stage.run();
    assert_eq!(first.lock().unwrap().as_deref(), Some(r#"{"a":1}"#));
    assert_eq!(second.lock().unwrap().as_deref(), Some(r#"{"b":1}"#));
    assert_eq!(stage.client.info().unwrap().version.as_str(), "2026-07-28");
}

#[test]
fn dropping_a_call_cancels_it() {
    let (mut stage, mut server) = Server::modern();
    let dropped = stage.client.call(tool_call());
    stage.run();
    let request = server.request();
    drop(dropped);
    stage.run();
    match server.next() {
        Some(LinkEvent::Message { message: Message::Notification(told), .. }) => {
            assert_eq!(told.method, Method::Cancelled);
            assert_eq!(told.params.unwrap().get("requestId").unwrap().as_str(), request.id.to_string());
        }
        other => panic!("{other:?}"),
    }
    // A call that was answered is not cancelled by being dropped.
    let answered = stage.client.call(tool_call());
    stage.run();
    let request = server.request();
    server.reply(request.id, "{}");
    stage.run();
    drop(answered);
    stage.run();
    assert!(server.next().is_none());
}

#[test]
fn a_callback_is_called_once_unless_its_call_is_cancelled() {
    let (mut stage, mut server) = Server::modern();
    let results = Arc::new(Mutex::new(Vec::new()));
    let done = |name: &'static str| {
        let results = Arc::clone(&results);
        Box::new(move |result: Result<Reply, CallError>| results.lock().unwrap().push((name, result.is_ok())))
    };
    stage.client.call_with(tool_call(), done("kept"));
    let cancelled = stage.client.call_with(tool_call(), done("cancelled"));
    stage.run();
    let (kept, given_up) = (server.request(), server.request());
    stage.client.cancel(cancelled);
    stage.client.cancel(cancelled);
    stage.run();
    server.reply(kept.id, "{}");
    server.reply(given_up.id, "{}");
    stage.run();
    assert_eq!(*results.lock().unwrap(), [("kept", true)]);
    stage.client.call_with(tool_call(), done("closed"));
    stage.client.close();
    stage.run();
    stage.client.call_with(tool_call(), done("late"));
    assert_eq!(*results.lock().unwrap(), [("kept", true), ("closed", false), ("late", false)]);
}

#[test]
fn a_callback_may_call_again() {
    let (mut stage, mut server) = Server::modern();
    let client = stage.client.clone();
    let second = Arc::new(Mutex::new(None));
    let told = Arc::clone(&second);
    stage.client.call_with(
        tool_call(),
        Box::new(move |_| {
            client.call_with(tool_call(), Box::new(move |result| *told.lock().unwrap() = Some(result.is_ok())));
        }),
    );
    stage.run();
    for _ in 0..2 {
        let request = server.request();
        server.reply(request.id, "{}");
        stage.run();
    }
    assert_eq!(*second.lock().unwrap(), Some(true));
}

#[test]
fn a_timeout_wakes_the_driver() {
    let (mut stage, mut server) = Server::modern();
    let mut short = tool_call();
    short.request.timeout = Timeout::After(50);
    let result = stage.call(short);
    stage.run();
    server.request();
    stage.advance(49);
    assert!(result.lock().unwrap().is_none());
    stage.advance(1);
    assert!(result.lock().unwrap().as_ref().unwrap().contains("no answer came in time"));
    assert!(matches!(
        server.next(),
        Some(LinkEvent::Message { message: Message::Notification(told), .. }) if told.method == Method::Cancelled
    ));
}

#[test]
fn notifications_are_told_in_order_and_before_the_answer_that_follows_them() {
    let (mut stage, mut server) = Server::modern();
    let order = Arc::clone(&stage.told);
    let told = Arc::clone(&order);
    stage.client.call_with(tool_call(), Box::new(move |_| told.lock().unwrap().push("answer".into())));
    stage.run();
    let request = server.request();
    for method in [Method::ToolsListChanged, Method::LogMessage, Method::from("vendor/x")] {
        server.send(Message::Notification(Notification::new(method, None)));
    }
    stage.run();
    server.reply(request.id, "{}");
    stage.run();
    assert_eq!(
        *order.lock().unwrap(),
        ["notifications/tools/list_changed", "notifications/message", "vendor/x", "answer"]
    );
}

#[test]
fn a_question_may_be_answered_later_and_is_answered_for_whoever_forgets() {
    let mut config = Config::new("t", "1");
    config.mode = Mode::Legacy;
    config.capabilities = Raw::parse(r#"{"roots":{}}"#).unwrap();
    let (mut stage, mut server) = Server::stage(config);
    let initialize = server.request();
    server.reply(initialize.id, HANDSHAKE);
    stage.run();
    server.next();
    for id in 1..=2 {
        server.send(Message::Request(Request::new(RequestId::Number(id), Method::RootsList)));
    }
    stage.run();
    assert!(server.next().is_none());
    let mut answers = std::mem::take(&mut *stage.asked.lock().unwrap());
    assert_eq!(answers.len(), 2);
    answers.remove(0).send(Ok(Raw::parse(r#"{"roots":[]}"#).unwrap()));
    drop(answers);
    stage.run();
    let mut responses = Vec::new();
    while let Some(LinkEvent::Message { message: Message::Response(response), .. }) = server.next() {
        responses.push(response);
    }
    assert_eq!(responses.len(), 2);
    assert!(responses[0].result.is_ok());
    assert!(responses[1].result.is_err());
}

#[test]
fn dropping_the_driver_ends_calls_and_closes_the_link() {
    let (client_end, mut server_end) = memory::pair();
    let env = sandwire_io::testing::SimEnv::new(1);
    let hooks = Box::new(sandwire_io::client::NoHooks);
    let (client, driver) =
        sandwire_io::client::connect(Config::new("t", "1"), Arc::new(env), Box::new(client_end), hooks);
    let call = client.call(tool_call());
    drop(driver);
    assert!(futures::executor::block_on(call).is_err());
    assert!(futures::executor::block_on(client.ready()).is_err());
    assert!(futures::executor::block_on(client.call(tool_call())).is_err());
    // What was asked for before is still on its way.
    while !matches!(
        futures::executor::block_on(futures::future::poll_fn(|cx| server_end.poll(cx))),
        LinkEvent::Closed(_)
    ) {}
}

#[test]
fn every_call_ends_over_a_bad_link() {
    for seed in 0..200 {
        let (client_end, server_end) = memory::pair();
        let faults = Faults { lose: 60, repeat: 60, garble: 60, swap: 60, cut: if seed % 4 == 0 { 5 } else { 0 } };
        let link = ChaosLink::new(Box::new(client_end), faults, seed);
        let mut stage = Stage::new(Config::new("t", "1"), Box::new(link));
        let mut server = Server(server_end);
        let results: Vec<_> = (0..20).map(|_| stage.call(tool_call())).collect();
        for _ in 0..200 {
            stage.run();
            while let Some(LinkEvent::Message { message, .. }) = server.next() {
                if let Message::Request(request) = message {
                    let result = match request.method {
                        Method::ServerDiscover => DISCOVERY,
                        Method::Initialize => HANDSHAKE,
                        _ => "{}",
                    };
                    server.reply(request.id, result);
                }
            }
            stage.advance(1_000);
        }
        assert!(results.iter().all(|result| result.lock().unwrap().is_some()), "seed {seed}");
    }
}

#[test]
fn handles_and_drivers_move_between_threads() {
    fn assert_send<T: Send>() {}
    fn assert_sync<T: Sync>() {}
    assert_send::<sandwire_io::client::Driver>();
    assert_send::<sandwire_io::client::ClientHandle>();
    assert_sync::<sandwire_io::client::ClientHandle>();
    assert_send::<sandwire_io::client::CallFuture>();
}

#[test]
fn ready_waits_for_the_opening() {
    let (mut stage, mut server) = Server::stage(Config::new("t", "1"));
    let ready = stage.client.ready();
    let opened = Arc::new(Mutex::new(false));
    let told = Arc::clone(&opened);
    stage
        .spawner()
        .spawn_local(async move {
            *told.lock().unwrap() = ready.await.is_ok();
        })
        .unwrap();
    stage.run();
    assert!(!*opened.lock().unwrap());
    let probe = server.request();
    server.reply(probe.id, DISCOVERY);
    stage.run();
    assert!(*opened.lock().unwrap());
}
