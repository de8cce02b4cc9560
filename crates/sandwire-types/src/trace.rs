//! Which trace a request belongs to: `traceparent`, `tracestate` and `baggage` in its `_meta`, as the W3C writes them
//! ([Trace Context](https://www.w3.org/TR/trace-context/), [Baggage](https://www.w3.org/TR/baggage/)).

use std::error::Error;
use std::fmt;

use sandwire_json::{Raw, Writer};

/// The trace that a request belongs to. Only what follows the format can be in it.
///
/// ```
/// use sandwire_types::trace::TraceContext;
///
/// let trace = TraceContext::new("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")?
///     .with_state("vendor=opaque")?
///     .with_baggage("user=alice;level=7")?;
/// assert_eq!(trace.trace_id(), "0af7651916cd43dd8448eb211c80319c");
/// assert!(trace.is_sampled());
/// assert!(TraceContext::new("00-0-0-01").is_err());
/// # Ok::<(), sandwire_types::trace::InvalidTrace>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceContext {
    parent: String,
    state: Option<String>,
    baggage: Option<String>,
}

/// What of a trace context does not follow the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidTrace {
    /// `traceparent`
    Parent,
    /// `tracestate`
    State,
    /// `baggage`
    Baggage,
}

const MAX_STATE_MEMBERS: usize = 32;
const MAX_BAGGAGE_BYTES: usize = 8192;
const MAX_BAGGAGE_MEMBERS: usize = 64;

impl TraceContext {
    /// The trace with this `traceparent`: version, trace, span and flags in lower hexadecimal digits.
    ///
    /// # Errors
    /// It is none.
    pub fn new(parent: &str) -> Result<Self, InvalidTrace> {
        if !is_parent(parent) {
            return Err(InvalidTrace::Parent);
        }
        Ok(Self { parent: parent.to_owned(), state: None, baggage: None })
    }

    /// The same with a `tracestate`: what vendors add, by their keys.
    ///
    /// # Errors
    /// It is none.
    pub fn with_state(mut self, state: &str) -> Result<Self, InvalidTrace> {
        if !is_state(state) {
            return Err(InvalidTrace::State);
        }
        self.state = Some(state.to_owned());
        Ok(self)
    }

    /// The same with `baggage`: what an application hands on.
    ///
    /// # Errors
    /// It is none.
    pub fn with_baggage(mut self, baggage: &str) -> Result<Self, InvalidTrace> {
        if !is_baggage(baggage) {
            return Err(InvalidTrace::Baggage);
        }
        self.baggage = Some(baggage.to_owned());
        Ok(self)
    }

    /// What `_meta` says; nothing if it has no `traceparent` that follows the format. What else does not is left out.
    pub fn read(meta: &Raw) -> Option<Self> {
        let text = |key| meta.get(key).and_then(|value| sandwire_json::from_str::<String>(value.as_str()).ok());
        let mut trace = Self::new(&text("traceparent")?).ok()?;
        trace.state = text("tracestate").filter(|state| is_state(state));
        trace.baggage = text("baggage").filter(|baggage| is_baggage(baggage));
        Some(trace)
    }

    /// The members of `_meta` for it, with those of `meta` that are not of a trace.
    pub fn written(&self, meta: Option<&Raw>) -> Raw {
        let mut writer = Writer::new();
        writer.begin_object();
        if let Some(meta) = meta {
            // What cannot be read is no member.
            let _ = meta.reader().object(&mut |key, value| {
                let value = value.raw()?;
                if !matches!(key, "traceparent" | "tracestate" | "baggage") {
                    writer.key(key);
                    writer.raw(value);
                }
                Ok(())
            });
        }
        writer.key("traceparent");
        writer.string(&self.parent);
        for (key, value) in [("tracestate", &self.state), ("baggage", &self.baggage)] {
            if let Some(value) = value {
                writer.key(key);
                writer.string(value);
            }
        }
        writer.end_object();
        writer.into_raw()
    }

    /// `traceparent`
    pub fn parent(&self) -> &str {
        &self.parent
    }

    /// `tracestate`
    pub fn state(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// `baggage`
    pub fn baggage(&self) -> Option<&str> {
        self.baggage.as_deref()
    }

    /// The trace, 32 digits.
    pub fn trace_id(&self) -> &str {
        self.parent.split('-').nth(1).unwrap_or_default()
    }

    /// The span that made the request, 16 digits.
    pub fn span_id(&self) -> &str {
        self.parent.split('-').nth(2).unwrap_or_default()
    }

    /// Whether the caller keeps what it records of the trace.
    pub fn is_sampled(&self) -> bool {
        let flags = self.parent.split('-').nth(3).and_then(|flags| u8::from_str_radix(flags, 16).ok());
        flags.is_some_and(|flags| flags & 1 == 1)
    }
}

fn is_parent(parent: &str) -> bool {
    let mut parts = parent.split('-');
    let mut next = |length: usize| {
        parts
            .next()
            .filter(|part| part.len() == length && part.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')))
    };
    let (Some(version), Some(trace), Some(span), Some(_)) = (next(2), next(32), next(16), next(2)) else {
        return false;
    };
    let is_named = |id: &str| id.bytes().any(|digit| digit != b'0');
    // Later versions may add parts, the first one has none.
    version != "ff" && is_named(trace) && is_named(span) && (version != "00" || parts.next().is_none())
}

fn is_state(state: &str) -> bool {
    let members =
        || state.split(',').map(|member| member.trim_matches([' ', '\t'])).filter(|member| !member.is_empty());
    let valid = |member: &str| {
        member.split_once('=').is_some_and(|(key, value)| {
            is_state_key(key)
                && (1..=256).contains(&value.len())
                && value.bytes().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b',' | b'='))
        })
    };
    let mut keys: Vec<&str> = members().filter_map(|member| member.split('=').next()).collect();
    let number = keys.len();
    keys.sort_unstable();
    keys.dedup();
    (1..=MAX_STATE_MEMBERS).contains(&number) && keys.len() == number && members().all(valid)
}

/// `name`, or `tenant@system`.
fn is_state_key(key: &str) -> bool {
    let is_part = |part: &str, longest: usize, digit_first: bool| {
        (1..=longest).contains(&part.len())
            && part.starts_with(|first: char| first.is_ascii_lowercase() || digit_first && first.is_ascii_digit())
            && part.bytes().all(|byte| {
                byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-' | b'*' | b'/')
            })
    };
    match key.split_once('@') {
        Some((tenant, system)) => is_part(tenant, 241, true) && is_part(system, 14, false),
        None => is_part(key, 256, false),
    }
}

fn is_baggage(baggage: &str) -> bool {
    let pair = |text: &str| {
        text.split_once('=').is_some_and(|(key, value)| {
            is_token(trim(key))
                && trim(value)
                    .bytes()
                    .all(|byte| matches!(byte, 0x21 | 0x23..=0x2b | 0x2d..=0x3a | 0x3c..=0x5b | 0x5d..=0x7e))
        })
    };
    let member = |member: &str| {
        let mut parts = member.split(';');
        parts.next().is_some_and(&pair) && parts.all(|property| pair(property) || is_token(trim(property)))
    };
    baggage.len() <= MAX_BAGGAGE_BYTES
        && baggage.split(',').count() <= MAX_BAGGAGE_MEMBERS
        && baggage.split(',').all(member)
}

fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}

fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| {
            byte.is_ascii_alphanumeric()
                || matches!(byte, b'!' | b'#'..=b'\'' | b'*' | b'+' | b'-' | b'.' | b'^' | b'_' | b'`' | b'|' | b'~')
        })
}

impl fmt::Display for InvalidTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Parent => {
                "traceparent is 00, a trace of 32, a span of 16 and flags of 2 lower hexadecimal digits, joined by hyphens"
            }
            Self::State => "tracestate is a list with commas of at most 32 different keys, each with a value after =",
            Self::Baggage => {
                "baggage is a list with commas of at most 64 pairs such as key=value;property, percent-encoded, 8192 bytes long"
            }
        })
    }
}

impl Error for InvalidTrace {}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn the_format_of_parents() {
        for parent in [
            PARENT,
            "00-0af7651916cd43dd8448eb211c80319c-00000000000000ff-00",
            "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-comes",
        ] {
            assert!(TraceContext::new(parent).is_ok(), "{parent}");
        }
        for parent in [
            "",
            "00",
            &PARENT.to_uppercase(),
            &PARENT.replace("00-0", "ff-0"),
            &PARENT.replace("00-0", "0-0"),
            &PARENT.replace("-01", ""),
            &PARENT.replace("-01", "-1"),
            &[PARENT, "-x"].concat(),
            &[PARENT, " "].concat(),
            &PARENT.replace("b7ad6b7169203331", "0000000000000000"),
            &PARENT.replace("0af7651916cd43dd8448eb211c80319c", "00000000000000000000000000000000"),
            &PARENT.replace("b7ad", "ü7a"),
            &PARENT.replace('-', "_"),
        ] {
            assert_eq!(TraceContext::new(parent), Err(InvalidTrace::Parent), "{parent}");
        }
    }

    #[test]
    fn the_format_of_states_and_baggage() {
        let trace = || TraceContext::new(PARENT).unwrap();
        let many = |number: usize| (0..number).map(|index| format!("k{index}=v")).collect::<Vec<_>>().join(",");
        for state in ["a=b", "a=b,c=d e", "1t@sys=x", "a=b, \tc=d", "a=b,,c=d", "a_-*/=!", &many(32)] {
            assert!(trace().with_state(state).is_ok(), "{state}");
        }
        for state in [
            "",
            ",",
            "a",
            "=b",
            "a=",
            "A=b",
            "1=b",
            "a=b,a=c",
            "a=b=c",
            "a=ü",
            "a=b\n",
            "t@=x",
            "@s=x",
            "t@1=x",
            &many(33),
        ] {
            assert_eq!(trace().with_state(state), Err(InvalidTrace::State), "{state}");
        }
        for baggage in ["a=b", "a=b;p", "a=b;p=q;r , c = d", "A.b=", "k=%C3%BC", &many(64)] {
            assert!(trace().with_baggage(baggage).is_ok(), "{baggage}");
        }
        let long = format!("a={}", "b".repeat(8192));
        for baggage in ["", "a", "a=b,", "a b=c", "a=b c", "a=\"b\"", "a=ü", "a=b;", "a=b\\", &long, &many(65)] {
            assert_eq!(trace().with_baggage(baggage), Err(InvalidTrace::Baggage), "{baggage}");
        }
    }

    #[test]
    fn what_is_not_of_the_format_is_not_read() {
        let read = |meta: &str| TraceContext::read(&Raw::parse(meta).unwrap());
        let meta = format!(r#"{{"traceparent":"{PARENT}","tracestate":"A","baggage":7,"other":1}}"#);
        let trace = read(&meta).unwrap();
        assert_eq!((trace.parent(), trace.state(), trace.baggage()), (PARENT, None, None));
        assert_eq!(trace.span_id(), "b7ad6b7169203331");
        for meta in ["{}", r#"{"traceparent":1}"#, r#"{"traceparent":"x"}"#, r#"{"tracestate":"a=b"}"#] {
            assert_eq!(read(meta), None, "{meta}");
        }
        let full = trace.with_state("a=b").unwrap().with_baggage("c=d").unwrap();
        let written = full.written(Some(&Raw::from_valid(r#"{"other":1,"traceparent":"old"}"#)));
        let expected = format!(r#"{{"other":1,"traceparent":"{PARENT}","tracestate":"a=b","baggage":"c=d"}}"#);
        assert_eq!(written.as_str(), expected);
        assert_eq!(TraceContext::read(&written), Some(full));
    }
}
