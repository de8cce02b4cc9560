//! Who may use the HTTP entry: hosts, origins, sizes.

use crate::http::{Hooks, InFlight};
use sandwire_proto::http::{Headers, RequestHead, ResponseHead, names};

/// What the HTTP entry lets in, checked before anything is read.
///
/// The default is made for a server on this machine: only loopback names as `Host`, so that a page cannot reach it by
/// rebinding a name of its own, and only pages from loopback as `Origin`. A server on the network says which names and
/// origins are its own. At most 4096 requests and 1024 subscriptions are under way at once.
///
/// ```
/// use sandwire_server::http::{Allow, Guard};
///
/// let guard = Guard {
///     hosts: Allow::these(["mcp.example.com"]),
///     origins: Allow::these(["https://app.example.com"]),
///     ..Guard::default()
/// };
/// assert_eq!(guard.max_body_bytes, 4 * 1024 * 1024);
/// ```
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_structs)]
pub struct Guard {
    /// The names, with or without port, by which the server may be addressed. Others are answered 421.
    pub hosts: Allow,
    /// The pages that may use the server. Others are answered 403. Requests that come from no page have no origin
    /// and pass.
    pub origins: Allow,
    /// Whether answers tell browsers which pages may read them (CORS), and preflight requests are answered.
    pub cors: bool,
    /// The longest body, in bytes. Longer ones are answered 413.
    pub max_body_bytes: usize,
    /// After how many milliseconds without a message a comment keeps an event stream alive.
    pub keep_alive_ms: u64,
    /// How much may be under way at once.
    pub in_flight: InFlight,
    /// What looks at requests and answers.
    pub hooks: Hooks,
}

impl Default for Guard {
    fn default() -> Self {
        let in_flight = InFlight::at_most(4096, 1024);
        Self { hosts: Allow::LOOPBACK, origins: Allow::LOOPBACK, in_flight, ..Self::open() }
    }
}

impl Guard {
    /// Lets in every host and every origin, and as many requests as come: for a server behind a platform that checks the host itself, whose every
    /// request carries what authorizes it.
    #[must_use]
    pub fn open() -> Self {
        Self {
            hosts: Allow::Any,
            origins: Allow::Any,
            cors: true,
            max_body_bytes: 4 * 1024 * 1024,
            keep_alive_ms: 15_000,
            in_flight: InFlight::ANY,
            hooks: Hooks::default(),
        }
    }

    pub(crate) fn check(&self, head: &RequestHead) -> Result<(), Barred> {
        if head.headers.get_all("host").any(|host| !self.hosts.lets(host)) {
            return Err(Barred::Host);
        }
        if head.headers.get_all("origin").any(|origin| !self.origins.lets(origin)) {
            return Err(Barred::Origin);
        }
        Ok(())
    }

    /// Lets the page that asked read the answer.
    pub(crate) fn expose(&self, origin: Option<&str>, head: &mut ResponseHead) {
        if !self.cors {
            return;
        }
        if let Some(origin) = origin {
            head.headers.push("access-control-allow-origin", origin);
            head.headers.push("access-control-expose-headers", EXPOSED);
        }
        head.headers.push("vary", "Origin");
    }

    /// Tells a page that it may send a request. `methods` are those that the address takes.
    pub(crate) fn preflight(&self, request: &Headers) -> ResponseHead {
        let mut head = ResponseHead::new(204);
        let mut allowed = String::from(ALLOWED);
        let wanted = request.get("access-control-request-headers").unwrap_or_default();
        for name in members(wanted) {
            let known = name.get(..names::PARAM_PREFIX.len());
            if known.is_some_and(|start| start.eq_ignore_ascii_case(names::PARAM_PREFIX.as_bytes())) && is_token(name) {
                allowed.push_str(", ");
                allowed.extend(name.iter().map(|byte| char::from(*byte)));
            }
        }
        // Those that the server lacks, too: a page that tries one is told so, where its browser would keep it from trying.
        head.headers.push("access-control-allow-methods", METHODS);
        head.headers.push("access-control-allow-headers", allowed);
        head.headers.push("access-control-max-age", "600");
        head
    }
}

const ALLOWED: &str = "Accept, Authorization, Content-Type, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, Mcp-Name, \
     Mcp-Session-Id";
/// The request methods of an address that keeps sessions.
pub(crate) const METHODS: &str = "POST, GET, DELETE, OPTIONS";
const EXPOSED: &str = "MCP-Protocol-Version, Mcp-Session-Id, Retry-After, WWW-Authenticate";

/// A set of host names or origins.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Allow {
    /// All of them.
    Any,
    /// Those for which the function says so.
    If(fn(&str) -> bool),
    /// These, and no others. A name without a port stands for all its ports; upper and lower case are one.
    These(Vec<String>),
}

impl Allow {
    /// Names of this machine: `localhost` and what ends in `.localhost`, `127.x.x.x`, `[::1]`; any port.
    pub const LOOPBACK: Self = Self::If(|value| is_loopback(host_of(value)));

    /// These names, and no others.
    pub fn these(names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self::These(names.into_iter().map(Into::into).collect())
    }

    fn lets(&self, value: &str) -> bool {
        match self {
            Self::Any => true,
            Self::If(lets) => lets(value),
            Self::These(names) => names
                .iter()
                .any(|name| name.eq_ignore_ascii_case(value) || name.eq_ignore_ascii_case(without_port(value))),
        }
    }
}

/// The members of a field that is a list.
pub(crate) fn members(field: &str) -> impl Iterator<Item = &[u8]> {
    field.as_bytes().split(|byte| *byte == b',').map(<[u8]>::trim_ascii)
}

/// The host name of `host:port` or `scheme://host:port`.
fn host_of(value: &str) -> &str {
    let scheme = value.as_bytes().windows(3).position(|part| part == b"://");
    without_port(scheme.and_then(|at| value.get(at + 3..)).unwrap_or(value))
}

/// Everything before the port; an address in brackets keeps them.
fn without_port(value: &str) -> &str {
    let Some(at) = value.bytes().rposition(|byte| byte == b':') else { return value };
    match (value.get(..at), value.get(at + 1..)) {
        (Some(name), Some(port)) if !name.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => value,
    }
}

fn is_loopback(host: &str) -> bool {
    const DOMAIN: &str = ".localhost";
    let domain = host.len().checked_sub(DOMAIN.len()).and_then(|at| host.get(at..));
    domain.is_some_and(|domain| domain.eq_ignore_ascii_case(DOMAIN))
        || host.eq_ignore_ascii_case("localhost")
        || host == "[::1]"
        || is_loopback_ipv4(host)
}

fn is_loopback_ipv4(host: &str) -> bool {
    let mut parts = 0;
    host.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && host.as_bytes().split(|byte| *byte == b'.').all(|part| {
            parts += 1;
            (parts > 1 || part == b"127")
                && matches!(part.len(), 1..=3)
                && (part.len() < 3 || part <= b"255".as_slice())
        })
        && parts == 4
}

fn is_token(name: &[u8]) -> bool {
    name.iter().all(|byte| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'!' | b'#'..=b'\'' | b'*' | b'+' | b'-' | b'.' | b'^'..=b'`' | b'|' | b'~')
    })
}

/// Why a request was not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Barred {
    Host,
    Origin,
}

impl Barred {
    pub(crate) fn status(self) -> u16 {
        match self {
            Self::Host => 421,
            Self::Origin => 403,
        }
    }

    pub(crate) fn message(self) -> &'static str {
        match self {
            Self::Host => {
                "the server does not go by this Host; address it by one of its names, or add the name to the server's hosts"
            }
            Self::Origin => "pages of this Origin may not use the server; add the origin to the server's origins",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_this_machine_under_any_port() {
        for name in [
            "localhost",
            "LOCALHOST:80",
            "127.0.0.1",
            "127.0.0.1:3000",
            "[::1]",
            "[::1]:8080",
            "app.localhost:1",
            "http://localhost:5173",
            "https://127.1.2.3",
            "http://[::1]:9",
        ] {
            assert!(Allow::LOOPBACK.lets(name), "{name}");
        }
        for name in [
            "",
            "example.com",
            "localhost.example.com",
            "127.0.0.1.example.com",
            "127.0.0",
            "127.0.0.1.2",
            "127.0.0.256",
            "127.0.0.x",
            "127.0..1",
            "1270.0.1",
            "http://evil",
            "null",
            "[::2]",
            "http://localhost@evil.com",
            "localhost:evil",
        ] {
            assert!(!Allow::LOOPBACK.lets(name), "{name}");
        }
    }

    #[test]
    fn a_function_may_decide() {
        let allow = Allow::If(|origin| origin.ends_with(".example.com"));
        assert!(allow.lets("https://a.example.com") && !allow.lets("https://example.org"));
    }

    #[test]
    fn a_listed_name_stands_for_all_its_ports() {
        let allow = Allow::these(["mcp.example.com", "https://app.example.com", "only.example.com:81"]);
        for name in ["mcp.example.com", "MCP.example.com:443", "https://app.example.com", "only.example.com:81"] {
            assert!(allow.lets(name), "{name}");
        }
        for name in ["example.com", "a.mcp.example.com", "http://app.example.com", "only.example.com:82"] {
            assert!(!allow.lets(name), "{name}");
        }
    }
}
