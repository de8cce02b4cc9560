//! What travels beside parameters and results: metadata, stamps, cache hints.

use std::sync::Arc;

use sandwire_json::{Error, Raw, Read, Reader, Write, Writer};

use crate::ProtocolVersion;
use crate::jsonrpc::{ProgressToken, RequestId};
use crate::model::LoggingLevel;
use crate::wire::modern;

/// What `_meta` of a request says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestMeta {
    /// Who asks, in every modern request; `None` in the legacy era.
    pub envelope: Option<Arc<Envelope>>,
    /// What progress notifications shall name the request by.
    pub progress_token: Option<ProgressToken>,
    /// From which level on log messages are wanted (modern).
    pub log_level: Option<LoggingLevel>,
    /// The other members, an object.
    pub extra: Option<Raw>,
}

/// Who sends a modern request: the metadata that a handshake carried before.
#[derive(Clone, Debug, PartialEq)]
pub struct Envelope {
    version: Arc<str>,
    capabilities: Raw,
    client_info: Option<Raw>,
    /// Its members of `_meta`, written once for every request that carries them.
    members: String,
}

impl Envelope {
    /// One for requests of a version, which need not be a known one, by a client that can do this and says it is that:
    /// two objects.
    pub fn new(version: &str, capabilities: Raw, client_info: Option<Raw>) -> Self {
        let mut w = Writer::with_capacity(256);
        w.key(modern::PROTOCOL_VERSION);
        w.string(version);
        w.key(modern::CLIENT_CAPABILITIES);
        capabilities.write(&mut w);
        if let Some(info) = &client_info {
            w.key(modern::CLIENT_INFO);
            info.write(&mut w);
        }
        Self { version: version.into(), capabilities, client_info, members: w.finish() }
    }

    /// The version the request is written in, which need not be a known one.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// What the client can do, an object.
    pub fn capabilities(&self) -> &Raw {
        &self.capabilities
    }

    /// Who the client says it is, an object.
    pub fn client_info(&self) -> Option<&Raw> {
        self.client_info.as_ref()
    }

    /// The version, if it is spoken here.
    pub fn protocol_version(&self) -> Option<ProtocolVersion> {
        ProtocolVersion::parse(&self.version)
    }

    pub(crate) fn members(&self) -> &str {
        &self.members
    }
}

/// Whether a result ends its request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum ResultKind {
    /// It does.
    #[default]
    Complete,
    /// The request has to be sent again, with the input it asks for.
    InputRequired,
    /// What an extension means by it, as `task`.
    Other(Arc<str>),
}

impl ResultKind {
    /// The value of `resultType`.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Complete => "complete",
            Self::InputRequired => "input_required",
            Self::Other(kind) => kind,
        }
    }
}

impl From<&str> for ResultKind {
    fn from(kind: &str) -> Self {
        match kind {
            "complete" => Self::Complete,
            "input_required" => Self::InputRequired,
            _ => Self::Other(kind.into()),
        }
    }
}

/// What a modern server adds to a result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stamp {
    /// Who the server says it is, an object.
    pub server_info: Option<Raw>,
    /// How long the result may be kept.
    pub cache: Option<CacheHint>,
    /// The listen request that ends.
    pub subscription: Option<RequestId>,
}

/// How long, and for whom, a result may be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheHint {
    /// Milliseconds from its arrival; zero says that it is stale already.
    pub ttl_ms: u64,
    /// For whom.
    pub scope: CacheScope,
}

/// For whom a result may be kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CacheScope {
    /// For everyone.
    Public,
    /// For those with the same authorization.
    #[default]
    Private,
}

impl CacheScope {
    /// The value of `cacheScope`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Private => "private",
        }
    }
}

/// Takes `_meta` out of an object: the other members, and its value.
pub fn split_meta(object: &Raw) -> (Raw, Option<Raw>) {
    let mut meta = None;
    let mut w = Writer::with_capacity(object.as_str().len());
    w.begin_object();
    let read = object.reader().object(&mut |key, r| {
        let start = r.member();
        let text = r.raw()?;
        if key == "_meta" {
            meta.get_or_insert(text);
        } else {
            w.raw(r.since(start));
        }
        Ok(())
    });
    w.end_object();
    match (read, meta) {
        (Ok(()), Some(meta)) => (w.into_raw(), Some(Raw::from_valid(meta))),
        _ => (object.clone(), None),
    }
}

impl Read for ResultKind {
    fn read(r: &mut Reader<'_>) -> Result<Self, Error> {
        r.string().map(|kind| Self::from(&*kind))
    }
}

impl Write for ResultKind {
    fn write(&self, w: &mut Writer) {
        w.string(self.as_str());
    }
}
