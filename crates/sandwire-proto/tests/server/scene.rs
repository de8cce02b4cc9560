//! One server machine and what it says, as text.

use std::sync::Arc;

use sandwire_json::Raw;
use sandwire_proto::{
    Input, Time, Via,
    server::{AskError, AskKey, CallKey, Config, HmacSealer, Machine, Output, Sealer},
};
use sandwire_types::{
    ErrorObject, Reply, Request, ResultKind,
    wire::{Incoming, Memo, decode, encode},
};

pub(crate) const EVERYTHING: &str = r#"{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true},"completions":{},"logging":{}}"#;
pub(crate) const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

pub(crate) struct Scene {
    pub(crate) machine: Machine,
    pub(crate) calls: Vec<(CallKey, Request)>,
    pub(crate) cancelled: Vec<CallKey>,
    pub(crate) answers: Vec<(AskKey, Result<Raw, AskError>)>,
    pub(crate) heard: Vec<String>,
    pub(crate) closed: bool,
    sent: Vec<String>,
    memo: Memo,
    pub(crate) sealer: Arc<dyn Sealer>,
    pub(crate) unix_time: Option<u64>,
}

pub(crate) fn config() -> Config {
    with_capabilities(EVERYTHING)
}

pub(crate) fn with_capabilities(capabilities: &str) -> Config {
    Config::new(Raw::from_valid(r#"{"name":"scene","version":"1"}"#), Raw::from_valid(capabilities))
}

/// A modern request; `params` are its members besides `_meta`, each followed by nothing.
pub(crate) fn modern(id: &str, method: &str, params: &str) -> String {
    modern_as(id, method, params, "{}", "")
}

pub(crate) fn modern_as(id: &str, method: &str, params: &str, capabilities: &str, meta: &str) -> String {
    let comma = if params.is_empty() { "" } else { "," };
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{capabilities}{meta}}}{comma}{params}}}}}"#
    )
}

pub(crate) fn legacy(id: &str, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}}}}}"#)
}

pub(crate) fn notification(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{{{params}}}}}"#)
}

pub(crate) fn initialize(version: &str) -> String {
    initialize_with(version, "{}")
}

pub(crate) fn initialize_with(version: &str, capabilities: &str) -> String {
    let params = format!(
        r#""protocolVersion":"{version}","capabilities":{capabilities},"clientInfo":{{"name":"c","version":"1"}}"#
    );
    legacy("0", "initialize", &params)
}

impl Scene {
    pub(crate) fn new(config: Config) -> Self {
        Self::of(Machine::new(Arc::new(config)))
    }

    pub(crate) fn of(machine: Machine) -> Self {
        Self {
            machine,
            calls: Vec::new(),
            cancelled: Vec::new(),
            answers: Vec::new(),
            heard: Vec::new(),
            closed: false,
            sent: Vec::new(),
            memo: Memo::new(),
            sealer: Arc::new(HmacSealer::new([1; 32])),
            unix_time: Some(1000),
        }
    }

    /// A connection that was initialized in a legacy version.
    pub(crate) fn legacy(version: &str) -> Self {
        Self::legacy_with(config(), version, "{}")
    }

    pub(crate) fn legacy_with(config: Config, version: &str, capabilities: &str) -> Self {
        let mut scene = Self::new(config);
        scene.tell(&initialize_with(version, capabilities));
        scene.tell(&notification("notifications/initialized", ""));
        scene.heard.clear();
        scene
    }

    /// A connection whose first request was a modern one.
    pub(crate) fn modern() -> Self {
        let mut scene = Self::new(config());
        scene.tell(&modern("0", "tools/list", ""));
        let key = scene.calls.pop().unwrap().0;
        scene.reply(key, r#"{"tools":[]}"#);
        scene
    }

    /// Gives the machine a text; what it sends because of it.
    pub(crate) fn tell(&mut self, text: &str) -> Vec<String> {
        let via = Via::Pipe;
        let input = match decode(text, &mut self.memo) {
            Ok(Incoming::One(message)) => Input::Message { via, message },
            Ok(Incoming::Batch(items)) => Input::Batch { via, items },
            Err(error) => Input::Garbage { via, error },
        };
        self.input(input)
    }

    pub(crate) fn input(&mut self, input: Input) -> Vec<String> {
        self.machine.handle(Time(0), input);
        self.drain()
    }

    /// Tells one request and gives its one answer.
    pub(crate) fn ask(&mut self, text: &str) -> String {
        let mut sent = self.tell(text);
        assert_eq!(sent.len(), 1, "{sent:?}");
        sent.remove(0)
    }

    /// Tells a request that reaches the endpoint.
    pub(crate) fn begin(&mut self, text: &str) -> CallKey {
        assert_eq!(self.tell(text), [""; 0]);
        self.calls.pop().expect("the endpoint was not called").0
    }

    pub(crate) fn reply(&mut self, key: CallKey, value: &str) -> Vec<String> {
        self.finish(key, Ok(Reply::new(Raw::from_valid(value))))
    }

    pub(crate) fn finish(&mut self, key: CallKey, result: Result<Reply, ErrorObject>) -> Vec<String> {
        self.machine.reply(key, result);
        self.drain()
    }

    pub(crate) fn drain(&mut self) -> Vec<String> {
        while let Some(output) = self.machine.poll() {
            match output {
                Output::Send { message, .. } => self.sent.push(encode(&message)),
                Output::Call { key, request, .. } => self.calls.push((key, request)),
                Output::Cancel { key } => self.cancelled.push(key),
                Output::Answer { ask, result } => self.answers.push((ask, result)),
                Output::Notification { notification, .. } => self.heard.push(notification.method.as_str().into()),
                Output::Close => self.closed = true,
                _ => {}
            }
        }
        std::mem::take(&mut self.sent)
    }
}

pub(crate) fn error_of(text: &str) -> (i64, String) {
    let error = sandwire_json::find(text, "error").unwrap_or_else(|| panic!("no error: {text}"));
    let error: ErrorObject = sandwire_json::from_str(error).unwrap();
    (error.code.0, error.message)
}

pub(crate) fn code_of(text: &str) -> i64 {
    error_of(text).0
}

pub(crate) fn input_required(value: &str) -> Reply {
    Reply { value: Raw::from_valid(value), kind: ResultKind::InputRequired, stamp: None }
}
