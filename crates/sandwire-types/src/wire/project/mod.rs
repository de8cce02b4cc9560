//! Rewriting text for a version by the nouns' tables: members and content blocks that the version
//! does not have are left out or told in its own words.
//!
//! The text is valid JSON. Where it is not what the tables say it is copied: refusing it is not the
//! business of the edge.

mod content;
mod schema;

use sandwire_json::shape::{Shape, Type, Union, Variant};
use sandwire_json::{Error, Kind, Raw, Reader, Writer};

use super::modern;
use crate::version::Era;
use crate::{Method, ProtocolVersion, model};

pub(super) use schema::{is_object_schema, wrap_structured};

/// A result as `version` has it.
pub(super) fn result(version: ProtocolVersion, method: &Method, kind: Option<Type>, value: &Raw) -> Raw {
    let legacy = version.era() == Era::Legacy;
    match method {
        // Deployed legacy peers refuse an empty result that says anything.
        Method::Ping | Method::LoggingSetLevel | Method::ResourcesSubscribe | Method::ResourcesUnsubscribe
            if legacy =>
        {
            Raw::object()
        }
        Method::ToolsCall if !version.has_structured_content() => {
            let told = content::with_structured_text(value);
            rewritten(version, kind, told.as_ref().unwrap_or(value), legacy)
        }
        Method::ToolsCall if legacy && is_plain_call(version, value) => value.clone(),
        _ => rewritten(version, kind, value, legacy),
    }
}

/// Whether a call's result says nothing that `version` lacks, told from its own members: what nearly every result is,
/// and found out much sooner than by writing it anew.
fn is_plain_call(version: ProtocolVersion, value: &Raw) -> bool {
    let mut plain = version.has_all_content();
    let read = value.reader().object(&mut |key, r| {
        plain &= match key {
            "content" | "isError" => true,
            "structuredContent" => r.peek()? == Kind::Object,
            // Others may have to go, in part or as a whole.
            _ => false,
        };
        Ok(())
    });
    plain && read.is_ok()
}

/// A result that asks for input, as the modern era has it.
pub(super) fn input_required(value: &Raw) -> Raw {
    use crate::model::Described;
    rewritten(ProtocolVersion::V2026_07_28, Some(model::InputRequiredResult::TYPE), value, false)
}

/// Parameters as `version` has them.
pub(super) fn params(version: ProtocolVersion, method: &Method, value: &Raw) -> Raw {
    rewritten(version, model::params_type(method), value, false)
}

/// The parameters of a question to a client, as `version` has them.
pub(super) fn question(version: ProtocolVersion, method: &Method, value: &Raw) -> Raw {
    use crate::model::Described;
    let kind = match method {
        Method::SamplingCreateMessage => Some(model::CreateMessageRequestParams::TYPE),
        Method::ElicitationCreate => Some(model::ElicitRequestParams::TYPE),
        _ => None,
    };
    rewritten(version, kind, value, false)
}

/// What a client answers, as `version` has it.
pub(super) fn answer(version: ProtocolVersion, method: &Method, value: &Raw) -> Raw {
    rewritten(version, model::answer_type(method), value, version.era() == Era::Legacy)
}

fn rewritten(version: ProtocolVersion, kind: Option<Type>, value: &Raw, strip_stamp: bool) -> Raw {
    let kind = kind.unwrap_or(Type::AnyObject);
    let mut projection =
        Projection { version, w: Writer::with_capacity(value.as_str().len() + 64), changed: false, strip_stamp };
    match projection.value(&kind, &mut value.reader()) {
        Ok(()) if projection.changed => projection.w.into_raw(),
        _ => value.clone(),
    }
}

struct Projection {
    version: ProtocolVersion,
    w: Writer,
    /// Whether what was written says anything else than what was read.
    changed: bool,
    /// Whether the next object is a result, whose modern stamp has to go.
    strip_stamp: bool,
}

/// A member whose older form is another one, and not just its absence.
#[derive(Clone, Copy)]
enum Special {
    InputSchema,
    OutputSchema,
    Structured,
    Messages,
    Answer,
    Fields,
    FormAnswers,
}

impl Projection {
    fn level(&self) -> u8 {
        self.version.level()
    }

    fn value(&mut self, kind: &Type, r: &mut Reader<'_>) -> Result<(), Error> {
        match (kind, r.peek()?) {
            (Type::Object(shape), Kind::Object) => self.object(shape, r),
            (Type::AnyObject, Kind::Object) if self.strip_stamp => self.object(&Shape { name: "", fields: &[] }, r),
            (Type::Union(union), Kind::Object) => self.union(union, r),
            (Type::Array(item) | Type::OneOrMany(item), Kind::Array) => {
                self.w.begin_array();
                r.array(&mut |r| self.value(item, r))?;
                self.w.end_array();
                Ok(())
            }
            (Type::OneOrMany(item), _) => self.value(item, r),
            (Type::Map(value), Kind::Object) => {
                self.w.begin_object();
                r.object(&mut |_, r| {
                    self.name(r);
                    self.value(value, r)
                })?;
                self.w.end_object();
                Ok(())
            }
            _ => self.copy(r),
        }
    }

    /// Copies the name of the member whose value is next.
    fn name(&mut self, r: &Reader<'_>) {
        self.w.name(r.since(r.member()));
    }

    fn copy(&mut self, r: &mut Reader<'_>) -> Result<(), Error> {
        self.w.raw(r.raw()?);
        Ok(())
    }

    fn union(&mut self, union: &Union, r: &mut Reader<'_>) -> Result<(), Error> {
        match union.variant(r)? {
            Some(variant) if variant.exists(self.level()) => self.object(variant.shape, r),
            Some(variant) if union.tag == "type" => self.block_as_text(variant, r),
            _ => self.copy(r),
        }
    }

    fn object(&mut self, shape: &Shape, r: &mut Reader<'_>) -> Result<(), Error> {
        let stamped = std::mem::take(&mut self.strip_stamp);
        let level = self.level();
        self.w.begin_object();
        r.object(&mut |key, r| {
            if stamped && matches!(key, modern::RESULT_TYPE | modern::TTL_MS | modern::CACHE_SCOPE) {
                self.changed = true;
                return Ok(());
            }
            if stamped && key == "_meta" && r.peek()? == Kind::Object {
                return self.unstamped_meta(r);
            }
            let Some(field) = shape.field(key) else {
                self.name(r);
                return self.copy(r);
            };
            if !field.exists(level) {
                self.changed = true;
                return Ok(());
            }
            self.name(r);
            match special(self.version, shape.name, key) {
                Some(special) => self.special(special, r),
                None => self.value(&field.kind, r),
            }
        })?;
        self.w.end_object();
        Ok(())
    }

    /// A result's `_meta` without what a modern server puts there.
    fn unstamped_meta(&mut self, r: &mut Reader<'_>) -> Result<(), Error> {
        let mut w = Writer::new();
        let mut left = 0u32;
        let mut dropped = false;
        w.begin_object();
        r.object(&mut |key, r| {
            if matches!(key, modern::SERVER_INFO | modern::SUBSCRIPTION_ID) {
                dropped = true;
                return Ok(());
            }
            left += 1;
            let start = r.member();
            r.skip()?;
            w.raw(r.since(start));
            Ok(())
        })?;
        w.end_object();
        self.changed |= dropped;
        if left > 0 || !dropped {
            self.w.key("_meta");
            self.w.raw(&w.finish());
        }
        Ok(())
    }

    fn special(&mut self, special: Special, r: &mut Reader<'_>) -> Result<(), Error> {
        match (special, r.peek()?) {
            (Special::InputSchema, Kind::Object) => self.schema(r),
            (Special::OutputSchema, Kind::Object) => self.output_schema(r),
            (Special::Structured, Kind::Object) => self.copy(r),
            (Special::Structured, _) => {
                self.changed = true;
                self.w.begin_object();
                self.w.key("result");
                self.copy(r)?;
                self.w.end_object();
                Ok(())
            }
            (Special::Messages, Kind::Array) => self.messages(r),
            (Special::Answer, _) => self.answer(r),
            (Special::Fields, Kind::Object) => self.fields(r),
            (Special::FormAnswers, Kind::Object) => self.form_answers(r),
            _ => self.copy(r),
        }
    }

    /// Writes a block of content that the version does not have as text.
    fn block_as_text(&mut self, variant: &Variant, r: &mut Reader<'_>) -> Result<(), Error> {
        self.changed = true;
        let text = content::in_words(variant.tag, r.raw()?);
        self.w.begin_object();
        self.w.key("type");
        self.w.string("text");
        self.w.key("text");
        self.w.string(&text);
        self.w.end_object();
        Ok(())
    }
}

fn special(version: ProtocolVersion, shape: &str, key: &str) -> Option<Special> {
    if version.era() == Era::Modern {
        return None;
    }
    Some(match (shape, key) {
        ("Tool", "inputSchema") => Special::InputSchema,
        ("Tool", "outputSchema") => Special::OutputSchema,
        ("CallToolResult" | "ToolResultContent", "structuredContent") => Special::Structured,
        ("CreateMessageRequestParams", "messages") if !version.has_message_arrays() => Special::Messages,
        ("CreateMessageResult", "content") if !version.has_message_arrays() => Special::Answer,
        ("ElicitResult", "content") if !version.has_rich_forms() => Special::FormAnswers,
        ("RequestedSchema", "properties") if !version.has_rich_forms() => Special::Fields,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{CallToolResult, Described};

    fn has_all(kind: &Type, level: u8) -> bool {
        match kind {
            Type::Object(shape) => shape.fields.iter().all(|field| field.exists(level) && has_all(&field.kind, level)),
            Type::Array(item) | Type::OneOrMany(item) | Type::Map(item) => has_all(item, level),
            Type::Union(union) => {
                union.variants.iter().all(|one| one.exists(level) && has_all(&Type::Object(one.shape), level))
            }
            _ => true,
        }
    }

    #[test]
    fn the_versions_that_are_said_to_have_all_content_do() {
        let Type::Object(shape) = CallToolResult::TYPE else { panic!("a result is an object") };
        let content = shape.field("content").expect("a result has content");
        for version in crate::KNOWN_VERSIONS {
            assert_eq!(has_all(&content.kind, version.level()), version.has_all_content(), "{version:?}");
        }
    }
}
