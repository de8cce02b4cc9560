//! Fractional numbers as JSON text, without the standard library's float formatting, which is large in wasm.

/// `value` as it will be written: six decimals, none beyond what an `i64` of millionths can hold.
pub(super) fn round(value: f64) -> f64 {
    if value.abs() < 9e12 { (value * 1e6).round() / 1e6 } else { value.trunc() }
}

/// The JSON text of a number that was rounded; zero if there is none.
pub(super) fn write(value: f64) -> String {
    let mut text = String::new();
    if value < 0.0 {
        text.push('-');
    }
    let size = value.abs();
    let (whole, mut rest) = if size < 9e12 {
        let millionths = (size * 1e6).round() as u64;
        (millionths / 1_000_000, millionths % 1_000_000)
    } else {
        (size as u64, 0)
    };
    push_digits(&mut text, whole, 1);
    if rest > 0 {
        let mut width = 6;
        while rest % 10 == 0 {
            rest /= 10;
            width -= 1;
        }
        text.push('.');
        push_digits(&mut text, rest, width);
    }
    text
}

pub(super) fn push_digits(text: &mut String, number: u64, width: usize) {
    let mut digits = [b'0'; 20];
    let mut rest = number;
    let mut used = 0;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
        used += 1;
        if rest == 0 && used >= width {
            break;
        }
    }
    text.extend(digits.iter().skip(digits.len() - used).map(|digit| char::from(*digit)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_what_a_json_reader_reads_back() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (-2.5, "-2.5"),
            (0.1, "0.1"),
            (1.0 / 3.0, "0.333333"),
            (100.000_001, "100.000001"),
            (0.05, "0.05"),
            (4_294_967_296.0, "4294967296"),
            (1e15, "1000000000000000"),
            (1e300, "18446744073709551615"),
            (-1e-9, "0"),
        ] {
            assert_eq!(write(round(value)), text, "{value}");
        }
    }
}
