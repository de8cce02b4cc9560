//! Comparing JSON numbers as text: no float parsing, which would cost a page more than this whole module.

use sandwire_json::Reader;
use std::cmp::Ordering;

/// How two JSON numbers compare, digit by digit; `None` if one of them is no number.
pub(crate) fn compare(left: &str, right: &str) -> Option<Ordering> {
    let (left, right) = (Decimal::parse(left)?, Decimal::parse(right)?);
    Some(left.sign().cmp(&right.sign()).then_with(|| {
        let magnitude = left.point.cmp(&right.point).then_with(|| left.digits.cmp(&right.digits));
        match left.sign() {
            0 => Ordering::Equal,
            1 => magnitude,
            _ => magnitude.reverse(),
        }
    }))
}

/// A whole number without sign, point and exponent.
pub(crate) fn unsigned(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |sum, digit| match digit {
        b'0'..=b'9' if sum <= u64::MAX / 10 => (sum * 10).checked_add(u64::from(digit - b'0')),
        _ => None,
    })
}

/// A number as `0.digits` times ten to the power of `point`.
struct Decimal {
    negative: bool,
    /// Neither the first nor the last one is a zero.
    digits: Vec<u8>,
    point: i32,
}

impl Decimal {
    fn parse(text: &str) -> Option<Self> {
        let mut bytes = Reader::new(text).number().ok()?.bytes().peekable();
        let negative = bytes.next_if_eq(&b'-').is_some();
        let (mut digits, mut point, mut whole) = (Vec::new(), 0, true);
        while let Some(byte) = bytes.next() {
            match byte {
                b'.' => whole = false,
                b'e' | b'E' => point += exponent(&mut bytes),
                _ => {
                    point += i32::from(whole);
                    if digits.is_empty() && byte == b'0' {
                        point -= 1;
                    } else {
                        digits.push(byte);
                    }
                }
            }
        }
        while digits.last() == Some(&b'0') {
            digits.pop();
        }
        Some(Self { negative, digits, point })
    }

    fn sign(&self) -> i8 {
        match (self.digits.is_empty(), self.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }
}

/// The rest of a number after its `e`; one that is larger than any number needs counts as the largest.
fn exponent(bytes: &mut dyn Iterator<Item = u8>) -> i32 {
    const LARGEST: i32 = 1 << 24;
    let (mut negative, mut value) = (false, 0);
    for byte in bytes {
        match byte {
            b'-' => negative = true,
            b'+' => {}
            digit => value = LARGEST.min(value * 10 + i32::from(digit - b'0')),
        }
    }
    if negative { -value } else { value }
}

#[cfg(test)]
mod tests {
    use super::compare;
    use std::cmp::Ordering::{Equal, Greater, Less};

    #[test]
    fn numbers_compare_by_value() {
        for (left, right, expected) in [
            ("1", "2", Less),
            ("10", "9", Greater),
            ("1.0", "1", Equal),
            ("0.5", "0.25", Greater),
            ("1e3", "999", Greater),
            ("1E-2", "0.01", Equal),
            ("-1", "0", Less),
            ("-2", "-1", Less),
            ("0", "-0.0", Equal),
            ("0.0010", "1e-3", Equal),
            ("12345678901234567890123", "12345678901234567890124", Less),
            ("1e99999999999999999999", "2", Greater),
        ] {
            assert_eq!(compare(left, right), Some(expected), "{left} and {right}");
            assert_eq!(compare(right, left), Some(expected.reverse()), "{right} and {left}");
        }
        for text in ["", "-", "true", "\"1\"", "1e", "1e+", "."] {
            assert_eq!(compare(text, "1"), None, "{text}");
        }
    }
}
