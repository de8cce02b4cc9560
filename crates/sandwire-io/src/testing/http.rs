use super::lock;
use crate::{Body, BoxFuture, HttpClient, HttpRequest, HttpResponse};
use sandwire_proto::{
    TransportError,
    http::{Headers, ResponseHead},
};
use std::{
    collections::VecDeque,
    future::poll_fn,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

/// HTTP answered by the test. Clones share one script.
#[derive(Clone, Debug, Default)]
pub struct ScriptedHttp(Arc<Mutex<VecDeque<ScriptedExchange>>>);

/// One request, and the way to answer it piece by piece.
#[derive(Clone, Debug)]
pub struct ScriptedExchange {
    request: Arc<HttpRequest>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    head: Option<Result<ResponseHead, TransportError>>,
    chunks: VecDeque<Result<Vec<u8>, TransportError>>,
    ended: bool,
    aborted: bool,
    waker: Option<Waker>,
}

impl ScriptedHttp {
    /// A script without requests.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The oldest request that was not taken yet.
    #[must_use]
    pub fn next(&self) -> Option<ScriptedExchange> {
        lock(&self.0).pop_front()
    }
}

impl HttpClient for ScriptedHttp {
    fn send(&self, request: HttpRequest) -> BoxFuture<'static, Result<HttpResponse, TransportError>> {
        let exchange = ScriptedExchange { request: Arc::new(request), state: Arc::default() };
        lock(&self.0).push_back(exchange.clone());
        let mut body = Some(ScriptedBody(exchange.state));
        Box::pin(poll_fn(move |cx| {
            let Some(live) = &body else { return Poll::Pending };
            let mut state = lock(&live.0);
            match state.head.take() {
                None => {
                    state.waker = Some(cx.waker().clone());
                    Poll::Pending
                }
                Some(Err(error)) => Poll::Ready(Err(error)),
                Some(Ok(head)) => {
                    drop(state);
                    match body.take() {
                        Some(body) => Poll::Ready(Ok(HttpResponse { head, body: Box::new(body) })),
                        None => Poll::Pending,
                    }
                }
            }
        }))
    }
}

impl ScriptedExchange {
    /// The request.
    #[must_use]
    pub fn request(&self) -> &HttpRequest {
        &self.request
    }

    /// Sends the response's head.
    pub fn head(&self, status: u16, headers: &[(&'static str, &str)]) {
        let headers: Headers = headers.iter().map(|(name, value)| (*name, *value)).collect();
        self.change(|state| state.head = Some(Ok(ResponseHead { status, headers })));
    }

    /// Fails the request, or breaks its body off.
    pub fn fail(&self, error: TransportError) {
        self.change(|state| {
            if state.head.is_none() && state.chunks.is_empty() {
                state.head = Some(Err(error.clone()));
            }
            state.chunks.push_back(Err(error));
        });
    }

    /// Sends a part of the body.
    pub fn chunk(&self, bytes: impl AsRef<[u8]>) {
        self.change(|state| state.chunks.push_back(Ok(bytes.as_ref().to_vec())));
    }

    /// Ends the body.
    pub fn end(&self) {
        self.change(|state| state.ended = true);
    }

    /// Answers with JSON, whole.
    pub fn json(&self, status: u16, body: &str) {
        self.head(status, &[("content-type", "application/json")]);
        self.chunk(body);
        self.end();
    }

    /// Whether the client gave the request up before its response had ended.
    #[must_use]
    pub fn is_aborted(&self) -> bool {
        lock(&self.state).aborted
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = lock(&self.state);
        change(&mut state);
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

struct ScriptedBody(Arc<Mutex<State>>);

impl Body for ScriptedBody {
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, TransportError>>> {
        let mut state = lock(&self.0);
        match state.chunks.pop_front() {
            Some(chunk) => Poll::Ready(Some(chunk)),
            None if state.ended => Poll::Ready(None),
            None => {
                state.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for ScriptedBody {
    fn drop(&mut self) {
        let mut state = lock(&self.0);
        state.aborted = !(state.ended && state.chunks.is_empty());
    }
}
