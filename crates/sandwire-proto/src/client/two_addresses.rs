//! Finding out whether an HTTP server is one of the oldest, which have an address for events and another for messages.

use super::{Machine, OpenError, Output, Slab, Timeout};
use crate::{Time, TransportErrorKind, Wire};
use sandwire_types::{ErrorCode, ProtocolVersion};

impl Machine {
    /// Whether the refusal of `initialize` is what such a server answers to a message at the address of its events.
    pub(super) fn may_have_two_addresses(&self, status: Option<u16>, error: &OpenError) -> bool {
        let modern = match error {
            OpenError::Refused(refusal) => matches!(
                refusal.code,
                ErrorCode::HEADER_MISMATCH
                    | ErrorCode::MISSING_CLIENT_CAPABILITY
                    | ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
            ),
            _ => false,
        };
        self.is_http() && self.epoch == 0 && !modern && matches!(status, Some(400 | 404 | 405))
    }

    /// Goes on over a link that is a pipe to such a server, which is given no more time than its era takes to find out.
    pub(super) fn downgrade(&mut self, now: Time, refusal: OpenError) {
        self.config.wire = Wire::Pipe;
        self.exchanges = Slab::new();
        self.refusal = Some(refusal);
        self.outputs.push_back(Output::Downgrade);
        let version = self.pinned().unwrap_or(ProtocolVersion::LATEST_HANDSHAKE);
        self.initialize_within(now, version, Timeout::After(self.config.probe_timeout_ms));
    }

    /// Why the opening failed: what the server refused before, if there is no sign that it is one of those.
    pub(super) fn what_went_wrong(&mut self, error: OpenError) -> OpenError {
        let no_sign = match &error {
            OpenError::Timeout | OpenError::Closed => true,
            OpenError::Transport(error) => {
                !matches!(error.kind(), TransportErrorKind::Malformed | TransportErrorKind::Unauthorized)
            }
            _ => false,
        };
        self.refusal.take().filter(|_| no_sign).unwrap_or(error)
    }
}
