use crate::stage::Stage;
use futures::{executor::block_on, future::poll_immediate};
use sandwire_client::{CacheOptions, Client, Error, Options};
use sandwire_io::{MemoryStore, testing::SimEnv};
use sandwire_types::{
    ErrorObject, Method,
    model::{ListToolsResult, Root, SubscriptionFilter},
};
use std::{sync::Arc, time::Duration};

fn page(name: &str, hints: &str) -> String {
    format!(r#"{{"resultType":"complete","tools":[{{"name":"{name}","inputSchema":{{"type":"object"}}}}]{hints}}}"#)
}

const FRESH: &str = r#","ttlMs":1000,"cacheScope":"private""#;

struct Cached {
    stage: Stage,
    store: MemoryStore,
    clock: SimEnv,
}

impl Cached {
    fn new() -> Self {
        let clock = SimEnv::new(9);
        let store = MemoryStore::new(Arc::new(clock.clone()), 100);
        Self { stage: Stage::modern(options(&store, "a")), store, clock }
    }

    /// What a call gives without the server.
    fn kept(&mut self, call: impl Fn(&Client) -> sandwire_client::Request<ListToolsResult>) -> Option<String> {
        let result = self.stage.begin(call(&self.stage.client));
        let kept = result.take().map(name);
        if kept.is_none() {
            // It was sent, and is answered with what is not kept.
            let sent = self.stage.request();
            self.stage.reply(sent.id, &page("asked", ""));
            self.stage.run();
            assert_eq!(name(result.take().unwrap()), "asked");
        }
        kept
    }

    /// Asks the server, which answers with this.
    fn fetch(&mut self, answer: &str) {
        let result = self.stage.begin(self.stage.client.list_tools());
        let sent = self.stage.request();
        self.stage.reply(sent.id, answer);
        self.stage.run();
        result.take().unwrap().unwrap();
    }
}

fn name(result: Result<ListToolsResult, Error>) -> String {
    result.unwrap().tools.remove(0).name
}

fn options(store: &MemoryStore, partition: &str) -> Options {
    Options::new("c", "1").roots(vec![Root::new("file:///a")]).cache(CacheOptions::new(store.clone(), partition))
}

fn list(client: &Client) -> sandwire_client::Request<ListToolsResult> {
    client.list_tools()
}

#[test]
fn a_result_is_used_again_until_its_time_is_up() {
    let mut cached = Cached::new();
    cached.fetch(&page("kept", FRESH));
    assert_eq!(cached.kept(list).as_deref(), Some("kept"));
    // For the same parameters only.
    assert_eq!(cached.kept(|client| client.list_tools().after("")), None);
    assert_eq!(cached.kept(|client| client.list_tools().uncached()), None);
    cached.clock.advance(999);
    assert_eq!(cached.kept(list).as_deref(), Some("kept"));
    cached.clock.advance(1);
    assert_eq!(cached.kept(list), None);
}

#[test]
fn what_has_no_time_is_not_kept() {
    for hints in ["", r#","ttlMs":0"#, r#","ttlMs":-5"#, r#","ttlMs":"1000""#, r#","ttlMs":null"#] {
        let mut cached = Cached::new();
        cached.fetch(&page("x", hints));
        assert_eq!(cached.kept(list), None, "{hints}");
        assert!(cached.store.is_empty());
    }
}

#[test]
fn a_legacy_server_cannot_have_its_results_kept() {
    let clock = SimEnv::new(9);
    let store = MemoryStore::new(Arc::new(clock), 100);
    let mut cached = Cached { stage: Stage::legacy(options(&store, "a")), clock: SimEnv::new(9), store };
    cached.fetch(&page("x", FRESH));
    assert_eq!(cached.kept(list), None);
}

#[test]
fn no_result_is_kept_for_longer_than_the_caller_says() {
    let clock = SimEnv::new(9);
    let store = MemoryStore::new(Arc::new(clock.clone()), 100);
    let cache = CacheOptions::new(store.clone(), "a").max_ttl(Duration::from_millis(10));
    let mut cached = Cached { stage: Stage::modern(Options::new("c", "1").cache(cache)), clock, store };
    cached.fetch(&page("kept", FRESH));
    cached.clock.advance(9);
    assert_eq!(cached.kept(list).as_deref(), Some("kept"));
    cached.clock.advance(1);
    assert_eq!(cached.kept(list), None);
}

#[test]
fn another_authorization_has_a_cache_of_its_own() {
    let mut cached = Cached::new();
    cached.fetch(&page("kept", r#","ttlMs":1000,"cacheScope":"public""#));
    for (partition, expected) in [("a", Some("kept")), ("b", None), ("a:", None)] {
        cached.stage = Stage::modern(options(&cached.store, partition));
        assert_eq!(cached.kept(list).as_deref(), expected, "{partition}");
    }
}

#[test]
fn a_change_that_is_told_is_known_at_once_and_to_everybody_who_shares_the_store() {
    let mut cached = Cached::new();
    cached.fetch(&page("kept", FRESH));
    cached.stage.tell(Method::PromptsListChanged, "", None);
    assert_eq!(cached.kept(list).as_deref(), Some("kept"));
    cached.stage.tell(Method::ToolsListChanged, "", None);
    assert_eq!(cached.kept(list), None);
    cached.stage = Stage::modern(options(&cached.store, "a"));
    assert_eq!(cached.kept(list), None);
    cached.fetch(&page("newer", FRESH));
    assert_eq!(cached.kept(list).as_deref(), Some("newer"));
    cached.stage.client.forget_cached();
    assert_eq!(cached.kept(list), None);
}

#[test]
fn a_subscription_tells_the_cache_too() {
    let mut cached = Cached::new();
    cached.fetch(&page("kept", FRESH));
    let mut filter = SubscriptionFilter::new();
    filter.tools_list_changed = Some(true);
    let mut changes = cached.stage.client.subscribe(filter);
    assert!(block_on(poll_immediate(changes.next())).is_none());
    let sent = cached.stage.request();
    cached.stage.tell(Method::SubscriptionsAcknowledged, r#"{"notifications":{}}"#, Some(&sent.id));
    assert_eq!(cached.kept(list).as_deref(), Some("kept"));
    cached.stage.tell(Method::ToolsListChanged, "", Some(&sent.id));
    assert_eq!(cached.kept(list), None);
}

#[test]
fn what_was_under_way_when_it_changed_is_not_kept() {
    let mut cached = Cached::new();
    let result = cached.stage.begin(cached.stage.client.list_tools());
    let sent = cached.stage.request();
    cached.stage.tell(Method::ToolsListChanged, "", None);
    cached.stage.reply(sent.id, &page("old", FRESH));
    cached.stage.run();
    assert_eq!(name(result.take().unwrap()), "old");
    assert_eq!(cached.kept(list), None);
}

#[test]
fn a_cursor_that_is_refused_takes_all_pages_with_it() {
    let mut cached = Cached::new();
    cached.fetch(&page("kept", FRESH));
    let result = cached.stage.begin(cached.stage.client.list_tools().after("gone"));
    let sent = cached.stage.request();
    cached.stage.refuse(sent.id, ErrorObject::invalid_params("no such cursor"));
    cached.stage.run();
    assert!(result.take().unwrap().is_err());
    assert_eq!(cached.kept(list), None);
}

#[test]
fn what_is_read_is_kept_unless_it_took_input() {
    let mut cached = Cached::new();
    let contents = |text: &str| {
        format!(
            r#"{{"resultType":"complete","contents":[{{"uri":"r:1","text":"{text}"}}],"ttlMs":1000,"cacheScope":"private"}}"#
        )
    };
    let stage = &mut cached.stage;
    let first = stage.begin(stage.client.read_resource("r:1"));
    let sent = stage.request();
    let asks = r#"{"resultType":"input_required","inputRequests":{"r":{"method":"roots/list"}}}"#;
    stage.reply(sent.id, asks);
    // It is made again, this time with the client's own handlers.
    let sent = stage.request();
    stage.reply(sent.id, asks);
    let sent = stage.request();
    assert!(sent.params.as_ref().unwrap().get("inputResponses").is_some());
    stage.reply(sent.id, &contents("for one"));
    stage.run();
    assert!(first.take().unwrap().is_ok());
    let second = stage.begin(stage.client.read_resource("r:1"));
    let sent = stage.request();
    stage.reply(sent.id, &contents("for all"));
    stage.run();
    assert!(second.take().unwrap().is_ok());
    let third = stage.begin(stage.client.read_resource("r:1"));
    assert!(third.take().unwrap().is_ok());
    let other = stage.begin(stage.client.read_resource("r:2"));
    let sent = stage.request();
    stage.reply(sent.id, &contents("other"));
    stage.run();
    assert!(other.take().unwrap().is_ok());
    // A part of it changed.
    stage.tell(Method::ResourcesUpdated, r#"{"uri":"r:1/part"}"#, None);
    stage.begin(stage.client.read_resource("r:1"));
    stage.request();
}
