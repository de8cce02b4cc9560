//! Both machines over one pipe, in virtual time.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use sandwire_json::Raw;
use sandwire_proto::{
    client::{self, Call, CallError, Mode, Output, Timeout},
    server,
    sim::{Faults, Pair},
};
use sandwire_types::{Era, Method, ProtocolVersion, Reply};
use std::sync::Arc;

fn pair(mode: Mode) -> Pair {
    let mut client = client::Config::new("client", "1");
    client.mode = mode;
    let info = Raw::from_valid(r#"{"name":"server","version":"1"}"#);
    let capabilities = Raw::from_valid(r#"{"tools":{"listChanged":true},"resources":{}}"#);
    Pair::new(client, Arc::new(server::Config::new(info, capabilities)))
}

fn modes() -> [Mode; 4] {
    [Mode::Auto, Mode::Legacy, Mode::Pinned(ProtocolVersion::V2024_11_05), Mode::Pinned(ProtocolVersion::V2026_07_28)]
}

fn tool_call() -> Call {
    Call::new(Method::ToolsCall, Some(Raw::from_valid(r#"{"name":"echo","arguments":{"text":"hi"}}"#)))
}

fn result() -> Reply {
    Reply::new(Raw::from_valid(r#"{"content":[{"type":"text","text":"hi"}]}"#))
}

#[test]
fn both_eras_open_and_call() {
    for mode in modes() {
        let legacy = match &mode {
            Mode::Legacy => true,
            Mode::Pinned(version) => version.era() == Era::Legacy,
            _ => false,
        };
        let mut pair = pair(mode);
        pair.latency_ms = 20;
        let call = pair.call(tool_call()).unwrap();
        pair.run();
        let (key, request) = pair.called().unwrap();
        assert_eq!(request.params.unwrap().get("name").unwrap().as_str(), "\"echo\"");
        assert_eq!(request.meta.envelope.is_none(), legacy);
        pair.server.reply(key, Ok(result()));
        pair.run();
        let (ended, reply) = pair.done().unwrap();
        assert_eq!(ended, call);
        let reply = reply.unwrap();
        assert_eq!(reply.value.get("content"), result().value.get("content"));
        assert_eq!(reply.stamp.is_none(), legacy);
        let peer = pair.client.peer().unwrap();
        assert_eq!(peer.era() == Era::Legacy, legacy);
        assert_eq!(peer.info.as_ref().unwrap().as_str(), r#"{"name":"server","version":"1"}"#);
        let texts = pair.transcript.join("\n");
        assert_eq!(texts.contains("io.modelcontextprotocol/"), !legacy, "{texts}");
    }
}

#[test]
fn a_cancelled_call_reaches_the_server_and_its_late_answer_nobody() {
    for mode in modes() {
        let mut pair = pair(mode);
        let call = pair.call(tool_call()).unwrap();
        pair.run();
        let (key, _) = pair.called().unwrap();
        pair.client.cancel(pair.now, call, None);
        pair.run();
        assert!(matches!(pair.done(), Some((_, Err(CallError::Cancelled)))));
        assert!(
            pair.server_outputs
                .iter()
                .any(|output| matches!(output, server::Output::Cancel { key: told } if *told == key))
        );
        let sent = pair.transcript.len();
        pair.server.reply(key, Ok(result()));
        pair.run();
        assert_eq!(pair.transcript.len(), sent, "a cancelled call is not answered");
    }
}

#[test]
fn a_call_that_is_not_answered_times_out_on_both_ends() {
    for mode in modes() {
        let mut pair = pair(mode);
        pair.latency_ms = 5;
        let mut call = tool_call();
        call.timeout = Timeout::After(1000);
        pair.call(call).unwrap();
        pair.run();
        pair.called().unwrap();
        pair.advance(1000);
        assert!(matches!(pair.done(), Some((_, Err(CallError::Timeout)))));
        assert!(pair.server_outputs.iter().any(|output| matches!(output, server::Output::Cancel { .. })));
    }
}

#[test]
fn a_change_is_announced_in_either_era() {
    let mut legacy = pair(Mode::Legacy);
    legacy.run();
    legacy.server.changed(&server::Change::Tools);
    legacy.run();
    assert!(
        legacy
            .client_outputs
            .iter()
            .any(|output| matches!(output, Output::Notification(told) if told.method == Method::ToolsListChanged))
    );

    let mut modern = pair(Mode::Auto);
    let params = Raw::from_valid(r#"{"notifications":{"toolsListChanged":true}}"#);
    let listening = modern.call(Call::new(Method::SubscriptionsListen, Some(params))).unwrap();
    modern.run();
    modern.server.changed(&server::Change::Tools);
    modern.run();
    let told: Vec<_> = modern
        .client_outputs
        .iter()
        .filter_map(|output| match output {
            Output::Event { key, notification } => Some((*key, notification.method.clone())),
            _ => None,
        })
        .collect();
    assert_eq!(told, [(listening, Method::SubscriptionsAcknowledged), (listening, Method::ToolsListChanged)]);
}

#[test]
fn every_call_ends_whatever_the_pipe_does() {
    for seed in 0..300 {
        for mode in modes() {
            let faults = Faults { lose: 50, repeat: 50, truncate: 50 };
            let mut pair = pair(mode).with_faults(faults, seed);
            pair.latency_ms = seed % 7;
            let mut calls = 0;
            let mut ended = 0;
            for _ in 0..10 {
                calls += usize::from(pair.call(tool_call()).is_ok());
                pair.run();
                let under_way: Vec<_> = std::mem::take(&mut pair.server_outputs).into_iter().collect();
                for output in under_way {
                    if let server::Output::Call { key, .. } = output {
                        pair.server.reply(key, Ok(result()));
                    }
                }
                pair.advance(3_000);
            }
            pair.advance(200_000);
            pair.cut();
            while pair.done().is_some() {
                ended += 1;
            }
            assert_eq!(ended, calls, "seed {seed}");
        }
    }
}
