//! The heads of what a client sends.

use super::{Headers, RequestHead, Verb, names, param_headers::encode_value};
use sandwire_json::{Reader, find};
use sandwire_types::{ProtocolVersion, Request};
use std::borrow::Cow;

const JSON: &str = "application/json";
const EVENT_STREAM: &str = "text/event-stream";
const EITHER: &str = "application/json, text/event-stream";

/// The head of a modern request: version, method, and the name that is this member of its parameters. Arguments are mirrored by
/// [`ParamHeaders`](super::ParamHeaders).
#[must_use]
pub fn modern_request(version: &str, request: &Request, name_source: Option<&str>) -> RequestHead {
    let mut head = modern_notification(version);
    let headers = &mut head.headers;
    headers.push(names::METHOD, request.method.as_str());
    if let Some(params) = &request.params
        && let Some(name) = name_source.and_then(|source| text_member(params.as_str(), source))
    {
        headers.push(names::NAME, encode_value(&name).into_owned());
    }
    head
}

/// The head of a modern notification.
#[must_use]
pub fn modern_notification(version: &str) -> RequestHead {
    let mut head = post();
    head.headers.push(names::PROTOCOL_VERSION, version);
    head
}

/// The head of a legacy message; before the version is negotiated, there is none to tell.
#[must_use]
pub fn legacy_message(version: Option<ProtocolVersion>, session: Option<&str>) -> RequestHead {
    let mut head = post();
    legacy_fields(&mut head.headers, version, session);
    head
}

/// The head that asks for a legacy event stream: a new one, or the one in which `last_event` was seen.
#[must_use]
pub fn legacy_stream(version: ProtocolVersion, session: Option<&str>, last_event: Option<&str>) -> RequestHead {
    let mut head = events();
    legacy_fields(&mut head.headers, Some(version), session);
    if let Some(last_event) = last_event {
        head.headers.push(names::LAST_EVENT_ID, last_event);
    }
    head
}

/// The head that asks for any event stream.
#[must_use]
pub fn events() -> RequestHead {
    let mut head = RequestHead::new(Verb::Get);
    head.headers.push(names::ACCEPT, EVENT_STREAM);
    head
}

/// The head that ends a legacy session.
#[must_use]
pub fn legacy_end(version: ProtocolVersion, session: &str) -> RequestHead {
    let mut head = RequestHead::new(Verb::Delete);
    legacy_fields(&mut head.headers, Some(version), Some(session));
    head
}

fn post() -> RequestHead {
    let mut head = RequestHead::new(Verb::Post);
    head.headers.push(names::ACCEPT, EITHER);
    head.headers.push(names::CONTENT_TYPE, JSON);
    head
}

fn legacy_fields(headers: &mut Headers, version: Option<ProtocolVersion>, session: Option<&str>) {
    if let Some(session) = session {
        headers.push(names::SESSION_ID, session);
    }
    if let Some(version) = version.filter(|version| version.has_version_header()) {
        headers.push(names::PROTOCOL_VERSION, version.as_str());
    }
}

/// The member of an object that is a text.
pub(crate) fn text_member<'a>(object: &'a str, key: &str) -> Option<Cow<'a, str>> {
    Reader::new(find(object, key)?).string().ok()
}
