//! Subscriptions: what a client wants to hear of, in either era.

use std::sync::Arc;

use sandwire_json::{Error, Raw, Reader, Writer};
use sandwire_types::{ErrorCode, ErrorObject, Method};

use super::{config::Config, extensions::Published, fault};
use crate::{PeerInfo, limits::MAX_WATCHED_BYTES};

/// Something of the server that changed while clients are connected.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The list of resources or of resource templates.
    Resources,
    /// The content of the resource with this URI.
    Resource(Arc<str>),
    /// Something of an extension.
    Custom(Published),
}

/// What one subscription asks for, reduced to what the server honours.
#[derive(Clone, Debug, Default)]
pub(super) struct Filter {
    pub(super) tools: bool,
    pub(super) prompts: bool,
    pub(super) resources: bool,
    pub(super) uris: Vec<Arc<str>>,
    /// Keys of extensions, and their values.
    pub(super) custom: Vec<(Arc<str>, Raw)>,
}

impl Filter {
    /// Reads the `notifications` member of `subscriptions/listen`.
    pub(super) fn read(text: &str, config: &Config, peer: &PeerInfo) -> Result<Self, ErrorObject> {
        let mut filter = Self::default();
        let mut refused = None;
        filter
            .read_members(text, &mut |key, value| {
                match config.rules().map(|rules| rules.admit_filter(key, value, peer)) {
                    Some(Err(error)) => refused = Some(error),
                    Some(Ok(is_wanted)) => return is_wanted,
                    None => {}
                }
                false
            })
            .map_err(|_| {
                fault(
                    ErrorCode::INVALID_PARAMS,
                    "notifications must be an object of toolsListChanged, promptsListChanged, resourcesListChanged \
                 (booleans) and resourceSubscriptions (strings)",
                )
            })?;
        if let Some(error) = refused {
            return Err(error);
        }
        if !filter.fits(config) {
            let message = "more is named than one subscription may follow; name less";
            return Err(fault(ErrorCode::INVALID_PARAMS, message));
        }
        filter.tools &= config.allows(&Method::ToolsListChanged);
        filter.prompts &= config.allows(&Method::PromptsListChanged);
        filter.resources &= config.allows(&Method::ResourcesListChanged);
        if !config.allows(&Method::ResourcesUpdated) {
            filter.uris.clear();
        }
        Ok(filter)
    }

    fn fits(&self, config: &Config) -> bool {
        let uris = self.uris.iter().map(|uri| uri.len());
        let bytes: usize = uris.chain(self.custom.iter().map(|(key, value)| key.len() + value.as_str().len())).sum();
        self.uris.len() <= config.limits.max_queue && bytes <= MAX_WATCHED_BYTES
    }

    fn read_members(&mut self, text: &str, is_wanted: &mut dyn FnMut(&str, &str) -> bool) -> Result<(), Error> {
        Reader::new(text).object(&mut |key, value| {
            match key {
                "toolsListChanged" => self.tools = value.boolean()?,
                "promptsListChanged" => self.prompts = value.boolean()?,
                "resourcesListChanged" => self.resources = value.boolean()?,
                "resourceSubscriptions" => value.array(&mut |item| {
                    self.uris.push(Arc::from(&*item.string()?));
                    Ok(())
                })?,
                _ => {
                    let text = value.raw()?;
                    if is_wanted(key, text) {
                        self.custom.push((key.into(), Raw::from_valid(text)));
                    }
                }
            }
            Ok(())
        })
    }

    pub(super) fn acknowledgement(&self) -> Raw {
        let mut writer = Writer::new();
        writer.begin_object();
        writer.key("notifications");
        writer.begin_object();
        for (key, wanted) in [
            ("toolsListChanged", self.tools),
            ("promptsListChanged", self.prompts),
            ("resourcesListChanged", self.resources),
        ] {
            if wanted {
                writer.key(key);
                writer.boolean(true);
            }
        }
        if !self.uris.is_empty() {
            writer.key("resourceSubscriptions");
            writer.begin_array();
            for uri in &self.uris {
                writer.string(uri);
            }
            writer.end_array();
        }
        for (key, value) in &self.custom {
            writer.key(key);
            writer.raw(value.as_str());
        }
        writer.end_object();
        writer.end_object();
        writer.into_raw()
    }

    pub(super) fn wants(&self, change: &Change, peer: &PeerInfo) -> bool {
        match change {
            Change::Tools => self.tools,
            Change::Prompts => self.prompts,
            Change::Resources => self.resources,
            Change::Resource(uri) => covers(&self.uris, uri),
            Change::Custom(published) => {
                let mut keys = self.custom.iter().filter(|(key, _)| *key == published.key);
                published.may_hear(peer) && keys.any(|(_, value)| published.is_wanted(value.as_str()))
            }
        }
    }
}

/// Whether `uri` is one of `uris` or lies below one of them.
pub(super) fn covers(uris: &[Arc<str>], uri: &str) -> bool {
    uris.iter().any(|watched| {
        uri.strip_prefix(&**watched)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || watched.ends_with('/'))
    })
}

pub(super) fn updated(uri: &str) -> Raw {
    let mut writer = Writer::new();
    writer.begin_object();
    writer.key("uri");
    writer.string(uri);
    writer.end_object();
    writer.into_raw()
}
