//! The header fields of a request, by themselves and against its body.

use std::sync::Arc;

use sandwire_json::{Raw, find};
use sandwire_proto::{
    PeerInfo,
    http::{RequestHead, Verb, names, param_headers},
};
use sandwire_types::{Envelope, Era, ErrorCode, Method, ProtocolVersion, Request, RequestId};

use super::{Known, Refusal, Shared, VERSION};
use crate::guard::members;

/// How the header fields of a request and its body differ.
pub(super) type Mismatch = &'static str;

/// The known version that the header names.
pub(super) fn version_of(head: &RequestHead) -> Option<ProtocolVersion> {
    match head.headers.get(VERSION) {
        Some(name) => ProtocolVersion::parse(name),
        None => Some(ProtocolVersion::V2025_03_26),
    }
}

pub(super) fn verb(head: &RequestHead) -> Result<(), Refusal> {
    if head.method == Verb::Post {
        return Ok(());
    }
    let message = "this address takes POST, and what else Allow names for the versions that have sessions; send POST";
    Err(Refusal::new(405, ErrorCode::INVALID_REQUEST, message))
}

pub(super) fn content_type(head: &RequestHead) -> Result<(), Refusal> {
    if head.headers.media_type().is_some_and(|kind| kind.eq_ignore_ascii_case("application/json")) {
        return Ok(());
    }
    let message = "the body must be JSON; send Content-Type: application/json";
    Err(Refusal::new(415, ErrorCode::INVALID_REQUEST, message))
}

/// What clients send, which needs no closer look.
const USUAL: &str = "application/json, text/event-stream";

/// Both kinds of answer must be welcome; without the field, all are.
pub(super) fn accept(head: &RequestHead) -> Result<(), Refusal> {
    let takes_both = || takes(head, "application/json") && takes(head, "text/event-stream");
    if head.headers.get(names::ACCEPT).is_none_or(|accept| accept == USUAL || takes_both()) {
        return Ok(());
    }
    let message = "the answer may be JSON or an event stream; send Accept: application/json, text/event-stream";
    Err(Refusal::new(406, ErrorCode::INVALID_REQUEST, message))
}

/// Whether the client takes answers of this type. Of several ranges that mean it, the one that names most counts.
#[inline(never)]
pub(super) fn takes(head: &RequestHead, media_type: &str) -> bool {
    let mut closest = None;
    for field in head.headers.get_all(names::ACCEPT) {
        for range in members(field) {
            closest = closest.max(welcome(range, media_type));
        }
    }
    closest.is_some_and(|(_, welcome)| welcome)
}

/// How many bytes of a media type a range such as `application/*;q=0.5` names, if it means the type at all, and
/// whether the type is welcome: a weight of 0 says that it is not.
fn welcome(range: &[u8], media_type: &str) -> Option<(usize, bool)> {
    let mut parts = range.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
    let kind = parts.next()?;
    let named = match kind.strip_suffix(b"*") {
        Some(b"*/") => b"",
        Some(group) if group.ends_with(b"/") => group,
        _ if kind.len() == media_type.len() => kind,
        _ => return None,
    };
    let is_zero = |weight: &[u8]| weight.iter().all(|byte| matches!(byte, b'0' | b'.'));
    let unwelcome = parts.any(|part| matches!(part, [b'q' | b'Q', b'=', weight @ ..] if is_zero(weight)));
    media_type.as_bytes().get(..named.len())?.eq_ignore_ascii_case(named).then_some((named.len(), !unwelcome))
}

/// What a modern request says in headers, it says once.
pub(super) fn routing(head: &RequestHead) -> Result<(), Refusal> {
    if [VERSION, names::METHOD, names::NAME].iter().all(|name| head.headers.get_all(name).count() <= 1) {
        return Ok(());
    }
    let message = "a routing header is there twice; send MCP-Protocol-Version, Mcp-Method and Mcp-Name once";
    Err(Refusal::new(400, ErrorCode::HEADER_MISMATCH, message))
}

impl Shared {
    /// The header fields of a modern request, in the order in which peers report their faults.
    pub(super) fn check_modern(
        &self,
        head: &RequestHead,
        request: &Request,
        envelope: &Envelope,
    ) -> Result<(), Mismatch> {
        let version = head.headers.get(VERSION);
        if version.is_some_and(|version| version != envelope.version()) {
            return Err("MCP-Protocol-Version differs from the version in params._meta; send the same in both");
        }
        let method = head.headers.get(names::METHOD);
        if method.is_some_and(|method| method != request.method.as_str()) {
            return Err("Mcp-Method differs from the body's method; send the same in both");
        }
        let config = self.endpoint.config();
        if !envelope.protocol_version().is_some_and(|version| config.versions.contains(&version)) {
            // The machine answers with the versions it speaks.
            return Ok(());
        }
        if version.is_none() {
            return Err("MCP-Protocol-Version is missing; repeat the version of params._meta in it");
        }
        if method.is_none() {
            return Err("Mcp-Method is missing; repeat the body's method in it");
        }
        match check_name(head, request, config.name_source(&request.method))? {
            Some(tool) if request.method == Method::ToolsCall => self.check_params(head, request, &tool),
            _ => Ok(()),
        }
    }

    fn check_params(&self, head: &RequestHead, request: &Request, tool: &str) -> Result<(), Mismatch> {
        let params = request.params.as_ref().map_or("{}", Raw::as_str);
        let arguments = find(params, "arguments").unwrap_or("{}");
        if self.endpoint.is_mirrored(tool, arguments, &head.headers) {
            return Ok(());
        }
        Err("a Mcp-Param header differs from the argument it repeats; list the tools again and repeat the arguments \
             that their schemas mark with x-mcp-header")
    }

    /// What is known of the client of a legacy request.
    pub(super) fn legacy_peer(
        &self,
        head: &RequestHead,
        id: Option<&RequestId>,
        from: &Known,
    ) -> Result<Arc<PeerInfo>, Refusal> {
        let served = |version: &ProtocolVersion| {
            version.era() == Era::Legacy && self.endpoint.config().versions.contains(version)
        };
        match version_of(head).filter(served) {
            Some(version) => {
                let mut peer = PeerInfo::new(version, Raw::object());
                peer.principal = from.clone();
                Ok(Arc::new(peer))
            }
            None => {
                let requested = head.headers.get(VERSION).unwrap_or("2025-03-26");
                let error = self.endpoint.config().unsupported_version(requested);
                Err(Refusal { status: 400, id: id.cloned(), error })
            }
        }
    }
}

/// What the request names, which the field has to repeat.
fn check_name(head: &RequestHead, request: &Request, source: Option<&str>) -> Result<Option<String>, Mismatch> {
    let Some(source) = source else { return Ok(None) };
    let params = request.params.as_ref().map_or("{}", Raw::as_str);
    let Some(name) = string_member(params, source) else { return Ok(None) };
    let Some(field) = head.headers.get(names::NAME) else {
        return Err("Mcp-Name is missing; repeat the name or URI of params in it");
    };
    match param_headers::decode_value(field) {
        Ok(field) if field == name => Ok(Some(name)),
        Ok(_) => Err("Mcp-Name differs from the name or URI in params; send the same in both"),
        Err(_) => Err("Mcp-Name is marked as base64 and is not; encode its UTF-8 as standard base64"),
    }
}

fn string_member(object: &str, key: &str) -> Option<String> {
    sandwire_json::from_str(find(object, key)?).ok()
}
