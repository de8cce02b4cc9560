//! What extensions add to a server's rules: methods, kinds of results, keys of `subscriptions/listen`.

use std::{fmt, sync::Arc};

use sandwire_json::{Kind, Raw, Reader, Writer, find};
use sandwire_types::{Era, ErrorCode, ErrorObject, Method};

use super::fault;
use crate::PeerInfo;

/// The extensions of a server, as far as its connections have to know them. Given to [`Config::extend`].
///
/// [`Config::extend`]: super::Config::extend
#[derive(Clone, Debug, Default)]
pub struct Extensions {
    methods: Vec<Custom>,
    results: Vec<(Arc<str>, Arc<str>)>,
    filters: Vec<(Arc<str>, Arc<str>)>,
    names: Vec<(Method, Arc<str>)>,
}

#[derive(Clone, Debug)]
struct Custom {
    method: Method,
    extension: Arc<str>,
    modern: bool,
}

impl Extensions {
    /// Lets only those call `method` who declared `extension`; where it is `modern`, in the modern era only.
    pub fn method(&mut self, extension: &str, method: Method, modern: bool) {
        self.methods.push(Custom { method, extension: extension.into(), modern });
    }

    /// Lets calls of those who declared `extension` end with results of this type.
    pub fn result(&mut self, extension: &str, kind: &str) {
        self.results.push((extension.into(), kind.into()));
    }

    /// Lets those who declared `extension` ask for more by this key of `subscriptions/listen`.
    pub fn filter(&mut self, extension: &str, key: &str) {
        self.filters.push((extension.into(), key.into()));
    }

    /// Has the HTTP header `Mcp-Name` repeat this member of the parameters of a custom method.
    pub fn name_member(&mut self, method: Method, member: &str) {
        self.names.push((method, member.into()));
    }
}

/// What a machine asks of the extensions. A trait, so that a server that has none does not contain them.
pub(super) trait Rules: fmt::Debug + Send + Sync {
    /// Whether the client may call a method.
    fn admit(&self, method: &Method, peer: &PeerInfo) -> Result<(), ErrorObject>;

    /// Whether the client may be answered with a result of this type.
    fn admit_result(&self, kind: &str, peer: &PeerInfo) -> Result<(), ErrorObject>;

    /// What a subscription asks of extensions, an object of their keys.
    fn filter(&self, notifications: &str, peer: &PeerInfo) -> Result<Raw, ErrorObject>;

    /// Whether a subscription that asks for this wants to hear of something, and may.
    fn wants(&self, published: &Published, filter: &Raw, peer: &PeerInfo) -> bool;

    /// The member of a custom method's parameters that the HTTP header `Mcp-Name` repeats.
    fn name_source(&self, method: &Method) -> Option<&str>;
}

impl Rules for Extensions {
    fn admit(&self, method: &Method, peer: &PeerInfo) -> Result<(), ErrorObject> {
        let Some(custom) = self.methods.iter().find(|custom| custom.method == *method) else { return Ok(()) };
        if custom.modern && peer.era() == Era::Legacy {
            return Err(ErrorObject::method_not_found(method));
        }
        declared(peer, &custom.extension)
    }

    fn admit_result(&self, kind: &str, peer: &PeerInfo) -> Result<(), ErrorObject> {
        match self.results.iter().find(|(_, known)| **known == *kind) {
            Some((extension, _)) => declared(peer, extension),
            None => Err(unknown_kind()),
        }
    }

    fn filter(&self, notifications: &str, peer: &PeerInfo) -> Result<Raw, ErrorObject> {
        let (mut asked, mut refused) = (Writer::new(), None);
        asked.begin_object();
        // The text was read before.
        let _ = Reader::new(notifications).object(&mut |key, value| {
            let value = value.raw()?;
            if let Some((extension, _)) = self.filters.iter().find(|(_, known)| **known == *key) {
                match declared(peer, extension).and_then(|()| is_asked(value)) {
                    Ok(true) => {
                        asked.key(key);
                        asked.raw(value);
                    }
                    Ok(false) => {}
                    Err(error) => refused = Some(error),
                }
            }
            Ok(())
        });
        asked.end_object();
        refused.map_or_else(|| Ok(asked.into_raw()), Err)
    }

    fn wants(&self, published: &Published, filter: &Raw, peer: &PeerInfo) -> bool {
        published.may_hear(peer) && filter.get(&published.key).is_some_and(|value| published.is_wanted(value.as_str()))
    }

    fn name_source(&self, method: &Method) -> Option<&str> {
        self.names.iter().find(|(named, _)| named == method).map(|(_, member)| &**member)
    }
}

/// Whether the value of a key of an extension asks for anything.
fn is_asked(value: &str) -> Result<bool, ErrorObject> {
    let mut reader = Reader::new(value);
    let read = match reader.peek() {
        Ok(Kind::Array) => reader.array(&mut |item| item.string().map(|_| ())),
        _ => reader.boolean().map(|_| ()),
    };
    match read {
        Ok(()) => Ok(value != "false"),
        Err(_) => Err(fault(
            ErrorCode::INVALID_PARAMS,
            "a key of an extension in notifications is true, false, or a list of strings",
        )),
    }
}

/// The error for a kind of result that no extension of the server has.
pub(super) fn unknown_kind() -> ErrorObject {
    fault(ErrorCode::INTERNAL_ERROR, "no extension of this server has results of this type; report it to its author")
}

/// Whether the client declared an extension, as every request has to say anew in the modern era.
fn declared(peer: &PeerInfo, extension: &str) -> Result<(), ErrorObject> {
    if peer.extension(extension).is_some() { Ok(()) } else { Err(undeclared(extension)) }
}

/// The error for a client that has to declare an extension to make its call.
#[must_use]
pub fn undeclared(extension: &str) -> ErrorObject {
    let mut writer = Writer::new();
    writer.begin_object();
    writer.key("requiredCapabilities");
    writer.begin_object();
    writer.key("extensions");
    writer.begin_object();
    writer.key(extension);
    writer.raw("{}");
    for _ in 0..3 {
        writer.end_object();
    }
    fault(
        ErrorCode::MISSING_CLIENT_CAPABILITY,
        "the call needs an extension that the client did not declare; declare it to make this call",
    )
    .with_data(writer.into_raw())
}

/// What an extension tells those who asked for it by a key of its own.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::exhaustive_structs)]
pub struct Published {
    /// The key of `subscriptions/listen`.
    pub key: Arc<str>,
    /// What it is about: of those whose key is a list, they hear of it that have this in theirs. Those who have `true`
    /// hear of everything.
    pub subject: Option<Arc<str>>,
    /// The notification to send.
    pub method: Method,
    /// Its parameters, an object.
    pub params: Option<Raw>,
    /// Who alone may hear of it, by the id of the principal; everybody if there is none.
    pub principal: Option<Box<str>>,
}

impl Published {
    pub(super) fn may_hear(&self, peer: &PeerInfo) -> bool {
        self.principal.is_none() || self.principal.as_deref() == peer.principal.as_ref().map(|principal| &*principal.id)
    }

    /// Whether a subscription whose key has this value wants to hear of it.
    pub(super) fn is_wanted(&self, value: &str) -> bool {
        let mut reader = Reader::new(value);
        if reader.peek() != Ok(Kind::Array) {
            return true;
        }
        let mut wanted = false;
        // The value was read before.
        let _ = reader.array(&mut |item| {
            let subject = item.string()?;
            wanted |= self.subject.as_deref() == Some(&*subject);
            Ok(())
        });
        wanted
    }
}

impl PeerInfo {
    /// The settings with which the peer declared an extension, if it did: an object.
    #[must_use]
    pub fn extension(&self, id: &str) -> Option<&str> {
        let settings = find(find(self.capabilities.as_str(), "extensions")?, id)?;
        settings.starts_with('{').then_some(settings)
    }
}
