//! Servers that are silent, replaced, or have lost the session.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use futures::{
    executor::{LocalPool, block_on},
    future::{poll_fn, poll_immediate},
    task::LocalSpawnExt,
};
use sandwire_client::{Client, ErrorKind, Mode, Options, SessionLoss};
use sandwire_io::{
    HttpLink, Link, TextLink, TextPort,
    testing::{QueuePort, ScriptedExchange, ScriptedHttp, SimEnv, text_ports},
};
use sandwire_json::find;
use sandwire_proto::{Limits, TransportError, TransportErrorKind};
use std::{sync::Arc, time::Duration};

const HANDSHAKE: &str = r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}"#;

fn connect(link: impl Link, options: Options) -> (Client, LocalPool, SimEnv) {
    let (pool, env) = (LocalPool::new(), SimEnv::new(1));
    let (client, driver) = Client::connect(link, Arc::new(env.clone()), options);
    pool.spawner().spawn_local(driver).unwrap();
    (client, pool, env)
}

fn heard(port: &mut QueuePort) -> Option<String> {
    block_on(poll_immediate(poll_fn(|cx| port.poll(cx))))?.and_then(Result::ok)
}

fn answer(text: &str, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, find(text, "id").unwrap())
}

#[test]
fn a_silent_server_is_initialized_after_the_time_it_is_given() {
    let (near, mut far) = text_ports();
    let options = Options::new("c", "1").probe_timeout(Duration::from_secs(1));
    let (client, mut pool, env) = connect(TextLink::new(near, Limits::default()), options);
    pool.run_until_stalled();
    assert!(heard(&mut far).unwrap().contains("server/discover"));
    env.advance(999);
    pool.run_until_stalled();
    assert_eq!(heard(&mut far), None);
    env.advance(1);
    pool.run_until_stalled();
    let initialize = heard(&mut far).unwrap();
    assert!(initialize.contains("\"initialize\""));
    far.send(answer(&initialize, HANDSHAKE));
    assert_eq!(pool.run_until(client.ready()).unwrap().version.as_str(), "2025-11-25");
}

#[test]
fn a_call_to_a_server_that_is_replaced_fails_as_what_may_be_repeated() {
    let (near, mut far) = text_ports();
    let options = Options::new("c", "1").mode(Mode::Legacy);
    let (client, mut pool, _env) = connect(TextLink::new(near, Limits::default()), options);
    for _ in 0..2 {
        pool.run_until_stalled();
        let initialize = heard(&mut far).unwrap();
        far.send(answer(&initialize, HANDSHAKE));
        pool.run_until(client.ready()).unwrap();
        pool.run_until_stalled();
        assert!(heard(&mut far).unwrap().contains("notifications/initialized"));
        let ping = client.ping();
        let failed = pool.spawner().spawn_local_with_handle(async move { ping.await.unwrap_err().kind() }).unwrap();
        pool.run_until_stalled();
        assert!(heard(&mut far).unwrap().contains("\"ping\""));
        far.fail(TransportError::new(TransportErrorKind::Restarted, "the server was started anew"));
        assert_eq!(pool.run_until(failed), ErrorKind::Restarted);
    }
}

/// Answers all requests that wait, in sessions that are forgotten after the handshake. Counts the calls.
fn forget_sessions(http: &ScriptedHttp, pool: &mut LocalPool) -> usize {
    let mut calls = 0;
    pool.run_until_stalled();
    while let Some(exchange) = http.next() {
        let body = exchange.request().body.clone().unwrap_or_default();
        match find(&body, "method") {
            Some("\"initialize\"") => {
                exchange.head(200, &[("content-type", "application/json"), ("mcp-session-id", "s")]);
                exchange.chunk(answer(&body, HANDSHAKE));
            }
            Some("\"notifications/initialized\"") => exchange.head(202, &[]),
            Some(_) => {
                calls += 1;
                exchange.head(404, &[]);
            }
            None => exchange.head(405, &[]),
        }
        ScriptedExchange::end(&exchange);
        pool.run_until_stalled();
    }
    calls
}

#[test]
fn a_call_whose_session_is_lost_is_made_again_once_or_never() {
    for (policy, expected) in [(SessionLoss::CallAgain, 2), (SessionLoss::Fail, 1)] {
        let http = ScriptedHttp::new();
        let link = HttpLink::new(Arc::new(http.clone()), "https://example.com/mcp", Limits::default());
        let options = Options::new("c", "1").mode(Mode::Legacy).session_loss(policy);
        let (client, mut pool, _env) = connect(link, options);
        forget_sessions(&http, &mut pool);
        let ping = client.ping();
        let failed = pool.spawner().spawn_local_with_handle(async move { ping.await.unwrap_err().kind() }).unwrap();
        assert_eq!(forget_sessions(&http, &mut pool), expected, "{policy:?}");
        assert_eq!(pool.run_until(failed), ErrorKind::Restarted);
    }
}
