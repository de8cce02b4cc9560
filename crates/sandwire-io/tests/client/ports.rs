//! A client and a server over a pair of ports.

use crate::stage::{Stage, call, tool_call};
use futures::{
    executor::{LocalPool, block_on},
    future::{poll_fn, poll_immediate},
    task::LocalSpawnExt,
};
use sandwire_io::{
    Answer, Call, Endpoint, Link, LinkEvent, TextLink, TextPort,
    client::Config,
    serve,
    testing::{QueuePort, SimEnv, text_ports},
};
use sandwire_json::Raw;
use sandwire_proto::{Limits, TransportError, TransportErrorKind, client::CallError, server};
use sandwire_types::{Era, KNOWN_VERSIONS, Reply};
use std::sync::Arc;

/// Gives its parameters back twice, which makes a text longer than that of the request.
struct Echo;

impl Endpoint for Echo {
    fn config(&self) -> Arc<server::Config> {
        let info = Raw::from_valid(r#"{"name":"s","version":"1"}"#);
        Arc::new(server::Config::new(info, Raw::from_valid(r#"{"tools":{}}"#)))
    }

    fn call(&self, call: Call) -> Answer {
        let params = call.request.params.unwrap_or_else(Raw::object);
        let twice = ["{\"once\":", params.as_str(), ",\"again\":", params.as_str(), "}"].concat();
        Answer::Ready(Ok(Reply::new(Raw::parse(&twice).unwrap())))
    }
}

fn link(port: QueuePort, max_message_bytes: usize) -> TextLink<QueuePort> {
    TextLink::new(port, Limits { max_message_bytes, ..Limits::default() })
}

/// A client with a server, whose links have these limits.
fn connected(near_bytes: usize, far_bytes: usize) -> Stage {
    let (near, far) = text_ports();
    let mut stage = Stage::new(Config::new("test", "1"), Box::new(link(near, near_bytes)));
    let server = serve(Arc::new(Echo), Arc::new(stage.env.clone()), Box::new(link(far, far_bytes)));
    stage.spawner().spawn_local(server).unwrap();
    stage.run();
    stage
}

fn long_call() -> sandwire_io::client::Call {
    call("tools/call", &["{\"name\":\"", &"x".repeat(5000), "\"}"].concat())
}

#[test]
fn a_call_crosses_and_comes_back() {
    let mut stage = connected(5000, 5000);
    let result = stage.call(tool_call());
    stage.run();
    assert!(result.lock().unwrap().as_ref().unwrap().contains("echo"));
    stage.client.close();
    stage.run();
    assert_eq!(stage.told(), ["opened 2026-07-28", "closed"]);
}

#[test]
fn a_request_over_the_limit_fails_by_itself() {
    let mut stage = connected(5000, 50_000);
    let refused = stage.pool.run_until(stage.client.call(long_call())).unwrap_err();
    assert!(
        matches!(&refused, CallError::Transport(error) if error.kind() == TransportErrorKind::TooLarge),
        "{refused:?}"
    );
    assert!(stage.pool.run_until(stage.client.call(tool_call())).is_ok());
}

#[test]
fn an_answer_over_the_limit_becomes_an_error() {
    let mut stage = connected(50_000, 8000);
    let error = stage.pool.run_until(stage.client.call(long_call())).unwrap_err();
    assert!(matches!(&error, CallError::Peer(error) if error.message.contains("size limit")), "{error:?}");
    assert!(stage.pool.run_until(stage.client.call(tool_call())).is_ok());
}

#[test]
fn a_fault_is_about_one_text_unless_it_ended_the_port_or_the_peer() {
    let (mut near, far) = text_ports();
    let mut link = link(far, 1000);
    let mut next = || block_on(poll_immediate(poll_fn(|cx| link.poll(cx))));
    assert!(next().is_none());
    near.fail(TransportError::new(TransportErrorKind::Malformed, "not UTF-8"));
    near.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.into());
    near.fail(TransportError::new(TransportErrorKind::Restarted, "restarted"));
    near.fail(TransportError::new(TransportErrorKind::Closed, "unplugged"));
    assert!(matches!(next(), Some(LinkEvent::Garbage { .. })));
    assert!(matches!(next(), Some(LinkEvent::Message { .. })));
    assert!(matches!(next(), Some(LinkEvent::Restarted(error)) if error.message() == "restarted"));
    assert!(matches!(next(), Some(LinkEvent::Closed(Some(error))) if error.message() == "unplugged"));
}

#[test]
fn an_unreadable_id_is_null_for_old_versions_and_left_out_for_new_ones() {
    const MODERN: &str = r#"{"jsonrpc":"2.0","id":0,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    for version in KNOWN_VERSIONS {
        let (mut near, far) = text_ports();
        let mut pool = LocalPool::new();
        let env = Arc::new(SimEnv::new(1));
        pool.spawner().spawn_local(serve(Arc::new(Echo), env, Box::new(link(far, 5000)))).unwrap();
        near.send(match version.era() {
            Era::Modern => MODERN.to_owned(),
            Era::Legacy => format!(
                r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}}}}}"#
            ),
        });
        near.send("{".to_owned());
        pool.run_until_stalled();
        let texts: Vec<String> = std::iter::from_fn(|| block_on(poll_immediate(poll_fn(|cx| near.poll(cx)))))
            .map_while(|text| text.and_then(Result::ok))
            .collect();
        let error = texts.iter().find(|text| text.contains("-32700")).unwrap();
        let id = sandwire_json::find(error, "id");
        assert_eq!(id, (!version.omits_unreadable_id()).then_some("null"), "{version}: {error}");
    }
}
