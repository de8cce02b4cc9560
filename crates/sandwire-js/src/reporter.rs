//! Tells the TypeScript class what the driver learns.

use std::sync::Arc;
#[cfg(feature = "client")]
use std::{cell::RefCell, rc::Rc};

#[cfg(feature = "client")]
use sandwire_io::client::{Answer, AskKey, Warning};
use sandwire_io::client::{Hooks, OpenError};
use sandwire_json::{Raw, Writer};
use sandwire_proto::{PeerInfo, TransportError};
#[cfg(feature = "client")]
use sandwire_types::Method;
use sandwire_types::{Era, Notification};

use crate::{
    boundary::{self, CONNECTION, OPENING, Told},
    fault::Fault,
};

/// What a connection reports with.
pub(crate) struct Reporter {
    pub(crate) connection: u32,
    #[cfg(feature = "client")]
    pub(crate) asked: Asked,
}

impl Reporter {
    fn told(&self, what: Told, key: f64, name: &str, json: &str) {
        boundary::told(self.connection, what, key, name, json);
    }
}

impl Hooks for Reporter {
    fn opened(&mut self, server: &Arc<PeerInfo>) {
        let mut json = Writer::new();
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
        self.told(Told::Opened, modern, server.version.as_str(), json.into_raw().as_str());
    }

    fn failed(&mut self, error: &OpenError) {
        boundary::failed(self.connection, OPENING, &Fault::opening(error));
    }

    #[cfg(feature = "client")]
    fn warning(&mut self, warning: &Warning) {
        if let Warning::StreamRefused(error) = warning {
            boundary::failed(self.connection, boundary::WARNING, &Fault::transport(error));
        }
    }

    fn notification(&mut self, notification: Notification) {
        self.told(Told::Notification, 0.0, notification.method.as_str(), text(&notification.params));
    }

    #[cfg(feature = "client")]
    fn ask(&mut self, method: Method, params: Raw, answer: Answer) {
        let key = answer.key().map_or(0.0, |key| key.as_u64() as f64);
        self.asked.borrow_mut().push(answer);
        self.told(Told::Ask, key, method.as_str(), params.as_str());
    }

    #[cfg(feature = "client")]
    fn withdrawn(&mut self, key: AskKey) {
        let key = key.as_u64() as f64;
        drop(take(&self.asked, key));
        self.told(Told::Withdrawn, key, "", "");
    }

    fn closed(&mut self, error: Option<&TransportError>) {
        match error {
            Some(error) => boundary::failed(self.connection, CONNECTION, &Fault::transport(error)),
            None => self.told(Told::Closed, 0.0, "", ""),
        }
    }
}

/// Questions that wait for the application.
#[cfg(feature = "client")]
pub(crate) type Asked = Rc<RefCell<Vec<Answer>>>;

/// The way to answer the question under `key`, if it still waits.
#[cfg(feature = "client")]
pub(crate) fn take(asked: &Asked, key: f64) -> Option<Answer> {
    let mut asked = asked.borrow_mut();
    let named = |answer: &Answer| answer.key().is_some_and(|have| have.as_u64() as f64 == key);
    let at = asked.iter().position(named)?;
    Some(asked.swap_remove(at))
}

/// JSON as it crosses.
pub(crate) fn text(raw: &Option<Raw>) -> &str {
    raw.as_ref().map_or("", Raw::as_str)
}
