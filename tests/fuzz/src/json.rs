//! Changing JSON as JSON, so that most of a document stays well-formed.

use std::ops::Range;

use crate::mutate::insert;
use crate::random::Random;

/// Values that programs get wrong.
const VALUES: &[&[u8]] = &[
    b"null",
    b"true",
    b"false",
    b"0",
    b"-0",
    b"1",
    b"-1",
    b"0.5",
    b"1e5",
    b"1E+400",
    b"-1e-400",
    b"9007199254740993",
    b"9223372036854775807",
    b"9223372036854775808",
    b"-9223372036854775808",
    b"-9223372036854775809",
    b"18446744073709551616",
    b"12345678901234567890123",
    b"1.10",
    b"4294967296",
    b"00",
    b"01",
    b"-",
    b"1.",
    b".5",
    b"1e",
    b"+1",
    b"NaN",
    b"tru",
    b"\"\"",
    b"\"a\"",
    b"\"\\u0000\"",
    b"\"\\ud800\"",
    b"\"\\udc00\\ud800\"",
    b"\"\\ud83d\\ude00\"",
    b"\"\\u12\"",
    b"\"\\x\"",
    b"\"\x01\"",
    b"\"\xff\"",
    b"\"",
    b"[]",
    b"{}",
    b"[[]]",
    b"[1,2,3]",
    b"[1,]",
    b"{\"a\":1,\"a\":2}",
    b"{\"a\"}",
    b"{\"_meta\":{\"progressToken\":1}}",
    b"{,}",
    b"{\"\":{}}",
    b"\"2026-07-28\"",
    b"\"2025-11-25\"",
    b"\"input_required\"",
];

/// Depths around the usual limits, and far beyond.
const DEPTHS: &[usize] = &[1, 2, 5, 31, 63, 64, 126, 127, 128, 129, 255, 256, 512, 10_000];

/// No more values than this are looked at.
const MOST_VALUES: usize = 2_000;

pub fn mutate(input: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let values = values(input);
    if values.is_empty() {
        input.extend_from_slice(random.pick(VALUES));
        return;
    }
    let value = values[random.below(values.len())].clone();
    match random.below(12) {
        0..=2 => replace(input, value, random.pick(VALUES)),
        3 => {
            let theirs = self::values(other);
            if !theirs.is_empty() {
                let theirs = theirs[random.below(theirs.len())].clone();
                replace(input, value, &other[theirs]);
            }
        }
        4 => {
            let with = values[random.below(values.len())].clone();
            swap(input, value, with);
        }
        5 => {
            let piece = [b",", &input[member(input, &value)]].concat();
            insert(input, value.end.min(input.len()), &piece);
        }
        6 => {
            let mut gone = member(input, &value);
            if input.get(gone.end) == Some(&b',') {
                gone.end += 1;
            }
            input.drain(gone);
        }
        7 => {
            let depth = DEPTHS[random.below(DEPTHS.len())];
            let [open, close] = *random.pick::<[&[u8]; 2]>(&[&[b"[", b"]"], &[b"{\"a\":", b"}"]]);
            insert(input, value.end, &close.repeat(depth));
            insert(input, value.start, &open.repeat(depth));
        }
        8 if random.one_in(4) => {
            let text = [b"\"".to_vec(), b"x".repeat(1 << random.below(17)), b"\"".to_vec()];
            replace(input, value, &text.concat());
        }
        8 => {
            let digits = random.pick::<[u8]>(&[b"9", b"0", b"1"]).repeat(1 << random.below(12));
            replace(input, value, &digits);
        }
        9 => insert(input, value.start, random.pick::<[u8]>(&[b" ", b"\n", b"\t", b"\x0c", b"//"])),
        10 => {
            let escaped = escape(&input[value.clone()]);
            replace(input, value, &escaped);
        }
        _ => input.truncate(value.start + random.below(value.len() + 1)),
    }
}

/// Where the values are, object keys included, in the order in which they begin. Lenient: what is
/// not closed ends with the text.
fn values(text: &[u8]) -> Vec<Range<usize>> {
    let mut values: Vec<Range<usize>> = Vec::new();
    let mut open = Vec::new();
    let mut at = 0;
    while at < text.len() && values.len() < MOST_VALUES {
        let start = at;
        at += 1;
        match text[start] {
            b'{' | b'[' => {
                open.push(values.len());
                values.push(start..text.len());
            }
            b'}' | b']' => {
                if let Some(index) = open.pop() {
                    values[index].end = at;
                }
            }
            b'"' => {
                while at < text.len() && text[at] != b'"' {
                    at += 1 + usize::from(text[at] == b'\\');
                }
                at = (at + 1).min(text.len());
                values.push(start..at);
            }
            byte if is_word(byte) => {
                while at < text.len() && is_word(text[at]) {
                    at += 1;
                }
                values.push(start..at);
            }
            _ => {}
        }
    }
    values
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.')
}

/// The value with its key, where it has one right before it.
fn member(text: &[u8], value: &Range<usize>) -> Range<usize> {
    let keyed =
        text[..value.start].strip_suffix(b"\":").and_then(|before| before.iter().rposition(|&byte| byte == b'"'));
    keyed.unwrap_or(value.start)..value.end
}

fn replace(text: &mut Vec<u8>, place: Range<usize>, with: &[u8]) {
    text.splice(place, with.iter().copied());
}

/// Exchanges two values; one that holds the other takes its place.
fn swap(text: &mut Vec<u8>, one: Range<usize>, two: Range<usize>) {
    let (first, second) = if one.start <= two.start { (one, two) } else { (two, one) };
    if second.start < first.end {
        let inner = text[second].to_vec();
        replace(text, first, &inner);
        return;
    }
    let (left, right) = (text[first.clone()].to_vec(), text[second.clone()].to_vec());
    replace(text, second, &left);
    replace(text, first, &right);
}

/// The same bytes with every letter as an escape; what is not a string becomes nonsense.
fn escape(value: &[u8]) -> Vec<u8> {
    let mut escaped = Vec::with_capacity(value.len());
    for &byte in value {
        if byte.is_ascii_alphabetic() {
            escaped.extend_from_slice(format!("\\u{byte:04X}").as_bytes());
        } else {
            escaped.push(byte);
        }
    }
    escaped
}
