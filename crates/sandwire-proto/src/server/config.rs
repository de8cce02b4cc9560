//! What a server declares about itself, once for all its connections.

use std::sync::{Arc, OnceLock};

use sandwire_json::{Raw, Writer, shape::Type};
use sandwire_types::{
    CacheHint, CacheScope, Capability, Era, ErrorCode, ErrorObject, KNOWN_VERSIONS, Method, NameSource,
    ProtocolVersion, model,
};

use super::{
    extensions::{Extensions, Rules},
    seal::Sealer,
};
use crate::Limits;

/// The identity, capabilities and rules of one server.
///
/// Shared by every connection and every HTTP exchange of the server. `info` is an `Implementation`
/// object and `capabilities` a `ServerCapabilities` object, both as JSON text: the machine looks at
/// which capabilities are there and otherwise passes them on as they are.
#[derive(Clone, Debug)]
pub struct Config {
    /// The server's `Implementation` object.
    pub info: Raw,
    /// Advice for the model that uses this server.
    pub instructions: Option<Arc<str>>,
    /// The versions served, newest first; all of them unless changed.
    pub versions: Vec<ProtocolVersion>,
    /// The hint on cacheable results that carry none of their own: not fresh at all, and private.
    pub cache: CacheHint,
    /// The hints on the results of some methods, in place of `cache`.
    pub caches: Vec<(Method, CacheHint)>,
    /// What one connection may hold.
    pub limits: Limits,
    /// Whether methods and notifications outside the specification go to the endpoint. Without it
    /// such requests are answered -32601.
    pub custom_methods: bool,
    /// How long, in seconds, a suspended call may wait for its answers; 600 unless changed.
    pub suspension_seconds: u64,
    /// Whether a text on a pipe that does not even begin as a message does is answered -32700. Unless changed it is passed
    /// over: a client may print something by mistake, and what two ends answer to each other's answers has no end. Over
    /// HTTP, where each text waits for its response, all are answered.
    pub answers_noise: bool,
    capabilities: Raw,
    declared: u32,
    results: Results,
    sealer: OnceLock<Arc<dyn Sealer>>,
    rules: Option<Arc<dyn Rules>>,
}

impl Config {
    /// A server called what `info` says, able to do what `capabilities` declares.
    pub fn new(info: Raw, capabilities: Raw) -> Self {
        Self { results: Results::Any(model::result_type), ..Self::with_results(info, capabilities, Vec::new()) }
    }

    /// The same for a server whose results are these and no others. It contains what it takes to tell them to older
    /// clients, and not what it would take for all of the protocol's.
    pub fn with_results(info: Raw, capabilities: Raw, results: Vec<(Method, Type)>) -> Self {
        let mut versions = KNOWN_VERSIONS.to_vec();
        versions.reverse();
        Self {
            info,
            instructions: None,
            versions,
            cache: CacheHint { ttl_ms: 0, scope: CacheScope::Private },
            caches: Vec::new(),
            limits: Limits::default(),
            custom_methods: false,
            suspension_seconds: 600,
            answers_noise: false,
            declared: read(&capabilities),
            capabilities,
            results: Results::These(results),
            sealer: OnceLock::new(),
            rules: None,
        }
    }

    /// Has the rules of extensions held, in place of those of any before.
    pub fn extend(&mut self, extensions: Extensions) {
        self.rules = Some(Arc::new(extensions));
    }

    pub(super) fn rules(&self) -> Option<&dyn Rules> {
        self.rules.as_deref()
    }

    /// The member of a method's parameters that the HTTP header `Mcp-Name` repeats.
    #[must_use]
    pub fn name_source(&self, method: &Method) -> Option<&str> {
        let known = method.name_source().map(NameSource::key);
        known.or_else(|| self.rules()?.name_source(method))
    }

    /// The table of a method's result.
    pub(super) fn result_type(&self, method: &Method) -> Option<Type> {
        match &self.results {
            Results::Any(of) => of(method),
            Results::These(results) => results.iter().find(|(known, _)| known == method).map(|(_, kind)| *kind),
        }
    }

    /// The declared `ServerCapabilities` object.
    pub fn capabilities(&self) -> &Raw {
        &self.capabilities
    }

    /// What protects a suspended call's state on its way through the client. The first caller
    /// decides: `make` runs once for a server, so that every connection uses the same key.
    pub fn sealer(&self, make: impl FnOnce() -> Arc<dyn Sealer>) -> &Arc<dyn Sealer> {
        self.sealer.get_or_init(make)
    }

    /// Has this protect the state of suspended calls, in place of a key of this process.
    #[must_use]
    pub fn sealed_by(mut self, sealer: Arc<dyn Sealer>) -> Self {
        self.sealer = OnceLock::from(sealer);
        self
    }

    /// The hint on a method's results that carry none of their own.
    pub(super) fn cache_of(&self, method: &Method) -> &CacheHint {
        self.caches.iter().find(|(of, _)| of == method).map_or(&self.cache, |(_, hint)| hint)
    }

    /// Whether the declared capabilities allow a request to be served, or a notification to be sent.
    pub(super) fn allows(&self, method: &Method) -> bool {
        match method.facts() {
            Some(facts) => facts.capability.is_none_or(|capability| self.declared & bit(capability) != 0),
            None => self.custom_methods,
        }
    }

    /// The newest version of the legacy era that is served.
    #[must_use]
    pub fn newest_legacy(&self) -> Option<ProtocolVersion> {
        self.versions.iter().copied().find(|version| version.era() == Era::Legacy)
    }

    /// The error for a version that is not served, naming those that are.
    #[must_use]
    pub fn unsupported_version(&self, requested: &str) -> ErrorObject {
        let mut writer = Writer::new();
        writer.begin_object();
        writer.key("supported");
        self.write_versions(&mut writer);
        writer.key("requested");
        writer.string(requested);
        writer.end_object();
        ErrorObject::new(
            ErrorCode::UNSUPPORTED_PROTOCOL_VERSION,
            "the server does not speak this protocol version here; use one of the supported ones",
        )
        .with_data(writer.into_raw())
    }

    pub(super) fn write_versions(&self, writer: &mut Writer) {
        writer.begin_array();
        for version in &self.versions {
            writer.string(version.as_str());
        }
        writer.end_array();
    }
}

/// How results are described.
#[derive(Clone, Debug)]
enum Results {
    Any(fn(&Method) -> Option<Type>),
    These(Vec<(Method, Type)>),
}

/// The declared capabilities, as bits.
fn read(capabilities: &Raw) -> u32 {
    let declared = Capability::ALL.iter().filter(|capability| capability.is_in(capabilities));
    declared.fold(0, |bits, capability| bits | bit(*capability))
}

const fn bit(capability: Capability) -> u32 {
    1 << capability as u32
}
