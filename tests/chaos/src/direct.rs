//! HTTP without a network: requests go straight to the entry.

use std::sync::Arc;

use sandwire_io::{BoxFuture, Bytes, HttpClient, HttpRequest, HttpResponse, HttpService};
use sandwire_proto::TransportError;

/// A way to a service in this process.
#[derive(Clone)]
pub struct Direct(pub Arc<dyn HttpService>);

impl std::fmt::Debug for Direct {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Direct")
    }
}

impl HttpClient for Direct {
    fn send(&self, request: HttpRequest) -> BoxFuture<'static, Result<HttpResponse, TransportError>> {
        let response = self.0.handle(request.head, Box::new(Bytes::new(request.body.unwrap_or_default())));
        Box::pin(async move {
            let (head, body) = response.await;
            Ok(HttpResponse { head, body })
        })
    }
}
