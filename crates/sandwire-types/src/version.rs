//! The protocol versions and what tells them apart.

use std::fmt;

/// A version of the protocol that this library speaks.
///
/// ```
/// use sandwire_types::{Era, ProtocolVersion};
///
/// let version = ProtocolVersion::parse("2025-06-18").ok_or("unknown version")?;
/// assert_eq!(version, ProtocolVersion::V2025_06_18);
/// assert_eq!(version.era(), Era::Legacy);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProtocolVersion(u8);

/// How a protocol version opens a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Era {
    /// By a handshake: 2024-11-05 to 2025-11-25.
    Legacy,
    /// By metadata in every request: 2026-07-28.
    Modern,
}

/// Every version spoken here, oldest first.
pub const KNOWN_VERSIONS: &[ProtocolVersion] = &[
    ProtocolVersion::V2024_11_05,
    ProtocolVersion::V2025_03_26,
    ProtocolVersion::V2025_06_18,
    ProtocolVersion::V2025_11_25,
    ProtocolVersion::V2026_07_28,
];

/// The versions of the legacy era, oldest first.
pub const HANDSHAKE_VERSIONS: &[ProtocolVersion] = &[
    ProtocolVersion::V2024_11_05,
    ProtocolVersion::V2025_03_26,
    ProtocolVersion::V2025_06_18,
    ProtocolVersion::V2025_11_25,
];

/// The versions of the modern era, oldest first.
pub const MODERN_VERSIONS: &[ProtocolVersion] = &[ProtocolVersion::V2026_07_28];

impl ProtocolVersion {
    /// The first published version.
    pub const V2024_11_05: Self = Self(0);
    /// The version that brought Streamable HTTP, and batches for as long as it lasted.
    pub const V2025_03_26: Self = Self(1);
    /// The version that brought structured content, elicitation and the version header.
    pub const V2025_06_18: Self = Self(2);
    /// The last version of the legacy era.
    pub const V2025_11_25: Self = Self(3);
    /// The first version of the modern era.
    pub const V2026_07_28: Self = Self(4);

    /// The newest version of the legacy era.
    pub const LATEST_HANDSHAKE: Self = Self::V2025_11_25;
    /// The newest version.
    pub const LATEST: Self = Self::V2026_07_28;

    /// The version that a string on the wire names; `None` for one not spoken here.
    pub fn parse(text: &str) -> Option<Self> {
        KNOWN_VERSIONS.iter().copied().find(|version| version.as_str() == text)
    }

    /// The string on the wire.
    pub const fn as_str(self) -> &'static str {
        match self.0 {
            0 => "2024-11-05",
            1 => "2025-03-26",
            2 => "2025-06-18",
            3 => "2025-11-25",
            _ => "2026-07-28",
        }
    }

    /// The era.
    pub const fn era(self) -> Era {
        if self.0 < Self::V2026_07_28.0 { Era::Legacy } else { Era::Modern }
    }

    /// Whether several messages may share one array; only 2025-03-26 has batches.
    pub const fn allows_batch(self) -> bool {
        self.0 == Self::V2025_03_26.0
    }

    /// Whether HTTP requests carry `MCP-Protocol-Version`.
    pub const fn has_version_header(self) -> bool {
        self.0 >= Self::V2025_06_18.0
    }

    /// Whether HTTP is Streamable HTTP, and not the pair of endpoints that came before it.
    pub const fn has_streamable_http(self) -> bool {
        self.0 >= Self::V2025_03_26.0
    }

    /// Whether the client can be asked for input from its user.
    pub const fn has_elicitation(self) -> bool {
        self.0 >= Self::V2025_06_18.0
    }

    /// Whether a user can be asked to visit an address.
    pub const fn has_url_elicitation(self) -> bool {
        self.0 >= Self::V2025_11_25.0
    }

    /// Whether a server opens an event stream with an empty event that makes it resumable.
    pub const fn primes_event_streams(self) -> bool {
        self.0 == Self::V2025_11_25.0
    }

    /// Whether the answer to a request whose id could not be read leaves `id` out; before, it was
    /// `null`.
    pub const fn omits_unreadable_id(self) -> bool {
        self.0 >= Self::V2025_11_25.0
    }

    /// Whether `completion/complete` is announced by a capability.
    pub const fn has_completions_capability(self) -> bool {
        self.0 >= Self::V2025_03_26.0
    }

    /// Whether the result of a tool may have structured content.
    pub const fn has_structured_content(self) -> bool {
        self.0 >= Self::V2025_06_18.0
    }

    /// Whether structured content may be any JSON value, and not only an object.
    pub const fn has_any_structured_content(self) -> bool {
        self.0 >= Self::V2026_07_28.0
    }

    /// Whether a message to or from a model may have several blocks.
    pub const fn has_message_arrays(self) -> bool {
        self.0 >= Self::V2025_11_25.0
    }

    /// Whether no later version has blocks of content, or members in them, that this one lacks.
    pub const fn has_all_content(self) -> bool {
        self.0 >= Self::V2025_11_25.0
    }

    /// Whether forms have choices of several, names of choices, and defaults.
    pub const fn has_rich_forms(self) -> bool {
        self.0 >= Self::V2025_11_25.0
    }

    /// The level in shape tables: the index in [`KNOWN_VERSIONS`].
    pub const fn level(self) -> u8 {
        self.0
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
