//! [Elicitation](https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation).

use sandwire_json::shape::{Shape, Type, Union, Variant};
use sandwire_json::{Number, Raw, Read, Reader, Write, Writer};

use super::macros::{noun, open_enum, serde_by_text};
use super::support::{Described, Map, shape_of};
use super::task::TaskMetadata;
use crate::version::ProtocolVersion;

open_enum! {
    /// How a user is asked.
    ElicitMode {
        /// By a form.
        Form = "form",
        /// By an address to visit.
        Url = "url",
    }
}

open_enum! {
    /// What a user did.
    ElicitAction {
        /// Answered.
        Accept = "accept",
        /// Refused.
        Decline = "decline",
        /// Went away.
        Cancel = "cancel",
    }
}

noun! {
    /// A form to fill in.
    ElicitRequestFormParams {
        /// What to tell the user.
        message: String = "message",
        /// The fields.
        requested_schema: RequestedSchema = "requestedSchema",
    } optional {
        /// `form`, or absent.
        mode: ElicitMode = "mode" since V2025_11_25,
        /// The wish to have it run as a task (2025-11-25).
        task: TaskMetadata = "task" since V2025_11_25 until V2025_11_25,
    }
}

noun! {
    /// An address to visit.
    ElicitRequestURLParams("mode" = "url") {
        /// What to tell the user.
        message: String = "message",
        /// The address.
        url: String = "url",
    } optional {
        /// What the notification of its completion names it by (2025-11-25, where it must be there).
        elicitation_id: String = "elicitationId" until V2025_11_25,
        /// The wish to have it run as a task (2025-11-25).
        task: TaskMetadata = "task" since V2025_11_25 until V2025_11_25,
    }
}

/// What `elicitation/create` is called with. One without a mode is a form.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ElicitRequestParams {
    /// A form to fill in.
    Form(ElicitRequestFormParams),
    /// An address to visit.
    Url(ElicitRequestURLParams),
    /// One of a mode that is not known here.
    Other(Raw),
}

impl From<ElicitRequestFormParams> for ElicitRequestParams {
    fn from(params: ElicitRequestFormParams) -> Self {
        Self::Form(params)
    }
}

impl From<ElicitRequestURLParams> for ElicitRequestParams {
    fn from(params: ElicitRequestURLParams) -> Self {
        Self::Url(params)
    }
}

impl Read for ElicitRequestParams {
    fn read(r: &mut Reader<'_>) -> Result<Self, sandwire_json::Error> {
        match r.look_up("mode")? {
            None | Some("\"form\"" | "null") => ElicitRequestFormParams::read(r).map(Self::Form),
            Some("\"url\"") => ElicitRequestURLParams::read(r).map(Self::Url),
            Some(_) => Raw::read(r).map(Self::Other),
        }
    }
}

impl Write for ElicitRequestParams {
    fn write(&self, w: &mut Writer) {
        match self {
            Self::Form(params) => params.write(w),
            Self::Url(params) => params.write(w),
            Self::Other(raw) => raw.write(w),
        }
    }
}

impl Described for ElicitRequestParams {
    const TYPE: Type = {
        const fn mode(tag: &'static str, shape: &'static Shape, first: ProtocolVersion) -> Variant {
            Variant { tag, shape, since: first.level(), until: u8::MAX }
        }
        const FORM: &Shape = shape_of::<ElicitRequestFormParams>();
        const URL: &Shape = shape_of::<ElicitRequestURLParams>();
        static UNION: Union = Union {
            tag: "mode",
            variants: &[
                mode("url", URL, ProtocolVersion::V2025_11_25),
                mode("form", FORM, ProtocolVersion::V2025_06_18),
                mode("", FORM, ProtocolVersion::V2025_06_18),
            ],
        };
        Type::Union(&UNION)
    };
}

serde_by_text!(ElicitRequestParams);

noun! {
    /// The fields of a form: a flat object of primitive values.
    RequestedSchema("type" = "object") {
        /// The fields.
        properties: Map<PrimitiveSchemaDefinition> = "properties",
    } optional {
        /// The dialect.
        schema: String = "$schema" since V2025_11_25,
        /// Which fields must be filled in.
        required: Vec<String> = "required",
    }
}

noun! {
    /// A field for text.
    StringSchema("type" = "string") {} optional {
        /// Its label.
        title: String = "title",
        /// What it is for.
        description: String = "description",
        /// How short the text may be.
        min_length: Number = "minLength",
        /// How long the text may be.
        max_length: Number = "maxLength",
        /// `email`, `uri`, `date` or `date-time`.
        format: String = "format",
        /// What it is filled with.
        default: String = "default" since V2025_11_25,
    }
}

open_enum! {
    /// Which numbers a field takes.
    NumberKind {
        /// All.
        Number = "number",
        /// Integers.
        Integer = "integer",
    }
}

noun! {
    /// A field for a number.
    NumberSchema {
        /// Which numbers.
        kind: NumberKind = "type",
    } optional {
        /// Its label.
        title: String = "title",
        /// What it is for.
        description: String = "description",
        /// The smallest.
        minimum: Number = "minimum",
        /// The largest.
        maximum: Number = "maximum",
        /// What it is filled with.
        default: Number = "default" since V2025_11_25,
    }
}

noun! {
    /// A field for yes or no.
    BooleanSchema("type" = "boolean") {} optional {
        /// Its label.
        title: String = "title",
        /// What it is for.
        description: String = "description",
        /// What it is filled with.
        default: bool = "default",
    }
}

noun! {
    /// A choice of one, each named by its value.
    UntitledSingleSelectEnumSchema("type" = "string") {
        /// The values.
        values: Vec<String> = "enum",
    } optional {
        /// Its label.
        title: String = "title",
        /// What it is for.
        description: String = "description",
        /// The names of the values, as 2025-06-18 wrote them.
        enum_names: Vec<String> = "enumNames",
        /// What it is filled with.
        default: String = "default" since V2025_11_25,
    }
}

noun! {
    /// A value and its name.
    EnumOption {
        /// The value.
        value: String = "const",
        /// Its name.
        title: String = "title",
    } optional {}
}

noun! {
    /// A choice of one, each with a name.
    TitledSingleSelectEnumSchema("type" = "string") {
        /// The values and their names.
        one_of: Vec<EnumOption> = "oneOf",
    } optional {
        /// Its label.
        title: String = "title",
        /// What it is for.
        description: String = "description",
        /// What it is filled with.
        default: String = "default",
    }
}

noun! {
    /// A choice of several.
    MultiSelectEnumSchema("type" = "array") {
        /// `{"type":"string","enum":[…]}`, or `{"anyOf":[…]}` with names.
        items: Raw as object = "items",
    } optional {
        /// Its label.
        title: String = "title",
        /// What it is for.
        description: String = "description",
        /// How few may be chosen.
        min_items: Number = "minItems",
        /// How many may be chosen.
        max_items: Number = "maxItems",
        /// What is chosen at first.
        default: Vec<String> = "default",
    }
}

/// One field of a form.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PrimitiveSchemaDefinition {
    /// Text.
    String(StringSchema),
    /// A number.
    Number(NumberSchema),
    /// Yes or no.
    Boolean(BooleanSchema),
    /// One of several values.
    Choice(UntitledSingleSelectEnumSchema),
    /// One of several values with names.
    TitledChoice(TitledSingleSelectEnumSchema),
    /// Some of several values.
    MultiChoice(MultiSelectEnumSchema),
    /// One that is not known here.
    Other(Raw),
}

impl Read for PrimitiveSchemaDefinition {
    fn read(r: &mut Reader<'_>) -> Result<Self, sandwire_json::Error> {
        match r.look_up("type")? {
            Some("\"string\"") if r.look_up("enum")?.is_some() => {
                UntitledSingleSelectEnumSchema::read(r).map(Self::Choice)
            }
            Some("\"string\"") if r.look_up("oneOf")?.is_some() => {
                TitledSingleSelectEnumSchema::read(r).map(Self::TitledChoice)
            }
            Some("\"string\"") => StringSchema::read(r).map(Self::String),
            Some("\"number\"" | "\"integer\"") => NumberSchema::read(r).map(Self::Number),
            Some("\"boolean\"") => BooleanSchema::read(r).map(Self::Boolean),
            Some("\"array\"") => MultiSelectEnumSchema::read(r).map(Self::MultiChoice),
            _ => Raw::read(r).map(Self::Other),
        }
    }
}

impl Write for PrimitiveSchemaDefinition {
    fn write(&self, w: &mut Writer) {
        match self {
            Self::String(schema) => schema.write(w),
            Self::Number(schema) => schema.write(w),
            Self::Boolean(schema) => schema.write(w),
            Self::Choice(schema) => schema.write(w),
            Self::TitledChoice(schema) => schema.write(w),
            Self::MultiChoice(schema) => schema.write(w),
            Self::Other(raw) => raw.write(w),
        }
    }
}

impl Described for PrimitiveSchemaDefinition {
    const TYPE: Type = Type::AnyObject;
}

serde_by_text!(PrimitiveSchemaDefinition);

noun! {
    /// What a user answered.
    ElicitResult {
        /// What the user did.
        action: ElicitAction = "action",
    } optional {
        /// The fields, if a form was filled in: strings, numbers, booleans, arrays of strings.
        content: Map<Raw> = "content",
        /// Metadata (legacy).
        meta: Raw as object = "_meta" until V2025_11_25,
    }
}

noun! {
    /// What `notifications/elicitation/complete` tells (2025-11-25).
    ElicitationCompleteNotificationParams {
        /// Which elicitation.
        elicitation_id: String = "elicitationId",
    } optional {
        /// Metadata.
        meta: Raw as object = "_meta",
    }
}
