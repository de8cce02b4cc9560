//! Our client and servers of others over standard streams: list, call, cancel, shut down.

use std::fs;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use futures::FutureExt;
use native_tests::connection::{Connection, call, options, tool_names};
use native_tests::left::Mark;
use native_tests::pages::{Pages, Seen};
use native_tests::{tools, within};
use sandwire_client::Client;
use sandwire_native::{block_on, stdio::Command};
use sandwire_types::Era;
use serde_json::{Value, json};

const LIMIT: Duration = Duration::from_secs(60);

/// One server of others and what is expected of it.
struct Case {
    command: Command,
    era: Era,
    /// One of its tools.
    tool: &'static str,
    arguments: Value,
    /// What the tool's text contains.
    says: String,
}

impl Case {
    fn connect(&self, mark: &Mark) -> Connection {
        Connection::spawn(mark.on(self.command.clone()), options())
    }

    async fn check(&self, client: &Client) {
        let said = call(client, self.tool, self.arguments.clone()).await;
        assert!(said.contains(&self.says), "{said}");
    }

    /// Finds out the era, lists, calls, gives calls up, calls again, shuts down, and leaves nothing.
    fn converse(self) {
        within(LIMIT, move || {
            let mark = Mark::new();
            let connection = self.connect(&mark);
            let client = &connection.client;
            block_on(async {
                let server = client.ready().await.expect("the connection opens");
                assert_eq!(server.era(), self.era);
                let names = tool_names(client).await;
                assert!(names.iter().any(|name| name == self.tool), "{names:?}");
                self.check(client).await;
                for _ in 0..3 {
                    // Given up once it has been sent.
                    let mut response = client.call_tool(self.tool, &self.arguments).into_future();
                    assert!((&mut response).now_or_never().is_none());
                }
                self.check(client).await;
            });
            let closed = Instant::now();
            connection.close();
            assert!(closed.elapsed() < Duration::from_secs(6), "shutting down took {:?}", closed.elapsed());
            mark.assert_gone(Duration::from_secs(1));
        });
    }
}

#[test]
fn everything_is_found_to_be_legacy_and_converses() {
    everything().converse();
}

#[test]
fn filesystem_is_found_to_be_legacy_and_converses() {
    let folder = folder("filesystem");
    fs::write(folder.join("note.txt"), "Water the plants.").unwrap();
    Case {
        command: tools::npm_server("filesystem").arg(&folder),
        era: Era::Legacy,
        tool: "read_text_file",
        arguments: json!({ "path": folder.join("note.txt") }),
        says: "Water the plants.".to_owned(),
    }
    .converse();
}

#[test]
fn memory_is_found_to_be_legacy_and_converses() {
    let entities = json!([{ "name": "Ada", "entityType": "person", "observations": ["writes programs"] }]);
    let case = Case {
        command: tools::npm_server("memory").env("MEMORY_FILE_PATH", folder("memory").join("graph.jsonl")),
        era: Era::Legacy,
        tool: "read_graph",
        arguments: json!({}),
        says: "Ada".to_owned(),
    };
    within(LIMIT, {
        let command = case.command.clone();
        move || {
            let connection = Connection::spawn(command, options());
            block_on(call(&connection.client, "create_entities", json!({ "entities": entities })));
            connection.close();
        }
    });
    case.converse();
}

#[test]
fn time_is_found_to_be_modern_and_converses() {
    Case {
        command: tools::python_server("time"),
        era: Era::Modern,
        tool: "convert_time",
        arguments: json!({ "source_timezone": "Asia/Tokyo", "time": "12:00", "target_timezone": "UTC" }),
        says: "T03:00:00".to_owned(),
    }
    .converse();
}

#[test]
fn git_is_found_to_be_modern_and_converses() {
    let folder = folder("git");
    for arguments in [&["init", "--quiet"][..], &["commit", "--quiet", "--allow-empty", "--message=Plant a tree"]] {
        let git = std::process::Command::new("git")
            .args(["-c", "user.name=Tester", "-c", "user.email=tester@example.com"])
            .args(arguments)
            .current_dir(&folder)
            .status();
        assert!(git.expect("git is installed: `sudo apt-get install -y git`").success());
    }
    Case {
        command: tools::python_server("git").arg("--repository").arg(&folder),
        era: Era::Modern,
        tool: "git_log",
        arguments: json!({ "repo_path": folder }),
        says: "Plant a tree".to_owned(),
    }
    .converse();
}

#[test]
fn fetch_is_found_to_be_modern_and_converses() {
    let pages = Pages::serve();
    fetch(&pages).converse();
}

#[test]
fn a_fetch_that_is_given_up_ends_in_the_server() {
    within(LIMIT, || {
        let pages = Pages::serve();
        let (mark, case) = (Mark::new(), fetch(&pages));
        let connection = case.connect(&mark);
        let client = &connection.client;
        block_on(client.ready()).expect("the connection opens");
        let never = json!({ "url": format!("{}/never", pages.origin) });
        let mut response = client.call_tool("fetch", &never).into_future();
        assert!((&mut response).now_or_never().is_none());
        assert_eq!(pages.never.recv(), Ok(Seen::Asked));
        drop(response);
        assert_eq!(pages.never.recv(), Ok(Seen::Gone));
        block_on(case.check(client));
        connection.close();
        mark.assert_gone(Duration::from_secs(1));
    });
}

#[test]
fn progress_of_everything_arrives_until_the_call_is_given_up() {
    within(LIMIT, || {
        let (mark, case) = (Mark::new(), everything());
        let connection = case.connect(&mark);
        let client = &connection.client;
        let (told, steps) = mpsc::channel();
        let long = json!({ "duration": 20, "steps": 100 });
        let mut response = client
            .call_tool("trigger-long-running-operation", &long)
            .on_progress(move |step| _ = told.send(step.progress))
            .into_future();
        block_on(async {
            client.ready().await.expect("the connection opens");
            let _ = (&mut response).now_or_never();
        });
        assert!(steps.recv().is_ok() && steps.recv().is_ok());
        drop(response);
        block_on(case.check(client));
        // The hook is dropped with the call, so the channel ends.
        assert!(steps.iter().count() < 90);
        connection.close();
        mark.assert_gone(Duration::from_secs(1));
    });
}

fn everything() -> Case {
    Case {
        command: tools::npm_server("everything"),
        era: Era::Legacy,
        tool: "echo",
        arguments: json!({ "message": "grüße" }),
        says: "grüße".to_owned(),
    }
}

fn fetch(pages: &Pages) -> Case {
    Case {
        command: tools::python_server("fetch").arg("--allow-private-ips"),
        era: Era::Modern,
        tool: "fetch",
        // Raw, since making Markdown of a page installs packages.
        arguments: json!({ "url": format!("{}/page", pages.origin), "raw": true }),
        says: "Water the plants.".to_owned(),
    }
}

/// An empty folder.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("servers").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}
