//! The two things in which what we send may differ from the published schemas. There is no third.

use serde_json::{Value, json};

/// Before 2025-11-25 the schemas know no error without an id. JSON-RPC wants `null` where a request's id could not be
/// read, and so does this.
pub(crate) fn null_id(version: &str, message: &Value) -> Value {
    let mut message = message.clone();
    if version < "2025-11-25" && message.get("id").is_some_and(Value::is_null) {
        message["id"] = json!(0);
    }
    message
}

/// The same for the errors of a batch.
pub(crate) fn null_ids(version: &str, batch: &Value) -> Value {
    batch.as_array().into_iter().flatten().map(|message| null_id(version, message)).collect()
}

/// The specification lets the answer to a form hold any number; where its schemas were generated, `number` became
/// `integer`. Takes the fraction from the numbers in the answer to one form.
pub(crate) fn fractions_of_answer(answer: &mut Value) {
    let is_answer = answer.get("action").is_some_and(Value::is_string);
    let content = answer.get_mut("content").and_then(Value::as_object_mut).filter(|_| is_answer);
    for value in content.into_iter().flat_map(serde_json::Map::values_mut) {
        if value.is_f64() {
            *value = json!(0);
        }
    }
}

/// The same for the answers that a request carries.
pub(crate) fn fractions(request: &Value) -> Value {
    let mut request = request.clone();
    let answers = request.pointer_mut("/params/inputResponses").and_then(Value::as_object_mut);
    answers.into_iter().flat_map(serde_json::Map::values_mut).for_each(fractions_of_answer);
    request
}
