//! The body of the fuzz target for the server's machine.

use std::sync::Arc;

use sandwire_json::{Raw, find};
use sandwire_types::{
    Message, Method, Reply, RequestId,
    wire::{Incoming, Memo, decode, encode},
};

use super::{CallKey, Change, Clock, Config, HmacSealer, Machine, Output, Progress, Sealer};
use crate::{Input, Time, Via};

/// Reads bytes as what happens to a machine: texts that arrive, and what the endpoint does about the calls.
///
/// Lines are texts of the client, except those that begin with a control byte, which are commands. Whatever happens,
/// no request is answered more often than it was made, and everything sent can be read again.
pub fn machine(data: &[u8]) {
    let capabilities =
        r#"{"tools":{"listChanged":true},"prompts":{},"resources":{"subscribe":true},"logging":{},"completions":{}}"#;
    let mut config = Config::new(Raw::from_valid(r#"{"name":"f","version":"1"}"#), Raw::from_valid(capabilities));
    config.limits.max_peer_requests = 8;
    config.limits.max_queue = 32;
    config.custom_methods = data.first().is_some_and(|byte| byte % 2 == 0);
    let sealer: Arc<dyn Sealer> = Arc::new(HmacSealer::new([0; 32]));
    let clock = Clock { sealer: &sealer, unix_time: Some(1) };
    let mut machine = Machine::new(Arc::new(config));
    let mut memo = Memo::new();
    let mut calls: Vec<CallKey> = Vec::new();
    let mut open: Vec<RequestId> = Vec::new();
    for line in data.split(|byte| *byte == b'\n').take(200) {
        match line {
            [command @ 0..=31, which, rest @ ..] => {
                if let Some(key) = calls.get(usize::from(*which) % calls.len().max(1)).copied() {
                    command_on(&mut machine, *command, key, rest, clock);
                }
            }
            text => {
                let Ok(text) = std::str::from_utf8(text) else { continue };
                let via = Via::Pipe;
                let input = match decode(text, &mut memo) {
                    Ok(Incoming::One(message)) => {
                        note(&mut open, &message);
                        Input::Message { via, message }
                    }
                    Ok(Incoming::Batch(items)) => {
                        for item in &items {
                            match item {
                                Ok(message) => note(&mut open, message),
                                Err(error) => open.extend(error.id.clone().filter(|_| !error.is_response)),
                            }
                        }
                        Input::Batch { via, items }
                    }
                    Err(error) => {
                        open.extend(error.id.clone().filter(|_| !error.is_response));
                        Input::Garbage { via, error }
                    }
                };
                machine.handle(Time(0), input);
            }
        }
        while let Some(output) = machine.poll() {
            match output {
                Output::Send { message, .. } => check_sent(&message, &mut open),
                Output::Call { key, .. } => calls.push(key),
                _ => {}
            }
        }
    }
}

fn note(open: &mut Vec<RequestId>, message: &Message) {
    if let Message::Request(request) = message {
        open.push(request.id.clone());
    }
}

fn check_sent(message: &Message, open: &mut Vec<RequestId>) {
    let text = encode(message);
    assert!(matches!(decode(&text, &mut Memo::new()), Ok(Incoming::One(_))) || find(&text, "id").is_none(), "{text}");
    if let Message::Response(response) = message
        && let Some(id) = &response.id
    {
        let at = open.iter().position(|waiting| waiting == id);
        assert!(at.is_some(), "an answer to nothing: {text}");
        at.map(|at| open.swap_remove(at));
    }
}

fn command_on(machine: &mut Machine, command: u8, key: CallKey, rest: &[u8], clock: Clock<'_>) {
    let name = std::str::from_utf8(rest).unwrap_or("name");
    match command % 8 {
        0 => machine.reply(key, Ok(Reply::empty())),
        1 => machine.progress(key, Progress { progress: rest.len() as f64, total: None, message: Some(name) }),
        2 => drop(machine.ask(key, name, &Method::RootsList, &Raw::object(), clock)),
        3 => drop(machine.record(key, name, Raw::null(), clock)),
        4 if machine.is_suspended(key) => machine.suspend(key),
        5 if !machine.is_running(key) => machine.end(key),
        6 => machine.changed(&Change::Resource(name.into())),
        7 if rest.is_empty() => machine.close(),
        _ => {}
    }
}
