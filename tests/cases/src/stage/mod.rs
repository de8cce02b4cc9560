//! The peers that the tests play: each speaks texts, and every text of ours is held against the schema of its version.

mod client;
mod http_client;
mod http_server;
mod lines;
mod server;

pub use client::{Caller, complete};
pub use http_client::{Asked, HttpCaller};
pub use http_server::{Got, House, Waiting, body_of, head, modern_head};
pub use lines::{LineServer, Pipe};
pub use server::Answerer;

use futures::{
    executor::{LocalPool, LocalSpawner},
    task::LocalSpawnExt,
};
use serde_json::Value;
use std::{
    future::IntoFuture,
    sync::{Arc, Mutex},
};
use wire_check::{Checker, Side};

pub const MODERN: &str = "2026-07-28";
pub const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
pub const VERSIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", MODERN];
/// The newest version of each era.
pub const ERAS: [&str; 2] = ["2025-11-25", MODERN];

/// A message that was heard, as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said(pub String);

impl Said {
    /// The text of a member.
    pub fn get(&self, key: &str) -> Option<&str> {
        sandwire_json::find(&self.0, key)
    }

    /// The text of the id.
    pub fn id(&self) -> &str {
        self.get("id").unwrap_or_else(|| panic!("no id: {}", self.0))
    }

    pub fn method(&self) -> &str {
        self.get("method").map_or("", |method| method.trim_matches('"'))
    }

    /// The text of the result.
    pub fn result(&self) -> &str {
        self.get("result").unwrap_or_else(|| panic!("no result: {}", self.0))
    }

    /// The code of the error.
    pub fn code(&self) -> i64 {
        self.at("/error/code").as_i64().unwrap_or_else(|| panic!("no error: {}", self.0))
    }

    /// A value inside, by its JSON pointer; null if there is none.
    pub fn at(&self, pointer: &str) -> Value {
        serde_json::from_str::<Value>(&self.0).unwrap().pointer(pointer).cloned().unwrap_or_default()
    }
}

/// A conversation with its judge.
#[derive(Debug)]
pub struct Judge {
    checker: Option<Checker>,
    ours: Side,
    /// The version that is known from elsewhere.
    version: Option<String>,
}

impl Judge {
    pub fn of(ours: Side) -> Self {
        Self { checker: Checker::new(), ours, version: None }
    }

    /// Takes a message of ours.
    pub fn ours(&self, text: String) -> Said {
        if let Some(checker) = &self.checker {
            let judged = match &self.version {
                Some(version) => checker.check(version, self.ours, &text),
                None => checker.watch(self.ours, &text),
            };
            judged.unwrap_or_else(|violation| panic!("{violation}"));
        }
        Said(text)
    }

    /// Takes note of a message of the peer.
    pub fn theirs(&self, text: &str) {
        let side = if self.ours == Side::Client { Side::Server } else { Side::Client };
        self.checker.iter().for_each(|checker| checker.hear(side, text));
    }

    /// Begins a conversation anew.
    pub fn restart(&self) {
        self.checker.iter().for_each(Checker::restart);
    }
}

/// What became of a future, once something did.
#[derive(Debug)]
pub struct Outcome<T>(Arc<Mutex<Option<T>>>);

impl<T> Outcome<T> {
    pub fn is_there(&self) -> bool {
        self.0.lock().unwrap().is_some()
    }

    /// What became of it; the test fails if nothing did.
    #[track_caller]
    pub fn get(self) -> T {
        self.0.lock().unwrap().take().expect("nothing became of it")
    }
}

/// Runs a future beside the test.
pub fn start<F: IntoFuture + 'static>(spawner: &LocalSpawner, work: F) -> Outcome<F::Output>
where
    F::Output: 'static,
    F::IntoFuture: 'static,
{
    let outcome = Arc::new(Mutex::new(None));
    let told = Arc::clone(&outcome);
    let future = work.into_future();
    spawner
        .spawn_local(async move {
            let output = future.await;
            *told.lock().unwrap() = Some(output);
        })
        .unwrap();
    Outcome(outcome)
}

fn pool() -> LocalPool {
    LocalPool::new()
}

/// The envelope of a modern request, as members of its params.
pub fn envelope(version: &str, capabilities: &str) -> String {
    format!(
        r#""_meta":{{"io.modelcontextprotocol/protocolVersion":"{version}","io.modelcontextprotocol/clientCapabilities":{capabilities},"io.modelcontextprotocol/clientInfo":{{"name":"c","version":"1"}}}}"#
    )
}

/// A request of any version; `params` are members.
pub fn request(version: &str, id: &str, method: &str, params: &str) -> String {
    let mut members = params.to_owned();
    if version == MODERN {
        members = [envelope(version, "{}").as_str(), if params.is_empty() { "" } else { "," }, params].concat();
    }
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{members}}}}}"#)
}

/// A notification; `params` are members.
pub fn notification(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{{{params}}}}}"#)
}

pub fn result(id: &str, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

pub fn error(id: &str, code: i64, message: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"{message}"}}}}"#)
}

/// What a server of a legacy version answers to `initialize`.
pub fn welcome(version: &str) -> String {
    format!(
        r#"{{"protocolVersion":"{version}","capabilities":{{"tools":{{}},"resources":{{"subscribe":true}},"prompts":{{}},"logging":{{}}}},"serverInfo":{{"name":"s","version":"1"}}}}"#
    )
}

/// What a modern server answers to `server/discover`.
pub const DISCOVERY: &str = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true},"prompts":{},"logging":{}},"ttlMs":0,"cacheScope":"private"}"#;
