//! Holds what we send against the official schema of its protocol version, message by message.
//!
//! A [`Checker`] follows one conversation: it remembers which request an answer belongs to. Whoever moves texts, such as
//! a link in a test or a tap before a server, shows it each of them:
//!
//! ```ignore
//! let Some(checker) = Checker::new() else { return };
//! checker.check(version, Side::Client, text)?;    // ours, its version known
//! checker.watch(Side::Client, text)?;             // ours, its version read from the conversation
//! checker.hear(Side::Server, text);               // a peer's: remembered, not judged
//! ```
//!
//! Over HTTP a request of 2026-07-28 and its response are a conversation of their own, as is a session before that.

mod exceptions;
mod schemas;
mod strict;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use schemas::{MODERN, NEWEST_LEGACY, Schema, Schemas};

/// The versions whose schemas there are, and the folder that they are read from.
pub use schemas::{VERSIONS, directory};

/// Who says a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The client.
    Client,
    /// The server.
    Server,
}

impl Side {
    fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// What is wrong with a message, and the message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The version that it was held against.
    pub version: String,
    /// Who said it.
    pub from: Side,
    /// What is wrong, and where.
    pub reason: String,
    /// The message.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}: {}\n  {}", self.version, spoken(self.from), self.reason, self.message)
    }
}

impl std::error::Error for Violation {}

fn spoken(side: Side) -> &'static str {
    match side {
        Side::Client => "the client",
        Side::Server => "the server",
    }
}

/// One conversation between a client and a server.
#[derive(Debug)]
pub struct Checker {
    schemas: &'static Schemas,
    conversation: Mutex<Conversation>,
}

#[derive(Debug, Default)]
struct Conversation {
    /// The version that both agreed on, as far as it can be read from what they said.
    version: Option<String>,
    /// The requests without an answer yet, by who asked and the id's text.
    asked: HashMap<(Side, String), Asked>,
}

#[derive(Debug, Clone)]
struct Asked {
    method: String,
    version: String,
    /// Whether a request of 2025-11-25 wants a task for its answer.
    as_task: bool,
}

impl Checker {
    /// A new conversation, unless the official schemas are absent: then it says so, and a test that ends there counts as
    /// skipped.
    pub fn new() -> Option<Self> {
        Some(Self { schemas: Schemas::get()?, conversation: Mutex::default() })
    }

    /// Judges a message of ours by the schema of `version`.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn check(&self, version: &str, from: Side, text: &str) -> Result<(), Violation> {
        self.judge(Some(version), from, text)
    }

    /// Judges a message of ours by the schema of the version that it says, or that the conversation agreed on.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn watch(&self, from: Side, text: &str) -> Result<(), Violation> {
        self.judge(None, from, text)
    }

    /// Takes note of a peer's message, whatever is wrong with it.
    pub fn hear(&self, from: Side, text: &str) {
        let Ok(value) = serde_json::from_str::<Value>(text) else { return };
        let mut conversation = self.lock();
        for message in each(&value) {
            let version = conversation.version_of(from, message);
            conversation.note(from, message, &version);
        }
    }

    /// Forgets what was asked: the peer was replaced.
    pub fn restart(&self) {
        *self.lock() = Conversation::default();
    }

    fn judge(&self, version: Option<&str>, from: Side, text: &str) -> Result<(), Violation> {
        let violation = |version: &str, reason: String| Violation {
            version: version.to_owned(),
            from,
            reason,
            message: text.to_owned(),
        };
        let value = strict::parse(text).map_err(|error| violation(version.unwrap_or("any version"), error))?;
        let mut conversation = self.lock();
        let find = |version: &str| self.schemas.of(version).ok_or_else(|| violation(version, "no such version".into()));
        if value.is_array() {
            let version = version.map_or_else(|| conversation.version_of(from, &value[0]), str::to_owned);
            find(&version)?.batch(&value).map_err(|reason| violation(&version, reason))?;
        }
        for message in each(&value) {
            let version = version.map_or_else(|| conversation.version_of(from, message), str::to_owned);
            let schema = find(&version)?;
            let judged = conversation.judge(schema, self.schemas, from, message);
            conversation.note(from, message, &version);
            judged.map_err(|reason| violation(&version, reason))?;
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Conversation> {
        self.conversation.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The messages of a batch, or the one that is none.
fn each(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice).iter()
}

impl Conversation {
    fn judge(&self, schema: &Schema, all: &Schemas, from: Side, message: &Value) -> Result<(), String> {
        let id = message.get("id").map(Value::to_string);
        match (message.get("method").and_then(Value::as_str), id) {
            (Some(method), Some(id)) => {
                if self.asked.contains_key(&(from, id.clone())) {
                    return Err(format!("the id {id} is that of a request still under way"));
                }
                all.request(schema, from, method, message)
            }
            (Some(method), None) => all.notification(schema, from, method, message),
            (None, _) if message.get("error").is_some() => schema.error(&exceptions::null_id(schema.version, message)),
            (None, None) => Err("neither a request nor an answer".into()),
            (None, Some(id)) => {
                let Some(asked) = self.asked.get(&(from.other(), id.clone())) else {
                    return Err(format!("the id {id} is that of no request"));
                };
                all.result(schema, &asked.method, asked.as_task, message)
            }
        }
    }

    /// The version of a message, from itself, from the request that it answers, or from what came before.
    fn version_of(&self, from: Side, message: &Value) -> String {
        let said = match message.get("method").and_then(Value::as_str) {
            Some("initialize") => Some(known(message.pointer("/params/protocolVersion"), NEWEST_LEGACY)),
            Some(_) => message
                .pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion")
                .map(|version| known(Some(version), MODERN)),
            None => message.get("id").and_then(|id| self.asked.get(&(from.other(), id.to_string()))).map(|asked| {
                let initialized = asked.method == "initialize" && message.get("result").is_some();
                match initialized {
                    true => known(message.pointer("/result/protocolVersion"), &asked.version),
                    false => asked.version.clone(),
                }
            }),
        };
        said.or_else(|| self.version.clone()).unwrap_or_else(|| NEWEST_LEGACY.to_owned())
    }

    fn note(&mut self, from: Side, message: &Value, version: &str) {
        let id = message.get("id").map(Value::to_string);
        let method = message.get("method").and_then(Value::as_str);
        match (method, id) {
            (Some(method), Some(id)) => {
                let as_task = message.pointer("/params/task").is_some();
                self.asked
                    .insert((from, id), Asked { method: method.to_owned(), version: version.to_owned(), as_task });
                if method != "initialize" {
                    self.version = Some(version.to_owned());
                }
            }
            (None, Some(id)) => {
                let asked = self.asked.remove(&(from.other(), id));
                if asked.is_some_and(|asked| asked.method == "initialize") && message.get("result").is_some() {
                    self.version = Some(version.to_owned());
                }
            }
            _ => {}
        }
    }
}

/// The version, if it is one of ours, else `otherwise`.
fn known(version: Option<&Value>, otherwise: &str) -> String {
    let version = version.and_then(Value::as_str).filter(|version| VERSIONS.contains(version));
    version.unwrap_or(otherwise).to_owned()
}
