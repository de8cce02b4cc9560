//! Comparing JSON numbers as text: no float parsing, which would cost a page more than this whole module.

use std::cmp::Ordering;

/// How two JSON numbers compare, digit by digit; `None` if one of them is no number.
pub(crate) fn compare(left: &str, right: &str) -> Option<Ordering> {
    let (left, right) = (Decimal::parse(left)?, Decimal::parse(right)?);
    Some(match (left.sign(), right.sign()) {
        (a, b) if a != b => a.cmp(&b),
        (0, _) => Ordering::Equal,
        (1, _) => left.magnitude(&right),
        _ => right.magnitude(&left),
    })
}

/// A JSON number that is a whole one without sign, point and exponent.
pub(crate) fn unsigned(text: &str) -> Option<u64> {
    let digits = text.as_bytes();
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |sum, digit| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        sum.checked_mul(10)?.checked_add(digit)
    })
}

struct Decimal<'a> {
    negative: bool,
    whole: &'a [u8],
    fraction: &'a [u8],
    /// How many digits stand before the point, once leading zeros are gone.
    point: i64,
}

impl<'a> Decimal<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let bytes = text.trim().as_bytes();
        let (negative, bytes) = match bytes.strip_prefix(b"-") {
            Some(rest) => (true, rest),
            None => (false, bytes),
        };
        let (digits, exponent) = match bytes.iter().position(|byte| matches!(byte, b'e' | b'E')) {
            Some(at) => (bytes.get(..at)?, exponent(bytes.get(at + 1..)?)?),
            None => (bytes, 0),
        };
        let (whole, fraction) = match digits.iter().position(|byte| *byte == b'.') {
            Some(at) => (digits.get(..at)?, digits.get(at + 1..)?),
            None => (digits, &b""[..]),
        };
        if whole.is_empty() || !whole.iter().chain(fraction).all(u8::is_ascii_digit) {
            return None;
        }
        let zeros = whole.iter().chain(fraction).take_while(|digit| **digit == b'0').count();
        let point = i64::try_from(whole.len()).ok()? - i64::try_from(zeros).ok()?;
        Some(Self { negative, whole, fraction, point: point.checked_add(exponent)? })
    }

    fn digits(&self) -> impl Iterator<Item = u8> {
        self.whole.iter().chain(self.fraction).copied().skip_while(|digit| *digit == b'0')
    }

    fn sign(&self) -> i8 {
        match (self.digits().next(), self.negative) {
            (None, _) => 0,
            (_, true) => -1,
            _ => 1,
        }
    }

    fn magnitude(&self, other: &Self) -> Ordering {
        self.point.cmp(&other.point).then_with(|| {
            let (mut left, mut right) = (self.digits(), other.digits());
            loop {
                match (left.next(), right.next()) {
                    (None, None) => return Ordering::Equal,
                    (a, b) => match a.unwrap_or(b'0').cmp(&b.unwrap_or(b'0')) {
                        Ordering::Equal => {}
                        unequal => return unequal,
                    },
                }
            }
        })
    }
}

fn exponent(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text.split_first()? {
        (b'-', rest) => (true, rest),
        (b'+', rest) => (false, rest),
        _ => (false, text),
    };
    if digits.is_empty() {
        return None;
    }
    let value = digits.iter().try_fold(0i64, |sum, digit| {
        digit.is_ascii_digit().then(|| sum.saturating_mul(10).saturating_add(i64::from(digit - b'0')))
    })?;
    let value = value.min(1 << 60);
    Some(if negative { -value } else { value })
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
