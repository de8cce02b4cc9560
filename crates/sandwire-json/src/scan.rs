//! Looking for the end of a run of plain string bytes, eight at a time.

const ONES: u64 = u64::MAX / 255;
const HIGHS: u64 = ONES << 7;

/// Non-zero when one of the eight bytes is a quote, a backslash or a control character.
///
/// A byte is below `n` when subtracting `n` borrows from its high bit and that bit was clear; a byte
/// equals `n` when the exclusive or of the two is below one.
const fn special(word: u64) -> u64 {
    let quote = word ^ (ONES * b'"' as u64);
    let backslash = word ^ (ONES * b'\\' as u64);
    ((word.wrapping_sub(ONES * 0x20) & !word)
        | (quote.wrapping_sub(ONES) & !quote)
        | (backslash.wrapping_sub(ONES) & !backslash))
        & HIGHS
}

/// The index, from `from` on, of the first quote, backslash or control character, or the length.
#[inline]
pub(crate) fn run_end(bytes: &[u8], from: usize) -> usize {
    // Most names end within a word.
    match bytes.get(from..).and_then(<[u8]>::first_chunk::<8>).map(|chunk| special(u64::from_le_bytes(*chunk))) {
        Some(found @ 1..) => from + (found.trailing_zeros() / 8) as usize,
        Some(0) => long_run_end(bytes, from + 8),
        None => long_run_end(bytes, from),
    }
}

#[inline(never)]
fn long_run_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let found = special(u64::from_le_bytes(*chunk));
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while let Some(byte) = bytes.get(at) {
        if matches!(byte, b'"' | b'\\' | 0..=0x1f) {
            break;
        }
        at += 1;
    }
    at
}

/// The index of the first line break in valid JSON, whose only other control character is the tab.
pub(crate) fn line_break(bytes: &[u8]) -> Option<usize> {
    // Without a way out of the inner loop it works on many bytes at once.
    let has_control = |block: &[u8]| block.iter().fold(false, |found, byte| found | (*byte < b' '));
    let blocks = bytes.chunks(BLOCK).position(has_control)?;
    let is_break = |byte: &u8| matches!(*byte, b'\n' | b'\r');
    let rest = bytes.get(blocks * BLOCK..)?;
    rest.iter().position(is_break).map(|at| blocks * BLOCK + at)
}

const BLOCK: usize = 32;
