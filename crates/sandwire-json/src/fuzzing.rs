//! Bodies of the fuzz targets: each takes any bytes, and panics when something that must hold does not.
#![allow(clippy::panic, clippy::expect_used, reason = "a panic is how a fuzz body reports")]

use crate::{Error, ErrorKind, Kind, Raw, Reader, Writer, may_name};

/// Reads any text in every way there is, beside serde_json.
///
/// # Panics
/// When two ways disagree about what is JSON or what it says.
pub fn reader(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let grammar = serde_json::from_str::<serde::de::IgnoredAny>(&text);
    let oracle = serde_json::from_str::<serde_json::Value>(&whole_characters(&text));
    match Raw::parse(&text) {
        Ok(raw) => {
            if let Err(error) = grammar {
                panic!("serde_json refuses {text:?}: {error}");
            }
            let copy = copied(raw.as_str()).expect("what is skipped can be read");
            assert!(!copy.contains(['\n', '\r']), "a written text is one line");
            assert_eq!(copied(&copy).as_ref(), Ok(&copy), "copying is stable");
            assert_eq!(Raw::parse(raw.as_str()).as_ref(), Ok(&raw));
            let _ = raw.reader().object(&mut |key, _| {
                let is_plain =
                    !key.contains(|character| character < ' ' || matches!(character, '"' | '\\' | '\u{fffd}'));
                assert!(!is_plain || may_name(raw.as_str(), &[key]), "a name is found");
                Ok(())
            });
            match oracle {
                Ok(value) => {
                    let again = serde_json::from_str::<serde_json::Value>(&copy);
                    assert_eq!(again.ok().as_ref(), Some(&value), "a copy says the same");
                    let through_serde = crate::serde::from_str::<serde_json::Value>(raw.as_str());
                    assert_eq!(through_serde.as_ref(), Ok(&value), "serde reads the same");
                    let written = crate::serde::to_raw(&value).expect("a value can be written");
                    let again = serde_json::from_str::<serde_json::Value>(written.as_str());
                    assert_eq!(again.ok(), Some(value), "serde writes the same");
                }
                Err(error) => {
                    let error = error.to_string();
                    assert!(
                        error.contains("out of range") || error.contains("recursion limit"),
                        "serde_json does not read {text:?}: {error}"
                    );
                }
            }
        }
        Err(error) => {
            assert!(error.offset() <= text.len());
            let refused = grammar.is_err() || error.kind() == ErrorKind::Depth;
            assert!(refused, "serde_json accepts {text:?}: {error}");
            assert!(copied(&text).is_err(), "what cannot be skipped cannot be read");
        }
    }
}

/// A text with `\ufffd` for each escape of half a surrogate pair, which serde_json does not read into a string.
fn whole_characters(text: &str) -> String {
    let mut whole = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        whole.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = match (surrogate(rest), rest.get(6..).and_then(surrogate)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(_), _) => {
                whole.push_str("\\ufffd");
                rest = &rest[6..];
                continue;
            }
            // The escape, whose second character may be long or missing.
            (None, _) => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
        };
        whole.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    whole.push_str(rest);
    whole
}

/// The surrogate whose escape a text begins with.
fn surrogate(text: &str) -> Option<u32> {
    let digits =
        text.strip_prefix("\\u")?.get(..4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok().filter(|code| matches!(code, 0xd800..=0xdfff))
}

/// Reads a text leaf by leaf and writes it again.
fn copied(text: &str) -> Result<String, Error> {
    let mut r = Reader::new(text);
    let mut w = Writer::new();
    copy(&mut r, &mut w)?;
    r.end()?;
    Ok(w.finish())
}

fn copy(r: &mut Reader<'_>, w: &mut Writer) -> Result<(), Error> {
    match r.peek()? {
        Kind::Null => r.null().map(|()| w.null()),
        Kind::Bool => r.boolean().map(|value| w.boolean(value)),
        Kind::Number => r.number().map(|text| w.raw(text)),
        Kind::String => r.string().map(|text| w.string(&text)),
        Kind::Array => {
            w.begin_array();
            r.array(&mut |r| copy(r, w))?;
            w.end_array();
            Ok(())
        }
        Kind::Object => {
            w.begin_object();
            r.object(&mut |key, r| {
                w.key(key);
                copy(r, w)
            })?;
            w.end_object();
            Ok(())
        }
    }
}
