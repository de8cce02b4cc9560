//! Tool arguments mirrored into `Mcp-Param-*` header fields, where a tool's input schema says `x-mcp-header`, and
//! the encoding of values that a header field cannot carry as they are.

use super::{Headers, names};
use crate::base64::{self, Kind as Base64};
use sandwire_json::{Error as JsonError, Kind, Raw, Reader, Writer, find};
use std::{borrow::Cow, collections::BTreeMap, fmt};

const KEYWORD: &str = "x-mcp-header";
const PREFIX: &str = "=?base64?";
const SUFFIX: &str = "?=";
/// More annotations than fit into the head of a request make a schema invalid, as do names longer than these.
const MAX_ANNOTATIONS: usize = 64;
const MAX_PATH_BYTES: usize = 1024;

/// One annotated property of a tool's input schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamHeader {
    header: String,
    path: Vec<String>,
}

impl ParamHeader {
    /// The header field's whole name, as the schema spells it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.header
    }

    /// The value these arguments have at the property; `None` if it is absent, null, or no string, number or boolean.
    #[must_use]
    pub fn value(&self, arguments: &str) -> Option<String> {
        let mut at = arguments;
        for key in &self.path {
            at = find(at, key)?;
        }
        let mut reader = Reader::new(at);
        match reader.peek().ok()? {
            Kind::String => reader.string().ok().map(|text| encode_value(&text).into_owned()),
            Kind::Number => reader.number().ok().map(Into::into),
            Kind::Bool => reader.boolean().ok().map(|value| (if value { "true" } else { "false" }).into()),
            _ => None,
        }
    }
}

/// How the annotations of a schema break the rules. The tool must not be used over HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidAnnotation {
    /// A name is empty, no text, or cannot be part of a header field's name.
    Name,
    /// A name stands twice.
    Duplicate,
    /// The property is no string, integer or boolean.
    Type,
    /// The property is not reached through `properties` alone.
    Place,
    /// There are too many, or one is too deep.
    TooMany,
    /// The schema cannot be read.
    Unreadable,
}

impl fmt::Display for InvalidAnnotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Name => "x-mcp-header has no name that a header field can have",
            Self::Duplicate => "x-mcp-header gives two properties the same name",
            Self::Type => "x-mcp-header stands at a property that is no string, integer or boolean",
            Self::Place => "x-mcp-header stands where `properties` alone do not lead",
            Self::TooMany => "x-mcp-header stands at too many properties, or too deep",
            Self::Unreadable => "the input schema cannot be read",
        })
    }
}

impl std::error::Error for InvalidAnnotation {}

/// The annotations of an input schema.
///
/// # Errors
/// If one of them is empty, no token, used twice, not on a string, integer or boolean, or not reachable through
/// `properties` alone.
pub fn annotations(input_schema: &str) -> Result<Vec<ParamHeader>, InvalidAnnotation> {
    let mut found = Vec::new();
    if !mentions_keyword(input_schema) {
        return Ok(found);
    }
    let mut path = Vec::new();
    let mut fault = None;
    let read = reachable(&mut Reader::new(input_schema), &mut path, &mut found, &mut fault);
    match fault {
        None if read.is_ok() => Ok(found),
        fault => Err(fault.unwrap_or(InvalidAnnotation::Unreadable)),
    }
}

fn reachable(
    reader: &mut Reader<'_>,
    path: &mut Vec<String>,
    found: &mut Vec<ParamHeader>,
    fault: &mut Option<InvalidAnnotation>,
) -> Result<(), JsonError> {
    if reader.peek()? != Kind::Object {
        return reader.skip();
    }
    let mut header = None;
    let mut scalar = false;
    reader.object(&mut |key, reader| match key {
        KEYWORD => {
            header = Some(if reader.peek()? == Kind::String {
                reader.string()?.into_owned()
            } else {
                reader.skip()?;
                String::new()
            });
            Ok(())
        }
        "type" => {
            scalar = matches!(reader.raw()?, "\"string\"" | "\"integer\"" | "\"boolean\"");
            Ok(())
        }
        "properties" if reader.peek()? == Kind::Object => reader.object(&mut |name, reader| {
            path.push(name.into());
            let read = reachable(reader, path, found, fault);
            path.pop();
            read
        }),
        _ => unreachable_part(key, reader, fault),
    })?;
    if let Some(token) = header {
        let mut name = String::with_capacity(names::PARAM_PREFIX.len() + token.len());
        name.push_str("Mcp-Param-");
        name.push_str(&token);
        let wrong = if !is_token(&token) {
            InvalidAnnotation::Name
        } else if path.is_empty() {
            InvalidAnnotation::Place
        } else if !scalar {
            InvalidAnnotation::Type
        } else if found.iter().any(|other| other.header.eq_ignore_ascii_case(&name)) {
            InvalidAnnotation::Duplicate
        } else if found.len() >= MAX_ANNOTATIONS || path.iter().map(String::len).sum::<usize>() > MAX_PATH_BYTES {
            InvalidAnnotation::TooMany
        } else {
            found.push(ParamHeader { header: name, path: path.clone() });
            return Ok(());
        };
        fault.get_or_insert(wrong);
    }
    Ok(())
}

/// A part of the schema in which no annotation may stand.
fn unreachable_part(
    key: &str,
    reader: &mut Reader<'_>,
    fault: &mut Option<InvalidAnnotation>,
) -> Result<(), JsonError> {
    match key {
        "default" | "enum" | "const" | "examples" => reader.skip(),
        KEYWORD => {
            fault.get_or_insert(InvalidAnnotation::Place);
            reader.skip()
        }
        _ => match reader.peek()? {
            Kind::Object => {
                let names =
                    matches!(key, "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas");
                // Members of these are named by the author; what they hold is schemas again.
                reader.object(&mut |key, reader| unreachable_part(if names { "" } else { key }, reader, fault))
            }
            Kind::Array => reader.array(&mut |reader| unreachable_part("", reader, fault)),
            _ => reader.skip(),
        },
    }
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// Whether the word `x-mcp-header` stands anywhere in a schema, found out when the program is compiled.
#[must_use]
pub const fn mentions_header(schema: &'static str) -> bool {
    let mut text = schema.as_bytes();
    loop {
        if begins(text, KEYWORD.as_bytes()) {
            return true;
        }
        match text {
            [_, rest @ ..] => text = rest,
            [] => return false,
        }
    }
}

const fn begins(mut text: &[u8], mut word: &[u8]) -> bool {
    loop {
        match (text, word) {
            (_, []) => return true,
            ([a, text_rest @ ..], [b, word_rest @ ..]) if *a == *b => (text, word) = (text_rest, word_rest),
            _ => return false,
        }
    }
}

/// Whether the keyword stands anywhere in the text: a search that looks at about every fifth byte.
fn mentions_keyword(text: &str) -> bool {
    let needle = KEYWORD.as_bytes();
    let bytes = text.as_bytes();
    let mut end = needle.len();
    while let Some(last) = bytes.get(end - 1) {
        if *last == b'r' && bytes.get(end - needle.len()..end) == Some(needle) {
            return true;
        }
        end += match last {
            b'e' => 1,
            b'd' => 2,
            b'a' => 3,
            b'h' => 5,
            b'-' => 6,
            b'p' => 7,
            b'c' => 8,
            b'm' => 9,
            b'x' => 11,
            _ => 12,
        };
    }
    false
}

/// Whether the header fields of a call repeat those of its arguments that the tool's input schema says they must.
/// Numbers are compared by value. A schema whose annotations break the rules demands nothing.
#[must_use]
pub fn mirrored(input_schema: &str, arguments: &str, headers: &Headers) -> bool {
    annotations(input_schema).unwrap_or_default().iter().all(|annotation| {
        let mut fields = headers.get_all(annotation.name());
        let same = match (annotation.value(arguments), fields.next()) {
            (None, None) => true,
            (Some(value), Some(field)) => same_value(&value, field),
            _ => false,
        };
        same && fields.next().is_none()
    })
}

/// Whether a header field says the same as an argument, numbers by value.
fn same_value(value: &str, field: &str) -> bool {
    let (Ok(value), Ok(field)) = (decode_value(value), decode_value(field)) else {
        return false;
    };
    value == field || matches!((whole(&value), whole(&field)), (Some(value), Some(field)) if value == field)
}

/// The digits of a whole number, without a fraction of zeros.
fn whole(text: &str) -> Option<&str> {
    let digits = match text.bytes().position(|byte| byte == b'.') {
        Some(point) => {
            let zeros = text.get(point + 1..)?;
            text.get(..point).filter(|_| !zeros.is_empty() && zeros.bytes().all(|byte| byte == b'0'))?
        }
        None => text,
    };
    let unsigned = digits.strip_prefix('-').unwrap_or(digits);
    (!unsigned.is_empty() && unsigned.bytes().all(|byte| byte.is_ascii_digit())).then_some(digits)
}

/// What a client learned from `tools/list` about which arguments to mirror.
#[derive(Clone, Debug, Default)]
pub struct ParamHeaders {
    tools: BTreeMap<String, Vec<ParamHeader>>,
}

impl ParamHeaders {
    /// Nothing learned yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { tools: BTreeMap::new() }
    }

    /// Learns from a result of `tools/list`. If tools have invalid annotations, the result without them is returned, and
    /// their names and faults are put into `dropped`.
    pub fn learn(&mut self, result: &Raw, dropped: &mut Vec<(String, InvalidAnnotation)>) -> Option<Raw> {
        let mentioned = mentions_keyword(result.as_str());
        if !mentioned && self.tools.is_empty() {
            return None;
        }
        let tools = find(result.as_str(), "tools")?;
        let mut kept = Writer::with_capacity(if mentioned { tools.len() } else { 0 });
        let before = dropped.len();
        kept.begin_array();
        Reader::new(tools)
            .array(&mut |reader| {
                let tool = reader.raw()?;
                match self.learn_tool(tool) {
                    Ok(()) if mentioned => kept.raw(tool),
                    Ok(()) => {}
                    Err(fault) => dropped.push(fault),
                }
                Ok(())
            })
            .ok()?;
        kept.end_array();
        if dropped.len() == before {
            return None;
        }
        let kept = kept.finish();
        let mut replaced = Writer::with_capacity(result.as_str().len());
        replaced.begin_object();
        result
            .reader()
            .object(&mut |key, reader| {
                let value = reader.raw()?;
                replaced.key(key);
                replaced.raw(if key == "tools" { &kept } else { value });
                Ok(())
            })
            .ok()?;
        replaced.end_object();
        Some(replaced.into_raw())
    }

    fn learn_tool(&mut self, tool: &str) -> Result<(), (String, InvalidAnnotation)> {
        let Some(name) = find(tool, "name").and_then(|name| Reader::new(name).string().ok()) else { return Ok(()) };
        let learned = find(tool, "inputSchema").map_or_else(|| Ok(Vec::new()), annotations);
        match learned {
            Ok(learned) if !learned.is_empty() => {
                self.tools.insert(name.into_owned(), learned);
                Ok(())
            }
            other => {
                self.tools.remove(&*name);
                other.map(|_| ()).map_err(|fault| (name.into_owned(), fault))
            }
        }
    }

    /// Adds the fields for a `tools/call` with these parameters.
    pub fn mirror(&self, params: &str, headers: &mut Headers) {
        if self.tools.is_empty() {
            return;
        }
        let Some(name) = find(params, "name").and_then(|name| Reader::new(name).string().ok()) else { return };
        let Some(learned) = self.tools.get(&*name) else { return };
        let Some(arguments) = find(params, "arguments") else { return };
        for param in learned {
            if let Some(value) = param.value(arguments) {
                headers.push(param.header.clone(), value);
            }
        }
    }
}

/// A value as a header field can carry it: as it is, or in base64 between markers.
///
/// ```
/// use sandwire_proto::http::param_headers::encode_value;
///
/// assert_eq!(encode_value("us west 1"), "us west 1");
/// assert_eq!(encode_value(" padded "), "=?base64?IHBhZGRlZCA=?=");
/// ```
#[must_use]
pub fn encode_value(value: &str) -> Cow<'_, str> {
    let marked = value.starts_with(PREFIX) && value.ends_with(SUFFIX);
    let padded = value.starts_with(' ') || value.ends_with(' ');
    if !marked && !padded && value.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        return Cow::Borrowed(value);
    }
    let mut encoded = String::from(PREFIX);
    base64::encode(Base64::Standard, value.as_bytes(), &mut encoded);
    encoded.push_str(SUFFIX);
    Cow::Owned(encoded)
}

/// The value a header field stands for.
///
/// # Errors
/// If it is marked as base64 and is not that, or not UTF-8 inside.
pub fn decode_value(field: &str) -> Result<Cow<'_, str>, InvalidValue> {
    match field.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX)) {
        None => Ok(Cow::Borrowed(field)),
        Some(inside) => {
            let bytes = base64::decode(Base64::Standard, inside).ok_or(InvalidValue)?;
            String::from_utf8(bytes).map(Cow::Owned).map_err(|_| InvalidValue)
        }
    }
}

/// A header field that claims to be base64 and is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidValue;
