use std::{fmt, net::IpAddr, sync::Arc};

use hyper::{Uri, header::HeaderValue};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use sandwire_proto::{TransportError, TransportErrorKind};

use super::url::Origin;

/// An HTTP proxy.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Proxy {
    pub(super) origin: Origin,
    /// The value of `Proxy-Authorization`.
    pub(super) authorization: Option<HeaderValue>,
}

/// Which proxy a request goes through.
#[derive(Clone)]
pub(super) enum Proxies {
    None,
    Always(Proxy),
    Environment(Arc<Matcher>),
}

impl Proxies {
    pub(super) fn from_environment() -> Self {
        Self::Environment(Arc::new(Matcher::from_env()))
    }

    /// The proxy for requests to `origin`.
    pub(super) fn between(&self, origin: &Origin) -> Result<Option<Proxy>, TransportError> {
        match self {
            Self::None => Ok(None),
            Self::Always(proxy) => Ok(Some(proxy.clone())),
            Self::Environment(_) if is_loopback(origin.host()) => Ok(None),
            Self::Environment(matcher) => {
                let uri = origin.to_string().parse::<Uri>().ok();
                uri.and_then(|uri| matcher.intercept(&uri)).map(Proxy::new).transpose()
            }
        }
    }
}

impl Proxy {
    pub(super) fn parse(address: &str) -> Result<Self, TransportError> {
        let anywhere = Uri::from_static("http://a");
        let found = Matcher::builder().all(address).build().intercept(&anywhere);
        found.map_or_else(|| Err(unsupported()), Self::new)
    }

    fn new(found: Intercept) -> Result<Self, TransportError> {
        let origin = Origin::of(found.uri()).filter(|origin| !origin.secure).ok_or_else(unsupported)?;
        Ok(Self { origin, authorization: found.basic_auth().cloned() })
    }
}

fn unsupported() -> TransportError {
    TransportError::new(
        TransportErrorKind::Unreachable,
        "the address of the proxy is not of the form http://[user:password@]host:port, the only one supported; \
         correct it, or name the server in NO_PROXY",
    )
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.ends_with(".localhost") || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The credentials are secret.
        f.debug_struct("Proxy").field("origin", &self.origin).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::client::url::Url;

    fn way(proxies: &Proxies, url: &str) -> Option<String> {
        let proxy = proxies.between(&Url::parse(url).unwrap().origin).unwrap();
        proxy.map(|proxy| proxy.origin.to_string())
    }

    fn environment(https: &str, except: &str) -> Proxies {
        let matcher = Matcher::builder().http("http://one:1").https(https).no(except).build();
        Proxies::Environment(Arc::new(matcher))
    }

    #[test]
    fn each_scheme_has_its_proxy() {
        let both = environment("two:2", "");
        assert_eq!(way(&both, "http://a.example").as_deref(), Some("http://one:1"));
        assert_eq!(way(&both, "https://a.example").as_deref(), Some("http://two:2"));
        assert_eq!(way(&Proxies::None, "http://a.example"), None);
    }

    #[test]
    fn this_machine_is_reached_without_a_proxy() {
        let all = environment("one:1", "");
        for url in ["http://localhost:3000", "http://127.0.0.1", "https://[::1]", "http://x.localhost"] {
            assert_eq!(way(&all, url), None, "{url}");
        }
    }

    #[test]
    fn exceptions_are_domains_addresses_and_blocks() {
        let some = environment("one:1", "a.example,.b.example,10.0.0.0/8,192.168.1.1");
        for url in ["http://a.example", "http://x.b.example", "http://10.9.8.7", "https://192.168.1.1"] {
            assert_eq!(way(&some, url), None, "{url}");
        }
        for url in ["http://aa.example", "http://11.0.0.1", "http://192.168.1.2"] {
            assert!(way(&some, url).is_some(), "{url}");
        }
        assert_eq!(way(&environment("one:1", "*"), "http://a.example"), None);
    }

    #[test]
    fn a_proxy_of_the_environment_that_cannot_be_used_is_an_error() {
        let origin = Url::parse("https://a.example").unwrap().origin;
        assert!(environment("socks5://one:1", "").between(&origin).is_err());
    }

    #[test]
    fn credentials_are_sent_and_not_shown() {
        let proxy = Proxy::parse("http://me:p%40ss@proxy:3128").unwrap();
        assert_eq!(proxy.authorization.as_ref().unwrap(), "Basic bWU6cEBzcw==");
        assert!(!format!("{proxy:?}").contains("bWU6"));
    }
}
