//! Rewriting text for a version by the nouns' tables.

use sandwire_json::Raw;

use crate::{Method, ProtocolVersion};

pub(super) fn result(version: ProtocolVersion, method: &Method, value: &Raw) -> Raw {
    let _ = (version, method);
    value.clone()
}

pub(super) fn params(version: ProtocolVersion, method: &Method, value: &Raw) -> Raw {
    let _ = (version, method);
    value.clone()
}
