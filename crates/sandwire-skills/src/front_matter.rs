//! Front matter: YAML before a text, as JSON.

use std::{borrow::Cow, fmt};

use sandwire_json::{Raw, Writer};
use saphyr_parser::{Event, Parser, ScalarStyle};

/// The longest front matter, in bytes. A peer's may not take long to read.
const MAX_BYTES: usize = 64 * 1024;

/// How deep its values may be nested.
const MAX_DEPTH: usize = 32;

/// The front matter of a text, an object.
///
/// It is what stands between a first line `---` and the next such line, as YAML 1.2 with the types of its core schema.
/// Anchors and aliases are refused, since a few can stand for very many; so are members named twice.
///
/// # Errors
/// There is none, it is no object, or it cannot be read.
pub fn front_matter(text: &str) -> Result<Raw, FrontMatterError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let yaml = between_lines(text).ok_or(FrontMatterError::Missing)?;
    if yaml.len() > MAX_BYTES {
        return Err(FrontMatterError::TooLarge);
    }
    let mut events = Events(Parser::new_from_str(yaml));
    let mut json = Writer::new();
    loop {
        match events.next()? {
            Event::MappingStart(0, _) => break object(&mut events, &mut json, 1)?,
            Event::StreamStart | Event::DocumentStart(_) => {}
            _ => return Err(FrontMatterError::NotAnObject),
        }
    }
    match events.next()? {
        Event::DocumentEnd if matches!(events.next()?, Event::StreamEnd) => Ok(json.into_raw()),
        _ => Err(FrontMatterError::NotAnObject),
    }
}

/// What stands between the first two lines of three hyphens.
fn between_lines(text: &str) -> Option<&str> {
    let is_fence = |line: &str| line.trim_end_matches(['\r', '\n', ' ', '\t']) == "---";
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().filter(|line| is_fence(line))?.len();
    let mut end = first;
    for line in lines {
        if is_fence(line) {
            return text.get(first..end);
        }
        end += line.len();
    }
    None
}

struct Events<'a>(Parser<'a, saphyr_parser::StrInput<'a>>);

impl<'a> Events<'a> {
    fn next(&mut self) -> Result<Event<'a>, FrontMatterError> {
        match self.0.next() {
            Some(Ok((event, _))) => Ok(event),
            Some(Err(error)) => {
                Err(FrontMatterError::Malformed { line: error.marker().line(), problem: error.info().to_owned() })
            }
            None => Ok(Event::StreamEnd),
        }
    }
}

fn object(events: &mut Events<'_>, json: &mut Writer, depth: usize) -> Result<(), FrontMatterError> {
    let mut names: Vec<Cow<'_, str>> = Vec::new();
    json.begin_object();
    loop {
        match events.next()? {
            Event::MappingEnd => break,
            Event::Scalar(name, _, 0, _) => {
                if names.contains(&name) {
                    return Err(FrontMatterError::Twice(name.into()));
                }
                json.key(&name);
                names.push(name);
            }
            _ => return Err(FrontMatterError::Unsupported),
        }
        let event = events.next()?;
        value(event, events, json, depth)?;
    }
    json.end_object();
    Ok(())
}

fn array(events: &mut Events<'_>, json: &mut Writer, depth: usize) -> Result<(), FrontMatterError> {
    json.begin_array();
    loop {
        match events.next()? {
            Event::SequenceEnd => break,
            event => value(event, events, json, depth)?,
        }
    }
    json.end_array();
    Ok(())
}

fn value(event: Event<'_>, events: &mut Events<'_>, json: &mut Writer, depth: usize) -> Result<(), FrontMatterError> {
    if depth >= MAX_DEPTH {
        return Err(FrontMatterError::TooLarge);
    }
    match event {
        Event::MappingStart(0, None) => object(events, json, depth + 1),
        Event::SequenceStart(0, None) => array(events, json, depth + 1),
        Event::Scalar(text, ScalarStyle::Plain, 0, None) => {
            plain(&text, json);
            Ok(())
        }
        Event::Scalar(text, _, 0, tag)
            if tag.as_ref().is_none_or(|tag| tag.is_yaml_core_schema() && tag.suffix == "str") =>
        {
            json.string(&text);
            Ok(())
        }
        _ => Err(FrontMatterError::Unsupported),
    }
}

/// A plain scalar, by YAML's core schema.
fn plain(text: &str, json: &mut Writer) {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => json.null(),
        "true" | "True" | "TRUE" => json.boolean(true),
        "false" | "False" | "FALSE" => json.boolean(false),
        _ => match number(text) {
            Some(number) => json.raw(&number),
            None => json.string(text),
        },
    }
}

/// A plain scalar as a JSON number, if it is one. JSON has no words for infinity and NaN, which stay texts.
fn number(text: &str) -> Option<String> {
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            return u64::from_str_radix(digits, radix)
                .ok()
                .filter(|_| !digits.starts_with('+'))
                .map(|value| value.to_string());
        }
    }
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match digits.find(['e', 'E']) {
        Some(at) => (digits.get(..at)?, digits.get(at + 1..)?),
        None => (digits, "0"),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_exponent = |text: &str| {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        !digits.is_empty() && all_digits(digits)
    };
    if !all_digits(whole) || !all_digits(fraction) || whole.len() + fraction.len() == 0 || !is_exponent(exponent) {
        return None;
    }
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        whole => whole,
    };
    let mut number = [sign, whole].concat();
    if !fraction.is_empty() {
        number.push('.');
        number.push_str(fraction);
    }
    if exponent != "0" {
        number.push('e');
        number.push_str(exponent);
    }
    Some(number)
}

/// Why a text has no front matter that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrontMatterError {
    /// The text does not begin with a line `---` that another such line follows.
    Missing,
    /// It is not an object.
    NotAnObject,
    /// It is longer than 64 KiB, or nested deeper than 32 levels.
    TooLarge,
    /// A member has this name, and another too.
    Twice(String),
    /// It has an anchor, an alias, a tag or a name that is no text.
    Unsupported,
    /// It is no YAML.
    Malformed {
        /// The line of the front matter, the first is 1.
        line: usize,
        /// What is wrong there.
        problem: String,
    },
}

impl fmt::Display for FrontMatterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => {
                f.write_str("there is no front matter; begin the file with a line `---`, and end it with another")
            }
            Self::NotAnObject => {
                f.write_str("the front matter is not one object; write members such as `name: refunds`")
            }
            Self::TooLarge => {
                f.write_str("the front matter is longer than 64 KiB or nested too deep; move text below it")
            }
            Self::Twice(name) => write!(f, "the front matter has two members `{name}`; keep one"),
            Self::Unsupported => f.write_str(
                "the front matter has an anchor, an alias, a tag or a name that is no text; write its values out",
            ),
            Self::Malformed { line, problem } => write!(f, "line {line} of the front matter is no YAML: {problem}"),
        }
    }
}

impl std::error::Error for FrontMatterError {}
