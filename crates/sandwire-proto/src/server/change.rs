//! Changes as text, for whoever carries them from one process to another.

use std::sync::Arc;

use sandwire_json::{Raw, Reader, Writer};
use sandwire_types::Method;

use super::{Change, extensions::Published};

impl Change {
    /// As JSON text.
    ///
    /// ```
    /// use sandwire_proto::server::Change;
    ///
    /// let change = Change::Resource("notes://1".into());
    /// assert_eq!(Change::read(&change.write()), Some(change));
    /// assert_eq!(Change::read("something else"), None);
    /// ```
    #[must_use]
    pub fn write(&self) -> String {
        let mut writer = Writer::new();
        writer.begin_object();
        writer.key("changed");
        writer.string(match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::Resource(_) => "resource",
            Self::Custom(_) => "custom",
        });
        match self {
            Self::Resource(uri) => {
                writer.key("uri");
                writer.string(uri);
            }
            Self::Custom(published) => {
                let texts = [
                    ("key", Some(&*published.key)),
                    ("subject", published.subject.as_deref()),
                    ("method", Some(published.method.as_str())),
                    ("principal", published.principal.as_deref()),
                ];
                for (key, text) in texts {
                    if let Some(text) = text {
                        writer.key(key);
                        writer.string(text);
                    }
                }
                if let Some(params) = &published.params {
                    writer.key("params");
                    writer.raw(params.as_str());
                }
            }
            _ => {}
        }
        writer.end_object();
        writer.finish()
    }

    /// From the text that [`write`](Self::write) gave; nothing if it is another.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let (mut changed, mut uri, mut key, mut method) = (None, None, None, None);
        let (mut subject, mut principal, mut params) = (None, None, None);
        let mut reader = Reader::new(text);
        let read = reader.object(&mut |name, value| {
            match name {
                "changed" => changed = Some(value.string()?.into_owned()),
                "uri" => uri = Some(Arc::from(&*value.string()?)),
                "key" => key = Some(Arc::from(&*value.string()?)),
                "subject" => subject = Some(Arc::from(&*value.string()?)),
                "method" => method = Some(Method::from(&*value.string()?)),
                "principal" => principal = Some(Box::from(&*value.string()?)),
                "params" => params = Some(Raw::from_valid(value.raw()?)),
                _ => value.skip()?,
            }
            Ok(())
        });
        read.and_then(|()| reader.end()).ok()?;
        Some(match changed?.as_str() {
            "tools" => Self::Tools,
            "prompts" => Self::Prompts,
            "resources" => Self::Resources,
            "resource" => Self::Resource(uri?),
            "custom" => Self::Custom(Published { key: key?, subject, method: method?, params, principal }),
            _ => return None,
        })
    }
}
