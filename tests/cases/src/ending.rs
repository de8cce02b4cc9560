//! Subscriptions and connections, and how they end.

use crate::stage::{Answerer, Caller, HttpCaller, MODERN, notification};
use sandwire_client::ErrorKind;
use sandwire_io::{
    Link, TextLink, TextPort,
    client::{ClientHandle, Config, Hooks, connect},
    testing::{SimEnv, text_ports},
};
use sandwire_proto::{Limits, TransportError, TransportErrorKind};
use sandwire_types::model::SubscriptionFilter;
use std::sync::{Arc, Mutex};

fn filter() -> SubscriptionFilter {
    sandwire_json::from_str(r#"{"toolsListChanged":true}"#).unwrap()
}

#[test]
fn b125_a_subscription_that_is_answered_at_once_is_over_and_not_made_again() {
    for acknowledged in [false, true] {
        let mut client = Caller::open(MODERN);
        let told = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&told);
        let listen = client.client.listen(filter()).on_event(move |it| heard.lock().unwrap().push(it.method));
        let over = client.start(listen);
        let asked = client.hear();
        assert_eq!(asked.method(), "subscriptions/listen");
        if acknowledged {
            let id = asked.id();
            let meta = format!(
                r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}},"notifications":{{"toolsListChanged":true}}"#
            );
            client.say(&notification("notifications/subscriptions/acknowledged", &meta));
        }
        client.answer(&asked, r#"{"resultType":"complete"}"#);
        assert!(over.get().is_ok(), "an end that the server gave is a good one");
        // Whether it ever began can be told by the acknowledgement.
        assert_eq!(told.lock().unwrap().len(), usize::from(acknowledged));
        client.advance(3_600_000);
        assert!(client.heard().is_empty(), "nothing is tried again");

        let mut client = HttpCaller::open(MODERN);
        let over = client.start(client.client.listen(filter()));
        client.next().reply(r#"{"resultType":"complete"}"#);
        client.run();
        assert!(over.get().is_ok());
        client.advance(3_600_000);
        assert!(client.try_next().is_none());
    }
}

#[test]
fn b126_a_subscription_that_its_server_cancels_is_over_and_says_why() {
    let mut client = Caller::open(MODERN);
    let over = client.start(client.client.listen(filter()));
    let asked = client.hear();
    let id = asked.id();
    let meta = format!(
        r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}},"notifications":{{"toolsListChanged":true}}"#
    );
    client.say(&notification("notifications/subscriptions/acknowledged", &meta));
    assert!(!over.is_there());
    client.say(&notification("notifications/cancelled", r#""requestId":"another""#));
    assert!(!over.is_there());
    client.say(&notification("notifications/cancelled", &format!(r#""requestId":{id},"reason":"shutting down""#)));
    let error = over.get().unwrap_err();
    assert!(!matches!(error.kind(), ErrorKind::Cancelled | ErrorKind::Timeout | ErrorKind::Usage), "{error:?}");
    assert!(client.heard().is_empty());
    client.assert_lives();

    // Over HTTP by the message, or the end of its stream.
    for by_message in [true, false] {
        let mut client = HttpCaller::open(MODERN);
        let over = client.start(client.client.listen(filter()));
        let asked = client.next();
        asked.stream();
        let id = asked.id();
        let meta = format!(
            r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}},"notifications":{{"toolsListChanged":true}}"#
        );
        asked.event("", &notification("notifications/subscriptions/acknowledged", &meta));
        client.run();
        assert!(!over.is_there());
        match by_message {
            true => asked.event("", &notification("notifications/cancelled", &format!(r#""requestId":{id}"#))),
            false => asked.end(),
        }
        client.run();
        assert!(over.is_there(), "{by_message}");
        assert!(over.get().is_err());
    }
}

/// Closes the connection when it is told of its end.
#[derive(Clone, Default)]
struct Closes(Arc<Mutex<(Option<ClientHandle>, u32)>>);

impl Hooks for Closes {
    fn closed(&mut self, _: Option<&TransportError>) {
        let client = {
            let mut told = self.0.lock().unwrap();
            told.1 += 1;
            told.0.clone()
        };
        client.iter().for_each(ClientHandle::close);
    }
}

#[test]
fn b102_closing_when_it_is_closed_closes_once() {
    for by_peer in [true, false] {
        let (near, mut far) = text_ports();
        let hooks = Closes::default();
        let (env, link) = (Arc::new(SimEnv::new(1)), Box::new(TextLink::new(near, Limits::default())));
        let (client, driver) = connect(Config::new("c", "1"), env, link, Box::new(hooks.clone()));
        hooks.0.lock().unwrap().0 = Some(client.clone());
        let mut pool = futures::executor::LocalPool::new();
        futures::task::LocalSpawnExt::spawn_local(&pool.spawner(), driver).unwrap();
        pool.run_until_stalled();
        match by_peer {
            true => far.close(),
            false => client.close(),
        }
        pool.run_until_stalled();
        client.close();
        pool.run_until_stalled();
        assert_eq!(hooks.0.lock().unwrap().1, 1, "{by_peer}");
    }
    // A port that closes itself over and over does no harm to a link, or to a server.
    let (near, mut far) = text_ports();
    let mut link = TextLink::new(near, Limits::default());
    for _ in 0..3 {
        link.close();
        far.close();
        far.fail(TransportError::new(TransportErrorKind::Closed, "closed"));
    }
    let mut server = Answerer::open(MODERN, crate::servers::echo());
    server.hang_up();
    server.hang_up();
    // And calls that wait when it closes all end.
    let mut client = Caller::open(MODERN);
    let calls: Vec<_> = (0..10).map(|_| client.start(client.client.call_tool("t", &()))).collect();
    client.heard();
    client.disconnect();
    assert!(calls.into_iter().all(|call| call.get().is_err_and(|error| error.kind() == ErrorKind::Closed)));
    let after = client.start(client.client.list_tools());
    assert!(after.get().is_err());
}
