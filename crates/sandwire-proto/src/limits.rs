/// What one connection may use. Each bound is there so that no peer can exhaust memory.
///
/// ```
/// let limits = sandwire_proto::Limits { max_in_flight: 16, ..Default::default() };
/// assert_eq!(limits.max_message_bytes, 4 * 1024 * 1024);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs)]
pub struct Limits {
    /// The longest message in either direction, in bytes of JSON text: a body, a line, one event of a stream.
    pub max_message_bytes: usize,
    /// Requests of our own that may wait for an answer at once. At most 65,536.
    pub max_in_flight: usize,
    /// Requests of the peer that may be under way at once.
    pub max_peer_requests: usize,
    /// Messages that may wait for a link that is slower than their sender; and resource subscriptions of a legacy
    /// connection that are made again with a new server, beyond which they are not.
    pub max_queue: usize,
    /// How often one call may be asked for more input before it fails.
    pub max_rounds: u32,
}

/// How long the URIs may be, together, that one legacy client subscribes to. More are refused.
pub(crate) const MAX_WATCHED_BYTES: usize = 256 * 1024;

/// How long a token may be that every progress of a call repeats. Calls with longer ones are refused.
pub(crate) const MAX_TOKEN_BYTES: usize = 1024;

impl Default for Limits {
    /// 4 MiB a message, 4,096 requests in flight, 256 requests of the peer, 1,024 waiting messages, 10 rounds.
    fn default() -> Self {
        Self {
            max_message_bytes: 4 * 1024 * 1024,
            max_in_flight: 4096,
            max_peer_requests: 256,
            max_queue: 1024,
            max_rounds: 10,
        }
    }
}
