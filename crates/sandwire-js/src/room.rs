//! Where a module is given texts and bytes: the host asks for room, writes there, and calls with the length.

use std::cell::Cell;

thread_local! {
    static ROOM: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Makes room for what the next call brings.
#[unsafe(no_mangle)]
extern "C" fn room(length: usize) -> *mut u8 {
    let mut room = vec![0; length];
    let at = room.as_mut_ptr();
    ROOM.set(room);
    at
}

/// What was written to the room.
pub(crate) fn bytes(length: usize) -> Vec<u8> {
    let mut bytes = ROOM.take();
    bytes.truncate(length);
    bytes
}

/// The text that was written to the room.
#[cfg(any(feature = "client", feature = "tools", feature = "schema"))]
pub(crate) fn text(length: usize) -> String {
    String::from_utf8(bytes(length)).unwrap_or_default()
}
