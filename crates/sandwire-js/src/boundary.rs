//! What a client module calls, and how texts cross. The other side is `npm/src/module.ts`.
//!
//! A text that goes out is a place in this module's memory, read before the call returns. One that comes in was
//! written to the [`room`] that was made for it. Every function names its connection first.

use crate::fault::Fault;

mod imports {
    #[link(wasm_import_module = "js")]
    unsafe extern "C" {
        pub(crate) safe fn now() -> f64;
        pub(crate) safe fn arm(connection: u32, milliseconds: f64);
        pub(crate) safe fn abort(connection: u32, request: u32);
        pub(crate) safe fn forget(cause: u32);
        pub(super) fn random(at: *mut u8, length: usize);
        pub(super) fn send(
            connection: u32,
            request: u32,
            head: *const u8,
            head_length: usize,
            body: *const u8,
            body_length: usize,
        ) -> u32;
        pub(super) fn told(
            connection: u32,
            what: u32,
            key: f64,
            name: *const u8,
            name_length: usize,
            json: *const u8,
            json_length: usize,
        );
        pub(super) fn failed(
            connection: u32,
            token: f64,
            number: f64,
            cause: u32,
            code: *const u8,
            code_length: usize,
            message: *const u8,
            message_length: usize,
            data: *const u8,
            data_length: usize,
        );
    }
}

/// Milliseconds of the host's monotonic clock.
pub(crate) use imports::now;

/// Has `wake` called after a time, and not at the time asked for before.
pub(crate) use imports::arm;

/// Ends a request that has not ended; request 0 is the port.
pub(crate) use imports::abort;

/// Lets go of what was thrown.
pub(crate) use imports::forget;

/// What the application is told of.
#[derive(Clone, Copy)]
pub(crate) enum Told {
    /// The result of the call with this token.
    Done = 0,
    /// Progress of the call with this token.
    Progress = 1,
    /// A notification of the subscription with this token.
    Event = 2,
    /// A notification.
    Notification = 3,
    /// A question under this key.
    #[cfg(feature = "client")]
    Ask = 4,
    /// The question under this key is withdrawn.
    #[cfg(feature = "client")]
    Withdrawn = 5,
    /// The connection is open: its era (0 legacy, 1 modern), its version, and the server as JSON.
    Opened = 6,
    /// The connection is over.
    Closed = 7,
    /// The text of a message, sent (0) or received (1).
    Message = 8,
}

/// Tells the application something. Absent JSON is an empty text.
pub(crate) fn told(connection: u32, what: Told, key: f64, name: &str, json: &str) {
    // SAFETY: both places are texts that live until the call returns.
    unsafe { imports::told(connection, what as u32, key, name.as_ptr(), name.len(), json.as_ptr(), json.len()) }
}

/// What failed, where it is no call.
pub(crate) const OPENING: f64 = -1.0;
pub(crate) const CONNECTION: f64 = -2.0;
#[cfg(feature = "client")]
pub(crate) const WARNING: f64 = -3.0;

/// Tells that a call (token 0 and above), the opening or the connection failed.
pub(crate) fn failed(connection: u32, token: f64, fault: &Fault<'_>) {
    let Fault { code, number, message, data, cause } = fault;
    // SAFETY: the places are texts that live until the call returns.
    unsafe {
        imports::failed(
            connection,
            token,
            *number,
            *cause,
            code.as_ptr(),
            code.len(),
            message.as_ptr(),
            message.len(),
            data.as_ptr(),
            data.len(),
        );
    }
}

/// Begins a request, of which is told under its number, or posts a text, which is request 0. Gives the number of what
/// was thrown, or 0.
pub(crate) fn send(connection: u32, request: u32, head: &str, body: &str) -> u32 {
    // SAFETY: both places are texts that live until the call returns.
    unsafe { imports::send(connection, request, head.as_ptr(), head.len(), body.as_ptr(), body.len()) }
}

/// Fills `bytes` from the host's cryptographic generator, which takes at most 65,536.
pub(crate) fn random(bytes: &mut [u8]) {
    // SAFETY: the place is writable until the call returns.
    unsafe { imports::random(bytes.as_mut_ptr(), bytes.len()) }
}

/// Texts that came joined by NUL characters, which neither JSON nor a header field can have. The last one is the rest,
/// whatever it has.
pub(crate) struct Texts<'a>(pub(crate) &'a str);

impl<'a> Texts<'a> {
    pub(crate) fn next(&mut self) -> &'a str {
        let end = self.0.bytes().position(|byte| byte == 0).unwrap_or(self.0.len());
        let next = self.0.get(..end).unwrap_or_default();
        self.0 = self.0.get(end + 1..).unwrap_or_default();
        next
    }
}
