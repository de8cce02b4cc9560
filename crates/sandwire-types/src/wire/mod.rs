//! From messages to text and back, and what the versions of the protocol do differently.
//!
//! [`encode`] and [`decode`] carry parameters and results as text: nothing here decodes a noun.
//! What a message says about itself beside them is written by one edge for each era, [`legacy`]
//! and [`modern`].

use sandwire_json::{Raw, Writer};

use crate::error::WireError;
use crate::jsonrpc::{Message, Notification, Reply, Request, Response};
use crate::{Method, ProtocolVersion};

mod decode;
pub mod legacy;
pub mod modern;
mod project;

pub use decode::{Memo, decode};

/// What a text holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Incoming {
    /// One message.
    One(Message),
    /// An array of messages, which only version 2025-03-26 allows.
    Batch(Vec<Result<Message, WireError>>),
}

/// Writes a message as one line of JSON.
///
/// ```
/// use sandwire_types::wire::encode;
/// use sandwire_types::{Message, Method, Request};
///
/// let ping = Message::Request(Request::new(7, Method::Ping));
/// assert_eq!(encode(&ping), r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#);
/// ```
pub fn encode(message: &Message) -> String {
    encode_at(None, message)
}

/// Writes a message as one line of JSON for a peer of a known version: before 2025-11-25 an id that
/// could not be read is `null`.
pub fn encode_at(version: Option<ProtocolVersion>, message: &Message) -> String {
    let mut w = Writer::with_capacity(128 + size(message));
    w.begin_object();
    w.key("jsonrpc");
    w.raw("\"2.0\"");
    match message {
        Message::Request(request) => write_request(&mut w, request),
        Message::Notification(notification) => write_notification(&mut w, notification),
        Message::Response(response) => write_response(&mut w, version, response),
    }
    w.end_object();
    w.finish()
}

/// Makes the parameters of a question to a client fit for its version, of either era. A program that asks contains the
/// tables of questions by this, and not those of all methods.
pub fn lower_question(version: ProtocolVersion, method: &Method, params: &Raw) -> Raw {
    project::question(version, method, params)
}

/// About how many bytes a message's parts take.
fn size(message: &Message) -> usize {
    match message {
        Message::Request(request) => {
            let meta = request.meta.envelope.as_ref().map_or(0, |envelope| {
                256 + envelope.capabilities.as_str().len()
                    + envelope.client_info.as_ref().map_or(0, |info| info.as_str().len())
            });
            meta + request.params.as_ref().map_or(0, |params| params.as_str().len())
        }
        Message::Notification(notification) => notification.params.as_ref().map_or(0, |params| params.as_str().len()),
        Message::Response(response) => match &response.result {
            Ok(reply) => reply.value.as_str().len() + reply.stamp.as_ref().map_or(0, |_| 256),
            Err(error) => error.message.len() + error.data.as_ref().map_or(0, |data| data.as_str().len()),
        },
    }
}

fn write_request(w: &mut Writer, request: &Request) {
    use sandwire_json::Write;
    w.key("id");
    request.id.write(w);
    w.key("method");
    w.string(request.method.as_str());
    let meta = &request.meta;
    match (&meta.envelope, &request.params) {
        (Some(envelope), params) => {
            w.key("params");
            w.begin_object();
            modern::write_request_meta(w, envelope, meta);
            if let Some(params) = params {
                splice(w, params.as_str(), &["_meta"]);
            }
            w.end_object();
        }
        (None, params) if meta.progress_token.is_some() || meta.extra.is_some() => {
            w.key("params");
            w.begin_object();
            legacy::write_request_meta(w, meta);
            if let Some(params) = params {
                splice(w, params.as_str(), &["_meta"]);
            }
            w.end_object();
        }
        (None, Some(params)) => {
            w.key("params");
            w.raw(params.as_str());
        }
        (None, None) => {}
    }
}

fn write_notification(w: &mut Writer, notification: &Notification) {
    w.key("method");
    w.string(notification.method.as_str());
    match (&notification.subscription, &notification.params) {
        (Some(subscription), params) if cfg!(feature = "server") => {
            w.key("params");
            w.begin_object();
            let rest = match params {
                Some(params) => splice(w, params.as_str(), &["_meta"]),
                None => None,
            };
            modern::write_notification_meta(w, subscription, rest);
            w.end_object();
        }
        (_, Some(params)) => {
            w.key("params");
            w.raw(params.as_str());
        }
        (_, None) => {}
    }
}

fn write_response(w: &mut Writer, version: Option<ProtocolVersion>, response: &Response) {
    use sandwire_json::Write;
    match &response.id {
        Some(id) => {
            w.key("id");
            id.write(w);
        }
        None if response.null_id || version.is_some_and(|version| !version.omits_unreadable_id()) => {
            w.key("id");
            w.null();
        }
        None => {}
    }
    match &response.result {
        Ok(Reply { value, kind, stamp: Some(stamp) }) if cfg!(feature = "server") => {
            w.key("result");
            w.begin_object();
            modern::write_result(w, value.as_str(), kind, stamp);
            w.end_object();
        }
        Ok(reply) => {
            w.key("result");
            w.raw(reply.value.as_str());
        }
        Err(error) => {
            w.key("error");
            error.write(w);
        }
    }
}

/// Writes the members of an object except those named, and gives the value of the first of these.
fn splice<'a>(w: &mut Writer, object: &'a str, omit: &[&str]) -> Option<&'a str> {
    let mut first = None;
    // The text is valid: it stands in a `Raw`.
    let _ = sandwire_json::Reader::new(object).object(&mut |key, r| {
        let text = r.raw()?;
        match omit.iter().position(|name| *name == key) {
            None => {
                w.key(key);
                w.raw(text);
            }
            Some(0) => first = Some(text),
            Some(_) => {}
        }
        Ok(())
    });
    first
}
