//! Paths of files as parts of addresses.

/// A file's path as it stands in an address: what may not stand there is percent-encoded. A percent sign that two
/// hexadecimal digits follow is taken for such an encoding.
///
/// ```
/// assert_eq!(sandwire_skills::encode_path("forms/Größe 1.md"), "forms/Gr%C3%B6%C3%9Fe%201.md");
/// ```
#[must_use]
pub fn encode_path(path: &str) -> String {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let bytes = path.as_bytes();
    let mut encoded = String::with_capacity(path.len());
    for (at, byte) in bytes.iter().copied().enumerate() {
        let triplet = || bytes.iter().skip(at + 1).take(2).filter(|digit| digit.is_ascii_hexdigit()).count() == 2;
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/".contains(&byte) || byte == b'%' && triplet() {
            encoded.push(char::from(byte));
        } else {
            encoded.push('%');
            for digit in [byte >> 4, byte & 15] {
                encoded.extend(DIGITS.get(usize::from(digit)).map(|digit| char::from(*digit)));
            }
        }
    }
    encoded
}
