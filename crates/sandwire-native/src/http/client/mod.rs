//! HTTP requests, with connections that are used again.
//!
//! HTTP by hyper over sockets of `async-io`, TLS by rustls with what the platform trusts. Nothing is spawned: whoever
//! waits for a response moves its connection on, so any executor will do, and dropping a request or a body closes its
//! connection or resets its stream there and then, which is what cancels a call.
//!
//! HTTP/2 is spoken where a server offers it over TLS, and then one connection carries what goes on side by side.
//! Otherwise it is HTTP/1.1, and requests side by side have a connection each.
//!
//! trillium-client 0.9 reads the rest of a dropped body in a task and isahc 2 tells the server when it sends the next
//! byte, so both keep an idle stream of events open; a small request took them 98 and 200 µs beside hyper's 24, whose
//! price is tokio's channels.

mod body;
mod carrier;
mod connect;
mod connection;
mod h2;
mod idle;
mod proxy;
mod request;
mod socket;
mod tls;
mod url;

use std::{
    fmt,
    sync::{Arc, OnceLock},
    time::Duration,
};

use futures_rustls::{TlsConnector, rustls::pki_types::CertificateDer};
use hyper::Response;
use sandwire_io::{BoxFuture, HttpClient, HttpRequest, HttpResponse};
use sandwire_proto::{
    TransportError, TransportErrorKind,
    http::{Headers, RequestHead, Verb},
};

use body::Incoming;
use carrier::Carrier;
use connect::{Route, connect};
use connection::{FIELDS, HeadLimits};
use idle::Idle;
use proxy::{Proxies, Proxy};
use request::{Payload, request, response_head};
use url::Url;

/// How often a request is redirected before it fails.
const REDIRECTS: usize = 5;

/// HTTP over connections that are kept and used again: up to 16 of a host, as long as the server keeps them open too, or
/// one with HTTP/2, which is spoken where the server offers it over TLS.
///
/// A request that finds its connection closed by the server before anything was answered is sent once more, over a new
/// one; every other failure is told. A redirect is followed within its origin, five times at most: a GET always, any
/// other method if it is kept with its body (307 and 308). Leading elsewhere it is an error that names the place.
///
/// Clones share their connections; a clone that is configured anew has its own.
///
/// ```no_run
/// use sandwire_native::http::HttpPool;
///
/// let authority = "-----BEGIN CERTIFICATE-----…";
/// let pool = HttpPool::new().header("authorization", "Bearer …").root_certificate(authority.as_bytes())?;
/// # Ok::<(), sandwire_proto::TransportError>(())
/// ```
#[derive(Clone)]
pub struct HttpPool(Arc<Shared>);

#[derive(Default)]
struct Shared {
    config: Config,
    idle: Idle,
}

#[derive(Clone)]
struct Config {
    headers: Headers,
    proxies: Proxies,
    roots: Vec<CertificateDer<'static>>,
    tls: OnceLock<Result<TlsConnector, TransportError>>,
    connect_timeout: Duration,
    idle_timeout: Duration,
    head_limits: HeadLimits,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            headers: Headers::new(),
            proxies: Proxies::from_environment(),
            roots: Vec::new(),
            tls: OnceLock::new(),
            connect_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(60),
            head_limits: HeadLimits { bytes: 64 * 1024, fields: FIELDS },
        }
    }
}

impl Default for HttpPool {
    fn default() -> Self {
        Self::new()
    }
}

impl HttpPool {
    /// A pool that trusts what the system trusts and uses the proxies that the environment names: `http_proxy`,
    /// `https_proxy`, `all_proxy` and `no_proxy`, or the same in capitals. This machine is reached without a proxy.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::default())
    }

    /// Adds a header field to every request, such as `authorization`. One that the protocol sets itself stays as the
    /// protocol sets it. No field is ever sent to another origin than that of the address that was asked for.
    #[must_use]
    pub fn header(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.configure(|config| config.headers.push(name.into(), value.into()))
    }

    /// Trusts the certificates in `pem` too, such as that of a company's own authority.
    ///
    /// # Errors
    ///
    /// If there is no certificate in `pem`.
    pub fn root_certificate(self, pem: &[u8]) -> Result<Self, TransportError> {
        let roots = tls::certificates(pem)?;
        Ok(self.configure(|config| {
            config.roots.extend(roots);
            config.tls = OnceLock::new();
        }))
    }

    /// Sends every request through the proxy at `address`: `http://[user:password@]host:port`.
    ///
    /// # Errors
    ///
    /// If the address is of another form.
    pub fn proxy(self, address: &str) -> Result<Self, TransportError> {
        let proxy = Proxy::parse(address)?;
        Ok(self.configure(|config| config.proxies = Proxies::Always(proxy)))
    }

    /// Sends no request through a proxy, whatever the environment says.
    #[must_use]
    pub fn no_proxy(self) -> Self {
        self.configure(|config| config.proxies = Proxies::None)
    }

    /// How long it may take to connect: looking up the name, the proxy and TLS included. Ten seconds if not set.
    /// How long an answer may take is a matter of the call.
    #[must_use]
    pub fn connect_timeout(self, timeout: Duration) -> Self {
        self.configure(|config| config.connect_timeout = timeout)
    }

    /// How long a connection is kept that is not used. One minute if not set.
    #[must_use]
    pub fn idle_timeout(self, timeout: Duration) -> Self {
        self.configure(|config| config.idle_timeout = timeout)
    }

    /// How long the head of a response may be, in bytes and in fields. 64 KiB and 100 fields if not set. Bodies are
    /// bounded by the limits of the connection that reads them.
    #[must_use]
    pub fn head_limits(self, bytes: usize, fields: usize) -> Self {
        self.configure(|config| config.head_limits = HeadLimits { bytes, fields })
    }

    fn configure(self, change: impl FnOnce(&mut Config)) -> Self {
        let mut config = self.0.config.clone();
        change(&mut config);
        Self(Arc::new(Shared { config, idle: Idle::default() }))
    }
}

impl HttpClient for HttpPool {
    fn send(&self, request: HttpRequest) -> BoxFuture<'static, Result<HttpResponse, TransportError>> {
        let shared = self.0.clone();
        Box::pin(async move { shared.follow(request).await })
    }
}

impl fmt::Debug for HttpPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Header values may be secrets.
        f.debug_struct("HttpPool").finish_non_exhaustive()
    }
}

impl Shared {
    /// Sends a request, and sends it again where the server redirects it within its origin.
    async fn follow(self: &Arc<Self>, request: HttpRequest) -> Result<HttpResponse, TransportError> {
        let HttpRequest { url, head, body, .. } = request;
        let body = body.map(Payload::from).unwrap_or_default();
        let mut url = Url::parse(&url)?;
        if url.names_user {
            let what = "a user name in the address is not sent; give an authorization header instead";
            return Err(TransportError::new(TransportErrorKind::Other, what));
        }
        for _ in 0..=REDIRECTS {
            let response = self.request(&url, &head, body.clone()).await?;
            match redirection(&url, &head, &response)? {
                None => return Ok(response),
                Some(next) => url = next,
            }
        }
        Err(TransportError::new(TransportErrorKind::Status, "the server redirects without end; check the address"))
    }

    async fn request(
        self: &Arc<Self>,
        url: &Url,
        head: &RequestHead,
        body: Payload,
    ) -> Result<HttpResponse, TransportError> {
        let route = Route { origin: url.origin.clone(), proxy: self.config.proxies.between(&url.origin)? };
        // A proxy that is to speak TLS with the server only passes bytes on.
        let spoken_to = route.proxy.as_ref().filter(|_| !url.origin.secure);
        let request = || request(url, spoken_to, head, &self.config.headers, body.clone());
        if let Some(mut carrier) = self.idle.take(&route) {
            match carrier.exchange(request()?).await {
                Ok(response) => return self.response(carrier, response, route),
                // The server closed an idle connection just when it was to be used again.
                Err(failure) if failure.unanswered => {}
                Err(failure) => return Err(failure.error),
            }
        }
        // What cannot be sent is refused before anything is connected.
        let request = request()?;
        let mut carrier = connect(&self.config, &route).await?;
        if let Carrier::Shared(multiplex) = &carrier {
            self.keep(route.clone(), Carrier::Shared(multiplex.clone()));
        }
        match carrier.exchange(request).await {
            Ok(response) => self.response(carrier, response, route),
            Err(failure) => Err(failure.error),
        }
    }

    fn response(
        self: &Arc<Self>,
        carrier: Carrier,
        response: Response<hyper::body::Incoming>,
        route: Route,
    ) -> Result<HttpResponse, TransportError> {
        let head = response_head(response.status().as_u16(), response.headers())?;
        let patient = head.headers.media_type().is_some_and(|kind| kind.eq_ignore_ascii_case("application/json"));
        let body = Incoming::new(response.into_body(), carrier, patient, self.clone(), route);
        Ok(HttpResponse { head, body: Box::new(body) })
    }

    fn keep(&self, route: Route, carrier: Carrier) {
        let keep_ms = self.config.idle_timeout.as_millis().try_into().unwrap_or(u64::MAX);
        self.idle.put(route, carrier, keep_ms);
    }
}

impl Config {
    /// Made when it is first needed: reading the system's certificates takes a while.
    fn tls(&self) -> Result<&TlsConnector, TransportError> {
        self.tls.get_or_init(|| tls::connector(&self.roots)).as_ref().map_err(Clone::clone)
    }
}

/// Where a response sends its request, if it does. Fields and bodies are for one origin only, and a message is not to
/// become a request without one.
fn redirection(url: &Url, head: &RequestHead, response: &HttpResponse) -> Result<Option<Url>, TransportError> {
    let status = response.head.status;
    let location = match (status, response.head.headers.get("location")) {
        (301 | 302 | 303 | 307 | 308, Some(location)) => location,
        _ => return Ok(None),
    };
    let next = url.join(location)?;
    let whole = format!("{}{}", next.origin, next.target);
    let refused = |reason: &str| {
        let message = format!("the server redirects to {whole}, {reason}; use that address if it is to be trusted");
        Err(TransportError::new(TransportErrorKind::Status, message))
    };
    if next.origin != url.origin || next.names_user {
        return refused("which is another origin and is not followed");
    }
    if head.method != Verb::Get && matches!(status, 301..=303) {
        return refused("which would lose the message");
    }
    Ok(Some(next))
}
