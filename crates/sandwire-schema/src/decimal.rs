//! Numbers as JSON writes them, compared and divided without loss.

use std::cmp::Ordering;

/// The number `0.DIGITS × 10^point`, whose digits neither begin nor end with a zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    negative: bool,
    /// From 0 to 9 each.
    digits: Vec<u8>,
    point: i64,
}

/// Beyond it exponents are all the same.
const FURTHEST: i64 = 1 << 48;

impl Decimal {
    /// The number of a JSON text that is one.
    pub(crate) fn parse(text: &str) -> Self {
        let negative = text.starts_with('-');
        let mut digits = Vec::with_capacity(text.len());
        let mut point = 0;
        let mut whole = true;
        let mut exponent: Option<i64> = None;
        let mut minus = false;
        for byte in text.bytes() {
            match (byte, &mut exponent) {
                (b'0'..=b'9', Some(exponent)) => {
                    *exponent = (*exponent * 10 + i64::from(byte - b'0')).min(FURTHEST);
                }
                (b'0'..=b'9', None) => {
                    // Zeros before the first digit count only behind the point, and there downwards.
                    if !digits.is_empty() || byte != b'0' {
                        digits.push(byte - b'0');
                        point += i64::from(whole);
                    } else if !whole {
                        point -= 1;
                    }
                }
                (b'.', _) => whole = false,
                (b'e' | b'E', _) => exponent = Some(0),
                (b'-', Some(_)) => minus = true,
                _ => {}
            }
        }
        while digits.last() == Some(&0) {
            digits.pop();
        }
        if digits.is_empty() {
            return Self { negative: false, digits, point: 0 };
        }
        let exponent = exponent.unwrap_or(0);
        Self { negative, digits, point: point + if minus { -exponent } else { exponent } }
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// The power of ten of the last digit.
    fn exponent(&self) -> i64 {
        self.point - self.digits.len() as i64
    }

    pub(crate) fn is_integer(&self) -> bool {
        self.is_zero() || self.exponent() >= 0
    }

    /// Its value as a count, where it is one; what is too large is the largest.
    pub(crate) fn count(&self) -> Option<u64> {
        if self.negative || !self.is_integer() {
            return None;
        }
        let zeros = self.exponent().clamp(0, 20) as usize;
        let digits = self.digits.iter().copied().chain(std::iter::repeat_n(0, zeros));
        Some(digits.fold(0u64, |value, digit| value.saturating_mul(10).saturating_add(u64::from(digit))))
    }

    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        let sign = |number: &Self| i8::from(!number.is_zero()) * if number.negative { -1 } else { 1 };
        let order = sign(self).cmp(&sign(other));
        if order != Ordering::Equal {
            return order;
        }
        let size = self.point.cmp(&other.point).then_with(|| self.digits.cmp(&other.digits));
        if self.negative { size.reverse() } else { size }
    }

    /// Whether it can be a divisor: it is positive, and it has no more than 18 digits.
    pub(crate) fn divides(&self) -> bool {
        !self.is_zero() && !self.negative && self.digits.len() <= 18
    }

    /// Whether it is a whole number of times `divisor`, which [`divides`](Self::divides).
    pub(crate) fn is_multiple_of(&self, divisor: &Self) -> bool {
        if self.is_zero() {
            return true;
        }
        let zeros = self.exponent() - divisor.exponent();
        let Ok(zeros) = u64::try_from(zeros) else {
            // The last digit is none that ten divides.
            return false;
        };
        let modulus = divisor.digits.iter().fold(0u64, |value, digit| value * 10 + u64::from(*digit));
        if modulus == 0 {
            return false;
        }
        let rest = self.digits.iter().fold(0u64, |rest, digit| (rest * 10 + u64::from(*digit)) % modulus);
        product(rest, power_of_ten(zeros, modulus), modulus) == 0
    }

    /// Adds what equal numbers have in common to `mix`.
    pub(crate) fn digest(&self, mix: &mut impl FnMut(u8)) {
        mix(u8::from(self.negative));
        self.point.to_le_bytes().into_iter().chain(self.digits.iter().copied()).for_each(mix);
    }
}

/// `10^exponent` modulo a number below `10^18`.
fn power_of_ten(mut exponent: u64, modulus: u64) -> u64 {
    let (mut power, mut square) = (1 % modulus, 10 % modulus);
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = product(power, square, modulus);
        }
        square = product(square, square, modulus);
        exponent >>= 1;
    }
    power
}

/// `a * b` modulo a number below `10^18`, of which both are rests: bit by bit, so that nothing gets longer than 64 bits.
fn product(mut a: u64, mut b: u64, modulus: u64) -> u64 {
    let mut sum = 0;
    while b > 0 {
        if b & 1 == 1 {
            sum = (sum + a) % modulus;
        }
        a = (a + a) % modulus;
        b >>= 1;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Decimal {
        Decimal::parse(text)
    }

    #[test]
    fn equal_numbers_are_equal_however_they_are_written() {
        for (a, b) in [
            ("1", "1.0"),
            ("100", "1e2"),
            ("0.01", "1E-2"),
            ("-0", "0"),
            ("0.0e9", "0"),
            ("12e-1", "1.2"),
            ("10.50", "105e-1"),
        ] {
            assert_eq!(number(a), number(b), "{a} {b}");
        }
        assert_ne!(number("9007199254740993"), number("9007199254740992"));
        assert_ne!(number("-1"), number("1"));
    }

    #[test]
    fn numbers_are_ordered_by_all_of_their_digits() {
        let ascending =
            ["-1e400", "-10", "-9.5", "-0.001", "0", "1e-400", "0.09", "0.1", "1", "1.5", "9", "10", "1e400"];
        for pair in ascending.windows(2) {
            assert_eq!(number(pair[0]).compare(&number(pair[1])), Ordering::Less, "{pair:?}");
            assert_eq!(number(pair[1]).compare(&number(pair[0])), Ordering::Greater, "{pair:?}");
        }
        assert_eq!(number("9007199254740993").compare(&number("9007199254740992")), Ordering::Greater);
    }

    #[test]
    fn division_is_exact() {
        let is = |number: &str, divisor: &str| {
            let divisor = Decimal::parse(divisor);
            assert!(divisor.divides());
            Decimal::parse(number).is_multiple_of(&divisor)
        };
        for (number, divisor) in [
            ("19.99", "0.01"),
            ("4.5", "1.5"),
            ("0.0075", "0.0001"),
            ("0", "7"),
            ("1e308", "0.5"),
            ("-6", "2"),
            ("12345678910111213141516", "2"),
            ("1e400", "1e-400"),
            ("3e99999999999999999999", "3"),
        ] {
            assert!(is(number, divisor), "{number} {divisor}");
        }
        for (number, divisor) in [
            ("0.00751", "0.0001"),
            ("35", "1.5"),
            ("9007199254740993", "2"),
            ("1e-9", "1e-8"),
            ("1e308", "0.123456789"),
        ] {
            assert!(!is(number, divisor), "{number} {divisor}");
        }
    }

    #[test]
    fn integers_and_counts() {
        assert!(number("1.0").is_integer() && number("15e-1").count().is_none() && number("150e-1").is_integer());
        assert_eq!(number("2.0").count(), Some(2));
        assert_eq!(number("-2").count(), None);
        assert_eq!(number("0").count(), Some(0));
        assert_eq!(number("1e99").count(), Some(u64::MAX));
    }
}
