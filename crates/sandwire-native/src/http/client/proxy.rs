use std::{fmt, net::IpAddr};

use base64::{Engine, prelude::BASE64_STANDARD};
use sandwire_proto::{TransportError, TransportErrorKind};

use super::url::{Origin, Url};

/// An HTTP proxy.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Proxy {
    pub(super) origin: Origin,
    /// The value of `Proxy-Authorization`.
    pub(super) authorization: Option<String>,
}

/// Which proxy a request goes through.
#[derive(Clone)]
pub(super) enum Proxies {
    None,
    Always(Proxy),
    Environment(Environment),
}

/// What the environment says about proxies.
#[derive(Clone, Default)]
pub(super) struct Environment {
    http: Option<String>,
    https: Option<String>,
    /// Hosts that are reached directly.
    except: String,
}

impl Proxies {
    #[expect(clippy::disallowed_methods, reason = "this is where the proxies of a native process are read")]
    pub(super) fn from_environment() -> Self {
        Self::Environment(Environment::read(|name| std::env::var(name).ok()))
    }

    /// The proxy for requests to `origin`.
    pub(super) fn between(&self, origin: &Origin) -> Result<Option<Proxy>, TransportError> {
        match self {
            Self::None => Ok(None),
            Self::Always(proxy) => Ok(Some(proxy.clone())),
            Self::Environment(environment) => environment.between(origin),
        }
    }
}

impl Proxy {
    pub(super) fn parse(address: &str) -> Result<Self, TransportError> {
        let with_scheme = if address.contains("://") { address.to_owned() } else { format!("http://{address}") };
        let refused = || {
            TransportError::new(
                TransportErrorKind::Unreachable,
                "the address of the proxy is not of the form http://[user:password@]host:port, the only one \
                 supported; correct it, or name the server in NO_PROXY",
            )
        };
        let url = Url::parse(&with_scheme).map_err(|_| refused())?;
        if url.origin.secure {
            return Err(refused());
        }
        let authorization = url.user.map(|user| format!("Basic {}", BASE64_STANDARD.encode(decoded(&user))));
        Ok(Self { origin: url.origin, authorization })
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The credentials are secret.
        f.debug_struct("Proxy").field("origin", &self.origin).finish_non_exhaustive()
    }
}

impl Environment {
    /// Reads the customary variables through `get`: `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, each in
    /// lower case before upper case. `HTTP_PROXY` is no setting but a request's field where a web server runs a
    /// program by the rules of CGI.
    fn read(get: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| {
            let upper = name.to_ascii_uppercase();
            let trusted = name != "http_proxy" || get("REQUEST_METHOD").is_none();
            let value = get(name).or_else(|| get(&upper).filter(|_| trusted));
            value.filter(|value| !value.is_empty())
        };
        let all = set("all_proxy");
        Self {
            http: set("http_proxy").or_else(|| all.clone()),
            https: set("https_proxy").or(all),
            except: set("no_proxy").unwrap_or_default(),
        }
    }

    fn between(&self, origin: &Origin) -> Result<Option<Proxy>, TransportError> {
        let address = if origin.secure { &self.https } else { &self.http };
        match address {
            Some(address) if !is_loopback(&origin.host) && !self.excepts(origin) => Proxy::parse(address).map(Some),
            _ => Ok(None),
        }
    }

    fn excepts(&self, origin: &Origin) -> bool {
        self.except.split([',', ' ']).map(str::trim).filter(|pattern| !pattern.is_empty()).any(|pattern| {
            let (pattern, port) = match pattern.rsplit_once(':') {
                Some((host, port)) if !host.contains(':') || host.ends_with(']') => (host, port.parse::<u16>().ok()),
                _ => (pattern, None),
            };
            port.is_none_or(|port| port == origin.port) && names(pattern.trim_matches(['[', ']']), &origin.host)
        })
    }
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.ends_with(".localhost") || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Whether an entry of `no_proxy` names `host`: a domain with all below it, an address, a block of addresses, or `*`.
fn names(pattern: &str, host: &str) -> bool {
    if pattern == "*" {
        return true;
    }
    if let Ok(ip) = host.parse::<IpAddr>() {
        return match pattern.split_once('/') {
            Some((block, bits)) => block.parse().is_ok_and(|block| within(ip, block, bits.parse().ok())),
            None => pattern.parse() == Ok(ip),
        };
    }
    let domain = pattern.trim_start_matches('*').trim_start_matches('.').to_ascii_lowercase();
    !domain.is_empty() && host.strip_suffix(domain.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

fn within(ip: IpAddr, block: IpAddr, bits: Option<u32>) -> bool {
    let (ip, block, width) = match (ip, block) {
        (IpAddr::V4(ip), IpAddr::V4(block)) => (u128::from(ip.to_bits()), u128::from(block.to_bits()), 32),
        (IpAddr::V6(ip), IpAddr::V6(block)) => (ip.to_bits(), block.to_bits(), 128),
        _ => return false,
    };
    let Some(rest) = bits.and_then(|bits| u32::checked_sub(width, bits)) else { return false };
    // A block of no bits has every address in it.
    (ip ^ block).checked_shr(rest).unwrap_or(0) == 0
}

/// User name and password without percent signs.
fn decoded(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [byte, after @ ..] = rest {
        let code = match (byte, after) {
            (b'%', [high, low, ..]) => char::from(*high).to_digit(16).zip(char::from(*low).to_digit(16)),
            _ => None,
        };
        match code.and_then(|(high, low)| u8::try_from(high * 16 + low).ok()) {
            Some(code) => {
                out.push(code);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                out.push(*byte);
                rest = after;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &'static [(&'static str, &'static str)]) -> Environment {
        Environment::read(|name| variables.iter().find(|(have, _)| *have == name).map(|(_, value)| (*value).to_owned()))
    }

    fn way(environment: &Environment, url: &str) -> Option<String> {
        let proxy = environment.between(&Url::parse(url).unwrap().origin).unwrap();
        proxy.map(|proxy| proxy.origin.to_string())
    }

    #[test]
    fn the_environment_names_proxies() {
        let both = environment(&[("HTTP_PROXY", "http://one:1"), ("https_proxy", "two:2"), ("HTTPS_PROXY", "no:1")]);
        assert_eq!(way(&both, "http://a.example").as_deref(), Some("http://one:1"));
        assert_eq!(way(&both, "https://a.example").as_deref(), Some("http://two:2"));
        let all = environment(&[("ALL_PROXY", "http://one:1"), ("https_proxy", "")]);
        assert_eq!(way(&all, "http://a.example").as_deref(), Some("http://one:1"));
        assert_eq!(way(&all, "https://a.example").as_deref(), Some("http://one:1"));
        assert_eq!(way(&environment(&[]), "http://a.example"), None);
    }

    #[test]
    fn this_machine_is_reached_without_a_proxy() {
        let all = environment(&[("ALL_PROXY", "http://one:1")]);
        for url in ["http://localhost:3000", "http://127.0.0.1", "https://[::1]", "http://x.localhost"] {
            assert_eq!(way(&all, url), None, "{url}");
        }
    }

    #[test]
    fn a_field_of_a_request_is_no_setting() {
        assert_eq!(way(&environment(&[("HTTP_PROXY", "http://evil:1"), ("REQUEST_METHOD", "GET")]), "http://a"), None);
    }

    #[test]
    fn exceptions_are_domains_addresses_and_blocks() {
        let some = environment(&[
            ("ALL_PROXY", "http://one:1"),
            (
                "NO_PROXY",
                "a.example, .b.example,*.c.example,10.0.0.0/8,192.168.1.1,d.example:8080,fd00::/8,[fe80::1]:80",
            ),
        ]);
        for url in [
            "http://a.example",
            "http://x.a.example",
            "http://x.b.example",
            "http://c.example",
            "http://10.9.8.7",
            "http://192.168.1.1",
            "http://d.example:8080",
            "http://[fd00::7]",
            "http://[fe80::1]",
        ] {
            assert_eq!(way(&some, url), None, "{url}");
        }
        for url in
            ["http://aa.example", "http://11.0.0.1", "http://192.168.1.2", "http://d.example", "http://[fe00::1]"]
        {
            assert!(way(&some, url).is_some(), "{url}");
        }
        assert_eq!(way(&environment(&[("ALL_PROXY", "http://one:1"), ("NO_PROXY", "*")]), "http://a"), None);
        assert!(
            way(&environment(&[("ALL_PROXY", "http://one:1"), ("NO_PROXY", "0.0.0.0/0")]), "http://8.8.8.8").is_none()
        );
        assert!(
            way(&environment(&[("ALL_PROXY", "http://one:1"), ("NO_PROXY", "0.0.0.0/99")]), "http://8.8.8.8").is_some()
        );
    }

    #[test]
    fn credentials_are_sent_and_not_shown() {
        let proxy = Proxy::parse("http://me:p%40ss%zz@proxy:3128").unwrap();
        assert_eq!(proxy.authorization.as_deref(), Some("Basic bWU6cEBzcyV6eg=="));
        assert!(!format!("{proxy:?}").contains("bWU6"));
        for other in ["socks5://a:1", "https://a:1", "http://a b"] {
            assert!(Proxy::parse(other).is_err(), "{other}");
        }
    }
}
