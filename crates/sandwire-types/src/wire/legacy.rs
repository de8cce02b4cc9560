//! The edge of the legacy era: its metadata, and what an older peer is told instead of newer words.

use sandwire_json::shape::Type;
use sandwire_json::{Raw, Write as _, Writer};

use crate::meta::RequestMeta;
use crate::{Method, ProtocolVersion, model};

/// Makes a result fit for a peer of a legacy version: what is newer is left out or told in older words.
pub fn lower_result(version: ProtocolVersion, method: &Method, result: &Raw) -> Raw {
    lower_result_of(version, method, model::result_type(method), result)
}

/// As [`lower_result`], by the table of the result. `None` copies: a program that names the tables of the methods it
/// serves contains no others.
pub fn lower_result_of(version: ProtocolVersion, method: &Method, kind: Option<Type>, result: &Raw) -> Raw {
    super::project::result(version, method, kind, result)
}

/// Makes parameters fit for a peer of a legacy version.
pub fn lower_params(version: ProtocolVersion, method: &Method, params: &Raw) -> Raw {
    super::project::params(version, method, params)
}

/// Wraps a call's structured content as the `result` of an object, as [`lower_result`] does with what
/// is no object; for a tool whose output [is wrapped](wraps_output) and whose content is an object.
pub fn wrap_structured(result: &Raw) -> Raw {
    super::project::wrap_structured(result)
}

/// Whether a tool's output schema, which legacy peers want to be of type object, is wrapped for them.
pub fn wraps_output(schema: &Raw) -> bool {
    !super::project::is_object_schema(schema.as_str())
}

/// Writes the members of a request's `_meta`.
pub(super) fn write_request_meta(w: &mut Writer, meta: &RequestMeta) {
    if let Some(token) = &meta.progress_token {
        w.key("progressToken");
        token.write(w);
    }
    if let Some(extra) = &meta.extra {
        w.members(extra.as_str());
    }
}
