//! The edge of the modern era.

use sandwire_json::Raw;

use crate::Method;

/// Takes out of a result what only the legacy era has.
pub fn lower_result(method: &Method, result: &Raw) -> Raw {
    let _ = method;
    result.clone()
}
