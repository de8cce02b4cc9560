//! Forms that are filled in with what their fields have by default.

use crate::handler::Handler;
use sandwire_io::BoxFuture;
use sandwire_json::{Raw, to_raw};
use sandwire_types::{
    ErrorObject, ProtocolVersion,
    model::{ElicitAction, ElicitRequestFormParams, ElicitRequestParams, ElicitResult, Map, PrimitiveSchemaDefinition},
};

/// What the fields of a form are filled with before the user looks at it: those that have a default, by name.
///
/// ```
/// use sandwire_types::model::ElicitRequestFormParams;
///
/// let form: ElicitRequestFormParams = sandwire_json::from_str(
///     r#"{"message":"?","requestedSchema":{"type":"object","properties":{
///         "name":{"type":"string","default":"Ada"},"age":{"type":"integer"}}}}"#,
/// )?;
/// let filled = sandwire_client::form_defaults(&form);
/// assert_eq!(filled.get("name").map(|value| value.as_str()), Some("\"Ada\""));
/// assert_eq!(filled.get("age"), None);
/// # Ok::<(), sandwire_json::Error>(())
/// ```
#[must_use]
pub fn form_defaults(form: &ElicitRequestFormParams) -> Map<Raw> {
    let fields = form.requested_schema.properties.iter();
    fields.filter_map(|(name, field)| Some((name, default_of(field)?))).collect()
}

fn default_of(field: &PrimitiveSchemaDefinition) -> Option<Raw> {
    match field {
        PrimitiveSchemaDefinition::String(field) => field.default.as_ref().map(to_raw),
        PrimitiveSchemaDefinition::Number(field) => field.default.as_ref().map(to_raw),
        PrimitiveSchemaDefinition::Boolean(field) => field.default.as_ref().map(to_raw),
        PrimitiveSchemaDefinition::Choice(field) => field.default.as_ref().map(to_raw),
        PrimitiveSchemaDefinition::TitledChoice(field) => field.default.as_ref().map(to_raw),
        PrimitiveSchemaDefinition::MultiChoice(field) => field.default.as_ref().map(to_raw),
        _ => None,
    }
}

/// Gives the fields that an accepted answer leaves out the values they have by default.
pub fn apply_defaults(form: &ElicitRequestFormParams, answer: &mut ElicitResult) {
    if answer.action != ElicitAction::Accept {
        return;
    }
    let content = answer.content.get_or_insert_default();
    for (name, value) in form_defaults(form).0 {
        if content.get(&name).is_none() {
            content.0.push((name, value));
        }
    }
}

/// A handler of forms whose answers are completed.
pub(crate) struct Completed(pub(crate) Box<dyn Handler>);

impl Handler for Completed {
    fn answer(
        &mut self,
        params: Raw,
        version: Option<ProtocolVersion>,
    ) -> BoxFuture<'static, Result<Raw, ErrorObject>> {
        let asked = sandwire_json::from_str(params.as_str());
        let answer = self.0.answer(params, version);
        match asked {
            Ok(ElicitRequestParams::Form(form)) => {
                Box::pin(async move { answer.await.map(|raw| complete(&form, raw)) })
            }
            _ => answer,
        }
    }
}

fn complete(form: &ElicitRequestFormParams, answer: Raw) -> Raw {
    match sandwire_json::from_str(answer.as_str()) {
        Ok(mut result) => {
            apply_defaults(form, &mut result);
            to_raw(&result)
        }
        Err(_) => answer,
    }
}
