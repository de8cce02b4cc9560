//! The edge of the modern era: metadata in every message.

use sandwire_json::Write as _;
use sandwire_json::{Raw, Writer};

use super::splice;
use crate::jsonrpc::RequestId;
use crate::meta::{Envelope, RequestMeta, ResultKind, Stamp};
use crate::{Method, ProtocolVersion, model};

/// Who a server says it is, in a result's `_meta`.
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// The version of a request, in its `_meta`.
pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// What the client can do, in a request's `_meta`.
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// Who a client says it is, in a request's `_meta`.
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// From which level on a request wants log messages, in its `_meta`.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// The listen request that a notification or a result belongs to, in its `_meta`.
pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
/// Whether a result ends its request.
pub const RESULT_TYPE: &str = "resultType";
/// How long a result may be kept.
pub const TTL_MS: &str = "ttlMs";
/// For whom a result may be kept.
pub const CACHE_SCOPE: &str = "cacheScope";

/// Takes out of a result what only the legacy era has.
pub fn lower_result(method: &Method, result: &Raw) -> Raw {
    super::project::result(ProtocolVersion::V2026_07_28, method, model::result_type(method), result)
}

/// Takes out of a result that asks for input what only the legacy era has.
pub fn lower_input(result: &Raw) -> Raw {
    super::project::input_required(result)
}

/// Takes out of parameters what only the legacy era has.
pub fn lower_params(method: &Method, params: &Raw) -> Raw {
    super::project::params(ProtocolVersion::V2026_07_28, method, params)
}

/// Writes the members of a request's `_meta`.
pub(super) fn write_request_meta(w: &mut Writer, envelope: &Envelope, meta: &RequestMeta) {
    w.raw(envelope.members());
    if let Some(token) = &meta.progress_token {
        w.key("progressToken");
        token.write(w);
    }
    if let Some(level) = &meta.log_level {
        w.key(LOG_LEVEL);
        level.write(w);
    }
    if let Some(extra) = &meta.extra {
        w.members(extra.as_str());
    }
}

pub(super) fn write_notification_meta(w: &mut Writer, subscription: &RequestId, rest: Option<&str>) {
    w.name(r#""_meta":{"#);
    w.key(SUBSCRIPTION_ID);
    subscription.write(w);
    if let Some(rest) = rest {
        splice(w, rest, &[SUBSCRIPTION_ID]);
    }
    w.end_object();
}

/// Writes the members of a result, its own and those that the stamp stands for.
pub(super) fn write_result(w: &mut Writer, value: &str, kind: &ResultKind, stamp: &Stamp) {
    w.key(RESULT_TYPE);
    kind.write(w);
    let own: &[&str] =
        if stamp.cache.is_some() { &["_meta", RESULT_TYPE, TTL_MS, CACHE_SCOPE] } else { &["_meta", RESULT_TYPE] };
    if let Some(cache) = &stamp.cache {
        w.key(TTL_MS);
        w.integer(i64::try_from(cache.ttl_ms).unwrap_or(i64::MAX));
        w.key(CACHE_SCOPE);
        w.string(cache.scope.as_str());
    }
    let rest = splice(w, value, own);
    if rest.is_none() && stamp.server_info.is_none() && stamp.subscription.is_none() {
        return;
    }
    w.name(r#""_meta":{"#);
    if let Some(info) = &stamp.server_info {
        w.key(SERVER_INFO);
        info.write(w);
    }
    if let Some(subscription) = &stamp.subscription {
        w.key(SUBSCRIPTION_ID);
        subscription.write(w);
    }
    let stamped: &[&str] = match (&stamp.server_info, &stamp.subscription) {
        (Some(_), Some(_)) => &[SERVER_INFO, SUBSCRIPTION_ID],
        (Some(_), None) => &[SERVER_INFO],
        (None, Some(_)) => &[SUBSCRIPTION_ID],
        (None, None) => &[],
    };
    if let Some(rest) = rest {
        splice(w, rest, stamped);
    }
    w.end_object();
}
