//! What tasks do not let anybody do: others know of them, store without end, or hang on what died.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

#[path = "common/links.rs"]
mod links;

use links::{LINKS, Link, connect, run};
use sandwire_client::{Called, Client, Error, ErrorKind, Options};
use sandwire_io::testing::SimEnv;
use sandwire_io::{
    BoxFuture, Bytes, Env, HttpClient, HttpLink, HttpRequest, HttpResponse, HttpService, MemoryStore, Store, StoreError,
};
use sandwire_proto::{Limits, TransportError};
use sandwire_server::http::{Guard, Hook, HttpEntry, Principal};
use sandwire_server::types::model::{ElicitAction, ElicitResult, SubscriptionFilter, Task, TaskStatus};
use sandwire_server::types::{ErrorObject, ProtocolVersion, Raw};
use sandwire_server::{
    Agreed, Context, Elicited, Form, Schema, Server, TaskMode, TaskOptions, Tasks, TasksDriver, ToolError, ToolHandler,
};
use std::future::{IntoFuture, poll_fn, ready};
use std::sync::{Arc, Mutex};
use std::task::Poll;

#[derive(serde::Deserialize, serde::Serialize, Schema)]
struct Amount {
    amount: u64,
}

async fn confirm(ctx: &Context) -> Result<String, ToolError> {
    Ok(match ctx.elicit("sure", Form::<Agreed>::new("Delete it?")).await? {
        Elicited::Accepted(_) => "deleted".to_owned(),
        _ => "kept".to_owned(),
    })
}

async fn panics(_: Amount) {
    panic!("as this test wants");
}

fn mill(env: &SimEnv, options: TaskOptions) -> (Server, Tasks, TasksDriver) {
    let (tasks, driver) = Tasks::new(Arc::new(env.clone()), options);
    let waits = env.clone();
    let slow = move |Amount { amount }: Amount| {
        let env = waits.clone();
        async move {
            sleep(&env, amount * 1000).await;
            "slept"
        }
    };
    let long = async |Amount { amount }: Amount| "x".repeat(usize::try_from(amount).unwrap());
    let server = Server::builder("mill", "1")
        .with(tasks.clone())
        .tool("greet", "", || "Hello")
        .with(ToolHandler::new("slow", "", slow).task(TaskMode::Required))
        .with(ToolHandler::new("long", "", long).task(TaskMode::Optional))
        .with(ToolHandler::new("panics", "", panics).task(TaskMode::Optional))
        .with(ToolHandler::new("confirm", "", confirm).task(TaskMode::Optional))
        .build()
        .unwrap();
    (server, tasks, driver)
}

async fn sleep(env: &SimEnv, milliseconds: u64) {
    let at = env.now().after(milliseconds);
    let mut timer = env.timer();
    poll_fn(|cx| timer.poll(at, cx)).await;
}

async fn turns(number: usize) {
    for _ in 0..number {
        let mut polled = false;
        poll_fn(|cx| {
            cx.waker().wake_by_ref();
            if std::mem::replace(&mut polled, true) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

fn options() -> Options {
    Options::new("tester", "1").version(ProtocolVersion::V2026_07_28).tasks().on_elicitation(|_| async {
        let mut answer = ElicitResult::new(ElicitAction::Accept);
        answer.content = Some(sandwire_json::from_str(r#"{"agreed":true}"#).unwrap());
        Ok(answer)
    })
}

fn code(error: &Error) -> i64 {
    error.code().unwrap_or_else(|| panic!("{error}")).0
}

async fn begin(client: &Client, tool: &str, amount: u64) -> Result<Task, Error> {
    match client.call_tool_or_begin_task(tool, &Amount { amount }).await? {
        Called::Task(task) => Ok(*task),
        other => panic!("{other:?}"),
    }
}

async fn until(client: &Client, id: &str, status: TaskStatus) -> Task {
    for _ in 0..1000 {
        let task = client.get_task(id).await.unwrap();
        if task.status == status {
            return task;
        }
        turns(1).await;
    }
    panic!("never {status:?}");
}

#[test]
fn a_client_waits_for_a_task_and_its_handlers_answer() {
    for link in LINKS {
        let env = SimEnv::new(1);
        let (server, _, tasks) = mill(&env, TaskOptions::default());
        let (client, driver, direct) = connect(link, &server, &env, options());
        run(&env, vec![driver, Box::pin(tasks)], async {
            let began = env.now();
            let task = begin(&client, "slow", 30).await.unwrap();
            assert_eq!(task.poll_interval_ms.as_ref().and_then(sandwire_json::Number::as_u64), Some(1000));
            let result = client.finish_task(task).await.unwrap();
            assert!(format!("{result:?}").contains("slept"), "{link:?} {result:?}");
            assert!(env.now().0 >= began.0 + 30_000 && env.now().0 < began.0 + 33_000, "{link:?} {:?}", env.now());
            let asks = begin(&client, "confirm", 0).await.unwrap();
            let result = client.finish_task(asks).await.unwrap();
            assert!(format!("{result:?}").contains("deleted"), "{link:?}");
            let Called::Result(result) = client.call_tool_or_begin_task("greet", &()).await.unwrap() else {
                panic!("no task");
            };
            assert!(format!("{result:?}").contains("Hello"));
            let cancelled = begin(&client, "slow", 30).await.unwrap();
            client.cancel_task(&cancelled.task_id).await.unwrap();
            assert_eq!(client.finish_task(cancelled).await.unwrap_err().kind(), ErrorKind::Cancelled);
            // A call of one who did not think of tasks says what it got.
            let error = client.call_tool("confirm", &()).await.unwrap_err();
            assert!(error.kind() == ErrorKind::Decode && error.to_string().contains("task"), "{error}");
        });
        if link == Link::Http {
            let heads = direct.heads.lock().unwrap();
            let of_tasks = heads.iter().filter(|head| head.headers.get("Mcp-Method").unwrap().starts_with("tasks/"));
            assert!(of_tasks.clone().count() > 30);
            assert!(of_tasks.clone().all(|head| head.headers.get("Mcp-Name").is_some_and(|name| name.len() == 32)));
        }
    }
}

#[test]
fn a_refused_answer_ends_the_task() {
    let env = SimEnv::new(1);
    let (server, tasks, driver) = mill(&env, TaskOptions::default());
    let refusing = options().on_elicitation(|_| async { Err(ErrorObject::invalid_params("not now")) });
    let (client, connection, _) = connect(Link::Pipe, &server, &env, refusing);
    run(&env, vec![connection, Box::pin(driver)], async {
        let task = begin(&client, "confirm", 0).await.unwrap();
        let id = task.task_id.clone();
        let error = client.finish_task(task).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
        until(&client, &id, TaskStatus::Cancelled).await;
        turns(20).await;
        assert_eq!(tasks.running(), 0);
    });
}

#[test]
fn a_tool_that_panics_fails_alone() {
    let env = SimEnv::new(1);
    let (server, tasks, driver) = mill(&env, TaskOptions::default());
    let (client, connection, _) = connect(Link::Pipe, &server, &env, options());
    run(&env, vec![connection, Box::pin(driver)], async {
        let slow = begin(&client, "slow", 5).await.unwrap();
        let panics = begin(&client, "panics", 0).await.unwrap();
        let error = client.finish_task(panics).await.unwrap_err();
        assert!(code(&error) == -32603 && error.to_string().contains("panicked"), "{error}");
        client.finish_task(slow).await.unwrap();
        turns(20).await;
        assert_eq!(tasks.running(), 0);
    });
}

#[test]
fn names_that_are_none_are_unknown() {
    for link in LINKS {
        let env = SimEnv::new(1);
        let (server, _, driver) = mill(&env, TaskOptions::default());
        let (client, connection, _) = connect(link, &server, &env, options());
        run(&env, vec![connection, Box::pin(driver)], async {
            let task = begin(&client, "slow", 5).await.unwrap();
            let forged = task.task_id.replace(|digit: char| digit.is_ascii_digit(), "a");
            let upper = task.task_id.to_uppercase();
            let long = "a".repeat(1_000_000);
            for id in [&*forged, &upper, "", "../../etc", "task:", "\u{0}", "☃", &long] {
                let id = Raw::string(id);
                for (method, more) in
                    [("tasks/get", ""), ("tasks/cancel", ""), ("tasks/update", r#","inputResponses":{}"#)]
                {
                    let params = Raw::parse(&format!(r#"{{"taskId":{}{more}}}"#, id.as_str())).unwrap();
                    let error = client.request(method, Some(params)).await.unwrap_err();
                    assert_eq!(code(&error), -32602, "{link:?} {method} {error}");
                }
            }
            for params in ["{}", r#"{"taskId":7}"#, r#"{"taskId":null}"#, r#"{"taskId":{}}"#] {
                let error = client.request("tasks/get", Some(Raw::parse(params).unwrap())).await.unwrap_err();
                assert_eq!(code(&error), -32602, "{link:?} {params}");
            }
        });
    }
}

#[test]
fn running_tasks_and_what_is_kept_of_them_are_bounded() {
    let env = SimEnv::new(1);
    let bounds = TaskOptions { max: 2, max_bytes: 2000, ttl_ms: 40_000, ..TaskOptions::default() };
    let (server, tasks, driver) = mill(&env, bounds);
    let (client, connection, _) = connect(Link::Http, &server, &env, options());
    run(&env, vec![connection, Box::pin(driver)], async {
        let first = begin(&client, "slow", 600).await.unwrap();
        let second = begin(&client, "slow", 5).await.unwrap();
        assert_ne!(first.task_id, second.task_id);
        let error = begin(&client, "slow", 5).await.unwrap_err();
        assert_eq!(code(&error), -32603, "{error}");
        assert_eq!(tasks.running(), 2);
        client.finish_task(second.clone()).await.unwrap();
        let long = begin(&client, "long", 3000).await.unwrap();
        let error = client.finish_task(long).await.unwrap_err();
        assert_eq!(code(&error), -32603, "{error}");
        let short = begin(&client, "long", 1000).await.unwrap();
        client.finish_task(short).await.unwrap();
        // Longer than it is kept.
        sleep(&env, 36_000).await;
        turns(20).await;
        assert_eq!(tasks.running(), 0);
        for id in [&first.task_id, &second.task_id] {
            assert_eq!(code(&client.get_task(id).await.unwrap_err()), -32602);
        }
    });
}

#[test]
fn a_task_whose_process_died_has_failed() {
    let env = SimEnv::new(1);
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new(Arc::new(env.clone()), 100));
    let kept = || TaskOptions { store: Some(store.clone()), ..TaskOptions::default() };
    let (first, _, driver) = mill(&env, kept());
    let (client, connection, _) = connect(Link::Pipe, &first, &env, options());
    let (running, done) = run(&env, vec![connection, Box::pin(run_for(driver, env.clone(), 30_000))], async {
        let done = begin(&client, "long", 5).await.unwrap();
        client.finish_task(done.clone()).await.unwrap();
        let running = begin(&client, "slow", 600).await.unwrap();
        sleep(&env, 40_000).await;
        (running.task_id, done.task_id)
    });
    drop((client, first));
    let (second, _, driver) = mill(&env, kept());
    let (client, connection, _) = connect(Link::Pipe, &second, &env, options());
    run(&env, vec![connection, Box::pin(driver)], async {
        assert_eq!(client.get_task(&done).await.unwrap().status, TaskStatus::Completed);
        // It left word a moment ago, so it may run elsewhere.
        assert_eq!(client.get_task(&running).await.unwrap().status, TaskStatus::Working);
        let error = client.cancel_task(&running).await.unwrap_err();
        assert!(code(&error) == -32603 && error.to_string().contains("Mcp-Name"), "{error}");
        sleep(&env, 61_000).await;
        let task = client.get_task(&running).await.unwrap();
        assert_eq!(task.status, TaskStatus::Failed);
        assert_eq!(
            &*task.error.as_ref().unwrap().message,
            "the process that ran the task is gone; make the call again"
        );
        let error = client.finish_task(task).await.unwrap_err();
        assert!(error.to_string().contains("make the call again"), "{error}");
        client.cancel_task(&running).await.unwrap();
    });
}

/// Runs a driver for so long, then drops it with everything that it runs.
async fn run_for(driver: TasksDriver, env: SimEnv, milliseconds: u64) {
    futures_util::future::select(driver, Box::pin(sleep(&env, milliseconds))).await;
}

struct Broken;

impl Store for Broken {
    fn get(&self, _: &str) -> BoxFuture<'static, Result<Option<String>, StoreError>> {
        Box::pin(ready(Err(StoreError::new("no disk"))))
    }
    fn put(&self, _: &str, _: &str, _: u64) -> BoxFuture<'static, Result<(), StoreError>> {
        Box::pin(ready(Err(StoreError::new("no disk"))))
    }
    fn remove(&self, _: &str) -> BoxFuture<'static, Result<(), StoreError>> {
        Box::pin(ready(Err(StoreError::new("no disk"))))
    }
}

#[test]
fn a_task_that_cannot_be_kept_or_run_does_not_begin() {
    let env = SimEnv::new(1);
    let (server, tasks, driver) = mill(&env, TaskOptions { store: Some(Arc::new(Broken)), ..TaskOptions::default() });
    let (client, connection, _) = connect(Link::Http, &server, &env, options());
    run(&env, vec![connection, Box::pin(driver)], async {
        let error = begin(&client, "slow", 1).await.unwrap_err();
        assert!(code(&error) == -32603 && error.to_string().contains("no disk"), "{error}");
        assert_eq!(tasks.running(), 0);
        let error = client.get_task("0123456789abcdef0123456789abcdef").await.unwrap_err();
        assert_eq!(code(&error), -32603);
    });
    let (server, tasks, driver) = mill(&env, TaskOptions::default());
    drop(driver);
    let (client, connection, _) = connect(Link::Http, &server, &env, options());
    run(&env, vec![connection], async {
        let error = begin(&client, "slow", 1).await.unwrap_err();
        assert!(error.to_string().contains("TasksDriver"), "{error}");
        assert_eq!(tasks.running(), 0);
    });
}

#[derive(Clone)]
struct As(HttpEntry, &'static str);

impl HttpClient for As {
    fn send(&self, request: HttpRequest) -> BoxFuture<'static, Result<HttpResponse, TransportError>> {
        let mut head = request.head;
        head.headers.push("host", "localhost");
        head.headers.push("authorization", self.1);
        let answer = self.0.handle(head, Box::new(Bytes::new(request.body.unwrap_or_default())));
        Box::pin(async move {
            let (head, body) = answer.await;
            Ok(HttpResponse { head, body })
        })
    }
}

#[test]
fn a_task_is_its_principals_alone() {
    let env = SimEnv::new(1);
    let (server, _, driver) = mill(&env, TaskOptions::default());
    let authenticate = Hook::authenticate(|head| {
        let name = head.headers.get("authorization").unwrap_or("nobody").to_owned();
        async move { Ok(Principal::new(name)) }
    });
    let guard = Guard { hooks: [authenticate].into(), ..Guard::default() };
    let shared: Arc<dyn Env> = Arc::new(env.clone());
    let entry = HttpEntry::guarded(Arc::new(server), shared.clone(), guard);
    let client = |name| {
        let link = HttpLink::new(Arc::new(As(entry.clone(), name)), "http://localhost/mcp", Limits::default());
        Client::connect(link, shared.clone(), options())
    };
    let (alice, of_alice) = client("alice");
    let (eve, of_eve) = client("eve");
    run(&env, vec![Box::pin(of_alice), Box::pin(of_eve), Box::pin(driver)], async {
        let task = begin(&alice, "confirm", 0).await.unwrap();
        let id = &*task.task_id;
        let mut filter = SubscriptionFilter::new();
        filter.task_ids = Some(vec![task.task_id.clone()]);
        let [heard, overheard] = [&alice, &eve].map(|client| {
            let events = Arc::<Mutex<Vec<String>>>::default();
            let seen = events.clone();
            let listening = client.listen(filter.clone()).on_event(move |event| {
                seen.lock().unwrap().push(event.method.as_str().to_owned());
            });
            (listening.into_future(), events)
        });
        let scene = async {
            turns(20).await;
            until(&alice, id, TaskStatus::InputRequired).await;
            let answers = || sandwire_json::from_str(r#"{"1":{"action":"decline"}}"#).unwrap();
            assert_eq!(code(&eve.get_task(id).await.unwrap_err()), -32602);
            assert_eq!(code(&eve.update_task(id, answers()).await.unwrap_err()), -32602);
            assert_eq!(code(&eve.cancel_task(id).await.unwrap_err()), -32602);
            alice.update_task(id, answers()).await.unwrap();
            until(&alice, id, TaskStatus::Completed).await;
            turns(20).await;
            // From the store, too.
            assert_eq!(code(&eve.get_task(id).await.unwrap_err()), -32602);
            assert_eq!(alice.get_task(id).await.unwrap().status, TaskStatus::Completed);
        };
        let listening = futures_util::future::join(heard.0, overheard.0);
        futures_util::future::select(std::pin::pin!(listening), std::pin::pin!(scene)).await;
        assert!(heard.1.lock().unwrap().len() > 1);
        assert_eq!(*overheard.1.lock().unwrap(), ["notifications/subscriptions/acknowledged"]);
    });
}
