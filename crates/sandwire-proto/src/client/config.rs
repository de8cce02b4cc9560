use crate::{Limits, PeerInfo, Wire};
use sandwire_json::Raw;
use sandwire_types::{Method, NameSource, ProtocolVersion};
use std::sync::Arc;

/// What a client tells servers about itself, and how it connects.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_structs)]
pub struct Config {
    /// This client's `Implementation`, an object.
    pub info: Raw,
    /// This client's `ClientCapabilities`, an object. The server may only ask for what is declared here.
    pub capabilities: Raw,
    /// How to find the version to speak.
    pub mode: Mode,
    /// What kind of link it is. Whoever joins machine and link sets this.
    pub wire: Wire,
    /// What the connection may use.
    pub limits: Limits,
    /// How long a call may take if it does not say itself, in milliseconds.
    pub call_timeout_ms: u64,
    /// How long the server may take to answer `server/discover` when its era is not known, in milliseconds.
    pub probe_timeout_ms: u64,
    /// What to do about a call that the server answers with having lost the session (legacy HTTP only).
    pub session_loss: SessionLoss,
    /// Whether to keep an event stream open for messages that belong to no call (legacy HTTP only).
    pub listen: bool,
    /// Whether to go on with a server that answers `notifications/initialized` with an error status (legacy HTTP only).
    /// Some do that serve well otherwise. Without it the connection cannot be opened.
    pub ignore_failed_initialized: bool,
    /// Types that a call's result may have besides those of the specification: what extensions that are declared add.
    /// Such results are delivered as they are; any other is the server's fault.
    pub result_types: Vec<Arc<str>>,
    /// The members of custom methods' parameters that the HTTP header `Mcp-Name` repeats.
    pub name_members: Vec<(Method, Arc<str>)>,
}

impl Config {
    /// A client of this name and version that declares no capabilities and finds the era out.
    ///
    /// ```
    /// let config = sandwire_proto::client::Config::new("probe", "1.0");
    /// assert_eq!(config.info.as_str(), r#"{"name":"probe","version":"1.0"}"#);
    /// ```
    #[must_use]
    pub fn new(name: &str, version: &str) -> Self {
        let mut info = sandwire_json::Writer::new();
        info.begin_object();
        info.key("name");
        info.string(name);
        info.key("version");
        info.string(version);
        info.end_object();
        Self {
            info: info.into_raw(),
            capabilities: Raw::object(),
            mode: Mode::Auto,
            wire: Wire::Pipe,
            limits: Limits::default(),
            call_timeout_ms: 60_000,
            probe_timeout_ms: 10_000,
            session_loss: SessionLoss::CallAgain,
            listen: true,
            ignore_failed_initialized: false,
            result_types: Vec::new(),
            name_members: Vec::new(),
        }
    }

    /// The member of a method's parameters that the HTTP header `Mcp-Name` repeats.
    pub(super) fn name_source(&self, method: &Method) -> Option<&str> {
        let known = method.name_source().map(NameSource::key);
        known.or_else(|| self.name_members.iter().find(|(named, _)| named == method).map(|(_, member)| &**member))
    }
}

/// What becomes of a call that a server answers with HTTP status 404 because it ended the session, or forgot it.
///
/// Either way a new session is begun, in which later calls are made, and in which resource subscriptions and the log
/// level are asked for again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionLoss {
    /// It is made again in the new session, once; if that is answered with 404 too, it fails.
    ///
    /// A server that keeps to the specification has not begun a call that it answers so. One that has, or that stands
    /// behind a gateway which answers in its place, runs it twice: choose [`Fail`](Self::Fail) if a tool must not.
    #[default]
    CallAgain,
    /// It fails with [`TransportErrorKind::Restarted`](crate::TransportErrorKind::Restarted), and nothing runs twice.
    Fail,
}

/// How a client finds the version to speak.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Mode {
    /// Ask with `server/discover`; if the server does not know that, `initialize`.
    #[default]
    Auto,
    /// `initialize` at once, accepting any legacy version.
    Legacy,
    /// Speak this version or fail.
    Pinned(ProtocolVersion),
    /// Go on as an earlier connection to the same server did: a modern server is asked nothing first, a legacy one
    /// is sent `initialize` at once.
    Remembered(Arc<PeerInfo>),
}
