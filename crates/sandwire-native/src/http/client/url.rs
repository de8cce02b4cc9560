use std::fmt;

use hyper::Uri;
use sandwire_proto::{TransportError, TransportErrorKind};

/// An address, as far as a client needs to know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Url {
    pub(super) origin: Origin,
    /// Path and query.
    pub(super) target: String,
    /// Whether a user name stands before the host.
    pub(super) names_user: bool,
}

/// Scheme, host and port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) secure: bool,
    /// In lower case, an IPv6 address in its brackets.
    host: String,
    pub(super) port: u16,
}

impl Url {
    pub(super) fn parse(text: &str) -> Result<Self, TransportError> {
        let refused = |reason: &str| {
            TransportError::new(TransportErrorKind::Other, format!("the address {text:?} {reason}; correct it"))
        };
        let uri: Uri = text.parse().map_err(|_| refused("cannot be read"))?;
        let origin = Origin::of(&uri).ok_or_else(|| refused("does not begin with http:// or https:// and a host"))?;
        let authority = uri.authority().map_or("", |authority| authority.as_str());
        let target = uri.path_and_query().map_or("/", |target| target.as_str());
        let target = if target.starts_with('/') { target.to_owned() } else { format!("/{target}") };
        Ok(Self { origin, target, names_user: authority.contains('@') })
    }

    /// Where `location`, which may be relative, leads from here.
    pub(super) fn join(&self, location: &str) -> Result<Self, TransportError> {
        let path = self.target.split('?').next().unwrap_or("/");
        let folder = path.rfind('/').and_then(|slash| path.get(..=slash)).unwrap_or("/");
        let names_scheme = location.split(['/', '?', '#']).next().is_some_and(|start| start.contains(':'));
        let whole = match location {
            _ if names_scheme => location.to_owned(),
            _ if location.starts_with("//") => format!("{}:{location}", self.origin.scheme()),
            _ if location.starts_with('/') => format!("{}{location}", self.origin),
            _ if location.is_empty() || location.starts_with(['?', '#']) => format!("{}{path}{location}", self.origin),
            _ => format!("{}{folder}{location}", self.origin),
        };
        Self::parse(&whole)
    }
}

impl Origin {
    /// The origin of an address of HTTP.
    pub(super) fn of(uri: &Uri) -> Option<Self> {
        let (secure, own) = match uri.scheme_str()? {
            "http" => (false, 80),
            "https" => (true, 443),
            _ => return None,
        };
        let host = uri.host().filter(|host| !host.is_empty())?.to_ascii_lowercase();
        // What follows the host is a port, or it is no address.
        let authority = uri.authority()?.as_str();
        let place = authority.rsplit('@').next()?.get(host.len()..)?;
        let port = match place.strip_prefix(':') {
            None | Some("") => own,
            Some(port) => port.parse().ok()?,
        };
        Some(Self { secure, host, port })
    }

    fn scheme(&self) -> &'static str {
        if self.secure { "https" } else { "http" }
    }

    /// The host as the name system has it: an IPv6 address without its brackets.
    pub(super) fn host(&self) -> &str {
        self.host.trim_matches(['[', ']'])
    }

    /// Host and port as the `Host` field has them: without the scheme's own port.
    pub(super) fn authority(&self) -> String {
        let own = if self.secure { 443 } else { 80 };
        if self.port == own { self.host.clone() } else { self.host_and_port() }
    }

    /// Host and port, both always there.
    pub(super) fn host_and_port(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme(), self.authority())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart() {
        for (text, origin, target) in [
            ("https://Example.com/mcp?a=b#c", "https://example.com", "/mcp?a=b"),
            ("HTTP://127.0.0.1:8080", "http://127.0.0.1:8080", "/"),
            ("http://a:80?q", "http://a", "/?q"),
            ("http://[::1]:7/x", "http://[::1]:7", "/x"),
            ("https://a:/x", "https://a", "/x"),
            ("http://me:secret@b:3128", "http://b:3128", "/"),
        ] {
            let url = Url::parse(text).unwrap();
            assert_eq!((url.origin.to_string().as_str(), url.target.as_str()), (origin, target), "{text}");
            assert_eq!(url.names_user, text.contains('@'));
        }
        assert_eq!(Url::parse("http://[::1]:7").unwrap().origin.host(), "::1");
    }

    #[test]
    fn what_cannot_be_asked_is_refused() {
        for bad in [
            "example.com",
            "/mcp",
            "ftp://a/",
            "http://",
            "http://:80/",
            "http://a:b/",
            "http://a:70000/",
            "http://[::1/",
            "http://a b/",
            "http://a/b c",
            "http://a/\r\nx: y",
            "http://a\r\n/",
            "http://bücher/",
        ] {
            assert!(Url::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn locations_are_resolved() {
        let base = Url::parse("https://a.example/one/two?x").unwrap();
        for (location, expected) in [
            ("three", "/one/three"),
            ("/three?y", "/three?y"),
            ("?y", "/one/two?y"),
            ("https://a.example/z", "/z"),
            ("//a.example/z", "/z"),
            ("three?at=12:30", "/one/three?at=12:30"),
        ] {
            let url = base.join(location).unwrap();
            assert_eq!((&url.origin, url.target.as_str()), (&base.origin, expected), "{location}");
        }
        assert_ne!(base.join("//b.example/").unwrap().origin, base.origin);
        assert_ne!(base.join("http://a.example/").unwrap().origin, base.origin);
        assert!(base.join("javascript:alert(1)").is_err());
    }
}
