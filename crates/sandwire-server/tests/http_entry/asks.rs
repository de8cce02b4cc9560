use crate::site::{Site, modern_as};
use sandwire_json::find;

#[test]
fn a_call_that_needs_input_is_made_again_with_it() {
    let site = Site::new();
    let can = r#"{"elicitation":{}}"#;
    let (head, body) = modern_as("tools/call", r#""name":"ask","arguments":{}"#, can, "");
    let first = site.send(head, &body);
    assert_eq!(first.head.status, 200);
    assert_eq!(first.header("content-type"), "application/json");
    let result = find(&first.body, "result").unwrap();
    assert_eq!(find(result, "resultType"), Some("\"input_required\""));
    let state = find(result, "requestState").unwrap();

    let again = format!(
        r#""name":"ask","arguments":{{}},"requestState":{state},"inputResponses":{{"who":{{"action":"decline"}}}}"#
    );
    let (head, body) = modern_as("tools/call", &again, can, "");
    let second = site.send(head, &body);
    assert!(second.body.contains(r#"{\"action\":\"decline\"}"#), "{}", second.body);

    let (head, body) = modern_as("tools/call", &again.replace(state, "\"AAAA\""), can, "");
    assert_eq!(site.send(head, &body).code(), -32602);
}
