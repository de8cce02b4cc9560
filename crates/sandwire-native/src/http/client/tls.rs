use std::sync::Arc;

use futures_rustls::{
    TlsConnector,
    rustls::{
        self, ClientConfig, crypto,
        pki_types::{CertificateDer, ServerName, pem::PemObject},
    },
};
use rustls_platform_verifier::Verifier;
use sandwire_proto::{TransportError, TransportErrorKind};

use super::{
    socket::{Socket, Stream},
    url::Origin,
};

/// What TLS calls HTTP/2.
pub(super) const HTTP2: &[u8] = b"h2";

/// The certificates in `pem`.
pub(super) fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TransportError> {
    let refused = || TransportError::new(TransportErrorKind::Other, "there is no certificate in PEM form in the text");
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => Err(refused()),
        Err(error) => Err(refused().with_source(Arc::new(error))),
    }
}

/// Trust in what the system trusts, and in `roots`.
pub(super) fn connector(roots: &[CertificateDer<'static>]) -> Result<TlsConnector, TransportError> {
    let provider = Arc::new(crypto::ring::default_provider());
    let config = Verifier::new_with_extra_roots(roots.iter().cloned(), provider.clone())
        .and_then(|verifier| {
            let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
            let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
            Ok(builder.with_no_client_auth())
        })
        .map_err(|error| {
            TransportError::new(
                TransportErrorKind::Unreachable,
                format!(
                    "the system's root certificates cannot be used ({error}); install them, or name a root certificate"
                ),
            )
            .with_source(Arc::new(error))
        })?;
    Ok(TlsConnector::from(Arc::new(with_protocols(config))))
}

fn with_protocols(mut config: ClientConfig) -> ClientConfig {
    config.alpn_protocols = vec![HTTP2.to_vec(), b"http/1.1".to_vec()];
    config
}

/// Talks TLS with `origin` over `socket`.
pub(super) async fn shake_hands(
    connector: &TlsConnector,
    origin: &Origin,
    socket: Socket,
) -> Result<Stream, TransportError> {
    let name = ServerName::try_from(origin.host().to_owned()).map_err(|error| {
        TransportError::new(TransportErrorKind::Other, format!("{:?} is no name of a server", origin.host()))
            .with_source(Arc::new(error))
    })?;
    match connector.connect(name, socket).await {
        Ok(stream) => Ok(Stream::Tls(Box::new(stream))),
        Err(error) => {
            let what = match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
                Some(rustls::Error::InvalidCertificate(reason)) => format!(
                    "the certificate of {origin} is not trusted ({reason:?}); if its authority is a private one, name \
                     that as a root certificate"
                ),
                Some(other) => format!("TLS with {origin} failed ({other}); check that the server speaks https there"),
                None => format!("{origin} ended the connection during TLS ({error}); check that it speaks https there"),
            };
            Err(TransportError::new(TransportErrorKind::Unreachable, what).with_source(Arc::new(error)))
        }
    }
}
