//! From messages to text and back, and what the versions of the protocol do differently.
//!
//! [`encode`] and [`decode`] carry parameters and results as text: nothing here decodes a noun.
//! What a message says about itself beside them is written by one edge for each era, [`legacy`]
//! and [`modern`].

use sandwire_json::{Raw, Reader, Writer, may_name};

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
    let mut w = Writer::with_capacity(128 + size(message));
    w.begin_object();
    w.raw(r#""jsonrpc":"2.0""#);
    match message {
        Message::Request(request) => write_request(&mut w, request),
        Message::Notification(notification) => write_notification(&mut w, notification),
        Message::Response(response) => write_response(&mut w, response),
    }
    w.end_object();
    w.finish()
}

/// Makes the parameters of a question to a client fit for its version, of either era. A program that asks contains the
/// tables of questions by this, and not those of all methods.
pub fn lower_question(version: ProtocolVersion, method: &Method, params: &Raw) -> Raw {
    project::question(version, method, params)
}

/// Makes a client's answer to a question fit for its version, of either era. A program that answers contains the tables
/// of answers by this, and not those of all results.
pub fn lower_answer(version: ProtocolVersion, method: &Method, result: &Raw) -> Raw {
    project::answer(version, method, result)
}

/// About how many bytes a message's parts take.
fn size(message: &Message) -> usize {
    match message {
        Message::Request(request) => {
            let meta = request.meta.envelope.as_ref().map_or(0, |envelope| envelope.members().len());
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
    w.name(r#""id":"#);
    request.id.write(w);
    w.name(r#""method":"#);
    w.string(request.method.as_str());
    let meta = &request.meta;
    let says_nothing = meta.envelope.is_none() && meta.progress_token.is_none() && meta.extra.is_none();
    if says_nothing || !takes_meta(&request.params) {
        return write_plain_params(w, &request.params);
    }
    w.name(r#""params":{"_meta":{"#);
    match &meta.envelope {
        Some(envelope) => modern::write_request_meta(w, envelope, meta),
        None => legacy::write_request_meta(w, meta),
    }
    w.end_object();
    if let Some(params) = &request.params {
        splice(w, params.as_str(), &["_meta"]);
    }
    w.end_object();
}

fn write_notification(w: &mut Writer, notification: &Notification) {
    w.name(r#""method":"#);
    w.string(notification.method.as_str());
    let subscription = notification.subscription.as_ref().filter(|_| cfg!(feature = "server"));
    let Some(subscription) = subscription.filter(|_| takes_meta(&notification.params)) else {
        return write_plain_params(w, &notification.params);
    };
    w.key("params");
    w.begin_object();
    let rest = notification.params.as_ref().and_then(|params| splice(w, params.as_str(), &["_meta"]));
    modern::write_notification_meta(w, subscription, rest);
    w.end_object();
}

/// Whether a `_meta` can be written into parameters: what is no object is sent as it stands, for the peer to refuse.
fn takes_meta(params: &Option<Raw>) -> bool {
    params.as_ref().is_none_or(Raw::is_object)
}

fn write_plain_params(w: &mut Writer, params: &Option<Raw>) {
    if let Some(params) = params {
        w.name(r#""params":"#);
        w.raw(params.as_str());
    }
}

fn write_response(w: &mut Writer, response: &Response) {
    use sandwire_json::Write;
    match &response.id {
        Some(id) => {
            w.name(r#""id":"#);
            id.write(w);
        }
        None if response.null_id => w.raw(r#""id":null"#),
        None => {}
    }
    match &response.result {
        Ok(Reply { value, kind, stamp: Some(stamp) }) if cfg!(feature = "server") && value.is_object() => {
            w.name(r#""result":{"#);
            modern::write_result(w, value.as_str(), kind, stamp);
            w.end_object();
        }
        Ok(reply) => {
            w.name(r#""result":"#);
            w.raw(reply.value.as_str());
        }
        Err(error) => {
            w.name(r#""error":"#);
            error.write(w);
        }
    }
}

/// Writes the members of an object except those named, and gives the value of the first of these.
///
/// What cannot be taken apart, since it is nested deeper than a reader goes, is written as it stands: the peer may
/// read it, and nothing is left out in silence.
fn splice<'a>(w: &mut Writer, object: &'a str, omit: &[&str]) -> Option<&'a str> {
    if !may_name(object, omit) {
        w.members(object);
        return None;
    }
    let mut first = None;
    // Members that stand together and are kept, as far as they were read and not yet written.
    let mut run = None;
    let mut end = 0;
    let read = Reader::new(object).object(&mut |key, r| {
        let member = r.member();
        let start = *run.get_or_insert(member);
        let value = r.raw()?;
        match omit.iter().position(|name| *name == key) {
            None => end = r.offset(),
            Some(index) => {
                run = None;
                if start < member {
                    w.raw(object.get(start..end).unwrap_or_default());
                }
                if index == 0 {
                    first = Some(value);
                }
            }
        }
        Ok(())
    });
    if read.is_err() {
        end = object.rfind('}').unwrap_or_default();
    }
    if let Some(rest) = run.and_then(|start| object.get(start..end)) {
        w.raw(rest);
    }
    first
}
