use std::{
    future::Future,
    io,
    net::{SocketAddr, ToSocketAddrs},
    pin::pin,
    sync::Arc,
    time::Duration,
};

use async_io::Timer;
use futures_util::{
    StreamExt,
    future::{Either, select},
    stream::FuturesUnordered,
};
use hyper::{
    Method, Request,
    header::{self, HeaderValue},
};
use sandwire_proto::{TransportError, TransportErrorKind};

use super::{
    Config,
    carrier::Carrier,
    connection::Connection,
    h2::Multiplex,
    proxy::Proxy,
    request::Payload,
    socket::{Socket, Stream},
    tls,
    url::Origin,
};

/// Where a connection leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Route {
    pub(super) origin: Origin,
    pub(super) proxy: Option<Proxy>,
}

/// How long one address of a host has to itself before the next is tried as well.
const HEAD_START: Duration = Duration::from_millis(250);

/// Makes a connection, within the time that is given for that.
pub(super) async fn connect(config: &Config, route: &Route) -> Result<Carrier, TransportError> {
    let attempt = pin!(attempt(config, route));
    match select(attempt, Timer::after(config.connect_timeout)).await {
        Either::Left((done, _)) => done,
        Either::Right(_) => {
            let message = format!("no connection to {} in time; check the address and the network", route.origin);
            Err(TransportError::new(TransportErrorKind::Timeout, message))
        }
    }
}

async fn attempt(config: &Config, route: &Route) -> Result<Carrier, TransportError> {
    let socket = match &route.proxy {
        None => dial(&route.origin).await?,
        Some(proxy) => dial(&proxy.origin).await?,
    };
    if !route.origin.secure {
        return alone(Stream::Plain(socket), config).await;
    }
    let socket = match &route.proxy {
        None => socket,
        Some(proxy) => tunnel(config, proxy, &route.origin, socket).await?,
    };
    let stream = tls::shake_hands(config.tls()?, &route.origin, socket).await?;
    if stream.is_http2() {
        return Ok(Carrier::Shared(Arc::new(Multiplex::new(stream, config.head_limits).await?)));
    }
    alone(stream, config).await
}

async fn alone(stream: Stream, config: &Config) -> Result<Carrier, TransportError> {
    Ok(Carrier::Alone(Box::new(Connection::new(stream, config.head_limits).await?)))
}

/// A socket to the first address that answers.
async fn dial(origin: &Origin) -> Result<Socket, TransportError> {
    let unreachable = |error: io::Error| {
        let message = format!("{origin} cannot be reached ({error}); check the address and that the server runs");
        TransportError::new(TransportErrorKind::Unreachable, message).with_source(Arc::new(error))
    };
    let place = (origin.host().to_owned(), origin.port);
    let addresses: Vec<SocketAddr> =
        blocking::unblock(move || place.to_socket_addrs().map(Iterator::collect)).await.map_err(unreachable)?;
    let socket = race(addresses.into_iter().map(Socket::connect)).await.map_err(unreachable)?;
    // A request goes out as a whole; waiting for more of it would only delay it.
    socket.get_ref().set_nodelay(true).map_err(unreachable)?;
    Ok(socket)
}

/// The first success. An attempt begins when the one before it has failed or taken a while.
async fn race<T>(attempts: impl Iterator<Item = impl Future<Output = io::Result<T>>>) -> io::Result<T> {
    let mut attempts = attempts.fuse();
    let mut running = FuturesUnordered::new();
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    loop {
        running.extend(attempts.next());
        match select(running.next(), Timer::after(HEAD_START)).await {
            Either::Left((Some(Ok(done)), _)) => return Ok(done),
            Either::Left((Some(Err(error)), _)) => failure = error,
            Either::Left((None, _)) => return Err(failure),
            Either::Right(_) => {}
        }
    }
}

/// Has a proxy connect the socket with `origin`.
async fn tunnel(config: &Config, proxy: &Proxy, origin: &Origin, socket: Socket) -> Result<Socket, TransportError> {
    let refused = |message: String| TransportError::new(TransportErrorKind::Unreachable, message);
    let place = origin.host_and_port();
    let mut request = Request::new(Payload::default());
    *request.method_mut() = Method::CONNECT;
    let unusable = || refused(format!("{place} is no place that a proxy can connect to"));
    *request.uri_mut() = place.parse().map_err(|_| unusable())?;
    request.headers_mut().insert(header::HOST, HeaderValue::from_str(&place).map_err(|_| unusable())?);
    if let Some(authorization) = &proxy.authorization {
        request.headers_mut().insert(header::PROXY_AUTHORIZATION, authorization.clone());
    }
    let mut connection = Connection::new(Stream::Plain(socket), config.head_limits).await?;
    let response = connection.exchange(request).await.map_err(|failure| {
        let message = format!("the proxy {} does not answer ({})", proxy.origin, failure.error);
        refused(message).with_source(Arc::new(failure.error))
    })?;
    match response.status().as_u16() {
        200..=299 => connection
            .into_socket()
            .ok_or_else(|| refused(format!("the proxy {} speaks before it is spoken to", proxy.origin))),
        407 => Err(refused(format!(
            "the proxy {} wants a user name and a password (HTTP 407); put them into its address",
            proxy.origin
        ))),
        status => Err(refused(format!(
            "the proxy {} refuses to connect to {origin} (HTTP {status}); check it, or reach the server without it",
            proxy.origin
        ))),
    }
}
