use std::{net::TcpStream, sync::Arc, time::Duration};

use futures_rustls::rustls::{
    ServerConfig, ServerConnection, StreamOwned, crypto,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use sandwire_io::HttpClient;
use sandwire_native::block_on;
use sandwire_proto::TransportErrorKind;

use crate::{
    chunk, failure, fetch, get, pool, post,
    server::{Peer, Server, json},
};

/// An authority of its own and a server's certificate by it.
pub(crate) struct Authority {
    pub(crate) pem: String,
    pub(crate) config: Arc<ServerConfig>,
}

impl Authority {
    pub(crate) fn certifying(name: &str) -> Self {
        let authority_key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = params.self_signed(&authority_key).unwrap();
        let key = KeyPair::generate().unwrap();
        let issuer = Issuer::from_params(&params, &authority_key);
        let certificate = CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der())),
            )
            .unwrap();
        Self { pem: authority.pem(), config: Arc::new(config) }
    }

    /// What the server offers to speak over TLS.
    pub(crate) fn offering(mut self, protocols: &[&str]) -> Self {
        let config = Arc::make_mut(&mut self.config);
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
        self
    }

    /// The server's side of TLS. What is said first shakes hands.
    pub(crate) fn peer(&self, socket: TcpStream) -> Peer<StreamOwned<ServerConnection, TcpStream>> {
        Peer::new(StreamOwned::new(ServerConnection::new(self.config.clone()).unwrap(), socket))
    }
}

pub(crate) fn secure(server: &Server, host: &str) -> String {
    format!("https://{host}:{}/mcp", server.port)
}

#[test]
fn a_named_root_certificate_is_trusted_and_connections_are_kept() {
    let authority = Authority::certifying("127.0.0.1");
    let pool = pool().root_certificate(authority.pem.as_bytes()).unwrap();
    let server = Server::new(move |listener| {
        let mut peer = authority.peer(listener.socket());
        assert_eq!(peer.request().body, "{}");
        peer.say(json("1"));
        assert_eq!(peer.request().body.len(), 3_000_000);
        peer.say(json(&"y".repeat(3_000_000)));
        peer.request();
        peer.say(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        );
        peer.expect_close();
    });
    let url = secure(&server, "127.0.0.1");
    block_on(async {
        assert_eq!(fetch(&pool, post(&url, "{}")).await.unwrap(), "1");
        let long = fetch(&pool, post(&url, &"x".repeat(3_000_000))).await.unwrap();
        assert_eq!(long.len(), 3_000_000);
        let mut stream = pool.send(get(&url)).await.unwrap();
        assert_eq!(chunk(&mut *stream.body).await.unwrap().unwrap(), b"abc");
    });
    server.done();
}

#[test]
fn a_certificate_that_is_not_trusted_is_named() {
    for (name, trusted) in [("127.0.0.1", false), ("other.example", true)] {
        let authority = Authority::certifying(name);
        let client = if trusted { pool().root_certificate(authority.pem.as_bytes()).unwrap() } else { pool() };
        let server = Server::new(move |listener| assert!(authority.peer(listener.socket()).try_request().is_none()));
        let (kind, message) = failure(&client, get(&secure(&server, "127.0.0.1")));
        assert_eq!(kind, TransportErrorKind::Unreachable);
        assert!(message.contains("certificate") && message.contains("127.0.0.1"), "{message}");
        drop(server);
    }
}

#[test]
fn a_server_that_speaks_no_tls_is_told_from_others() {
    let server = Server::one(|mut peer| {
        peer.say("HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    let (kind, message) = failure(&pool(), get(&secure(&server, "localhost")));
    assert_eq!(kind, TransportErrorKind::Unreachable);
    assert!(message.contains("https"), "{message}");
}

#[test]
fn a_handshake_that_takes_too_long_is_given_up() {
    let server = Server::one(|peer| {
        let _ = std::io::copy(&mut peer.into_socket(), &mut std::io::sink());
    });
    let pool = pool().connect_timeout(Duration::from_millis(100));
    assert_eq!(failure(&pool, get(&secure(&server, "127.0.0.1"))).0, TransportErrorKind::Timeout);
    server.done();
}

#[test]
fn a_body_that_tls_cuts_is_not_taken_for_its_end() {
    let authority = Authority::certifying("127.0.0.1");
    let pool = pool().root_certificate(authority.pem.as_bytes()).unwrap();
    let server = Server::new(move |listener| {
        let mut peer = authority.peer(listener.socket());
        peer.request();
        peer.say("HTTP/1.1 200 OK\r\n\r\nsome of it");
    });
    assert_eq!(failure(&pool, get(&secure(&server, "127.0.0.1"))).0, TransportErrorKind::Closed);
    server.done();
}

#[test]
fn text_without_a_certificate_is_refused() {
    assert!(pool().root_certificate(b"").is_err());
    assert!(pool().root_certificate(b"-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n").is_err());
}

#[test]
fn where_nobody_listens_is_unreachable() {
    for url in ["http://127.0.0.1:1/mcp", "https://127.0.0.1:1/mcp", "http://a..b/mcp"] {
        let (kind, message) = failure(&pool(), get(url));
        assert_eq!(kind, TransportErrorKind::Unreachable, "{message}");
        assert!(message.contains("check the address"), "{message}");
    }
}
