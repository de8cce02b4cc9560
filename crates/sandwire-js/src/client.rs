#[cfg(feature = "client")]
use std::cell::RefCell;
use std::{rc::Rc, sync::Arc};

use sandwire_io::{
    Direction, HttpLink, Link,
    client::{self, Call, CallKey, ClientHandle, Config, Hooks as ClientHooks, Mode, OpenError, Timeout},
};
use sandwire_json::Raw;
use sandwire_proto::{PeerInfo, TransportError};
use sandwire_types::{Era, LoggingLevel, Method, Notification, ProtocolVersion};
#[cfg(feature = "client")]
use sandwire_types::{ErrorCode, ErrorObject};
use sandwire_web::WebEnv;
use wasm_bindgen::prelude::*;

use crate::{
    fault::Fault,
    http::{Arrivals, Http, Requests},
};

#[wasm_bindgen]
extern "C" {
    /// The TypeScript class that a connection reports to. Absent JSON is an empty string.
    #[derive(Clone, Debug)]
    pub type Hooks;

    /// A call has its result.
    #[wasm_bindgen(method)]
    fn done(this: &Hooks, token: f64, result: &str);

    /// A call (token 0 and above), the opening (-1) or the connection (-2) failed.
    #[wasm_bindgen(method)]
    fn failed(this: &Hooks, token: f64, code: &str, number: f64, message: &str, data: &str, cause: JsValue);

    /// Anything else; see [`Told`].
    #[wasm_bindgen(method)]
    fn told(this: &Hooks, what: Told, key: f64, name: &str, json: &str);
}

/// What the application is told of.
#[wasm_bindgen]
#[derive(Clone, Copy, Debug)]
pub enum Told {
    /// Progress of the call with this token.
    Progress = 0,
    /// A notification of the subscription with this token.
    Event = 1,
    /// A notification.
    Notification = 2,
    /// A question under this key.
    Ask = 3,
    /// The question under this key is withdrawn.
    Withdrawn = 4,
    /// The connection is open: its era (0 legacy, 1 modern), its version, and the server as JSON.
    Opened = 5,
    /// The connection is over.
    Closed = 6,
    /// The text of a message, sent (0) or received (1).
    Message = 7,
}

const OPENING: f64 = -1.0;
const CONNECTION: f64 = -2.0;

/// One connection to a server.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Connection {
    hooks: Hooks,
    handle: ClientHandle,
    arrivals: Rc<Arrivals>,
    #[cfg(feature = "client")]
    asked: Asked,
}

#[wasm_bindgen]
impl Connection {
    /// Connects through what makes requests, to the URL that it knows.
    pub fn http(settings: Settings, requests: Requests) -> Connection {
        let arrivals = Rc::new(Arrivals::default());
        let client = Arc::new(Http::new(requests, Rc::clone(&arrivals)));
        let link = HttpLink::new(client, "", settings.config.limits.clone());
        Self::open(settings, Box::new(link), arrivals)
    }

    /// The head of a response: its status, and the fields that the protocol reads.
    pub fn head(&self, id: u32, status: u16, content_type: &str, session: Option<String>, challenge: Option<String>) {
        self.arrivals.head(id, status, content_type, session.as_deref(), challenge.as_deref());
    }

    /// More of a response's body.
    pub fn chunk(&self, id: u32, bytes: Vec<u8>) {
        self.arrivals.chunk(id, bytes);
    }

    /// The end of a response, or what was thrown instead.
    pub fn over(&self, id: u32, thrown: Option<JsValue>) {
        self.arrivals.over(id, thrown);
    }

    /// Connects through a `MessagePort`, or whatever has its members.
    #[cfg(feature = "client")]
    pub fn port(settings: Settings, port: JsValue) -> Connection {
        let port = sandwire_web::Port::new(port);
        let link = sandwire_io::TextLink::new(port, settings.config.limits.clone());
        Self::open(settings, Box::new(link), Rc::default())
    }

    fn open(settings: Settings, mut link: Box<dyn Link>, arrivals: Rc<Arrivals>) -> Connection {
        let Settings { config, hooks, observed } = settings;
        if observed {
            let seen = hooks.clone();
            link.observe(Arc::new(move |direction, text: &str| {
                let received = f64::from(u8::from(direction == Direction::Received));
                seen.told(Told::Message, received, "", text);
            }));
        }
        let reporter = Reporter {
            hooks: hooks.clone(),
            #[cfg(feature = "client")]
            asked: Asked::default(),
        };
        #[cfg(feature = "client")]
        let asked = Rc::clone(&reporter.asked);
        let (handle, driver) = client::connect(config, WebEnv::shared(), link, Box::new(reporter));
        sandwire_web::spawn(driver);
        Connection {
            hooks,
            handle,
            arrivals,
            #[cfg(feature = "client")]
            asked,
        }
    }

    /// Makes a call, whose end is reported under `token`, and gives the key that cancels it.
    ///
    /// `flags`: 1 asks for progress, 2 lets progress begin the timeout anew, 4 says that the call is a subscription.
    /// A negative time is the default. What is no JSON fails before this returns.
    #[allow(clippy::too_many_arguments, reason = "an object would cost a crossing for each member")]
    pub fn call(
        &self,
        token: f64,
        method: &str,
        params: &str,
        meta: &str,
        level: &str,
        flags: u32,
        timeout: f64,
        total: f64,
    ) -> f64 {
        let (Ok(params), Ok(meta)) = (raw(params), raw(meta)) else {
            report(&self.hooks, token, Fault::unreadable());
            return f64::NAN;
        };
        let mut request = sandwire_proto::client::Call::new(Method::from(method), params);
        request.meta = meta;
        request.log_level = (!level.is_empty()).then(|| LoggingLevel::from(level));
        request.reset_on_progress = flags & 2 != 0;
        request.timeout = match timeout {
            f64::INFINITY => Timeout::Never,
            0.0.. => Timeout::After(timeout as u64),
            _ => Timeout::Default,
        };
        request.total_timeout_ms = (total >= 0.0).then_some(total as u64);
        let mut call = Call::from(request);
        if flags & 1 != 0 {
            let hooks = self.hooks.clone();
            call = call.with_progress(Arc::new(move |params: Raw| {
                hooks.told(Told::Progress, token, "", params.as_str());
            }));
        }
        if flags & 4 != 0 {
            let hooks = self.hooks.clone();
            call = call.with_events(Arc::new(move |event: Notification| {
                hooks.told(Told::Event, token, event.method.as_str(), text(&event.params));
            }));
        }
        let hooks = self.hooks.clone();
        let key = self.handle.call_with(
            call,
            Box::new(move |result| match result {
                Ok(reply) => hooks.done(token, reply.value.as_str()),
                Err(error) => report(&hooks, token, Fault::call(&error)),
            }),
        );
        key.as_u64() as f64
    }

    /// Cancels the call with this key. Its end is not reported.
    pub fn cancel(&self, key: f64) {
        self.handle.cancel(CallKey::from_u64(key as u64));
    }

    /// Sends a notification.
    pub fn notify(&self, method: &str, params: &str) {
        let Ok(params) = raw(params) else {
            return report(&self.hooks, CONNECTION, Fault::unreadable());
        };
        let notification = Notification::new(Method::from(method), params);
        if let Err(fault) = self.handle.notify(notification) {
            report(&self.hooks, CONNECTION, Fault::misuse(fault));
        }
    }

    /// Answers the question under `key`: with `json`, or, if `code` is not 0, with an error whose message it is.
    #[cfg(feature = "client")]
    pub fn answer(&self, key: f64, code: f64, json: &str) {
        let mut asked = self.asked.borrow_mut();
        let found = asked.iter().position(|answer| is_named(answer, key));
        let answer = found.map(|at| asked.swap_remove(at));
        drop(asked);
        if let Some(answer) = answer {
            answer.send(match code {
                0.0 => Raw::parse(json).map_err(|_| ErrorObject::internal("the answer is no JSON that can be sent")),
                code => Err(ErrorObject::new(ErrorCode(code as i64), json)),
            });
        }
    }

    /// Closes the connection.
    pub fn close(&self) {
        self.handle.close();
    }
}

/// What a connection is opened with.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Settings {
    config: Config,
    hooks: Hooks,
    observed: bool,
}

#[wasm_bindgen]
impl Settings {
    /// The client's `Implementation` and `ClientCapabilities` as JSON; the version to speak, `legacy`, or empty to
    /// find it out.
    #[wasm_bindgen(constructor)]
    pub fn new(hooks: Hooks, info: &str, capabilities: &str, version: &str) -> Settings {
        let mut config = Config::new("", "");
        config.info = Raw::from_valid(info);
        config.capabilities = Raw::from_valid(capabilities);
        config.mode = match ProtocolVersion::parse(version) {
            Some(version) => Mode::Pinned(version),
            None if version == "legacy" => Mode::Legacy,
            None => Mode::Auto,
        };
        Settings { config, hooks, observed: false }
    }

    /// Has the text of every message reported.
    pub fn observe(&mut self) {
        self.observed = true;
    }

    /// How long a call may take that does not say itself, in milliseconds.
    pub fn timeout(&mut self, milliseconds: f64) {
        self.config.call_timeout_ms = milliseconds as u64;
    }

    /// The longest message, in bytes.
    #[wasm_bindgen(js_name = maxMessageBytes)]
    pub fn max_message_bytes(&mut self, bytes: f64) {
        self.config.limits.max_message_bytes = bytes as usize;
    }
}

/// Questions that wait for the application.
#[cfg(feature = "client")]
type Asked = Rc<RefCell<Vec<client::Answer>>>;

#[cfg(feature = "client")]
fn is_named(answer: &client::Answer, key: f64) -> bool {
    answer.key().is_some_and(|have| have.as_u64() as f64 == key)
}

/// Tells the TypeScript class what the driver learns.
struct Reporter {
    hooks: Hooks,
    #[cfg(feature = "client")]
    asked: Asked,
}

impl ClientHooks for Reporter {
    fn opened(&mut self, server: &Arc<PeerInfo>) {
        let mut json = sandwire_json::Writer::new();
        json.begin_object();
        json.key("capabilities");
        json.raw(server.capabilities.as_str());
        if let Some(info) = &server.info {
            json.key("serverInfo");
            json.raw(info.as_str());
        }
        if let Some(instructions) = &server.instructions {
            json.key("instructions");
            json.string(instructions);
        }
        json.end_object();
        let modern = f64::from(u8::from(server.era() == Era::Modern));
        self.hooks.told(Told::Opened, modern, server.version.as_str(), json.into_raw().as_str());
    }

    fn failed(&mut self, error: &OpenError) {
        report(&self.hooks, OPENING, Fault::opening(error));
    }

    fn notification(&mut self, notification: Notification) {
        self.hooks.told(Told::Notification, 0.0, notification.method.as_str(), text(&notification.params));
    }

    #[cfg(feature = "client")]
    fn ask(&mut self, method: Method, params: Raw, answer: client::Answer) {
        let key = answer.key().map_or(0.0, |key| key.as_u64() as f64);
        self.asked.borrow_mut().push(answer);
        self.hooks.told(Told::Ask, key, method.as_str(), params.as_str());
    }

    #[cfg(feature = "client")]
    fn withdrawn(&mut self, key: client::AskKey) {
        let key = key.as_u64() as f64;
        let mut asked = self.asked.borrow_mut();
        let found = asked.iter().position(|answer| is_named(answer, key));
        let answer = found.map(|at| asked.swap_remove(at));
        drop(asked);
        drop(answer);
        self.hooks.told(Told::Withdrawn, key, "", "");
    }

    fn closed(&mut self, error: Option<&TransportError>) {
        match error {
            Some(error) => report(&self.hooks, CONNECTION, Fault::transport(error)),
            None => self.hooks.told(Told::Closed, 0.0, "", ""),
        }
    }
}

fn report(hooks: &Hooks, token: f64, fault: Fault<'_>) {
    hooks.failed(token, fault.code, fault.number, fault.message, fault.data, fault.cause);
}

fn raw(json: &str) -> Result<Option<Raw>, sandwire_json::Error> {
    if json.is_empty() { Ok(None) } else { Raw::parse(json).map(Some) }
}

fn text(raw: &Option<Raw>) -> &str {
    raw.as_ref().map_or("", Raw::as_str)
}
