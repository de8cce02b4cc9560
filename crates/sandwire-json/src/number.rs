//! JSON numbers that keep their digits.

use std::sync::Arc;

use crate::{Error, ErrorKind, Read, Reader, Write, Writer};

/// A JSON number that keeps its digits: `1.10` stays `1.10`, and thirty digits stay thirty.
///
/// ```
/// use sandwire_json::{Number, from_str, to_raw};
///
/// let price: Number = from_str("1.10")?;
/// assert_eq!(to_raw(&price).as_str(), "1.10");
/// assert_eq!(Number::from(7).as_i64(), Some(7));
/// # Ok::<(), sandwire_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Number(Repr);

#[derive(Clone, PartialEq, Eq)]
enum Repr {
    /// A number whose text is this integer's usual one.
    Integer(i64),
    Text(Arc<str>),
}

impl Number {
    /// Reads a number from its JSON text.
    ///
    /// # Errors
    /// When the text is not a JSON number.
    pub fn parse(text: &str) -> Result<Self, Error> {
        crate::from_str(text)
    }

    /// The number a float stands for; `None` for infinities and NaN, which JSON has no words for.
    pub fn from_f64(value: f64) -> Option<Self> {
        value.is_finite().then(|| Self(Repr::Text(value.to_string().into())))
    }

    /// Its value when that is an integer of 64 bits; `1.0` and `1e3` are integers.
    pub fn as_i64(&self) -> Option<i64> {
        match &self.0 {
            Repr::Integer(value) => Some(*value),
            Repr::Text(text) => integer(text),
        }
    }

    /// Its value when that is an integer and not negative.
    pub fn as_u64(&self) -> Option<u64> {
        match &self.0 {
            Repr::Integer(value) => u64::try_from(*value).ok(),
            Repr::Text(text) => integer(text).and_then(|value| u64::try_from(value).ok()).or_else(|| text.parse().ok()),
        }
    }

    /// The nearest float.
    pub fn as_f64(&self) -> f64 {
        match &self.0 {
            Repr::Integer(value) => *value as f64,
            Repr::Text(text) => text.parse().unwrap_or(f64::NAN),
        }
    }

    fn from_valid(text: &str) -> Self {
        match plain_integer(text) {
            Some(value) => Self(Repr::Integer(value)),
            None => Self(Repr::Text(text.into())),
        }
    }
}

impl std::fmt::Debug for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Repr::Integer(value) => {
                let mut text = String::new();
                push_integer(&mut text, *value);
                f.write_str(&text)
            }
            Repr::Text(text) => f.write_str(text),
        }
    }
}

impl Read for Number {
    fn read(r: &mut Reader<'_>) -> Result<Self, Error> {
        r.number().map(Self::from_valid)
    }
}

impl Write for Number {
    fn write(&self, w: &mut Writer) {
        match &self.0 {
            Repr::Integer(value) => w.integer(*value),
            Repr::Text(text) => w.raw(text),
        }
    }
}

macro_rules! from_integers {
    ($($type:ty)*) => {$(
        impl From<$type> for Number {
            fn from(value: $type) -> Self {
                Self(Repr::Integer(value.into()))
            }
        }
    )*};
}
from_integers!(i8 i16 i32 i64 u8 u16 u32);

impl From<u64> for Number {
    fn from(value: u64) -> Self {
        match i64::try_from(value) {
            Ok(value) => Self(Repr::Integer(value)),
            Err(_) => {
                let mut text = String::new();
                push_decimal(&mut text, value);
                Self(Repr::Text(text.into()))
            }
        }
    }
}

impl From<usize> for Number {
    fn from(value: usize) -> Self {
        Self::from(value as u64)
    }
}

pub(crate) fn out_of_range(offset: usize) -> Error {
    Error::new(ErrorKind::Range, offset, "number does not fit")
}

/// The value of a number's text in the one form an integer is written in.
fn plain_integer(text: &str) -> Option<i64> {
    let is_plain = text != "-0" && !text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
    if is_plain { integer(text) } else { None }
}

/// The value of a number's text when it is an integer, however it is written.
pub(crate) fn integer(text: &str) -> Option<i64> {
    if text.len() < 19 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(text.bytes().fold(0, |value, digit| value * 10 + i64::from(digit - b'0')));
    }
    let mut value = 0;
    // Zeros that no other digit has followed yet, and by how many more the value is to be shifted.
    let mut zeros = 0;
    let mut shift = 0;
    let mut fraction = false;
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'-' => {}
            b'.' => fraction = true,
            b'e' | b'E' => {
                shift += exponent(bytes);
                break;
            }
            digit => {
                shift -= i64::from(fraction);
                zeros += 1;
                if digit != b'0' {
                    value = shifted(value, zeros)? + u64::from(digit.wrapping_sub(b'0'));
                    zeros = 0;
                }
            }
        }
    }
    if value == 0 {
        return Some(0);
    }
    let value = shifted(value, zeros + shift)?;
    if text.starts_with('-') { 0i64.checked_sub_unsigned(value) } else { i64::try_from(value).ok() }
}

/// A value with that many zeros behind it; `None` when one more digit would not fit, or when digits would have to go.
fn shifted(mut value: u64, zeros: i64) -> Option<u64> {
    const MOST: u64 = (1 << 63) / 10;
    if zeros < 0 {
        return None;
    }
    for _ in 0..zeros {
        if value > MOST {
            return None;
        }
        value *= 10;
    }
    Some(value)
}

/// The rest of a number after its `e`, or about that when it is beyond all use.
fn exponent(bytes: std::str::Bytes<'_>) -> i64 {
    const FAR: i64 = 1 << 40;
    let mut negative = false;
    let mut value = 0;
    for byte in bytes {
        match byte {
            b'+' => {}
            b'-' => negative = true,
            digit => value = FAR.min(value * 10 + i64::from(digit.wrapping_sub(b'0'))),
        }
    }
    if negative { -value } else { value }
}

/// Writes an unsigned number without the formatting machinery.
pub(crate) fn push_decimal(out: &mut String, mut value: u64) {
    let mut digits = [0u8; 20];
    let mut first = digits.len();
    for slot in digits.iter_mut().rev() {
        *slot = b'0' + (value % 10) as u8;
        first -= 1;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    let digits = digits.get(first..).unwrap_or_default();
    out.push_str(std::str::from_utf8(digits).unwrap_or_default());
}

pub(crate) fn push_integer(out: &mut String, value: i64) {
    if value < 0 {
        out.push('-');
    }
    push_decimal(out, value.unsigned_abs());
}
