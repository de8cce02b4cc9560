//! The servers that several tests ask.

use futures::channel::oneshot;
use sandwire_server::{Context, Schema, Server};
use serde::Deserialize;
use std::sync::{Arc, Mutex};

#[derive(Deserialize, Schema)]
pub struct Text {
    pub text: String,
}

/// A server with a tool that says its text again.
pub fn echo() -> Server {
    Server::builder("echo", "1").tool("echo", "Says it again.", async |text: Text| text.text).build().unwrap()
}

/// Who waits, and what lets it go on.
type Waits = (String, oneshot::Sender<()>);

/// Tools that wait until the test lets them go on.
#[derive(Clone, Debug, Default)]
pub struct Doors {
    waiting: Arc<Mutex<Vec<Waits>>>,
    cancelled: Arc<Mutex<Vec<String>>>,
}

#[derive(Deserialize, Schema)]
struct Door {
    name: String,
}

impl Doors {
    /// A server with the tool `door`, which ends when its door is opened or its call cancelled.
    pub fn server(&self) -> Server {
        let doors = self.clone();
        let enter = move |door: Door, context: Context| {
            let doors = doors.clone();
            async move {
                let (open, opened) = oneshot::channel();
                doors.waiting.lock().unwrap().push((door.name.clone(), open));
                let end = futures::future::select(opened, Box::pin(context.cancelled())).await;
                if let futures::future::Either::Right(_) = end {
                    doors.cancelled.lock().unwrap().push(door.name.clone());
                }
                door.name
            }
        };
        Server::builder("doors", "1").tool("door", "Waits.", enter).build().unwrap()
    }

    /// Lets who waits at this door go on.
    pub fn open(&self, name: &str) {
        let mut waiting = self.waiting.lock().unwrap();
        let at = waiting.iter().position(|(door, _)| door == name).expect("nobody waits there");
        let (_, open) = waiting.remove(at);
        drop(waiting);
        let _ = open.send(());
    }

    /// Whose calls were cancelled.
    pub fn cancelled(&self) -> Vec<String> {
        self.cancelled.lock().unwrap().clone()
    }
}
