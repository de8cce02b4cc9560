//! Our client: `interop-client <stdio|http|sse> <version> <program and arguments, or address>`. It prints a line for each
//! area of the table.
#![allow(clippy::expect_used, clippy::panic)]

use std::fmt::Debug;
use std::future::Future;
use std::pin::pin;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use async_io::Timer;
use futures::future::{Either, join_all, select};
use interop_record::Record;
use sandwire::client::{Client, Error, ErrorKind, Options};
use sandwire::types::model::{
    CallToolResult, CreateMessageResult, ElicitRequestParams, ElicitResult, Role, SamplingMessageContentBlock,
    SubscriptionFilter, TextContent,
};
use sandwire::types::{Era, ProtocolVersion};
use sandwire::{Command, Target, block_on};
use serde::Serialize;
use serde_json::{Value, json};

const NOTE: &str = "note://today";
const PATIENCE: Duration = Duration::from_secs(30);

/// What went wrong in an area.
type Fault = Box<dyn std::error::Error>;
type Outcome = Result<(), Fault>;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [transport, version, target @ ..] = arguments.as_slice() else { panic!("usage: see the source") };
    let version = ProtocolVersion::parse(version).expect("a version");
    let find = || match (transport.as_str(), target) {
        ("stdio", [program, arguments @ ..]) => {
            Target::from(arguments.iter().fold(Command::new(program), |command, argument| command.arg(argument)))
        }
        ("http" | "sse", [address]) => Target::from(address),
        _ => panic!("no such transport, or no target"),
    };
    let (told, updates) = mpsc::channel();
    let mut connect = sandwire::connect(find()).options(options(version, told.clone()));
    if let Some(record) = std::env::var_os("INTEROP_RECORD") {
        connect = connect.observe(Record::at(record).observer());
    }
    let client = block_on(connect.into_future());
    let client = match client {
        Ok(client) => client,
        Err(error) => return report("negotiate", Err(error.into())),
    };
    block_on(async {
        let found = negotiate(&client, version).and(agree(find(), version).await);
        report("negotiate", found);
        report("tools", timely(tools(&client, version)).await);
        report("resources", timely(resources(&client)).await);
        report("prompts", timely(prompts(&client)).await);
        report("completion", timely(completion(&client)).await);
        report("progress", timely(progress(&client)).await);
        report("cancellation", timely(cancellation(&client)).await);
        report("elicitation", timely(elicitation(&client)).await);
        report("sampling", timely(sampling(&client)).await);
        report("subscription", timely(subscription(&client, version, told, updates)).await);
    });
    client.close();
}

fn report(area: &str, outcome: Outcome) {
    match outcome {
        Ok(()) => println!("{area}: passed"),
        Err(fault) => println!("{area}: {}", fault.to_string().replace('\n', " ")),
    }
}

async fn timely(area: impl Future<Output = Outcome>) -> Outcome {
    match select(pin!(area), Timer::after(PATIENCE)).await {
        Either::Left((outcome, _)) => outcome,
        Either::Right(_) => Err(format!("nothing came of it in {PATIENCE:?}").into()),
    }
}

fn options(version: ProtocolVersion, told: Sender<String>) -> Options {
    Options::new("interop", "1.0.0")
        .version(version)
        .timeout(PATIENCE)
        .probe_timeout(PATIENCE)
        .on_notification(move |notification| {
            let _ = told.send(notification.method.to_string());
        })
        .on_sampling(async |_| {
            let content = SamplingMessageContentBlock::Text(TextContent::new("Trees."));
            Ok(CreateMessageResult::new(Role::Assistant, content, "oak"))
        })
        .on_elicitation(async |params: ElicitRequestParams| {
            let params = serde_json::to_value(params).expect("parameters are JSON");
            let answer = match params["message"].as_str() {
                Some("Who are you?") => json!({ "action": "accept", "content": { "name": "Ada" } }),
                _ => json!({ "action": "decline" }),
            };
            Ok(serde_json::from_value::<ElicitResult>(answer).expect("an answer"))
        })
}

/// The same, or what is there in its place.
fn same<T: PartialEq + Debug>(found: T, wanted: T) -> Outcome {
    if found == wanted { Ok(()) } else { Err(format!("{found:?} in place of {wanted:?}").into()) }
}

fn all(names: &[String], wanted: &[&str]) -> Outcome {
    match wanted.iter().find(|wanted| !names.iter().any(|name| name == *wanted)) {
        None => Ok(()),
        Some(missing) => Err(format!("no {missing} among {names:?}").into()),
    }
}

async fn call(client: &Client, tool: &str, arguments: &(impl Serialize + ?Sized)) -> Result<CallToolResult, Error> {
    client.call_tool(tool, arguments).await
}

fn text_of(result: &CallToolResult) -> Result<String, Fault> {
    let block = serde_json::to_value(result.content.first())?;
    Ok(block["text"].as_str().ok_or("a result without a text")?.to_owned())
}

/// What a call that succeeds says.
async fn say(client: &Client, tool: &str, arguments: Value) -> Result<String, Fault> {
    let result = call(client, tool, &arguments).await?;
    let text = text_of(&result)?;
    if result.is_error == Some(true) { Err(format!("{tool} failed: {text}").into()) } else { Ok(text) }
}

fn negotiate(client: &Client, version: ProtocolVersion) -> Outcome {
    let server = client.server().ok_or("no server")?;
    same(server.version, version)?;
    let capabilities: Value = serde_json::from_str(server.capabilities.as_str())?;
    let names: Vec<String> = capabilities.as_object().ok_or("no capabilities")?.keys().cloned().collect();
    all(&names, &["tools", "resources", "prompts"])?;
    if version.era() == Era::Legacy {
        let info: Value = serde_json::from_str(server.info.as_ref().ok_or("no serverInfo")?.as_str())?;
        same(info["name"].as_str(), Some("interop"))?;
        same(server.instructions.as_deref(), Some("A server for tests."))?;
    }
    Ok(())
}

/// Without being told a version, both agree on one that is as new.
async fn agree(target: Target, version: ProtocolVersion) -> Outcome {
    if version < ProtocolVersion::LATEST_HANDSHAKE {
        return Ok(());
    }
    let client = sandwire::connect(target).options(Options::new("interop", "1.0.0").probe_timeout(PATIENCE)).await?;
    let found = client.server().ok_or("no server")?.version;
    client.close();
    if found >= version { Ok(()) } else { Err(format!("{found} is the newest that both speak").into()) }
}

async fn tools(client: &Client, version: ProtocolVersion) -> Outcome {
    let tools = client.list_all_tools().await?;
    let names: Vec<_> = tools.iter().map(|tool| tool.name.to_string()).collect();
    all(&names, &["echo", "add", "fail", "count", "wait", "waited", "greet", "ask_model", "touch"])?;
    let message = "grüße \u{2028} 😀";
    same(say(client, "echo", json!({ "message": message })).await?.as_str(), message)?;
    let sum = call(client, "add", &json!({ "a": 2, "b": 40 })).await?;
    if version >= ProtocolVersion::V2025_06_18 {
        let structured = sum.structured_content.as_ref().ok_or("no structured content")?;
        same(serde_json::from_str::<Value>(structured.as_str())?, json!({ "sum": 42 }))?;
        let add = tools.iter().find(|tool| &*tool.name == "add");
        add.and_then(|add| add.output_schema.as_ref()).ok_or("no output schema")?;
    }
    let sums = (0..50).map(|a| {
        let arguments = json!({ "a": a, "b": 1 });
        async move { (a, call(client, "add", &arguments).await) }
    });
    for (a, sum) in join_all(sums).await {
        same(text_of(&sum?)?.contains(&(a + 1).to_string()), true)?;
    }
    let failed = call(client, "fail", &json!({})).await?;
    same(failed.is_error, Some(true))?;
    if !text_of(&failed)?.contains("as it was asked to") {
        return Err(format!("fail says {:?}", text_of(&failed)?).into());
    }
    match call(client, "missing", &json!({})).await {
        // The specification wants an error; some say it in a result.
        Err(error) if error.kind() == ErrorKind::Server => Ok(()),
        Ok(result) if result.is_error == Some(true) => Ok(()),
        other => Err(format!("a tool that is not there: {other:?}").into()),
    }
}

async fn resources(client: &Client) -> Outcome {
    let uris: Vec<_> = client.list_all_resources().await?.into_iter().map(|each| each.uri.to_string()).collect();
    all(&uris, &[NOTE])?;
    let templates = client.list_all_resource_templates().await?;
    let templates: Vec<_> = templates.into_iter().map(|each| each.uri_template.to_string()).collect();
    same(templates, vec!["day://{name}".to_owned()])?;
    for (uri, wanted) in [(NOTE, "Water the plants."), ("day://friday", "It is friday.")] {
        let read = serde_json::to_value(client.read_resource(uri).await?)?;
        same(&read["contents"][0]["text"], &json!(wanted))?;
        same(&read["contents"][0]["uri"], &json!(uri))?;
    }
    match client.read_resource("note://never").await {
        Err(error) if error.kind() == ErrorKind::Server => Ok(()),
        other => Err(format!("a resource that is not there: {other:?}").into()),
    }
}

async fn prompts(client: &Client) -> Outcome {
    let prompts = client.list_all_prompts().await?;
    same(prompts.len(), 1)?;
    let prompt = serde_json::to_value(&prompts[0])?;
    same(&prompt["name"], &json!("summary"))?;
    same(&prompt["arguments"][0]["name"], &json!("topic"))?;
    let expanded = serde_json::to_value(client.get_prompt("summary", [("topic", "trees")]).await?)?;
    same(&expanded["messages"][0]["content"]["text"], &json!("Summarise trees."))
}

async fn completion(client: &Client) -> Outcome {
    let params = json!({
        "ref": { "type": "ref/resource", "uri": "day://{name}" },
        "argument": { "name": "name", "value": "t" },
    });
    let completed = client.complete(&serde_json::from_value(params)?).await?;
    same(completed.completion.values, vec!["tuesday".to_owned()])
}

async fn progress(client: &Client) -> Outcome {
    let (told, steps) = mpsc::channel();
    let call = client.call_tool("count", &json!({ "steps": 3 }));
    let call = call.on_progress(move |step| _ = told.send(step));
    same(text_of(&call.await?)?.as_str(), "counted to 3")?;
    for (step, wanted) in steps.iter().map(serde_json::to_value).zip(1..) {
        let step = step?;
        same((step["progress"].as_f64(), step["total"].as_f64()), (Some(f64::from(wanted)), Some(3.0)))?;
    }
    Ok(())
}

async fn cancellation(client: &Client) -> Outcome {
    let (told, started) = futures::channel::oneshot::channel();
    let told = std::sync::Mutex::new(Some(told));
    let call = client.call_tool("wait", &json!({})).on_progress(move |_| {
        let told = told.lock().ok().and_then(|mut told| told.take());
        let _ = told.map(|told| told.send(()));
    });
    // What is not awaited any more is given up.
    match select(call.into_future(), started).await {
        Either::Left((early, _)) => return Err(format!("the wait ended by itself: {early:?}").into()),
        Either::Right(_) => {}
    }
    for _ in 0..200 {
        if say(client, "waited", json!({})).await? == "1" {
            return Ok(());
        }
        Timer::after(Duration::from_millis(20)).await;
    }
    Err("the handler did not see it".into())
}

async fn elicitation(client: &Client) -> Outcome {
    same(say(client, "greet", json!({ "question": "Who are you?" })).await?.as_str(), "Hello, Ada.")?;
    same(say(client, "greet", json!({ "question": "May I know?" })).await?.as_str(), "Hello, stranger.")
}

async fn sampling(client: &Client) -> Outcome {
    same(say(client, "ask_model", json!({})).await?.as_str(), "The model oak says: Trees.")
}

/// Subscribes, has the note changed and hears of it.
async fn subscription(
    client: &Client,
    version: ProtocolVersion,
    told: Sender<String>,
    updates: Receiver<String>,
) -> Outcome {
    if version.era() == Era::Legacy {
        client.subscribe_resource(NOTE).await?;
        hear(client, &updates).await?;
        client.unsubscribe_resource(NOTE).await?;
        return Ok(());
    }
    let mut filter = SubscriptionFilter::new();
    filter.resource_subscriptions = Some(vec![NOTE.to_owned()]);
    let listening = client.listen(filter).on_event(move |event| _ = told.send(event.method.to_string()));
    let hearing = async {
        wait_for(&updates, "notifications/subscriptions/acknowledged").await?;
        hear(client, &updates).await
    };
    match select(listening.into_future(), pin!(hearing)).await {
        Either::Left((ended, _)) => Err(format!("the subscription ended: {ended:?}").into()),
        Either::Right((heard, _)) => heard,
    }
}

async fn hear(client: &Client, updates: &Receiver<String>) -> Outcome {
    same(say(client, "touch", json!({})).await?.as_str(), "touched")?;
    wait_for(updates, "notifications/resources/updated").await
}

async fn wait_for(heard: &Receiver<String>, method: &str) -> Outcome {
    for _ in 0..250 {
        if heard.try_iter().any(|heard| heard == method) {
            return Ok(());
        }
        Timer::after(Duration::from_millis(20)).await;
    }
    Err(format!("no {method} came").into())
}
