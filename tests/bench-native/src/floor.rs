//! What HTTP alone costs: a handler written by hand on axum, which answers the bytes that our server answers.

use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::routing::post;
use tokio::runtime::Builder;

use crate::rmcp_peer::serve_router;

/// Serves `body` over HTTP on a free port, which it prints.
pub fn serve_http(body: String) {
    let body = Bytes::from(body);
    let answer = move |_request: Bytes| {
        let body = body.clone();
        async move { ([(CONTENT_TYPE, "application/json")], body) }
    };
    let runtime = Builder::new_multi_thread().enable_all().build().expect("the runtime starts");
    runtime.block_on(serve_router(Router::new().route("/mcp", post(answer))));
}
