use sandwire_json::Raw;
use sandwire_proto::{
    Ended, ExchangeId, Time, TransportError, TransportErrorKind, Via, Wire,
    client::{AskKey, Call, CallError, CallKey, Config, Input, Machine, Mode, OpenError, Output, Warning},
    http::{Headers, RequestHead, ResponseHead},
};
use sandwire_types::{
    ErrorCode, ErrorObject, Message, Method, Notification, ProtocolVersion, Reply, Request, RequestId, Response,
    ResultKind,
};

/// A client whose outputs are looked at one by one.
pub struct Scene {
    pub machine: Machine,
    pub now: Time,
}

/// A request the client sent.
#[derive(Debug)]
pub struct Sent {
    pub via: Via,
    pub request: Request,
    pub head: Option<Box<RequestHead>>,
}

impl Sent {
    pub fn exchange(&self) -> ExchangeId {
        match self.via {
            Via::Exchange(exchange) => exchange,
            Via::Pipe => panic!("sent on the pipe"),
        }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.as_ref().and_then(|head| head.headers.get(name))
    }

    pub fn params(&self) -> &str {
        self.request.params.as_ref().map_or("", |params| params.as_str())
    }
}

pub const DISCOVERY: &str = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private","serverInfo":{"name":"s","version":"1"}}"#;
pub const HANDSHAKE: &str =
    r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}"#;

pub fn raw(text: &str) -> Raw {
    Raw::parse(text).unwrap()
}

pub fn call(method: &str, params: &str) -> Call {
    Call::new(Method::from(method), (!params.is_empty()).then(|| raw(params)))
}

pub fn tool_call() -> Call {
    call("tools/call", r#"{"name":"echo","arguments":{"text":"hi"}}"#)
}

pub fn config(wire: Wire, mode: Mode) -> Config {
    let mut config = Config::new("test", "1");
    config.wire = wire;
    config.mode = mode;
    config
}

impl Scene {
    pub fn new(config: Config) -> Self {
        let mut scene = Self { machine: Machine::new(config), now: Time(0) };
        scene.machine.handle(scene.now, Input::Tick);
        scene
    }

    pub fn with(wire: Wire, mode: Mode) -> Self {
        Self::new(config(wire, mode))
    }

    /// A client that declares everything, connected in the era of `version`.
    pub fn open(wire: Wire, version: ProtocolVersion) -> Self {
        let mut config = config(wire, Mode::Pinned(version));
        config.capabilities = raw(r#"{"sampling":{},"elicitation":{},"roots":{}}"#);
        Self::opened(config)
    }

    pub fn opened(config: Config) -> Self {
        let mut scene = Self::new(config);
        scene.finish_opening();
        scene
    }

    pub fn modern(wire: Wire) -> Self {
        Self::open(wire, ProtocolVersion::V2026_07_28)
    }

    pub fn legacy(wire: Wire) -> Self {
        Self::open(wire, ProtocolVersion::V2025_11_25)
    }

    /// Answers whatever the opening asks.
    pub fn finish_opening(&mut self) {
        let opening = self.request();
        match opening.request.method {
            Method::ServerDiscover => {
                self.reply(&opening, DISCOVERY);
                self.end(&opening);
            }
            Method::Initialize => {
                let version = opening.request.params.as_ref().unwrap().get("protocolVersion").unwrap();
                self.reply(&opening, &HANDSHAKE.replace("\"2025-11-25\"", version.as_str()));
                self.end(&opening);
                let (via, notification) = self.notification_sent();
                assert_eq!(notification.method, Method::Initialized);
                if let Via::Exchange(exchange) = via {
                    self.accepted(exchange);
                }
            }
            other => panic!("opened by {other}"),
        }
        self.opened_output();
        if matches!(opening.request.method, Method::Initialize) && matches!(opening.via, Via::Exchange(_)) {
            let (exchange, _) = self.opened_exchange();
            self.head_of(exchange, 405, None);
            self.ended(exchange);
            self.warned();
        }
    }

    pub fn next(&mut self) -> Option<Output> {
        self.machine.poll()
    }

    pub fn must(&mut self) -> Output {
        self.next().expect("nothing to do")
    }

    pub fn quiet(&mut self) {
        if let Some(output) = self.next() {
            panic!("unexpected {output:?}");
        }
    }

    pub fn handle(&mut self, input: Input) {
        self.machine.handle(self.now, input);
    }

    /// Lets time pass, waking the machine whenever it wants to be woken.
    pub fn wait(&mut self, milliseconds: u64) {
        let end = self.now.after(milliseconds);
        while let Some(at) = self.machine.deadline().filter(|at| *at <= end) {
            self.now = at.max(self.now);
            self.handle(Input::Tick);
        }
        self.now = end;
    }

    pub fn call(&mut self, call: Call) -> CallKey {
        self.machine.request(self.now, call).unwrap()
    }

    pub fn request(&mut self) -> Sent {
        match self.must() {
            Output::Send { via, message: Message::Request(request), head } => Sent { via, request, head },
            other => panic!("expected a request, got {other:?}"),
        }
    }

    pub fn notification_sent(&mut self) -> (Via, Notification) {
        match self.must() {
            Output::Send { via, message: Message::Notification(notification), .. } => (via, notification),
            other => panic!("expected a notification, got {other:?}"),
        }
    }

    pub fn response_sent(&mut self) -> Response {
        match self.must() {
            Output::Send { message: Message::Response(response), .. } => response,
            other => panic!("expected a response, got {other:?}"),
        }
    }

    pub fn opened_exchange(&mut self) -> (ExchangeId, Box<RequestHead>) {
        match self.must() {
            Output::Open { exchange, head } => (exchange, head),
            other => panic!("expected an exchange, got {other:?}"),
        }
    }

    pub fn warned(&mut self) -> Warning {
        match self.must() {
            Output::Warning(warning) => warning,
            other => panic!("{other:?}"),
        }
    }

    pub fn opened_output(&mut self) {
        match self.must() {
            Output::Opened(_) => {}
            other => panic!("expected to be open, got {other:?}"),
        }
    }

    pub fn failed(&mut self) -> OpenError {
        match self.must() {
            Output::Failed(error) => {
                assert!(matches!(self.must(), Output::Close));
                OpenError::clone(&error)
            }
            other => panic!("expected a failed opening, got {other:?}"),
        }
    }

    pub fn done(&mut self) -> (CallKey, Result<Reply, CallError>) {
        match self.must() {
            Output::Done { key, result } => (key, result),
            other => panic!("expected the end of a call, got {other:?}"),
        }
    }

    pub fn done_error(&mut self) -> CallError {
        self.done().1.expect_err("the call succeeded")
    }

    pub fn done_value(&mut self) -> String {
        self.done().1.expect("the call failed").value.as_str().into()
    }

    pub fn ask(&mut self) -> (AskKey, Method, Raw) {
        match self.must() {
            Output::Ask { key, method, params } => (key, method, params),
            other => panic!("expected a question, got {other:?}"),
        }
    }

    pub fn receive(&mut self, via: Via, message: Message) {
        self.handle(Input::Message { via, message });
    }

    /// Answers a request with a result; over HTTP as JSON, whose head comes first.
    pub fn reply(&mut self, sent: &Sent, result: &str) {
        if let Via::Exchange(exchange) = sent.via {
            self.head_of(exchange, 200, Some("application/json"));
        }
        self.respond(sent, Ok(result));
    }

    pub fn refuse(&mut self, sent: &Sent, error: ErrorObject) {
        self.receive(sent.via, Message::Response(Response::new(sent.request.id.clone(), Err(error))));
    }

    pub fn respond(&mut self, sent: &Sent, result: Result<&str, ErrorObject>) {
        let result = result.map(reply);
        self.receive(sent.via, Message::Response(Response::new(sent.request.id.clone(), result)));
    }

    pub fn head_of(&mut self, exchange: ExchangeId, status: u16, content_type: Option<&str>) {
        let mut headers = Headers::new();
        if let Some(content_type) = content_type {
            headers.push("Content-Type", content_type);
        }
        self.handle(Input::Head { exchange, head: ResponseHead { status, headers } });
    }

    pub fn accepted(&mut self, exchange: ExchangeId) {
        self.head_of(exchange, 202, None);
        self.ended(exchange);
    }

    pub fn end(&mut self, sent: &Sent) {
        if let Via::Exchange(exchange) = sent.via {
            self.ended(exchange);
        }
    }

    pub fn ended(&mut self, exchange: ExchangeId) {
        self.handle(Input::Ended { exchange, how: Ended::Finished });
    }

    pub fn lost(&mut self, exchange: ExchangeId, kind: TransportErrorKind) {
        let error = TransportError::new(kind, "scripted");
        self.handle(Input::Ended { exchange, how: Ended::Lost(error) });
    }

    pub fn mark(&mut self, exchange: ExchangeId, id: &str, retry_ms: Option<u64>) {
        let event_id = (!id.is_empty()).then(|| id.into());
        self.handle(Input::Mark { exchange, event_id, retry_ms });
    }

    pub fn server_request(&mut self, id: i64, method: &str, params: &str) {
        let mut request = Request::new(RequestId::Number(id), Method::from(method));
        request.params = (!params.is_empty()).then(|| raw(params));
        self.receive(Via::Pipe, Message::Request(request));
    }

    pub fn server_notification(&mut self, method: &str, params: &str) {
        self.receive(Via::Pipe, Message::Notification(notification(method, params)));
    }
}

pub fn notification(method: &str, params: &str) -> Notification {
    Notification::new(Method::from(method), (!params.is_empty()).then(|| raw(params)))
}

pub fn reply(text: &str) -> Reply {
    let value = raw(text);
    let kind =
        value.get("resultType").map_or(ResultKind::Complete, |kind| ResultKind::from(kind.as_str().trim_matches('"')));
    Reply { value, kind, stamp: None }
}

pub fn error(code: i64) -> ErrorObject {
    ErrorObject::new(ErrorCode(code), "scripted")
}
