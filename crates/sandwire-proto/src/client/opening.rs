//! Finding out what the server speaks. The only file of the client that compares versions.

use super::{
    CallError, Machine, Mode, Open, OpenError, Output, Phase, Queued,
    pending::{Owner, Pending, Purpose},
};
use crate::{PeerIncompatible, PeerInfo, PeerMisbehaved, Time, TransportError, TransportErrorKind};
use sandwire_json::{Error as JsonError, Kind, Raw, Reader, Writer};
use sandwire_types::{Envelope, Era, ErrorCode, ErrorObject, Method, Notification, ProtocolVersion, Reply};
use std::sync::Arc;

/// An opening under way.
#[derive(Debug, Default)]
pub(super) struct Opening {
    /// What the probe carries.
    pub(super) envelope: Option<Arc<Envelope>>,
    probes: u8,
    /// The server, once `initialize` is answered and until it has taken `notifications/initialized`.
    handshaken: Option<PeerInfo>,
}

/// A server that names versions twice without one of ours being accepted is not asked a third time.
const MAX_PROBES: u8 = 2;

impl Machine {
    /// Begins the opening, once.
    pub(super) fn begin(&mut self, now: Time) {
        if !matches!(self.phase, Phase::New) {
            return;
        }
        self.phase = Phase::Opening(Box::default());
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
                    Era::Modern => self.adopt_modern(now, peer, true),
                    Era::Legacy => self.initialize(now, ProtocolVersion::LATEST_HANDSHAKE),
                }
            }
        }
    }

    pub(super) fn opening_version(&self) -> Option<ProtocolVersion> {
        match &self.phase {
            Phase::Opening(opening) => opening.handshaken.as_ref().map(|peer| peer.version),
            _ => None,
        }
    }

    fn pinned(&self) -> Option<ProtocolVersion> {
        match self.config.mode {
            Mode::Pinned(version) => Some(version),
            _ => None,
        }
    }

    fn probe(&mut self, now: Time, version: ProtocolVersion) {
        let envelope = self.envelope(version);
        let Phase::Opening(opening) = &mut self.phase else { return };
        opening.envelope = Some(envelope);
        opening.probes += 1;
        let timeout = match self.config.mode {
            Mode::Pinned(_) => self.config.call_timeout_ms,
            _ => self.config.probe_timeout_ms,
        };
        self.ask(now, Pending::of_machine(Owner::Discover, Method::ServerDiscover, None, timeout, now));
    }

    fn initialize(&mut self, now: Time, version: ProtocolVersion) {
        let mut params = Writer::new();
        params.begin_object();
        params.key("protocolVersion");
        params.string(version.as_str());
        params.key("capabilities");
        params.raw(self.config.capabilities.as_str());
        params.key("clientInfo");
        params.raw(self.config.info.as_str());
        params.end_object();
        let params = Some(params.into_raw());
        let timeout = self.config.call_timeout_ms;
        self.ask(now, Pending::of_machine(Owner::Initialize, Method::Initialize, params, timeout, now));
    }

    fn ask(&mut self, now: Time, pending: Pending) {
        match self.insert(pending) {
            Some(key) => self.send_call(now, key),
            None => self.fail_opening(OpenError::Closed),
        }
    }

    fn envelope(&self, version: ProtocolVersion) -> Arc<Envelope> {
        Arc::new(Envelope {
            version: version.as_str().into(),
            capabilities: self.config.capabilities.clone(),
            client_info: Some(self.config.info.clone()),
        })
    }

    /// The answer to `server/discover`, or why there is none.
    pub(super) fn discovered(&mut self, now: Time, result: Result<Reply, CallError>, failure: Option<TransportError>) {
        if let Some(failure) = failure.filter(|failure| !is_verdict(failure)) {
            return self.fail_opening(OpenError::Transport(failure));
        }
        let error = match result {
            Ok(reply) => match Discovery::read(&reply) {
                Ok(discovery) => return self.choose(now, &discovery),
                Err(_) => OpenError::Misbehaved(PeerMisbehaved::InvalidDiscovery),
            },
            Err(CallError::Peer(error)) if error.code == ErrorCode::UNSUPPORTED_PROTOCOL_VERSION => {
                return self.version_refused(now, error);
            }
            Err(CallError::Peer(error)) => OpenError::Refused(error),
            Err(CallError::Timeout) if self.is_http() => return self.fail_opening(OpenError::Timeout),
            Err(CallError::Timeout) => OpenError::Timeout,
            Err(CallError::Transport(error)) if !is_verdict(&error) => {
                return self.fail_opening(OpenError::Transport(error));
            }
            Err(CallError::Transport(error)) => OpenError::Transport(error),
            Err(CallError::Misbehaved(fault)) => OpenError::Misbehaved(fault),
            Err(_) => return self.fail_opening(OpenError::Closed),
        };
        self.fall_back(now, error);
    }

    /// The server does not know `server/discover`, so it is a legacy one; unless that was not to be found out.
    fn fall_back(&mut self, now: Time, error: OpenError) {
        match self.pinned() {
            Some(_) => self.fail_opening(error),
            None => self.initialize(now, ProtocolVersion::LATEST_HANDSHAKE),
        }
    }

    fn choose(&mut self, now: Time, discovery: &Discovery) {
        let version = match self.pinned() {
            Some(pinned) if discovery.supported.contains(&pinned) => Some(pinned),
            Some(_) => return self.fail_opening(OpenError::Incompatible(PeerIncompatible::PinnedVersion)),
            None => newest_modern(&discovery.supported),
        };
        let Some(version) = version else {
            return self.initialize(now, ProtocolVersion::LATEST_HANDSHAKE);
        };
        let mut peer = PeerInfo::new(version, discovery.capabilities.clone());
        peer.info = discovery.info.clone();
        peer.instructions = discovery.instructions.clone();
        self.adopt_modern(now, Arc::new(peer), false);
    }

    fn version_refused(&mut self, now: Time, error: ErrorObject) {
        if self.pinned().is_some() {
            return self.fail_opening(OpenError::Incompatible(PeerIncompatible::PinnedVersion));
        }
        let supported = supported_versions(&error);
        let probes = match &self.phase {
            Phase::Opening(opening) => opening.probes,
            _ => return,
        };
        match supported {
            Some(versions) => match newest_modern(&versions) {
                Some(version) if probes < MAX_PROBES => self.probe(now, version),
                _ if versions.iter().all(|version| version.era() == Era::Modern) => {
                    self.fail_opening(OpenError::Incompatible(PeerIncompatible::NoCommonVersion));
                }
                _ => self.fall_back(now, OpenError::Refused(error)),
            },
            None => self.fall_back(now, OpenError::Refused(error)),
        }
    }

    /// The answer to `initialize`, or why there is none.
    pub(super) fn initialized(&mut self, now: Time, result: Result<Reply, CallError>, failure: Option<TransportError>) {
        if let Some(failure) = failure.filter(|failure| failure.kind() == TransportErrorKind::Unauthorized) {
            return self.fail_opening(OpenError::Transport(failure));
        }
        let reply = match result {
            Ok(reply) => reply,
            Err(CallError::Peer(error)) => return self.initialize_refused(now, error),
            Err(error) => {
                return self.fail_opening(match error {
                    CallError::Timeout => OpenError::Timeout,
                    CallError::Transport(error) => OpenError::Transport(error),
                    CallError::Misbehaved(fault) => OpenError::Misbehaved(fault),
                    _ => OpenError::Closed,
                });
            }
        };
        let Ok(handshake) = Handshake::read(&reply.value) else {
            return self.fail_opening(OpenError::Misbehaved(PeerMisbehaved::InvalidInitialization));
        };
        let version = handshake.version.filter(|version| version.era() == Era::Legacy);
        let Some(version) = version else {
            return self.fail_opening(OpenError::Incompatible(PeerIncompatible::NoCommonVersion));
        };
        if self.pinned().is_some_and(|pinned| pinned != version) {
            return self.fail_opening(OpenError::Incompatible(PeerIncompatible::PinnedVersion));
        }
        let mut peer = PeerInfo::new(version, handshake.capabilities);
        peer.info = handshake.info;
        peer.instructions = handshake.instructions;
        if let Phase::Opening(opening) = &mut self.phase {
            opening.handshaken = Some(peer);
        }
        self.send_notification(Notification::new(Method::Initialized, None), Purpose::Initialized);
        if !self.is_http() {
            self.adopt_legacy(now);
        }
    }

    fn initialize_refused(&mut self, now: Time, error: ErrorObject) {
        let probes = match &self.phase {
            Phase::Opening(opening) => opening.probes,
            _ => return,
        };
        let may_probe = matches!(self.config.mode, Mode::Auto | Mode::Remembered(_)) && probes < MAX_PROBES;
        let modern = match error.code {
            ErrorCode::UNSUPPORTED_PROTOCOL_VERSION if may_probe => {
                supported_versions(&error).and_then(|versions| newest_modern(&versions))
            }
            _ => None,
        };
        match modern {
            Some(version) => self.probe(now, version),
            None => self.fail_opening(OpenError::Refused(error)),
        }
    }

    fn adopt_modern(&mut self, now: Time, peer: Arc<PeerInfo>, remembered: bool) {
        let envelope = Some(self.envelope(peer.version));
        self.phase = Phase::Open(Open { peer: Arc::clone(&peer), envelope, remembered });
        self.outputs.push_back(Output::Opened(peer));
        self.send_queued(now);
    }

    /// The handshake is over.
    pub(super) fn adopt_legacy(&mut self, now: Time) {
        let Phase::Opening(opening) = &mut self.phase else { return };
        let Some(peer) = opening.handshaken.take() else { return };
        let peer = Arc::new(peer);
        self.phase = Phase::Open(Open { peer: Arc::clone(&peer), envelope: None, remembered: false });
        self.outputs.push_back(Output::Opened(peer));
        self.send_queued(now);
        if cfg!(feature = "listen") && self.is_http() && self.config.listen {
            self.listen(None);
        }
    }

    /// Makes the calls that waited, if there is nothing more to wait for.
    pub(super) fn send_queued_if_open(&mut self, now: Time) {
        if matches!(self.phase, Phase::Open(_)) {
            self.send_queued(now);
        }
    }

    fn send_queued(&mut self, now: Time) {
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

    /// Whether an error may mean that a remembered server is not what it was.
    pub(super) fn may_reopen(&self, key: u64) -> bool {
        matches!(&self.phase, Phase::Open(open) if open.remembered) && self.calls.get(key).is_some()
    }

    /// Finds out anew what the server speaks, then makes the call again.
    pub(super) fn reopen(&mut self, now: Time, key: u64) {
        self.requeue(now, key);
        self.phase = Phase::Opening(Box::default());
        self.probe(now, ProtocolVersion::LATEST);
    }

    /// Begins a new session after the old one expired.
    pub(super) fn reinitialize(&mut self, now: Time) {
        let version = self.version().unwrap_or(ProtocolVersion::LATEST_HANDSHAKE);
        self.session = None;
        self.epoch += 1;
        self.phase = Phase::Opening(Box::default());
        self.initialize(now, version);
    }

    pub(super) fn fail_opening(&mut self, error: OpenError) {
        if !matches!(self.phase, Phase::Opening(_)) {
            return;
        }
        let shared = Arc::new(error.clone());
        self.end_everything(&CallError::Open(Arc::clone(&shared)));
        self.phase = Phase::Failed(shared);
        self.outputs.push_back(Output::Failed(error));
        self.outputs.push_back(Output::Close);
    }
}

/// Whether a failure says something about the server's era: authorization, outage and overload do not.
fn is_verdict(failure: &TransportError) -> bool {
    match failure.http_status() {
        Some(status) => (400..500).contains(&status) && !matches!(status, 401 | 403 | 408 | 429),
        // A browser that hides why it refuses has most likely refused headers that older servers do not allow.
        None => failure.kind() == TransportErrorKind::Opaque,
    }
}

fn newest_modern(versions: &[ProtocolVersion]) -> Option<ProtocolVersion> {
    versions.iter().copied().filter(|version| version.era() == Era::Modern).max()
}

/// The known versions that an error's data lists; `None` if it has no such list.
fn supported_versions(error: &ErrorObject) -> Option<Vec<ProtocolVersion>> {
    let list = error.data.as_ref()?.get("supported")?;
    read_versions(&mut list.reader()).ok()
}

fn read_versions(reader: &mut Reader<'_>) -> Result<Vec<ProtocolVersion>, JsonError> {
    let mut versions = Vec::new();
    reader.array(&mut |reader| {
        versions.extend(ProtocolVersion::parse(&reader.string()?));
        Ok(())
    })?;
    Ok(versions)
}

struct Discovery {
    supported: Vec<ProtocolVersion>,
    capabilities: Raw,
    info: Option<Raw>,
    instructions: Option<Arc<str>>,
}

impl Discovery {
    fn read(reply: &Reply) -> Result<Self, JsonError> {
        let mut supported = None;
        let mut capabilities = None;
        let mut info = reply.stamp.as_ref().and_then(|stamp| stamp.server_info.clone());
        let mut instructions = None;
        let mut reader = reply.value.reader();
        reader.object(&mut |key, reader| {
            match key {
                "supportedVersions" => supported = Some(read_versions(reader)?),
                "capabilities" if reader.peek()? == Kind::Object => capabilities = Some(Raw::from_valid(reader.raw()?)),
                "instructions" => instructions = read_text(reader)?,
                // Where early servers put it.
                "serverInfo" if info.is_none() => info = Some(Raw::from_valid(reader.raw()?)),
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        Ok(Self {
            supported: supported.ok_or_else(|| JsonError::missing("supportedVersions", &reader))?,
            capabilities: capabilities.ok_or_else(|| JsonError::missing("capabilities", &reader))?,
            info,
            instructions,
        })
    }
}

struct Handshake {
    version: Option<ProtocolVersion>,
    capabilities: Raw,
    info: Option<Raw>,
    instructions: Option<Arc<str>>,
}

impl Handshake {
    fn read(result: &Raw) -> Result<Self, JsonError> {
        let mut version = None;
        let mut capabilities = None;
        let mut info = None;
        let mut instructions = None;
        let mut reader = result.reader();
        reader.object(&mut |key, reader| {
            match key {
                "protocolVersion" => version = Some(ProtocolVersion::parse(&reader.string()?)),
                "capabilities" if reader.peek()? == Kind::Object => capabilities = Some(Raw::from_valid(reader.raw()?)),
                "serverInfo" => info = Some(Raw::from_valid(reader.raw()?)),
                "instructions" => instructions = read_text(reader)?,
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        Ok(Self {
            version: version.ok_or_else(|| JsonError::missing("protocolVersion", &reader))?,
            capabilities: capabilities.unwrap_or_else(Raw::object),
            info,
            instructions,
        })
    }
}

fn read_text(reader: &mut Reader<'_>) -> Result<Option<Arc<str>>, JsonError> {
    if reader.peek()? == Kind::String {
        return Ok(Some(reader.string()?.into()));
    }
    reader.skip()?;
    Ok(None)
}
