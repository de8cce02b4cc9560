//! A server that runs on a thread of its own for the length of a test.

use std::{
    net::SocketAddr,
    sync::{Arc, mpsc},
    thread::JoinHandle,
    time::Duration,
};

use sandwire_native::{
    block_on,
    http::{Limits, Server, Shutdown},
};

use crate::{
    client::Client,
    service::{Event, Service},
};

pub(crate) struct Stage {
    pub(crate) address: SocketAddr,
    pub(crate) shutdown: Shutdown,
    /// What the service tells.
    pub(crate) events: mpsc::Receiver<Event>,
    running: Option<JoinHandle<std::io::Result<()>>>,
}

/// Limits that a test can wait for.
pub(crate) fn quick() -> Limits {
    Limits {
        head_time: Duration::from_millis(300),
        idle_time: Duration::from_secs(20),
        stall_time: Duration::from_millis(300),
        drain_time: Duration::from_millis(300),
        ..Limits::default()
    }
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::of(Server::local(0).unwrap())
    }

    pub(crate) fn with(limits: Limits) -> Self {
        Self::of(Server::local(0).unwrap().limits(limits))
    }

    pub(crate) fn of(server: Server) -> Self {
        let (tell, events) = mpsc::channel();
        let address = server.local_addr().unwrap_or_else(|_| SocketAddr::from(([0; 4], 0)));
        let shutdown = server.shutdown();
        let running = std::thread::spawn(move || block_on(server.serve(Service(Arc::new(tell)))));
        Self { address, shutdown, events, running: Some(running) }
    }

    pub(crate) fn connect(&self) -> Client {
        Client::connect(self.address)
    }

    /// Waits for what the service tells next.
    pub(crate) fn next_event(&self) -> Event {
        self.events.recv_timeout(Duration::from_secs(10)).expect("the service tells something")
    }

    /// Whether a request of somebody who does nothing wrong is answered.
    pub(crate) fn assert_healthy(&self) {
        let mut client = self.connect();
        for _ in 0..2 {
            client.post("/echo", "hello");
            assert_eq!(client.response().body, b"hello");
        }
    }

    /// Waits until the server has ended.
    pub(crate) fn join(mut self) {
        self.running.take().unwrap().join().unwrap().unwrap();
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.shutdown.begin();
    }
}
