//! Tasks over every link: what they ask, how they end, who may know of them, and what becomes of them later.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

#[path = "common/links.rs"]
mod links;

use links::{LINKS, Link, connect, run};
use sandwire_client::{Client, Error, Options};
use sandwire_io::testing::SimEnv;
use sandwire_io::{BoxFuture, Env};
use sandwire_json::find;
use sandwire_server::types::model::{ElicitAction, ElicitResult, SubscriptionFilter};
use sandwire_server::types::{ErrorObject, ProtocolVersion, Raw, Reply};
use sandwire_server::{
    Agreed, Context, Elicited, Form, Schema, Server, TaskMode, TaskOptions, Tasks, TasksDriver, ToolError, ToolHandler,
};
use std::future::{IntoFuture, poll_fn};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;

const EXTENSION: &str = "io.modelcontextprotocol/tasks";

#[derive(serde::Deserialize, Schema)]
struct Sleep {
    seconds: u64,
}

#[derive(serde::Deserialize, Schema)]
struct Who {
    name: String,
}

async fn sleep(env: SimEnv, seconds: u64) {
    let at = env.now().after(seconds * 1000);
    let mut timer = env.timer();
    poll_fn(|cx| timer.poll(at, cx)).await;
}

async fn confirm(ctx: &Context) -> Result<String, ToolError> {
    Ok(match ctx.elicit("sure", Form::<Agreed>::new("Delete it?")).await? {
        Elicited::Accepted(_) => "deleted".to_owned(),
        _ => "kept".to_owned(),
    })
}

async fn two(ctx: &Context) -> Result<String, ToolError> {
    let (first, second) = futures_util::future::join(
        ctx.elicit("a", Form::<Who>::new("First?")),
        ctx.elicit("b", Form::<Who>::new("Second?")),
    )
    .await;
    let name = |answer| match answer {
        Elicited::Accepted(Who { name }) => name,
        _ => "nobody".to_owned(),
    };
    Ok(format!("{} and {}", name(first?), name(second?)))
}

/// Asks before it is a task and after, and counts how often it did what it may do once.
fn late(runs: Arc<AtomicUsize>) -> impl Fn(Context) -> BoxFuture<'static, Result<String, ToolError>> + Clone {
    move |ctx: Context| {
        let runs = runs.clone();
        Box::pin(async move {
            let ticket = ctx.once("ticket", async { runs.fetch_add(1, Ordering::Relaxed) }).await?;
            let Elicited::Accepted(Who { name }) = ctx.elicit("who", Form::<Who>::new("Who?")).await? else {
                return Ok("nobody".to_owned());
            };
            ctx.become_task().await;
            let Elicited::Accepted(other) = ctx.elicit("other", Form::<Who>::new("And?")).await? else {
                return Ok(format!("{ticket}: {name}"));
            };
            Ok(format!("{ticket}: {name} and {}", other.name))
        })
    }
}

/// Cleans up, and says so, when its client gives it up.
fn tidy(cleaned: Arc<AtomicUsize>) -> impl Fn(Context) -> BoxFuture<'static, String> + Clone {
    move |ctx: Context| {
        let cleaned = cleaned.clone();
        Box::pin(async move {
            ctx.cancelled().await;
            cleaned.fetch_add(1, Ordering::Relaxed);
            "never read".to_owned()
        })
    }
}

struct Stage {
    env: SimEnv,
    server: Server,
    tasks: Tasks,
    driver: TasksDriver,
    cleaned: Arc<AtomicUsize>,
    runs: Arc<AtomicUsize>,
}

impl Stage {
    fn new() -> Self {
        Self::with(&SimEnv::new(5), TaskOptions::default())
    }

    fn with(env: &SimEnv, options: TaskOptions) -> Self {
        let (tasks, driver) = Tasks::new(Arc::new(env.clone()), options);
        let (cleaned, runs) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        let waits = env.clone();
        let slow = move |Sleep { seconds }: Sleep| {
            let env = waits.clone();
            async move {
                sleep(env, seconds).await;
                format!("slept {seconds}")
            }
        };
        let long = async |Sleep { seconds }: Sleep| "x".repeat(usize::try_from(seconds).unwrap());
        let server = Server::builder("mill", "1")
            .with(tasks.clone())
            .tool("greet", "", || "Hello")
            .with(ToolHandler::new("slow", "", slow).task(TaskMode::Optional))
            .with(ToolHandler::new("long", "", long).task(TaskMode::Optional))
            .with(ToolHandler::new("fails", "", async || Err::<(), _>("no luck")).task(TaskMode::Required))
            .with(
                ToolHandler::new("breaks", "", async || Err::<(), _>(ErrorObject::invalid_params("broken")))
                    .task(TaskMode::Required),
            )
            .with(ToolHandler::new("confirm", "", confirm).task(TaskMode::Optional))
            .with(ToolHandler::new("two", "", two).task(TaskMode::Optional))
            .with(ToolHandler::new("late", "", late(runs.clone())).task_on_demand(TaskMode::Optional))
            .with(ToolHandler::new("tidy", "", tidy(cleaned.clone())).task(TaskMode::Required))
            .build()
            .unwrap();
        Self { env: env.clone(), server, tasks, driver, cleaned, runs }
    }

    fn run<T>(self, link: Link, options: Options, scenario: impl AsyncFnOnce(&Client, &Tasks) -> T) -> T {
        let (client, driver, _) = connect(link, &self.server, &self.env, options);
        run(&self.env, vec![driver, Box::pin(self.driver)], scenario(&client, &self.tasks))
    }
}

fn plain() -> Options {
    Options::new("tester", "1").version(ProtocolVersion::V2026_07_28).on_elicitation(|_| async {
        let mut answer = ElicitResult::new(ElicitAction::Accept);
        answer.content = Some(sandwire_json::from_str(r#"{"name":"Ada"}"#).unwrap());
        Ok(answer)
    })
}

fn taking() -> Options {
    plain().extension(EXTENSION, Raw::object()).unwrap().result_type("task")
}

fn code(error: &Error) -> i64 {
    error.code().unwrap_or_else(|| panic!("{error}")).0
}

async fn call(client: &Client, tool: &str, arguments: &str) -> Result<Reply, Error> {
    let params = format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#);
    client.request("tools/call", Some(Raw::parse(&params).unwrap())).await
}

/// Begins a task, and gives its name.
async fn begin(client: &Client, tool: &str, arguments: &str) -> String {
    let reply = call(client, tool, arguments).await.unwrap();
    assert_eq!(reply.kind.as_str(), "task", "{}", reply.value.as_str());
    text(&reply.value, "taskId")
}

fn text(object: &Raw, key: &str) -> String {
    let value = object.get(key).unwrap_or_else(|| panic!("no {key} in {}", object.as_str()));
    sandwire_json::from_str(value.as_str()).unwrap()
}

async fn about(client: &Client, method: &str, id: &str, more: &str) -> Result<Raw, Error> {
    let params = Raw::parse(&format!(r#"{{"taskId":"{id}"{more}}}"#)).unwrap();
    client.request(method, Some(params)).await.map(|reply| {
        assert_eq!(reply.kind.as_str(), "complete");
        bare(&reply.value)
    })
}

/// A result without what the connection adds.
fn bare(result: &Raw) -> Raw {
    let mut writer = sandwire_json::Writer::new();
    writer.begin_object();
    let read = result.reader().object(&mut |key, value| {
        let value = value.raw()?;
        if !matches!(key, "_meta" | "resultType") {
            writer.key(key);
            writer.raw(value);
        }
        Ok(())
    });
    read.unwrap();
    writer.end_object();
    writer.into_raw()
}

async fn get(client: &Client, id: &str) -> Raw {
    about(client, "tasks/get", id, "").await.unwrap()
}

/// Asks until the task has this status.
async fn until(client: &Client, id: &str, status: &str) -> Raw {
    for _ in 0..1000 {
        let task = get(client, id).await;
        if text(&task, "status") == status {
            return task;
        }
        turn_over().await;
    }
    panic!("never {status}: {}", get(client, id).await.as_str());
}

async fn turn_over() {
    let mut polled = false;
    poll_fn(|cx| {
        cx.waker().wake_by_ref();
        if std::mem::replace(&mut polled, true) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

fn said(task: &Raw) -> String {
    let content = find(find(task.as_str(), "result").unwrap(), "content").unwrap();
    let begin = content.find(r#""text":""#).unwrap() + 8;
    content[begin..].split('"').next().unwrap().to_owned()
}

#[test]
fn a_call_becomes_a_task_that_ends_with_its_result() {
    for link in LINKS {
        let stage = Stage::new();
        let env = stage.env.clone();
        stage.run(link, taking(), async |client, tasks| {
            let reply = call(client, "slow", r#"{"seconds":90}"#).await.unwrap();
            assert_eq!(reply.kind.as_str(), "task");
            let value = bare(&reply.value);
            let id = text(&value, "taskId");
            assert_eq!(id.len(), 32);
            let expected = format!(
                r#"{{"taskId":"{id}","status":"working","createdAt":"2027-01-15T08:00:00Z","lastUpdatedAt":"2027-01-15T08:00:00Z","ttlMs":3600000,"pollIntervalMs":1000}}"#
            );
            assert_eq!(value.as_str(), expected, "{link:?}");
            assert_eq!(get(client, &id).await.as_str(), expected, "durable before the answer");
            assert_eq!(tasks.running(), 1);
            sleep(env.clone(), 100).await;
            let task = until(client, &id, "completed").await;
            assert_eq!(said(&task), "slept 90");
            assert_eq!(text(&task, "lastUpdatedAt"), "2027-01-15T08:01:30Z");
            for _ in 0..8 {
                turn_over().await;
            }
            assert_eq!(tasks.running(), 0);
            assert_eq!(get(client, &id).await.as_str(), task.as_str(), "now from the store");
            // What is over can be cancelled and answered, without effect.
            assert_eq!(about(client, "tasks/cancel", &id, "").await.unwrap().as_str(), "{}");
            let answers = r#","inputResponses":{"1":{}}"#;
            assert_eq!(about(client, "tasks/update", &id, answers).await.unwrap().as_str(), "{}");
            assert_eq!(get(client, &id).await.as_str(), task.as_str());
        });
    }
}

#[test]
fn a_tool_that_fails_completes_and_an_error_fails() {
    for link in LINKS {
        Stage::new().run(link, taking(), async |client, _| {
            let failed = begin(client, "fails", "{}").await;
            let task = until(client, &failed, "completed").await;
            assert_eq!(find(find(task.as_str(), "result").unwrap(), "isError"), Some("true"));
            assert!(task.get("error").is_none());
            let broken = begin(client, "breaks", "{}").await;
            let task = until(client, &broken, "failed").await;
            assert_eq!(task.get("error").unwrap().as_str(), r#"{"code":-32602,"message":"broken"}"#);
            assert!(task.get("result").is_none());
            // Arguments that do not fit are the model's to mend.
            let wrong = begin(client, "slow", r#"{"seconds":"x"}"#).await;
            let task = until(client, &wrong, "completed").await;
            assert_eq!(find(find(task.as_str(), "result").unwrap(), "isError"), Some("true"));
        });
    }
}

#[test]
fn who_takes_no_tasks_gets_results_or_is_told_what_to_declare() {
    for (link, version) in LINKS
        .into_iter()
        .flat_map(|link| [ProtocolVersion::V2026_07_28, ProtocolVersion::V2025_11_25].map(|v| (link, v)))
    {
        let legacy = version != ProtocolVersion::V2026_07_28;
        Stage::new().run(link, plain().version(version).result_type("task"), async |client, tasks| {
            let reply = call(client, "slow", r#"{"seconds":3}"#).await.unwrap();
            assert!(reply.value.as_str().contains("slept 3"), "{link:?} {version}");
            let error = call(client, "fails", "{}").await.unwrap_err();
            assert_eq!(code(&error), if legacy { -32600 } else { -32021 }, "{link:?} {version}");
            let required = format!(r#"{{"requiredCapabilities":{{"extensions":{{"{EXTENSION}":{{}}}}}}}}"#);
            assert_eq!(error.data().unwrap().as_str(), required);
            for method in ["tasks/get", "tasks/cancel", "tasks/update", "tasks/list", "tasks/result"] {
                let params = Raw::parse(r#"{"taskId":"0","inputResponses":{}}"#).unwrap();
                let error = client.request(method, Some(params)).await.unwrap_err();
                match error.code() {
                    Some(code) => {
                        let unknown = legacy || matches!(method, "tasks/list" | "tasks/result");
                        assert_eq!(code.0, if unknown { -32601 } else { -32021 }, "{link:?} {version} {method}");
                    }
                    None => assert_eq!(error.kind(), sandwire_client::ErrorKind::Incompatible, "{method}: {error}"),
                }
            }
            assert_eq!(tasks.running(), 0);
        });
    }
}

#[test]
fn a_legacy_wish_for_a_task_is_ignored() {
    Stage::new().run(Link::Http, taking(), async |client, _| {
        let params = Raw::from_valid(r#"{"name":"greet","arguments":{},"task":{"ttl":1}}"#);
        let reply = client.request("tools/call", Some(params)).await.unwrap();
        assert_eq!(reply.kind.as_str(), "complete");
        assert!(reply.value.as_str().contains("Hello"));
    });
}

#[test]
fn a_task_asks_under_keys_that_never_come_again() {
    for link in LINKS {
        Stage::new().run(link, taking(), async |client, _| {
            let id = begin(client, "two", "{}").await;
            let task = until(client, &id, "input_required").await;
            let asked = task.get("inputRequests").unwrap();
            let first = asked.get("1").unwrap();
            assert_eq!(first.get("method").unwrap().as_str(), r#""elicitation/create""#);
            assert!(asked.get("2").unwrap().as_str().contains("Second?"));
            let answer = |key: &str, name: &str| {
                format!(r#","inputResponses":{{"9":{{}},"x":3,"{key}":{{"action":"accept","content":{{"name":"{name}"}}}}}}"#)
            };
            about(client, "tasks/update", &id, &answer("2", "Eve")).await.unwrap();
            let task = until(client, &id, "input_required").await;
            let asked = task.get("inputRequests").unwrap();
            assert!(asked.get("1").is_some() && asked.get("2").is_none(), "{}", task.as_str());
            // A second answer to the same question changes nothing.
            about(client, "tasks/update", &id, &answer("2", "Mallory")).await.unwrap();
            about(client, "tasks/update", &id, &answer("1", "Adam")).await.unwrap();
            assert_eq!(said(&until(client, &id, "completed").await), "Adam and Eve", "{link:?}");
            let id = begin(client, "two", "{}").await;
            until(client, &id, "input_required").await;
            about(client, "tasks/update", &id, &answer("1", "Adam")).await.unwrap();
            until(client, &id, "input_required").await;
            about(client, "tasks/update", &id, &answer("2", "Eve")).await.unwrap();
            assert_eq!(said(&until(client, &id, "completed").await), "Adam and Eve", "{link:?}");
            let other = begin(client, "confirm", "{}").await;
            until(client, &other, "input_required").await;
            let declined = r#","inputResponses":{"1":{"action":"decline"}}"#;
            about(client, "tasks/update", &other, declined).await.unwrap();
            assert_eq!(said(&until(client, &other, "completed").await), "kept");
            for wrong in ["", r#","inputResponses":[]"#, r#","inputResponses":7"#] {
                assert_eq!(code(&about(client, "tasks/update", &other, wrong).await.unwrap_err()), -32602, "{wrong}");
            }
        });
    }
}

#[test]
fn rounds_come_first_and_then_the_task() {
    for link in LINKS {
        let stage = Stage::new();
        let runs = stage.runs.clone();
        stage.run(link, taking(), async |client, _| {
            // The client answers the round by itself.
            let id = begin(client, "late", "{}").await;
            let task = until(client, &id, "input_required").await;
            assert!(task.as_str().contains("And?") && !task.as_str().contains("Who?"), "{}", task.as_str());
            let answer = r#","inputResponses":{"1":{"action":"accept","content":{"name":"Eve"}}}"#;
            about(client, "tasks/update", &id, answer).await.unwrap();
            assert_eq!(said(&until(client, &id, "completed").await), "0: Ada and Eve", "{link:?}");
        });
        assert_eq!(runs.load(Ordering::Relaxed), 1, "{link:?}");
        // Without tasks, the same tool asks twice.
        Stage::new().run(link, plain(), async |client, _| {
            let reply = call(client, "late", "{}").await.unwrap();
            assert!(reply.value.as_str().contains("0: Ada and Ada"), "{link:?} {}", reply.value.as_str());
        });
    }
}

#[test]
fn a_cancelled_task_ends_and_its_handler_cleans_up() {
    for link in LINKS {
        let stage = Stage::new();
        let cleaned = stage.cleaned.clone();
        stage.run(link, taking(), async |client, tasks| {
            let slow = begin(client, "slow", r#"{"seconds":600}"#).await;
            let asks = begin(client, "two", "{}").await;
            let tidy = begin(client, "tidy", "{}").await;
            until(client, &asks, "input_required").await;
            for id in [&slow, &asks, &tidy] {
                assert_eq!(about(client, "tasks/cancel", id, "").await.unwrap().as_str(), "{}");
                let task = until(client, id, "cancelled").await;
                for none in ["result", "error", "inputRequests"] {
                    assert!(task.get(none).is_none(), "{none}");
                }
                assert_eq!(text(&task, "statusMessage"), "the client cancelled the task");
                about(client, "tasks/cancel", id, "").await.unwrap();
            }
            for _ in 0..20 {
                turn_over().await;
            }
            assert_eq!(tasks.running(), 0);
        });
        assert_eq!(cleaned.load(Ordering::Relaxed), 1, "{link:?}");
    }
}

#[test]
fn who_listens_hears_how_a_task_stands() {
    for link in LINKS {
        let stage = Stage::new();
        stage.run(link, taking(), async |client, _| {
            let id = begin(client, "confirm", "{}").await;
            let other = begin(client, "confirm", "{}").await;
            let mut filter = SubscriptionFilter::new();
            filter.task_ids = Some(vec![id.clone()]);
            let events = Arc::<Mutex<Vec<String>>>::default();
            let seen = events.clone();
            let listening = client.listen(filter).on_event(move |event| {
                let params = sandwire_server::types::split_meta(&event.params.unwrap()).0;
                seen.lock().unwrap().push(format!("{} {}", event.method, params.as_str()));
            });
            let scene = async {
                for _ in 0..20 {
                    turn_over().await;
                }
                for id in [&id, &other] {
                    let answer = r#","inputResponses":{"1":{"action":"accept","content":{"agreed":true}}}"#;
                    about(client, "tasks/update", id, answer).await.unwrap();
                    until(client, id, "completed").await;
                }
                for _ in 0..20 {
                    turn_over().await;
                }
            };
            futures_util::future::select(std::pin::pin!(listening.into_future()), std::pin::pin!(scene)).await;
            let events = std::mem::take(&mut *events.lock().unwrap());
            let acknowledged =
                format!(r#"notifications/subscriptions/acknowledged {{"notifications":{{"taskIds":["{id}"]}}}}"#);
            assert_eq!(events[0], acknowledged);
            let told: Vec<_> =
                events[1..].iter().map(|event| event.strip_prefix("notifications/tasks ").unwrap()).collect();
            assert!(told.iter().all(|task| task.contains(&id)), "{told:?}");
            assert_eq!(*told.last().unwrap(), get(client, &id).await.as_str(), "in full");
        });
    }
}
