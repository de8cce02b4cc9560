//! The one thing here that no safe code does: to be called before this process ends.
#![allow(unsafe_code)]

use std::io;

/// Calls `act` when `main` returns or the process exits. It runs once for each time that this was called.
pub(super) fn before(act: extern "C" fn()) -> io::Result<()> {
    // SAFETY: `atexit` only stores the pointer of a function, which is valid until the end of the process. Other threads
    // run on during the call, which is made on a plain stack, so that all of the standard library may be used in it; it
    // must not unwind, and an `extern "C"` function does not.
    match unsafe { libc::atexit(act) } {
        0 => Ok(()),
        _ => Err(io::Error::other("no more exit handlers can be set")),
    }
}
