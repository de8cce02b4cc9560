use crate::stage::Stage;
use futures::{
    executor::block_on,
    future::{join, poll_immediate},
    task::LocalSpawnExt,
};
use sandwire_client::{Client, ErrorKind, Mode, Options};
use sandwire_io::{Answer, Call, Endpoint};
use sandwire_json::{Raw, find};
use sandwire_proto::server;
use sandwire_types::{
    ErrorObject, Message, Method, Notification, Reply, Request,
    model::{CreateMessageResult, ElicitAction, ElicitResult, Root, SubscriptionFilter},
};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

/// A server that answers by what it is called with.
#[derive(Clone)]
struct Server(Arc<server::Config>);

impl Server {
    fn new() -> Self {
        let info = Raw::from_valid(r#"{"name":"s","version":"1"}"#);
        let capabilities = Raw::from_valid(r#"{"tools":{},"resources":{},"prompts":{},"completions":{}}"#);
        Self(Arc::new(server::Config::new(info, capabilities)))
    }
}

impl Endpoint for Server {
    fn config(&self) -> Arc<server::Config> {
        Arc::clone(&self.0)
    }

    fn call(&self, call: Call) -> Answer {
        let params = call.request.params.as_ref().map_or("{}", |params| params.as_str());
        let cursor = find(params, "cursor");
        let text = match call.request.method {
            Method::ToolsList => match cursor {
                None => r#"{"tools":[{"name":"a","inputSchema":{"type":"object"}}],"nextCursor":""}"#,
                Some("\"\"") => r#"{"tools":[{"name":"b","inputSchema":{"type":"object"}}],"nextCursor":"c"}"#,
                Some(_) => r#"{"tools":[{"name":"c","inputSchema":{"type":"object"}}]}"#,
            },
            Method::PromptsList => r#"{"prompts":[{"name":"p"}],"nextCursor":"again"}"#,
            Method::ToolsCall => match find(params, "name") {
                Some("\"add\"") => {
                    assert_eq!(find(params, "arguments"), Some(r#"{"a":1,"b":2}"#));
                    r#"{"content":[{"type":"text","text":"3"}],"structuredContent":{"sum":3}}"#
                }
                Some("\"fail\"") => r#"{"content":[{"type":"text","text":"no disk"}],"isError":true}"#,
                Some("\"plain\"") => {
                    assert_eq!(find(params, "arguments"), None);
                    r#"{"content":[{"type":"odd","x":1}]}"#
                }
                _ => return Answer::Ready(Err(ErrorObject::invalid_params("no such tool"))),
            },
            Method::ResourcesRead => r#"{"contents":[{"uri":"file:///x","text":"hi"}]}"#,
            _ => "{}",
        };
        Answer::Ready(Ok(Reply::new(Raw::from_valid(text))))
    }
}

#[derive(serde::Serialize)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(serde::Deserialize, Debug, PartialEq)]
struct Sum {
    sum: i64,
}

fn client() -> (Client, sandwire_client::Driver) {
    Client::in_memory(&Server::new())
}

#[test]
fn a_tool_is_called_with_types() {
    let (client, _driver) = client();
    let result = block_on(async { client.call_tool("add", &Add { a: 1, b: 2 }).await }).unwrap();
    assert_eq!(result.structured_content.unwrap().as_str(), r#"{"sum":3}"#);
    let sum: Sum = block_on(async { client.call_tool("add", &Add { a: 1, b: 2 }).structured().await }).unwrap();
    assert_eq!(sum, Sum { sum: 3 });
    let plain = block_on(async { client.call_tool("plain", &()).await }).unwrap();
    assert_eq!(plain.content.len(), 1);
}

#[test]
fn what_went_wrong_is_told_with_what_to_do() {
    let (client, _driver) = client();
    block_on(async {
        let error = client.call_tool("fail", &()).structured::<Sum>().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Tool);
        assert_eq!(error.to_string(), "the tool failed: no disk");
        let error = client.call_tool("nope", &()).await.unwrap_err();
        assert_eq!((error.kind(), error.code().unwrap().0), (ErrorKind::Server, -32602));
        assert!(error.to_string().contains("no such tool; compare the name"), "{error}");
        let error = client.call_tool("plain", &()).structured::<Sum>().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Decode);
        let error = client.call_tool("add", &Add { a: 1, b: 2 }).structured::<Vec<u8>>().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Decode);
        assert!(std::error::Error::source(&error).is_some());
        let error = client.ping().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Incompatible);
    });
}

#[test]
fn what_a_server_does_not_offer_is_not_asked_for_if_the_client_says_so() {
    let handshake = |options: Options, version: &str| Stage::of_version(options, version);
    let mut stage = handshake(Options::new("c", "1").only_offered(), "2025-11-25");
    let list = stage.client.list_tools();
    let refused = stage.begin(list).take().unwrap().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Incompatible);
    assert!(refused.to_string().contains("capabilities"), "{refused}");
    let ping = stage.client.ping();
    stage.begin(ping);
    assert_eq!(stage.request().method, Method::Ping);
    stage.quiet();
    // Completions had no capability in the oldest version.
    let complete = |stage: &mut Stage| {
        let request = stage.client.request(Method::CompletionComplete, None);
        stage.begin(request).take().is_some()
    };
    assert!(complete(&mut stage));
    let mut stage = handshake(Options::new("c", "1").only_offered(), "2024-11-05");
    assert!(!complete(&mut stage));
    // Otherwise the server decides.
    let mut stage = handshake(Options::new("c", "1"), "2025-11-25");
    let list = stage.client.list_tools();
    assert!(stage.begin(list).take().is_none());
}

#[test]
fn pages_are_walked_to_their_end_and_circles_are_noticed() {
    let (client, _driver) = client();
    block_on(async {
        let first = client.list_tools().await.unwrap();
        assert_eq!(first.next_cursor.as_deref(), Some(""));
        let second = client.list_tools().after("").await.unwrap();
        assert_eq!(second.tools[0].name, "b");
        let all = client.list_all_tools().await.unwrap();
        assert_eq!(all.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
        let error = client.list_all_prompts().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Protocol);
        assert!(error.to_string().contains("circle"));
        assert_eq!(client.read_resource("file:///x").await.unwrap().contents.len(), 1);
    });
}

#[test]
fn handlers_declare_what_they_answer() {
    let options = || {
        Options::new("c", "1")
            .on_elicitation(|_| async {
                let mut result = ElicitResult::new(ElicitAction::Accept);
                result.content = Some(sandwire_json::from_str(r#"{"name":"x"}"#).unwrap());
                Ok(result)
            })
            .elicitation_by_url()
            .roots(vec![Root::new("file:///work")])
    };
    let mut stage = Stage::new(options().mode(Mode::Legacy));
    let initialize = stage.request();
    let declared = initialize.params.unwrap().get("capabilities").unwrap();
    assert_eq!(declared.as_str(), r#"{"elicitation":{"form":{},"url":{}},"roots":{}}"#);

    let mut stage = Stage::legacy(options());
    let mut ask = Request::new(1, Method::RootsList);
    stage.send(Message::Request(ask.clone()));
    assert_eq!(stage.response().unwrap().value.as_str(), r#"{"roots":[{"uri":"file:///work"}]}"#);
    ask.method = Method::ElicitationCreate;
    ask.params = Some(Raw::from_valid(
        r#"{"message":"Name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}"#,
    ));
    stage.send(Message::Request(ask.clone()));
    assert_eq!(stage.response().unwrap().value.as_str(), r#"{"action":"accept","content":{"name":"x"}}"#);
    ask.params = Some(Raw::from_valid(r#"{"message":7}"#));
    stage.send(Message::Request(ask));
    assert_eq!(stage.response().unwrap_err().code.0, -32602);
}

#[test]
fn answers_are_put_in_the_words_of_the_version() {
    let single = r#"{"role":"assistant","content":{"type":"text","text":"a\nb"},"model":"m"}"#;
    let array = r#"{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"model":"m"}"#;
    for (version, expected) in
        [("2024-11-05", single), ("2025-03-26", single), ("2025-06-18", single), ("2025-11-25", array)]
    {
        let answer = || async { Ok(sandwire_json::from_str::<CreateMessageResult>(array).unwrap()) };
        let mut stage = Stage::of_version(Options::new("c", "1").on_sampling(move |_| answer()), version);
        let mut ask = Request::new(1, Method::SamplingCreateMessage);
        ask.params = Some(Raw::from_valid(r#"{"messages":[],"maxTokens":1}"#));
        stage.send(Message::Request(ask));
        assert_eq!(stage.response().unwrap().value.as_str(), expected, "{version}");
    }
}

#[test]
fn a_modern_server_s_questions_reach_the_same_handlers() {
    let mut stage = Stage::modern(Options::new("c", "1").roots(vec![Root::new("file:///work")]));
    let client = stage.client.clone();
    let result = Arc::new(Mutex::new(None));
    let told = Arc::clone(&result);
    stage
        .pool
        .spawner()
        .spawn_local(async move { *told.lock().unwrap() = Some(client.call_tool("t", &()).await.is_ok()) })
        .unwrap();
    let first = stage.request();
    stage.reply(first.id, r#"{"resultType":"input_required","inputRequests":{"r":{"method":"roots/list"}}}"#);
    let second = stage.request();
    assert_eq!(
        second.params.unwrap().get("inputResponses").unwrap().as_str(),
        r#"{"r":{"roots":[{"uri":"file:///work"}]}}"#
    );
    stage.reply(second.id, r#"{"content":[]}"#);
    stage.run();
    assert_eq!(*result.lock().unwrap(), Some(true));
}

#[test]
fn a_call_has_a_timeout_progress_and_an_end_when_it_is_dropped() {
    let mut stage = Stage::modern(Options::new("c", "1").timeout(Duration::from_millis(100)));
    let client = stage.client.clone();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let result = Arc::new(Mutex::new(None));
    let (told, heard) = (Arc::clone(&result), Arc::clone(&seen));
    stage
        .pool
        .spawner()
        .spawn_local(async move {
            let call =
                client.call_tool("slow", &()).on_progress(move |progress| heard.lock().unwrap().push(progress.message));
            *told.lock().unwrap() = Some(call.await.map_err(|error| error.is_timeout()));
        })
        .unwrap();
    let request = stage.request();
    let params = format!(r#"{{"progressToken":{},"progress":0.5,"message":"half"}}"#, request.id);
    stage.send(Message::Notification(Notification::new(Method::Progress, Some(Raw::parse(&params).unwrap()))));
    stage.run();
    assert_eq!(*seen.lock().unwrap(), [Some("half".to_owned())]);
    stage.env.advance(100);
    stage.run();
    assert!(matches!(*result.lock().unwrap(), Some(Err(true))));
    assert!(matches!(stage.next(), Some(Message::Notification(told)) if told.method == Method::Cancelled));

    let mut call = Box::pin(std::future::IntoFuture::into_future(stage.client.call_tool("slow", &()).no_timeout()));
    assert!(block_on(poll_immediate(&mut call)).is_none());
    stage.request();
    drop(call);
    stage.run();
    assert!(matches!(stage.next(), Some(Message::Notification(told)) if told.method == Method::Cancelled));
}

#[test]
fn a_subscription_tells_its_notifications_until_it_is_dropped() {
    let mut stage = Stage::modern(Options::new("c", "1"));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&seen);
    let mut filter = SubscriptionFilter::new();
    filter.tools_list_changed = Some(true);
    let request = stage.client.listen(filter).on_event(move |told| heard.lock().unwrap().push(told.method));
    let mut listening = Box::pin(std::future::IntoFuture::into_future(request));
    assert!(block_on(poll_immediate(&mut listening)).is_none());
    let sent = stage.request();
    assert_eq!(sent.params.unwrap().as_str(), r#"{"notifications":{"toolsListChanged":true}}"#);
    for method in [Method::SubscriptionsAcknowledged, Method::ToolsListChanged] {
        let mut told = Notification::new(method, None);
        told.subscription = Some(sent.id.clone());
        stage.send(Message::Notification(told));
    }
    stage.env.advance(10_000_000);
    stage.run();
    assert_eq!(*seen.lock().unwrap(), [Method::SubscriptionsAcknowledged, Method::ToolsListChanged]);
    drop(listening);
    stage.run();
    assert!(matches!(stage.next(), Some(Message::Notification(told)) if told.method == Method::Cancelled));
}

#[test]
fn notifications_reach_their_listener() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&seen);
    let mut stage =
        Stage::legacy(Options::new("c", "1").on_notification(move |told| heard.lock().unwrap().push(told.method)));
    stage.send(Message::Notification(Notification::new(Method::ToolsListChanged, None)));
    stage.run();
    assert_eq!(*seen.lock().unwrap(), [Method::ToolsListChanged]);
    stage.client.roots_changed().unwrap();
    stage.run();
    assert!(matches!(stage.next(), Some(Message::Notification(told)) if told.method == Method::RootsListChanged));
}

#[test]
fn a_closed_client_says_so() {
    let (client, driver) = client();
    client.close();
    block_on(join(driver, async {
        let error = client.list_tools().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.to_string().contains("connect again"));
    }));
}

#[test]
fn the_client_and_its_driver_move_between_threads() {
    fn assert_send<T: Send>(_: &T) {}
    let (client, driver) = client();
    assert_send(&client);
    assert_send(&driver);
    assert_send(&client.call_tool("add", &()));
    assert_send(&std::future::IntoFuture::into_future(client.list_tools()));
    assert_send(&client.list_all_tools());
}
