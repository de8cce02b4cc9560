use std::{
    cell::{Cell, RefCell},
    pin::Pin,
    rc::Rc,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use js_sys::Promise;
use sandwire_io::{Answer, Ask, Call, Changes, Endpoint, HttpService, Outlet};
use sandwire_json::Raw;
use sandwire_proto::{
    PeerInfo,
    http::{Headers, param_headers::mirrored},
    server::{Change, Config, Extensions, Progress},
};
use sandwire_server::http::{Allow, Guard, HttpEntry};
use sandwire_types::{ErrorCode, ErrorObject, LoggingLevel, Method, Notification, Reply};
use sandwire_web::{Port, WebEnv};
use wasm_bindgen::prelude::*;
use web_sys::Request;

#[wasm_bindgen]
extern "C" {
    /// The TypeScript class whose handlers answer. Absent JSON is an empty string.
    #[derive(Clone, Debug)]
    pub type Answerer;

    /// A request arrived. It is answered by [`Host::reply`], at once or later.
    #[wasm_bindgen(method)]
    fn call(this: &Answerer, token: f64, method: &str, params: &str, version: &str);

    /// The client gave up on a call, or its handler is to be run again with an answer.
    #[wasm_bindgen(method)]
    fn dropped(this: &Answerer, token: f64);

    /// A question has its answer, or, if `code` is not 0, the error whose message is given instead.
    #[wasm_bindgen(method)]
    fn answered(this: &Answerer, question: f64, code: f64, json: &str);

    /// The client sent a notification.
    #[wasm_bindgen(method)]
    fn notified(this: &Answerer, method: &str, params: &str);

    /// The input schema of a tool.
    #[wasm_bindgen(method)]
    fn schema(this: &Answerer, tool: &str) -> Option<String>;
}

/// A server whose handlers are JavaScript.
#[wasm_bindgen]
pub struct Host {
    handlers: Handlers,
    http: Option<HttpEntry>,
}

#[wasm_bindgen]
impl Host {
    /// The server's `Implementation` and `ServerCapabilities`, objects as `JSON.stringify` writes them, its
    /// instructions, and its methods outside the specification: a line for each, with a tab and its extension.
    #[wasm_bindgen(constructor)]
    pub fn new(answerer: Answerer, info: &str, capabilities: &str, instructions: &str, methods: &str) -> Host {
        let mut config = Config::new(Raw::from_valid(info), Raw::from_valid(capabilities));
        config.instructions = (!instructions.is_empty()).then(|| instructions.into());
        config.custom_methods = !methods.is_empty();
        let mut extensions = Extensions::default();
        for (method, extension) in methods.lines().filter_map(|line| line.split_once('\t')) {
            if !extension.is_empty() {
                extensions.method(extension, Method::from(method), false);
            }
        }
        config.extend(extensions);
        let inner = Inner {
            answerer,
            config: Arc::new(config),
            changes: Changes::default(),
            running: RefCell::default(),
            last: Cell::new(0.0),
        };
        Host { handlers: Handlers(Rc::new(inner)), http: None }
    }

    /// Lets in requests for these hosts, and from pages of these origins: a list with commas, `*` for all, or
    /// empty for this machine.
    pub fn admit(&mut self, hosts: &str, origins: &str, cors: bool) {
        let guard = Guard { hosts: allow(hosts), origins: allow(origins), cors, ..Guard::default() };
        self.http = Some(HttpEntry::guarded(self.endpoint(), WebEnv::shared(), guard));
    }

    /// Answers an HTTP request, once [`admit`](Self::admit) was called.
    pub fn fetch(&self, request: Request) -> Option<Promise> {
        let service: &dyn HttpService = self.http.as_ref()?;
        Some(sandwire_web::fetch(service, request))
    }

    /// Serves a `MessagePort`, or whatever has its members.
    pub fn serve(&self, port: JsValue) {
        sandwire_web::spawn(sandwire_web::serve(self.endpoint(), Port::new(port)));
    }

    /// Answers a call: with `json`, or, if `code` is not 0, with an error whose message it is.
    pub fn reply(&self, token: f64, code: f64, json: &str, data: &str) {
        let result = match code {
            0.0 => Raw::parse(json)
                .map(Reply::new)
                .map_err(|_| ErrorObject::internal("the result is no JSON that can be sent; nest it less deeply")),
            code => {
                let error = ErrorObject::new(ErrorCode(code as i64), json);
                Err(match Raw::parse(data) {
                    Ok(data) => error.with_data(data),
                    Err(_) => error,
                })
            }
        };
        self.handlers.0.change(token, |running| running.result = Some(result));
    }

    /// Tells the client how far a call is.
    pub fn progress(&self, token: f64, progress: f64, total: Option<f64>, message: Option<String>) {
        if let Some(outlet) = self.handlers.0.outlet(token) {
            outlet.progress(Progress { progress, total, message: message.as_deref() });
        }
    }

    /// Sends a log message whose data is JSON. What is none is not sent.
    pub fn log(&self, token: f64, level: &str, data: &str, logger: Option<String>) {
        if let (Some(outlet), Ok(data)) = (self.handlers.0.outlet(token), Raw::parse(data)) {
            outlet.log(LoggingLevel::from(level), logger.as_deref(), data);
        }
    }

    /// Asks the client; the answer comes under `question`.
    pub fn ask(&self, token: f64, question: f64, name: &str, method: &str, params: &str) {
        let Ok(params) = Raw::parse(params) else {
            let code = ErrorCode::INTERNAL_ERROR.0 as f64;
            return self.handlers.0.answerer.answered(question, code, "the question is no JSON that can be sent");
        };
        if let Some(outlet) = self.handlers.0.outlet(token) {
            let ask = outlet.ask(name, Method::from(method), params);
            self.handlers.0.change(token, |running| running.asks.push((question, ask)));
        }
    }

    /// Tells the clients that `tools`, `prompts` or `resources` changed, or the resource with this address.
    pub fn changed(&self, what: &str) {
        self.handlers.0.changes.announce(&match what {
            "tools" => Change::Tools,
            "prompts" => Change::Prompts,
            "resources" => Change::Resources,
            uri => Change::Resource(uri.into()),
        });
    }
}

impl Host {
    fn endpoint(&self) -> Arc<dyn Endpoint> {
        Arc::new(self.handlers.clone())
    }
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Host")
    }
}

fn allow(list: &str) -> Allow {
    match list {
        "" => Allow::LOOPBACK,
        "*" => Allow::Any,
        list => Allow::these(list.split(',')),
    }
}

/// The handlers, as the endpoint and as what its waiting calls hold.
#[derive(Clone)]
struct Handlers(Rc<Inner>);

struct Inner {
    answerer: Answerer,
    config: Arc<Config>,
    changes: Changes,
    running: RefCell<Vec<Running>>,
    last: Cell<f64>,
}

/// A call whose handler has not answered yet.
struct Running {
    token: f64,
    outlet: Outlet,
    result: Option<Result<Reply, ErrorObject>>,
    asks: Vec<(f64, Ask)>,
    waker: Option<Waker>,
}

impl Inner {
    fn outlet(&self, token: f64) -> Option<Outlet> {
        self.with(token, |running| running.outlet.clone())
    }

    /// No JavaScript may run inside `look`.
    fn with<T>(&self, token: f64, look: impl FnOnce(&mut Running) -> T) -> Option<T> {
        self.running.borrow_mut().iter_mut().find(|running| running.token == token).map(look)
    }

    fn change(&self, token: f64, change: impl FnOnce(&mut Running)) {
        let waker = self.with(token, |running| {
            change(running);
            running.waker.take()
        });
        waker.flatten().iter().for_each(Waker::wake_by_ref);
    }

    fn take(&self, token: f64) -> Option<Running> {
        let mut all = self.running.borrow_mut();
        let at = all.iter().position(|running| running.token == token)?;
        Some(all.swap_remove(at))
    }
}

impl Endpoint for Handlers {
    fn config(&self) -> Arc<Config> {
        self.0.config.clone()
    }

    fn call(&self, call: Call) -> Answer {
        let inner = &*self.0;
        let token = inner.last.get() + 1.0;
        inner.last.set(token);
        let Call { request, peer, outlet, .. } = call;
        inner.running.borrow_mut().push(Running { token, outlet, result: None, asks: Vec::new(), waker: None });
        inner.answerer.call(token, request.method.as_str(), text(&request.params), peer.version.as_str());
        let waiting = Waiting { handlers: self.clone(), token, over: false };
        match inner.with(token, |running| running.result.take()).flatten() {
            Some(result) => Answer::Ready(waiting.end(result)),
            None => Answer::Pending(Box::pin(waiting)),
        }
    }

    fn notification(&self, notification: &Notification, _: &Arc<PeerInfo>) {
        self.0.answerer.notified(notification.method.as_str(), text(&notification.params));
    }

    fn changes(&self) -> Option<&Changes> {
        Some(&self.0.changes)
    }

    fn is_mirrored(&self, tool: &str, arguments: &str, headers: &Headers) -> bool {
        self.0.answerer.schema(tool).is_none_or(|schema| mirrored(&schema, arguments, headers))
    }
}

fn text(raw: &Option<Raw>) -> &str {
    raw.as_ref().map_or("", Raw::as_str)
}

/// Waits for a handler to answer, and asks its questions meanwhile.
struct Waiting {
    handlers: Handlers,
    token: f64,
    over: bool,
}

impl Waiting {
    fn end(mut self, result: Result<Reply, ErrorObject>) -> Result<Reply, ErrorObject> {
        self.over = true;
        result
    }

    /// Polls the questions outside the list of calls, since their answers go to JavaScript at once.
    fn ask(&self, cx: &mut Context<'_>) {
        let inner = &*self.handlers.0;
        let mut asks = inner.with(self.token, |running| std::mem::take(&mut running.asks)).unwrap_or_default();
        asks.retain_mut(|(question, ask)| match Pin::new(ask).poll(cx) {
            Poll::Pending => true,
            Poll::Ready(answer) => {
                match answer {
                    Ok(answer) => inner.answerer.answered(*question, 0.0, answer.as_str()),
                    Err(error) => {
                        let error = ErrorObject::from(error);
                        inner.answerer.answered(*question, error.code.0 as f64, &error.message);
                    }
                }
                false
            }
        });
        inner.with(self.token, |running| running.asks.append(&mut asks));
    }
}

impl Future for Waiting {
    type Output = Result<Reply, ErrorObject>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.ask(cx);
        let inner = &*self.handlers.0;
        let result = inner.with(self.token, |running| {
            running.waker = Some(cx.waker().clone());
            running.result.take()
        });
        match result.flatten() {
            Some(result) => {
                self.over = true;
                Poll::Ready(result)
            }
            None => Poll::Pending,
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let inner = &*self.handlers.0;
        drop(inner.take(self.token));
        if !self.over {
            inner.answerer.dropped(self.token);
        }
    }
}
