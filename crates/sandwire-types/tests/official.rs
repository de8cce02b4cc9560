//! The specification's own examples: they decode as the noun they are named after, and encode to the same.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod spec;

use sandwire_types::fuzzing::{NOUNS, canonical};
use sandwire_types::json::{from_str, to_raw};
use sandwire_types::model::{check_params, check_result};
use sandwire_types::wire::{Incoming, Memo, decode, encode};
use sandwire_types::*;
use spec::Schemas;

#[test]
fn examples_come_back() {
    let Some(spec) = spec::directory() else { return };
    let schemas = Schemas::load(&spec, ProtocolVersion::V2026_07_28);
    let mut count = 0;
    let mut through = [0; 3];
    for directory in std::fs::read_dir(spec.join("schema/2026-07-28/examples")).unwrap() {
        let directory = directory.unwrap().path();
        let name = directory.file_name().unwrap().to_str().unwrap().to_owned();
        for file in std::fs::read_dir(&directory).unwrap() {
            let file = file.unwrap().path();
            let text = std::fs::read_to_string(&file).unwrap();
            let (way, again) = encoded(&name, &text);
            assert_eq!(canonical(&again), canonical(&text), "{}", file.display());
            schemas.assert_valid(&name, &again);
            through[way] += 1;
            count += 1;
        }
    }
    assert_eq!(count, 129);
    assert!(through.iter().all(|count| *count > 0), "{through:?}");
}

/// Decodes an example as what its name says, and encodes it.
fn encoded(name: &str, text: &str) -> (usize, String) {
    if let Some((_, codec)) = NOUNS.iter().find(|(noun, _)| *noun == name) {
        return (0, codec(text).unwrap_or_else(|error| panic!("{name}: {error}")).to_string());
    }
    match decode(text, &mut Memo::new()) {
        Ok(Incoming::One(message)) => {
            look_inside(name, &message);
            (1, encode(&message))
        }
        _ if name.ends_with("Error") => (2, to_raw(&from_str::<ErrorObject>(text).unwrap()).to_string()),
        _ => {
            // A question of a modern server: a request without the envelope.
            let request: model::InputRequest = from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
            let method = Method::from(request.method.as_str());
            assert!(method.is_request(), "{name}");
            if let Some(params) = &request.params {
                assert_eq!(check_params(&method, params), Ok(()), "{name}");
            }
            (2, to_raw(&request).to_string())
        }
    }
}

fn look_inside(name: &str, message: &Message) {
    match message {
        Message::Request(request) => {
            assert!(request.method.is_request(), "{name}");
            assert!(request.method.may_send(Side::Client, ProtocolVersion::V2026_07_28));
            assert_eq!(request.meta.envelope.as_ref().unwrap().protocol_version(), Some(ProtocolVersion::LATEST));
            assert_eq!(check_params(&request.method, request.params.as_ref().unwrap()), Ok(()), "{name}");
        }
        Message::Notification(notification) => {
            assert!(notification.method.facts().is_some(), "{name}");
            if let Some(params) = &notification.params {
                assert_eq!(check_params(&notification.method, params), Ok(()), "{name}");
            }
        }
        Message::Response(Response { result: Ok(reply), .. }) => {
            assert!(reply.stamp.is_some());
            let noun = name.strip_suffix("Response").unwrap();
            let method = Method::KNOWN
                .iter()
                .find(|method| spec::result_noun(method) == Some(noun))
                .unwrap_or_else(|| panic!("{noun} is no result"));
            assert_eq!(check_result(method, reply), Ok(()), "{name}");
            // One example of a cacheable result has no hint.
            assert!(method.is_cacheable() || reply.stamp.as_ref().unwrap().cache.is_none(), "{name}");
        }
        Message::Response(_) => assert!(name.ends_with("Error")),
    }
}
