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
    /// An object of what is asked of extensions.
    pub(super) custom: Option<Raw>,
}

impl Filter {
    /// Reads the `notifications` member of `subscriptions/listen`.
    pub(super) fn read(text: &str, config: &Config, peer: &PeerInfo) -> Result<Self, ErrorObject> {
        let mut filter = Self::members(text).map_err(|_| {
            fault(
                ErrorCode::INVALID_PARAMS,
                "notifications must be an object of toolsListChanged, promptsListChanged, resourcesListChanged \
                 (booleans) and resourceSubscriptions (strings)",
            )
        })?;
        if let Some(rules) = config.rules() {
            filter.custom = Some(rules.filter(text, peer)?);
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
        let bytes: usize = uris.chain(self.custom.iter().map(|custom| custom.as_str().len())).sum();
        self.uris.len() <= config.limits.max_queue && bytes <= MAX_WATCHED_BYTES
    }

    fn members(text: &str) -> Result<Self, Error> {
        let mut filter = Self::default();
        Reader::new(text).object(&mut |key, value| {
            match key {
                "toolsListChanged" => filter.tools = value.boolean()?,
                "promptsListChanged" => filter.prompts = value.boolean()?,
                "resourcesListChanged" => filter.resources = value.boolean()?,
                "resourceSubscriptions" => value.array(&mut |item| {
                    filter.uris.push(Arc::from(&*item.string()?));
                    Ok(())
                })?,
                _ => value.skip()?,
            }
            Ok(())
        })?;
        Ok(filter)
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
        if let Some(custom) = &self.custom {
            writer.members(custom.as_str());
        }
        writer.end_object();
        writer.end_object();
        writer.into_raw()
    }

    pub(super) fn wants(&self, change: &Change, config: &Config, peer: &PeerInfo) -> bool {
        match change {
            Change::Tools => self.tools,
            Change::Prompts => self.prompts,
            Change::Resources => self.resources,
            Change::Resource(uri) => covers(&self.uris, uri),
            Change::Custom(published) => match (config.rules(), &self.custom) {
                (Some(rules), Some(custom)) => rules.wants(published, custom, peer),
                _ => false,
            },
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
