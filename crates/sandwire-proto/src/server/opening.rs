//! Which era a connection is in, and which requests that lets in.
//!
//! The first request decides: one that carries an envelope makes the connection modern, `initialize` makes it legacy.
//! `server/discover` alone decides nothing, so that a client can probe and still fall back.

use std::sync::Arc;

use sandwire_json::{Kind, Raw, Reader, Writer, find};
use sandwire_types::{Envelope, Era, ErrorCode, ErrorObject, Method, ProtocolVersion, Reply, Request};

use super::{Machine, fault, invalid};
use crate::{PeerInfo, Via};

#[derive(Debug)]
pub(super) enum Opening {
    Undecided,
    Legacy { peer: Arc<PeerInfo>, initialized: bool },
    Modern,
}

impl Machine {
    /// Who sent a request; nobody yet if it is the one that opens a legacy connection.
    pub(super) fn admit(&mut self, request: &Request) -> Result<Option<Arc<PeerInfo>>, ErrorObject> {
        match (&request.meta.envelope, &self.opening) {
            (Some(_), Opening::Legacy { .. }) => Err(invalid(
                "the connection was opened with initialize; leave the protocol version out of _meta, or connect anew",
            )),
            (Some(envelope), _) => {
                let peer = self.known_peer(envelope)?;
                if request.method != Method::ServerDiscover {
                    self.opening = Opening::Modern;
                }
                Ok(Some(peer))
            }
            (None, Opening::Legacy { .. }) if request.method == Method::Initialize => {
                if self.single {
                    Ok(None)
                } else {
                    Err(invalid("the connection is initialized already; connect anew to negotiate again"))
                }
            }
            (None, Opening::Legacy { peer, .. }) => Ok(Some(peer.clone())),
            (None, Opening::Undecided) => match &request.method {
                Method::Initialize => Ok(None),
                Method::Ping => Ok(Some(Arc::new(PeerInfo::new(ProtocolVersion::V2025_11_25, Raw::object())))),
                Method::Other(_) if !self.config.custom_methods => Err(fault(
                    ErrorCode::METHOD_NOT_FOUND,
                    "the method does not exist; send initialize or server/discover first",
                )),
                _ => Err(no_envelope()),
            },
            (None, Opening::Modern) if request.method == Method::Initialize => {
                Err(self.config.unsupported_version(requested_version(request).unwrap_or_default()))
            }
            (None, Opening::Modern) => Err(no_envelope()),
        }
    }

    /// Opens a legacy connection, or answers `initialize` on one that is open for a single exchange.
    pub(super) fn open(&mut self, via: Via, request: Request) {
        match self.initialize(&request) {
            Ok((peer, result)) => {
                self.answer(via, request.id, Ok(Reply::new(result)));
                self.opening = Opening::Legacy { peer, initialized: self.single };
            }
            Err(error) => self.answer(via, request.id, Err(error)),
        }
    }

    fn initialize(&self, request: &Request) -> Result<(Arc<PeerInfo>, Raw), ErrorObject> {
        let params = request.params.as_ref().map_or("{}", Raw::as_str);
        let (Some(requested), Some(capabilities)) = (requested_version(request), find(params, "capabilities")) else {
            return Err(fault(
                ErrorCode::INVALID_PARAMS,
                "initialize needs protocolVersion (a string), capabilities and clientInfo (objects)",
            ));
        };
        let echoed = ProtocolVersion::parse(requested)
            .filter(|version| version.era() == Era::Legacy && self.config.versions.contains(version));
        let Some(version) = echoed.or_else(|| self.config.newest_legacy()) else {
            return Err(self.config.unsupported_version(requested));
        };
        let mut peer = PeerInfo::new(version, Raw::from_valid(capabilities));
        peer.info = find(params, "clientInfo").map(Raw::from_valid);
        peer.principal = self.principal.clone();

        let mut writer = Writer::new();
        writer.begin_object();
        writer.key("protocolVersion");
        writer.string(version.as_str());
        writer.key("capabilities");
        if self.single {
            write_unfollowed(&mut writer, self.config.capabilities().as_str());
        } else {
            writer.raw(self.config.capabilities().as_str());
        }
        writer.key("serverInfo");
        writer.raw(self.config.info.as_str());
        if let Some(instructions) = &self.config.instructions {
            writer.key("instructions");
            writer.string(instructions);
        }
        writer.end_object();
        Ok((Arc::new(peer), writer.into_raw()))
    }

    fn known_peer(&mut self, envelope: &Arc<Envelope>) -> Result<Arc<PeerInfo>, ErrorObject> {
        if let Some((known, peer)) = &self.known
            && Arc::ptr_eq(known, envelope)
        {
            return Ok(peer.clone());
        }
        let version = envelope
            .protocol_version()
            .filter(|version| version.era() == Era::Modern && self.config.versions.contains(version))
            .ok_or_else(|| self.config.unsupported_version(envelope.version()))?;
        let mut peer = PeerInfo::new(version, envelope.capabilities().clone());
        peer.info = envelope.client_info().cloned();
        peer.principal = self.principal.clone();
        let peer = Arc::new(peer);
        self.known = Some((envelope.clone(), peer.clone()));
        Ok(peer)
    }
}

/// Writes the capabilities where nothing outlives a request: there changes cannot be told.
fn write_unfollowed(writer: &mut Writer, capabilities: &str) {
    writer.begin_object();
    // The text is valid: it stands in a `Raw`.
    let _ = Reader::new(capabilities).object(&mut |name, r| {
        writer.key(name);
        if !matches!(name, "tools" | "prompts" | "resources") || r.peek()? != Kind::Object {
            writer.raw(r.raw()?);
            return Ok(());
        }
        writer.begin_object();
        r.object(&mut |key, r| {
            if !matches!(key, "listChanged" | "subscribe") {
                writer.key(key);
                writer.raw(r.raw()?);
            }
            Ok(())
        })?;
        writer.end_object();
        Ok(())
    });
    writer.end_object();
}

fn no_envelope() -> ErrorObject {
    fault(
        ErrorCode::INVALID_PARAMS,
        "params._meta lacks io.modelcontextprotocol/protocolVersion and io.modelcontextprotocol/clientCapabilities; \
         send them with every request, or open a legacy connection with initialize",
    )
}

fn requested_version(request: &Request) -> Option<&str> {
    let text = find(request.params.as_ref()?.as_str(), "protocolVersion")?;
    text.strip_prefix('"')?.strip_suffix('"')
}
