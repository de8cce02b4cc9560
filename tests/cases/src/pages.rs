//! Lists in pages.

use crate::stage::{Caller, ERAS, VERSIONS, complete};
use sandwire_client::{Client, Error, ErrorKind};
use sandwire_types::model::Tool;

fn page(names: &[&str], next: Option<&str>) -> String {
    let tools: Vec<_> =
        names.iter().map(|name| format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#)).collect();
    let next = next.map_or(String::new(), |cursor| format!(r#","nextCursor":"{cursor}""#));
    complete(&format!(r#""tools":[{}]{next}"#, tools.join(",")))
}

/// Walks pages, each with the cursor of the next; the cursors that were sent and what came of it.
fn walk(version: &str, pages: &[(&[&str], Option<&str>)]) -> (Vec<serde_json::Value>, Result<Vec<Tool>, Error>) {
    let mut client = Caller::open(version);
    let all = async |client: Client| client.list_all_tools().await;
    let walk = client.start(all(client.client.clone()));
    let mut cursors = Vec::new();
    for (names, next) in pages.iter().cycle().take(100_000) {
        let Some(asked) = client.heard().pop() else { break };
        assert_eq!(asked.method(), "tools/list");
        cursors.push(asked.at("/params/cursor"));
        client.answer(&asked, &page(names, *next));
    }
    assert!(client.heard().is_empty());
    (cursors, walk.get())
}

fn names(tools: &[Tool]) -> Vec<&str> {
    tools.iter().map(|tool| tool.name.as_str()).collect()
}

#[test]
fn b62_a_cursor_may_be_empty() {
    for version in VERSIONS {
        let (cursors, all) = walk(version, &[(&["a"], Some("")), (&["b"], None)]);
        assert_eq!(cursors, [serde_json::Value::Null, "".into()], "{version}");
        assert_eq!(names(&all.unwrap()), ["a", "b"]);
        // A page by itself tells it, and takes it.
        let mut client = Caller::open(version);
        let first = client.client.list_tools();
        let first = client.call(first, &page(&["a"], Some(""))).unwrap();
        assert_eq!(first.next_cursor.as_deref(), Some(""));
        client.start(client.client.list_tools().after(""));
        assert_eq!(client.hear().at("/params/cursor"), "");
    }
}

#[test]
fn b64_a_walk_in_circles_ends_and_gives_nothing_twice() {
    for version in ERAS {
        for circle in [
            &[(&["a"][..], Some("8"))][..],
            &[(&["a"], Some("x")), (&["b"], Some("y")), (&["c"], Some("x"))],
            &[(&[][..], Some(""))],
        ] {
            let (cursors, all) = walk(version, circle);
            assert!(cursors.len() <= circle.len() + 1, "{version}: {cursors:?}");
            assert_eq!(all.unwrap_err().kind(), ErrorKind::Protocol, "{version}");
        }
    }
}

#[test]
fn b64_a_walk_without_an_end_has_one() {
    let mut client = Caller::open("2026-07-28");
    let all = async |client: Client| client.list_all_tools().await;
    let walk = client.start(all(client.client.clone()));
    let mut pages = 0_u64;
    while let Some(asked) = client.heard().pop() {
        pages += 1;
        assert!(pages <= 100_000, "the walk goes on and on");
        client.answer(&asked, &page(&["a"], Some(&format!("{pages}"))));
    }
    assert_eq!(walk.get().unwrap_err().kind(), ErrorKind::Protocol, "{pages}");
}

#[test]
fn b65_a_list_is_every_page_of_it_or_the_one_that_was_asked_for() {
    for version in VERSIONS {
        let (cursors, all) = walk(version, &[(&["a", "b"], Some("2")), (&[], Some("3")), (&["c"], None)]);
        assert_eq!(cursors, [serde_json::Value::Null, "2".into(), "3".into()]);
        assert_eq!(names(&all.unwrap()), ["a", "b", "c"], "{version}");
        let mut client = Caller::open(version);
        let one = client.client.list_tools().after("2");
        let one = client.call(one, &page(&["b"], Some("3"))).unwrap();
        assert_eq!((names(&one.tools), one.next_cursor.as_deref()), (vec!["b"], Some("3")));
        assert!(client.heard().is_empty());
    }
}
