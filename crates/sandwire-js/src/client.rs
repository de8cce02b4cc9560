//! The connections of a client module, and the functions by which JavaScript reaches them.

use std::{
    cell::RefCell,
    pin::Pin,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use sandwire_io::{
    Callback, Direction, HttpLink, Link,
    client::{self, Call, CallKey, ClientHandle, Config, Driver, Mode, Timeout},
};
use sandwire_json::Raw;
use sandwire_proto::{
    TransportErrorKind,
    http::{ResponseHead, names},
};
#[cfg(feature = "client")]
use sandwire_types::{ErrorCode, ErrorObject};
use sandwire_types::{LoggingLevel, Method, Notification, ProtocolVersion};

use crate::{
    boundary::{self, Texts, Told},
    env::{Armed, Host, read_clock},
    fault::{Fault, thrown},
    http::{Arrivals, Http},
    reporter::{self, Reporter},
    room,
};

/// One connection to a server, under the number that JavaScript gave it.
struct Connection {
    id: u32,
    handle: ClientHandle,
    driver: RefCell<Driver>,
    woken: Arc<Woken>,
    armed: Armed,
    arrivals: Rc<Arrivals>,
    #[cfg(feature = "client")]
    inbox: crate::port::Inbox,
    #[cfg(feature = "client")]
    asked: reporter::Asked,
}

thread_local! {
    static CONNECTIONS: RefCell<Vec<Rc<Connection>>> = const { RefCell::new(Vec::new()) };
}

/// Does something with a connection, if there is one of this number, then runs it if there is something to do.
fn enter(id: u32, act: &mut dyn FnMut(&Connection) -> bool) {
    read_clock();
    let found = CONNECTIONS.with_borrow(|all| all.iter().find(|connection| connection.id == id).cloned());
    if let Some(connection) = found
        && act(&connection)
    {
        connection.run();
    }
}

/// Whether a driver has something to do.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Connection {
    /// Runs the driver until it waits for JavaScript. What it tells may call an export, which comes here again: that
    /// one only leaves word that there is more to do.
    fn run(&self) {
        self.woken.0.store(true, Ordering::Relaxed);
        let Ok(mut driver) = self.driver.try_borrow_mut() else { return };
        let waker = Waker::from(Arc::clone(&self.woken));
        while self.woken.0.swap(false, Ordering::Relaxed) {
            if let Poll::Ready(()) = Pin::new(&mut *driver).poll(&mut Context::from_waker(&waker)) {
                let over = CONNECTIONS.with_borrow_mut(|all| {
                    let at = all.iter().position(|connection| connection.id == self.id)?;
                    Some(all.swap_remove(at))
                });
                return drop(over);
            }
        }
    }
}

/// Makes a connection, which begins with the first [`wake`]. The text has the client's `Implementation` and `ClientCapabilities` as JSON, types of
/// results that extensions add, with spaces between them, and the version to speak, `legacy`, or nothing to find it out. `flags`: 1 has the text of every message told, 2 connects through a port
/// instead of HTTP, 4 ignores that a legacy server refuses to hear that the client is ready. `rounds` is how often one call may
/// be asked for input. Negative numbers are the defaults.
#[unsafe(no_mangle)]
extern "C" fn open(id: u32, flags: u32, timeout: f64, longest: f64, rounds: f64, length: usize) {
    read_clock();
    let text = room::text(length);
    let mut texts = Texts(&text);
    let mut config = Config::new("", "");
    config.info = Raw::from_valid(texts.next());
    config.capabilities = Raw::from_valid(texts.next());
    let types = texts.next();
    #[cfg(feature = "client")]
    config.result_types.extend(types.split_ascii_whitespace().map(Into::into));
    #[cfg(not(feature = "client"))]
    let _ = types;
    config.mode = match ProtocolVersion::parse(texts.0) {
        Some(version) => Mode::Pinned(version),
        None if texts.0 == "legacy" => Mode::Legacy,
        None => Mode::Auto,
    };
    if timeout >= 0.0 {
        config.call_timeout_ms = timeout as u64;
    }
    if longest >= 0.0 {
        config.limits.max_message_bytes = longest as usize;
    }
    if cfg!(feature = "client") && rounds >= 0.0 {
        config.limits.max_rounds = rounds as u32;
    }
    config.ignore_failed_initialized = flags & 4 != 0;
    let arrivals = Rc::<Arrivals>::default();
    #[cfg(feature = "client")]
    let inbox = crate::port::Inbox::default();
    let limits = config.limits.clone();
    let mut link: Box<dyn Link> = match flags & 2 {
        #[cfg(feature = "client")]
        2 => {
            let port = crate::port::Port { connection: id, inbox: Rc::clone(&inbox) };
            Box::new(sandwire_io::TextLink::new(port, limits))
        }
        _ => {
            let http = Http { connection: id, arrivals: Rc::clone(&arrivals) };
            Box::new(HttpLink::new(Arc::new(http), "", limits))
        }
    };
    if flags & 1 != 0 {
        link.observe(Arc::new(move |direction, text: &str| {
            let received = f64::from(u8::from(direction == Direction::Received));
            boundary::told(id, Told::Message, received, "", text);
        }));
    }
    #[cfg(feature = "client")]
    let asked = reporter::Asked::default();
    let reporter = Reporter {
        connection: id,
        #[cfg(feature = "client")]
        asked: Rc::clone(&asked),
    };
    let armed = Armed::default();
    let (handle, driver) = client::connect(config, Host::shared(id, Rc::clone(&armed)), link, Box::new(reporter));
    let connection = Connection {
        id,
        handle,
        driver: RefCell::new(driver),
        woken: Arc::default(),
        armed,
        arrivals,
        #[cfg(feature = "client")]
        inbox,
        #[cfg(feature = "client")]
        asked,
    };
    CONNECTIONS.with_borrow_mut(|all| all.push(Rc::new(connection)));
}

/// Makes a call, whose end is told under `token`, and gives the key that cancels it. The text has a log level,
/// `_meta`, the parameters, each of which may be empty, and the method.
///
/// `flags`: 1 asks for progress, 2 lets progress begin the timeout anew, 4 says that the call is a subscription, 8 has a
/// result that asks for input told. A negative time is the default. What is no JSON fails before this returns.
#[unsafe(no_mangle)]
extern "C" fn call(id: u32, token: f64, flags: u32, timeout: f64, total: f64, length: usize) -> f64 {
    let text = room::text(length);
    let mut key = 0.0;
    enter(id, &mut |connection| {
        let mut texts = Texts(&text);
        let (level, meta, params) = (texts.next(), texts.next(), texts.next());
        let (Ok(meta), Ok(params)) = (raw(meta), raw(params)) else {
            boundary::failed(id, token, &Fault::unreadable());
            return false;
        };
        let request = sandwire_proto::client::Call {
            method: Method::from(texts.0),
            params,
            meta,
            log_level: (!level.is_empty()).then(|| LoggingLevel::from(level)),
            progress: flags & 1 != 0,
            timeout: match timeout {
                f64::INFINITY => Timeout::Never,
                0.0.. => Timeout::After(timeout as u64),
                _ => Timeout::Default,
            },
            reset_on_progress: flags & 2 != 0,
            total_timeout_ms: (total >= 0.0).then_some(total as u64),
            manual_rounds: flags & 8 != 0,
        };
        let call = Call {
            on_progress: request.progress.then(|| -> Callback<Raw> {
                Arc::new(move |params: Raw| boundary::told(id, Told::Progress, token, "", params.as_str()))
            }),
            on_event: (flags & 4 != 0).then(|| -> Callback<Notification> {
                Arc::new(move |event: Notification| {
                    boundary::told(id, Told::Event, token, event.method.as_str(), reporter::text(&event.params));
                })
            }),
            request,
        };
        let begun = connection.handle.call_with(
            call,
            Box::new(move |result| match result {
                Ok(reply) => boundary::told(id, Told::Done, token, "", reply.value.as_str()),
                Err(error) => boundary::failed(id, token, &Fault::call(&error)),
            }),
        );
        key = begun.as_u64() as f64;
        true
    });
    key
}

/// Cancels the call with this key. Its end is not told.
#[unsafe(no_mangle)]
extern "C" fn cancel(id: u32, key: f64) {
    enter(id, &mut |connection| {
        connection.handle.cancel(CallKey::from_u64(key as u64));
        true
    });
}

/// Sends a notification, or tells under `token` why it cannot be sent before this returns. The text has its parameters,
/// which may be empty, and the method.
#[unsafe(no_mangle)]
extern "C" fn notify(id: u32, token: f64, length: usize) {
    let text = room::text(length);
    enter(id, &mut |connection| {
        let mut texts = Texts(&text);
        let sent = match raw(texts.next()) {
            Ok(params) => {
                connection.handle.notify(Notification::new(Method::from(texts.0), params)).map_err(Fault::misuse)
            }
            Err(_) => Err(Fault::unreadable()),
        };
        if let Err(fault) = sent {
            boundary::failed(id, token, &fault);
        }
        true
    });
}

/// Answers the question under `key`: with JSON, or, if `code` is not 0, with an error whose message the text is.
#[cfg(feature = "client")]
#[unsafe(no_mangle)]
extern "C" fn answer(id: u32, key: f64, code: f64, length: usize) {
    let text = room::text(length);
    enter(id, &mut |connection| {
        let Some(answer) = reporter::take(&connection.asked, key) else { return false };
        answer.send(match code {
            0.0 => Raw::parse(&text).map_err(|_| ErrorObject::internal("the answer is no JSON that can be sent")),
            code => Err(ErrorObject::new(ErrorCode(code as i64), &*text)),
        });
        true
    });
}

/// Closes the connection.
#[unsafe(no_mangle)]
extern "C" fn close(id: u32) {
    enter(id, &mut |connection| {
        connection.handle.close();
        true
    });
}

/// The connection is to begin, or the time is up that was asked for.
#[unsafe(no_mangle)]
extern "C" fn wake(id: u32) {
    enter(id, &mut |connection| {
        connection.armed.take();
        true
    });
}

/// The head of a response: its status, and the fields that the protocol reads, which may be empty.
#[unsafe(no_mangle)]
extern "C" fn head(id: u32, request: u32, status: u32, length: usize) {
    let text = room::text(length);
    enter(id, &mut |connection| {
        let mut texts = Texts(&text);
        let mut head = ResponseHead::new(status as u16);
        for name in [names::CONTENT_TYPE, names::SESSION_ID, names::WWW_AUTHENTICATE, names::RETRY_AFTER] {
            let value = texts.next();
            if !value.is_empty() {
                head.headers.push(name, value);
            }
        }
        connection.arrivals.head(request, head)
    });
}

/// More of a response's body.
#[unsafe(no_mangle)]
extern "C" fn chunk(id: u32, request: u32, length: usize) {
    let mut bytes = room::bytes(length);
    enter(id, &mut |connection| connection.arrivals.chunk(request, &mut bytes));
}

/// The end of a response, or the number of what was thrown instead, which is `opaque` if it does not say what happened.
#[unsafe(no_mangle)]
extern "C" fn over(id: u32, request: u32, opaque: bool, cause: u32) {
    let kind = if opaque { TransportErrorKind::Opaque } else { TransportErrorKind::Other };
    let mut failed = thrown(kind, cause);
    enter(id, &mut |connection| {
        connection.arrivals.over(request, failed.take());
        true
    });
}

/// A text arrived at the port.
#[cfg(feature = "client")]
#[unsafe(no_mangle)]
extern "C" fn arrived(id: u32, length: usize) {
    let mut text = room::text(length);
    enter(id, &mut |connection| {
        connection.inbox.borrow_mut().push(Some(Ok(std::mem::take(&mut text))));
        true
    });
}

/// The port is over, with the number of what was thrown, or 0.
#[cfg(feature = "client")]
#[unsafe(no_mangle)]
extern "C" fn parted(id: u32, cause: u32) {
    let mut failed = thrown(TransportErrorKind::Closed, cause);
    enter(id, &mut |connection| {
        connection.inbox.borrow_mut().push(failed.take().map(Err));
        true
    });
}

fn raw(json: &str) -> Result<Option<Raw>, sandwire_json::Error> {
    if json.is_empty() { Ok(None) } else { Raw::parse(json).map(Some) }
}
