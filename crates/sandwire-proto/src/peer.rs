use crate::Principal;
use sandwire_json::Raw;
use sandwire_types::{Era, ProtocolVersion};
use std::sync::Arc;

/// What one side knows of the other once a connection is open.
///
/// A client may keep the one it got and pass it to the next connection to the same server
/// ([`Mode::Remembered`](crate::client::Mode::Remembered)).
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_structs)]
pub struct PeerInfo {
    /// The protocol version both sides speak.
    pub version: ProtocolVersion,
    /// The peer's capabilities, an object.
    pub capabilities: Raw,
    /// The peer's `Implementation`, where it introduced itself.
    pub info: Option<Raw>,
    /// What the server says about how to use it.
    pub instructions: Option<Arc<str>>,
    /// Who a client is, where its requests are authenticated.
    pub principal: Option<Arc<Principal>>,
}

impl PeerInfo {
    /// A peer that speaks `version` and has `capabilities`.
    #[must_use]
    pub fn new(version: ProtocolVersion, capabilities: Raw) -> Self {
        Self { version, capabilities, info: None, instructions: None, principal: None }
    }

    /// The era of the version both sides speak.
    #[must_use]
    pub fn era(&self) -> Era {
        self.version.era()
    }
}
