use std::{fmt, fmt::Write as _};

use sandwire_proto::{TransportError, TransportErrorKind};

/// An address, as far as a client needs to know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Url {
    pub(super) origin: Origin,
    /// Path and query.
    pub(super) target: String,
    /// What stood before the host: user name and password.
    pub(super) user: Option<String>,
}

/// Scheme, host and port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) secure: bool,
    /// In lower case, an IPv6 address without its brackets.
    pub(super) host: String,
    pub(super) port: u16,
}

impl Url {
    pub(super) fn parse(text: &str) -> Result<Self, TransportError> {
        let refused =
            |reason: &str| TransportError::new(TransportErrorKind::Other, format!("the address {text:?} {reason}"));
        let (scheme, rest) = text.split_once("://").ok_or_else(|| refused("has no http:// or https:// in front"))?;
        let secure = match () {
            () if scheme.eq_ignore_ascii_case("http") => false,
            () if scheme.eq_ignore_ascii_case("https") => true,
            () => return Err(refused("is neither http:// nor https://")),
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, target) = rest.split_at_checked(end).unwrap_or((rest, ""));
        let (user, place) = match authority.rsplit_once('@') {
            Some((user, place)) => (Some(user.to_owned()), place),
            None => (None, authority),
        };
        let (host, port) = host_and_port(place).ok_or_else(|| refused("has no host and port that can be read"))?;
        let port = match port {
            "" if secure => 443,
            "" => 80,
            port => port.parse().map_err(|_| refused("has a port that is none"))?,
        };
        let target = target.split('#').next().unwrap_or_default();
        let target = encoded(target).ok_or_else(|| refused("has a space or a control character in it"))?;
        Ok(Self { origin: Origin { secure, host: host.to_ascii_lowercase(), port }, target, user })
    }

    /// Where `location`, which may be relative, leads from here.
    pub(super) fn join(&self, location: &str) -> Result<Self, TransportError> {
        let scheme = if self.origin.secure { "https" } else { "http" };
        let path = self.target.split('?').next().unwrap_or("/");
        let before = |end: usize| path.get(..end).unwrap_or("/");
        match location {
            _ if location.split(['/', '?', '#']).next().is_some_and(|start| start.contains(':')) => {
                Self::parse(location)
            }
            _ if location.starts_with("//") => Self::parse(&format!("{scheme}:{location}")),
            _ if location.starts_with('/') => Self::parse(&format!("{}{location}", self.origin)),
            "" => Ok(self.clone()),
            _ if location.starts_with(['?', '#']) => Self::parse(&format!("{}{path}{location}", self.origin)),
            _ => {
                let folder = before(path.rfind('/').map_or(0, |slash| slash + 1));
                Self::parse(&format!("{}{folder}{location}", self.origin))
            }
        }
    }
}

impl Origin {
    /// Host and port as the `Host` field has them: without the scheme's own port.
    pub(super) fn authority(&self) -> String {
        let own = if self.secure { 443 } else { 80 };
        if self.port == own { self.bracketed() } else { self.host_and_port() }
    }

    /// Host and port, both always there.
    pub(super) fn host_and_port(&self) -> String {
        format!("{}:{}", self.bracketed(), self.port)
    }

    fn bracketed(&self) -> String {
        if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.secure { "https" } else { "http" };
        write!(f, "{scheme}://{}", self.authority())
    }
}

/// Host and port of an authority. A host in another script has to be written in ASCII, as the name system has it.
fn host_and_port(place: &str) -> Option<(&str, &str)> {
    let (host, port) = match place.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']')?;
            let is_address = host.parse::<std::net::Ipv6Addr>().is_ok();
            (host, if port.is_empty() { Some(port) } else { port.strip_prefix(':') }.filter(|_| is_address)?)
        }
        None => place.split_once(':').unwrap_or((place, "")),
    };
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b':');
    (!host.is_empty() && host.bytes().all(fits)).then_some((host, port))
}

/// A path and query as a request line takes them, or `None` where they would break it.
fn encoded(target: &str) -> Option<String> {
    let mut out = String::with_capacity(target.len() + 1);
    if !target.starts_with('/') {
        out.push('/');
    }
    for char in target.chars() {
        match char {
            '!'..='~' => out.push(char),
            char if char.is_ascii() => return None,
            char => {
                for byte in char.encode_utf8(&mut [0; 4]).bytes() {
                    let _ = write!(out, "%{byte:02X}");
                }
            }
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> (String, String) {
        let url = Url::parse(text).unwrap();
        (url.origin.to_string(), url.target)
    }

    #[test]
    fn addresses_are_taken_apart() {
        let same = |text: &str, origin: &str, target: &str| {
            assert_eq!(parts(text), (origin.to_owned(), target.to_owned()), "{text}");
        };
        same("https://Example.com/mcp?a=b#c", "https://example.com", "/mcp?a=b");
        same("HTTP://127.0.0.1:8080", "http://127.0.0.1:8080", "/");
        same("http://a:80?q", "http://a", "/?q");
        same("http://[::1]:7/x", "http://[::1]:7", "/x");
        same("https://a:/ü", "https://a", "/%C3%BC");
        assert_eq!(Url::parse("http://me:secret@proxy:3128").unwrap().user.as_deref(), Some("me:secret"));
    }

    #[test]
    fn what_cannot_be_asked_is_refused() {
        for bad in [
            "example.com",
            "ftp://a/",
            "http://",
            "http://:80/",
            "http://a:b/",
            "http://a:70000/",
            "http://[::1/",
            "http://[x]/",
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
