//! Finding out what the server speaks. The only file of the client that compares versions.

use super::{
    Call, CallError, Machine, Mode, OpenError, Output, Phase, Queued, Timeout,
    pending::{Owner, Pending, Purpose},
};
use crate::{
    PeerIncompatible, PeerInfo, PeerMisbehaved, Time, TransportError, TransportErrorKind, http::outgoing::text_member,
};
use sandwire_json::{Raw, Writer};
use sandwire_types::{
    Envelope, Era, ErrorCode, ErrorObject, HANDSHAKE_VERSIONS, MODERN_VERSIONS, Method, Notification, ProtocolVersion,
    Reply,
};
use std::sync::Arc;

/// A server that names versions twice without one of ours being accepted is not asked a third time.
const MAX_PROBES: u8 = 2;

impl Machine {
    /// Begins the opening, once.
    pub(super) fn begin(&mut self, now: Time) {
        if self.phase != Phase::New {
            return;
        }
        match &self.config.mode {
            Mode::Auto => self.probe(now, ProtocolVersion::LATEST),
            Mode::Legacy => self.initialize(now, ProtocolVersion::LATEST_HANDSHAKE),
            Mode::Pinned(version) => {
                let version = *version;
                match version.era() {
                    Era::Modern => self.probe(now, version),
                    Era::Legacy => self.initialize(now, version),
                }
            }
            Mode::Remembered(peer) => {
                let peer = Arc::clone(peer);
                match peer.era() {
                    Era::Modern => self.adopt_modern(now, peer),
                    Era::Legacy => self.initialize(now, ProtocolVersion::LATEST_HANDSHAKE),
                }
                self.remembered = self.is_modern();
            }
        }
    }

    pub(super) fn pinned(&self) -> Option<ProtocolVersion> {
        match self.config.mode {
            Mode::Pinned(version) => Some(version),
            _ => None,
        }
    }

    fn probe(&mut self, now: Time, version: ProtocolVersion) {
        self.envelope = Some(self.envelope(version));
        self.probes += 1;
        let timeout = match self.config.mode {
            Mode::Pinned(_) => self.config.call_timeout_ms,
            _ => self.config.probe_timeout_ms,
        };
        let mut call = Call::new(Method::ServerDiscover, None);
        call.timeout = Timeout::After(timeout);
        self.ask_server(now, Owner::Discover, call);
    }

    fn initialize(&mut self, now: Time, version: ProtocolVersion) {
        self.initialize_within(now, version, Timeout::Default);
    }

    pub(super) fn initialize_within(&mut self, now: Time, version: ProtocolVersion, timeout: Timeout) {
        self.envelope = None;
        let mut params = Writer::new();
        params.begin_object();
        params.key("protocolVersion");
        params.string(version.as_str());
        params.key("capabilities");
        params.raw(self.config.capabilities.as_str());
        params.key("clientInfo");
        params.raw(self.config.info.as_str());
        params.end_object();
        let mut call = Call::new(Method::Initialize, Some(params.into_raw()));
        call.timeout = timeout;
        self.ask_server(now, Owner::Initialize, call);
    }

    fn ask_server(&mut self, now: Time, owner: Owner, call: Call) {
        self.phase = Phase::Opening;
        self.peer = None;
        self.remembered = false;
        match self.insert(Pending::new(owner, call, &self.config, now)) {
            Some(key) => self.send_call(now, key),
            None => self.fail_opening(OpenError::Closed),
        }
    }

    fn envelope(&self, version: ProtocolVersion) -> Arc<Envelope> {
        let (capabilities, info) = (self.config.capabilities.clone(), self.config.info.clone());
        Arc::new(Envelope::new(version.as_str(), capabilities, Some(info)))
    }

    /// The answer to `server/discover` or `initialize`, or why there is none.
    pub(super) fn opening_answered(
        &mut self,
        now: Time,
        owner: Owner,
        result: Result<Reply, CallError>,
        failure: Option<TransportError>,
    ) {
        let discovers = owner == Owner::Discover;
        self.silent = discovers && matches!(result, Err(CallError::Timeout)) || !discovers && self.silent;
        #[cfg(feature = "sse")]
        let status = failure.as_ref().and_then(TransportError::http_status);
        // What a status says goes before what the answer in its body says.
        let decided = failure.filter(|failure| match discovers {
            true => !is_verdict(failure),
            false => failure.kind() == TransportErrorKind::Unauthorized,
        });
        if let Some(failure) = decided {
            return self.fail_opening(OpenError::Transport(failure));
        }
        match result.map_err(opening_error) {
            Ok(reply) if discovers => self.discovered(now, &reply),
            Ok(reply) => self.initialized(now, &reply),
            Err(error) if discovers => self.not_discovered(now, error),
            #[cfg(feature = "sse")]
            Err(error) if self.may_have_two_addresses(status, &error) => self.downgrade(now, error),
            Err(error) => self.not_initialized(now, error),
        }
    }

    fn discovered(&mut self, now: Time, reply: &Reply) {
        let supported = reply.value.get("supportedVersions").and_then(|list| Versions::read(&list));
        let capabilities = reply.value.get("capabilities").filter(Raw::is_object);
        let (Some(supported), Some(_)) = (supported, capabilities) else {
            return self.not_discovered(now, OpenError::Misbehaved(PeerMisbehaved::InvalidDiscovery));
        };
        let version = match self.pinned() {
            Some(pinned) if supported.has(pinned) => Some(pinned),
            Some(_) => return self.fail_opening(OpenError::Incompatible(PeerIncompatible::PinnedVersion)),
            None => supported.newest_modern(),
        };
        match version {
            Some(version) => self.adopt_modern(now, introduction(version, reply)),
            None => self.initialize(now, ProtocolVersion::LATEST_HANDSHAKE),
        }
    }

    /// A server that does not know `server/discover` is a legacy one; unless that was not to be found out.
    fn not_discovered(&mut self, now: Time, error: OpenError) {
        if let OpenError::Refused(refusal) = &error
            && refusal.code == ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
        {
            return self.version_refused(now, refusal);
        }
        let legacy = match &error {
            OpenError::Transport(failure) => is_verdict(failure),
            OpenError::Timeout => !self.is_http(),
            OpenError::Closed => false,
            _ => true,
        };
        if legacy && self.pinned().is_none() {
            self.initialize(now, ProtocolVersion::LATEST_HANDSHAKE);
        } else {
            self.fail_opening(error);
        }
    }

    fn version_refused(&mut self, now: Time, refusal: &ErrorObject) {
        let supported = supported_versions(refusal);
        let mutual = match self.pinned() {
            Some(pinned) => supported.filter(|versions| versions.has(pinned)).map(|_| pinned),
            None => supported.and_then(Versions::newest_modern),
        };
        match mutual {
            Some(version) if self.probes < MAX_PROBES => self.probe(now, version),
            _ if self.pinned().is_some() => {
                self.fail_opening(OpenError::Incompatible(PeerIncompatible::PinnedVersion));
            }
            _ if supported.is_some_and(|versions| !versions.has_legacy()) => {
                self.fail_opening(OpenError::Incompatible(PeerIncompatible::NoCommonVersion));
            }
            _ => self.initialize(now, ProtocolVersion::LATEST_HANDSHAKE),
        }
    }

    fn initialized(&mut self, now: Time, reply: &Reply) {
        let Some(version) = text_member(reply.value.as_str(), "protocolVersion") else {
            return self.fail_opening(OpenError::Misbehaved(PeerMisbehaved::InvalidInitialization));
        };
        let version = match ProtocolVersion::parse(&version) {
            Some(version) if version.era() == Era::Legacy => version,
            _ => return self.fail_opening(OpenError::Incompatible(PeerIncompatible::NoCommonVersion)),
        };
        if self.pinned().is_some_and(|pinned| pinned != version) {
            return self.fail_opening(OpenError::Incompatible(PeerIncompatible::PinnedVersion));
        }
        self.peer = Some(introduction(version, reply));
        self.send_notification(Notification::new(Method::Initialized, None), Purpose::Initialized);
        if !self.is_http() {
            self.adopt_legacy(now);
        }
    }

    fn not_initialized(&mut self, now: Time, error: OpenError) {
        let may_probe = matches!(self.config.mode, Mode::Auto | Mode::Remembered(_)) && self.probes < MAX_PROBES;
        let modern = match &error {
            OpenError::Refused(refusal) if may_probe => match refusal.code {
                ErrorCode::UNSUPPORTED_PROTOCOL_VERSION => {
                    supported_versions(refusal).and_then(Versions::newest_modern)
                }
                // A modern server that was slow to start.
                ErrorCode::METHOD_NOT_FOUND if self.silent => Some(ProtocolVersion::LATEST),
                _ => None,
            },
            _ => None,
        };
        match modern {
            Some(version) => self.probe(now, version),
            None => self.fail_opening(error),
        }
    }

    fn adopt_modern(&mut self, now: Time, peer: Arc<PeerInfo>) {
        self.envelope = Some(self.envelope(peer.version));
        self.open(now, peer);
    }

    /// The handshake is over.
    pub(super) fn adopt_legacy(&mut self, now: Time) {
        let (Phase::Opening, Some(peer)) = (self.phase, &self.peer) else { return };
        let peer = Arc::clone(peer);
        self.open(now, peer);
        if cfg!(feature = "listen") && self.is_http() && self.config.listen {
            self.listen();
        }
    }

    fn open(&mut self, now: Time, peer: Arc<PeerInfo>) {
        self.phase = Phase::Open;
        #[cfg(feature = "sse")]
        {
            self.refusal = None;
        }
        self.peer = Some(Arc::clone(&peer));
        self.outputs.push_back(Output::Opened(peer));
        if cfg!(feature = "listen") && !self.is_modern() {
            self.ask_standing(now);
        }
        self.send_queued(now);
    }

    /// Makes the calls that waited, if there is nothing more to wait for.
    pub(super) fn send_queued(&mut self, now: Time) {
        if self.phase != Phase::Open {
            return;
        }
        for queued in std::mem::take(&mut self.queue) {
            match queued {
                Queued::Call(key) => {
                    if let Some(key) = self.find(key) {
                        self.send_call(now, key);
                    }
                }
                Queued::Notification(notification) => self.send_notification(notification, Purpose::Post),
            }
        }
    }

    /// Finds out anew what the server speaks, then makes the call again.
    pub(super) fn reopen(&mut self, now: Time, key: u64) {
        self.requeue(now, key);
        self.probes = 0;
        self.probe(now, ProtocolVersion::LATEST);
    }

    /// Goes on with a server that replaced the one this connection was open to.
    pub(super) fn open_again(&mut self, now: Time) {
        if !self.is_modern() {
            self.reinitialize(now);
        } else if std::mem::replace(&mut self.remembered, true) && self.epoch == 1 {
            // What was remembered may be wrong, and the old server have ended over it.
            self.initialize_again(now);
        } else {
            // There is nothing to open. If the new server speaks another version, its first answer says so.
            self.send_queued(now);
        }
    }

    pub(super) fn initialize_again(&mut self, now: Time) {
        self.initialize(now, ProtocolVersion::LATEST_HANDSHAKE);
    }

    /// Begins a new session after the old one expired.
    pub(super) fn reinitialize(&mut self, now: Time) {
        let version = self.version().unwrap_or(ProtocolVersion::LATEST_HANDSHAKE);
        self.session = None;
        self.epoch += 1;
        self.probes = 0;
        self.initialize(now, version);
    }

    pub(super) fn fail_opening(&mut self, error: OpenError) {
        if self.phase != Phase::Opening {
            return;
        }
        #[cfg(feature = "sse")]
        let error = self.what_went_wrong(error);
        let error = Arc::new(error);
        self.failure = Some(Arc::clone(&error));
        self.end_everything(None);
        self.phase = Phase::Closed;
        self.outputs.push_back(Output::Failed(error));
        self.outputs.push_back(Output::Close);
    }
}

fn opening_error(error: CallError) -> OpenError {
    match error {
        CallError::Peer(error) => OpenError::Refused(error),
        CallError::Timeout => OpenError::Timeout,
        CallError::Transport(error) => OpenError::Transport(error),
        CallError::Misbehaved(fault) => OpenError::Misbehaved(fault),
        _ => OpenError::Closed,
    }
}

/// Whether a failure says something about the server's era: authorization, outage and overload do not.
fn is_verdict(failure: &TransportError) -> bool {
    match failure.http_status() {
        Some(status) => (400..500).contains(&status) && !matches!(status, 401 | 403 | 408 | 429),
        // A browser that hides why it refuses has most likely refused headers that older servers do not allow.
        // A server that ended over what it was asked did not know it.
        None => matches!(failure.kind(), TransportErrorKind::Opaque | TransportErrorKind::Restarted),
    }
}

/// The versions that an error's data lists; `None` if it has no such list.
fn supported_versions(error: &ErrorObject) -> Option<Versions> {
    Versions::read(&error.data.as_ref()?.get("supported")?)
}

/// Those versions of a server's that are known here, a bit for each.
#[derive(Clone, Copy)]
struct Versions(u8);

impl Versions {
    fn read(list: &Raw) -> Option<Self> {
        let mut versions = Self(0);
        let read = list.reader().array(&mut |reader| {
            if let Some(version) = ProtocolVersion::parse(&reader.string()?) {
                versions.0 |= 1 << version.level();
            }
            Ok(())
        });
        read.is_ok().then_some(versions)
    }

    fn has(self, version: ProtocolVersion) -> bool {
        self.0 >> version.level() & 1 == 1
    }

    fn has_legacy(self) -> bool {
        HANDSHAKE_VERSIONS.iter().any(|version| self.has(*version))
    }

    fn newest_modern(self) -> Option<ProtocolVersion> {
        MODERN_VERSIONS.iter().rev().copied().find(|version| self.has(*version))
    }
}

/// What a server that speaks `version` says of itself.
fn introduction(version: ProtocolVersion, reply: &Reply) -> Arc<PeerInfo> {
    let result = &reply.value;
    let stamped = reply.stamp.as_ref().and_then(|stamp| stamp.server_info.clone());
    Arc::new(PeerInfo {
        version,
        capabilities: result.get("capabilities").filter(Raw::is_object).unwrap_or_else(Raw::object),
        info: stamped.or_else(|| result.get("serverInfo")),
        instructions: text_member(result.as_str(), "instructions").map(Into::into),
        principal: None,
    })
}
