//! Base64 for header values and sealed states. Those are short, and a tenth of the code of a general library does.

/// The two alphabets in use, and whether `=` fills the last group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `+` and `/`, filled.
    Standard,
    /// `-` and `_`, not filled.
    UrlSafe,
}

impl Kind {
    fn symbol(self, sextet: u32) -> char {
        let byte = match (sextet & 63) as u8 {
            letter @ 0..26 => b'A' + letter,
            letter @ 26..52 => b'a' + (letter - 26),
            digit @ 52..62 => b'0' + (digit - 52),
            62 => {
                if self == Self::Standard {
                    b'+'
                } else {
                    b'-'
                }
            }
            _ => {
                if self == Self::Standard {
                    b'/'
                } else {
                    b'_'
                }
            }
        };
        char::from(byte)
    }

    fn sextet(self, symbol: u8) -> Option<u32> {
        let sextet = match symbol {
            b'A'..=b'Z' => symbol - b'A',
            b'a'..=b'z' => symbol - b'a' + 26,
            b'0'..=b'9' => symbol - b'0' + 52,
            b'+' if self == Self::Standard => 62,
            b'-' if self == Self::UrlSafe => 62,
            b'/' if self == Self::Standard => 63,
            b'_' if self == Self::UrlSafe => 63,
            _ => return None,
        };
        Some(u32::from(sextet))
    }
}

/// Appends `bytes` to `text`.
pub(crate) fn encode(kind: Kind, bytes: &[u8], text: &mut String) {
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..=group.len() {
            text.push(kind.symbol(bits >> (18 - 6 * place)));
        }
        if kind == Kind::Standard {
            (group.len()..3).for_each(|_| text.push('='));
        }
    }
}

/// The bytes of `text`; nothing if it is not exactly what [`encode`] makes of some bytes.
pub(crate) fn decode(kind: Kind, text: &str) -> Option<Vec<u8>> {
    let text = text.as_bytes();
    let symbols = match kind {
        Kind::Standard if !text.len().is_multiple_of(4) => return None,
        Kind::Standard => text.strip_suffix(b"==").or_else(|| text.strip_suffix(b"=")).unwrap_or(text),
        Kind::UrlSafe => text,
    };
    let mut bytes = Vec::with_capacity(symbols.len() / 4 * 3 + 2);
    for group in symbols.chunks(4) {
        let mut bits = 0;
        for symbol in group {
            bits = bits << 6 | kind.sextet(*symbol)?;
        }
        let spare = group.len() * 6 % 8;
        if group.len() == 1 || bits & ((1 << spare) - 1) != 0 {
            return None;
        }
        let whole = group.len() * 6 / 8;
        let big_endian = (bits >> spare << (8 * (4 - whole))).to_be_bytes();
        bytes.extend(big_endian.into_iter().take(whole));
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::{
        Engine as _,
        engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
    };

    #[test]
    fn agrees_with_the_library() {
        let bytes: Vec<u8> = (0..=255).chain((0..=255).rev()).collect();
        for length in 0..bytes.len() {
            let Some(bytes) = bytes.get(..length) else { continue };
            for (kind, text) in
                [(Kind::Standard, STANDARD.encode(bytes)), (Kind::UrlSafe, URL_SAFE_NO_PAD.encode(bytes))]
            {
                let mut ours = String::new();
                encode(kind, bytes, &mut ours);
                assert_eq!(ours, text);
                assert_eq!(decode(kind, &text).as_deref(), Some(bytes));
            }
        }
    }

    #[test]
    fn refuses_what_the_library_refuses() {
        for text in [
            "A",
            "AA",
            "AAA",
            "AB==",
            "AAB=",
            "A===",
            "====",
            "=",
            "AA=A",
            "AAAA=",
            "AAAA==",
            "A A=",
            "AA==AA==",
            "é===",
            "-_-_",
            "+/+/",
            "AAAA",
            "AA==",
            "AAA=",
            "",
            "A\n==",
            "Zm9v\u{0}",
        ] {
            assert_eq!(decode(Kind::Standard, text), STANDARD.decode(text).ok(), "{text}");
            assert_eq!(decode(Kind::UrlSafe, text), URL_SAFE_NO_PAD.decode(text).ok(), "{text}");
        }
    }
}
