//! What a legacy connection leaves behind, so that another machine can go on with it.

use std::sync::Arc;

use sandwire_json::{Raw, Reader, Write, Writer};
use sandwire_types::{Era, LoggingLevel, ProtocolVersion};

use super::{Config, Machine, opening::Opening};
use crate::{PeerInfo, Principal};

/// What was agreed on a legacy connection: all of it but the calls under way.
///
/// ```
/// use sandwire_proto::server::Saved;
///
/// let text = r#"{"version":"2025-11-25","capabilities":{"roots":{}},"initialized":true,"watched":["a:b"]}"#;
/// let saved = Saved::read(text).ok_or("not one of ours")?;
/// assert_eq!(saved.write(), text);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Saved {
    /// Who the client is, in which version.
    pub peer: Arc<PeerInfo>,
    /// Whether the client said that it is ready.
    pub initialized: bool,
    /// The level from which on it wants log messages.
    pub level: Option<LoggingLevel>,
    /// The resources of which it wants to hear.
    pub watched: Vec<Arc<str>>,
}

impl Saved {
    /// As JSON text.
    #[must_use]
    pub fn write(&self) -> String {
        let mut writer = Writer::new();
        writer.begin_object();
        writer.key("version");
        writer.string(self.peer.version.as_str());
        writer.key("capabilities");
        writer.raw(self.peer.capabilities.as_str());
        if let Some(info) = &self.peer.info {
            writer.key("info");
            writer.raw(info.as_str());
        }
        if let Some(principal) = &self.peer.principal {
            writer.key("principal");
            writer.string(&principal.id);
        }
        writer.key("initialized");
        writer.boolean(self.initialized);
        if let Some(level) = &self.level {
            writer.key("level");
            level.write(&mut writer);
        }
        writer.key("watched");
        writer.begin_array();
        for uri in &self.watched {
            writer.string(uri);
        }
        writer.end_array();
        writer.end_object();
        writer.finish()
    }

    /// From the text that [`write`](Self::write) gave; nothing if it is another.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let (mut version, mut capabilities, mut info) = (None, None, None);
        let mut principal = None;
        let (mut initialized, mut level, mut watched) = (false, None, Vec::new());
        let mut reader = Reader::new(text);
        let read = reader.object(&mut |key, value| {
            match key {
                "version" => version = ProtocolVersion::parse(&value.string()?),
                "capabilities" => capabilities = Some(Raw::from_valid(value.raw()?)),
                "info" => info = Some(Raw::from_valid(value.raw()?)),
                "principal" => principal = Some(Arc::new(Principal::new(&*value.string()?))),
                "initialized" => initialized = value.boolean()?,
                "level" => level = sandwire_json::from_str(value.raw()?).ok(),
                "watched" => value.array(&mut |uri| {
                    watched.push(Arc::from(&*uri.string()?));
                    Ok(())
                })?,
                _ => value.skip()?,
            }
            Ok(())
        });
        read.ok()?;
        let mut peer = PeerInfo::new(version.filter(|version| version.era() == Era::Legacy)?, capabilities?);
        peer.info = info;
        peer.principal = principal;
        Some(Self { peer: Arc::new(peer), initialized, level, watched })
    }
}

impl Machine {
    /// A machine that goes on with a legacy connection another one began. Its questions are numbered from `first` on:
    /// the other may have asked some that are still open.
    #[must_use]
    pub fn restored(config: Arc<Config>, saved: Saved, first: u32) -> Self {
        let Saved { peer, initialized, level, watched } = saved;
        let principal = peer.principal.clone();
        let mut machine = Self::with(config, Opening::Legacy { peer, initialized }, false);
        machine.principal = principal;
        machine.level = level;
        machine.watched = watched;
        machine.next_ask = (i64::from(first) << 16) | 1;
        machine
    }

    /// Who the client of a legacy connection is, once it is open.
    #[must_use]
    pub fn legacy_peer(&self) -> Option<&Arc<PeerInfo>> {
        match &self.opening {
            Opening::Legacy { peer, .. } => Some(peer),
            _ => None,
        }
    }

    /// What another machine needs to go on with this connection; nothing before a legacy one is open.
    #[must_use]
    pub fn saved(&self) -> Option<Saved> {
        let Opening::Legacy { peer, initialized } = &self.opening else { return None };
        Some(Saved {
            peer: Arc::clone(peer),
            initialized: *initialized,
            level: self.level.clone(),
            watched: self.watched.clone(),
        })
    }
}
