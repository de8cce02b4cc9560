//! A server made of closures, and ways to run it.

use std::{
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use sandwire_io::{
    Answer, BoxFuture, Call, Changes, Endpoint, Env, Outlet,
    client::{self, ClientHandle, Config, Hooks, Mode, NoHooks, connect},
    in_memory, memory, serve,
    testing::SimEnv,
};
use sandwire_json::{Raw, find};
use sandwire_proto::{PeerInfo, client::Call as Request, server};
use sandwire_types::{ErrorObject, Method, Notification, ProtocolVersion, Reply};

pub(crate) const ERAS: [ProtocolVersion; 2] = [ProtocolVersion::V2026_07_28, ProtocolVersion::V2025_11_25];

type Handler = Box<dyn Fn(Call) -> Answer + Send + Sync>;

#[derive(Clone)]
pub(crate) struct Server(Arc<Inner>);

struct Inner {
    config: Arc<server::Config>,
    tools: Vec<(&'static str, Handler)>,
    changes: Changes,
    heard: Mutex<Vec<String>>,
}

impl Server {
    pub(crate) fn new(tools: Vec<(&'static str, Handler)>) -> Self {
        let info = Raw::from_valid(r#"{"name":"scene","version":"1"}"#);
        let capabilities = Raw::from_valid(r#"{"tools":{"listChanged":true},"logging":{}}"#);
        Self(Arc::new(Inner {
            config: Arc::new(server::Config::new(info, capabilities)),
            tools,
            changes: Changes::default(),
            heard: Mutex::default(),
        }))
    }

    pub(crate) fn changes(&self) -> &Changes {
        &self.0.changes
    }

    pub(crate) fn heard(&self) -> Vec<String> {
        self.0.heard.lock().unwrap().clone()
    }
}

impl Endpoint for Server {
    fn config(&self) -> Arc<server::Config> {
        self.0.config.clone()
    }
    fn call(&self, call: Call) -> Answer {
        let params = call.request.params.as_ref().map_or("{}", Raw::as_str);
        let name = find(params, "name").unwrap_or_default().trim_matches('"').to_owned();
        match self.0.tools.iter().find(|(tool, _)| *tool == name) {
            Some((_, handler)) => handler(call),
            None => Answer::Ready(Err(ErrorObject::invalid_params("no such tool"))),
        }
    }
    fn notification(&self, notification: &Notification, _: &Arc<PeerInfo>) {
        self.0.heard.lock().unwrap().push(notification.method.as_str().into());
    }
    fn changes(&self) -> Option<&Changes> {
        Some(&self.0.changes)
    }
}

pub(crate) fn value(json: &str) -> Result<Reply, ErrorObject> {
    Ok(Reply::new(Raw::from_valid(json)))
}

/// A tool that answers at once.
pub(crate) fn ready(answer: impl Fn(Call) -> Result<Reply, ErrorObject> + Send + Sync + 'static) -> Handler {
    Box::new(move |call| Answer::Ready(answer(call)))
}

/// A tool that may wait.
pub(crate) fn waits<F>(answer: impl Fn(Outlet) -> F + Send + Sync + 'static) -> Handler
where
    F: Future<Output = Result<Reply, ErrorObject>> + Send + 'static,
{
    Box::new(move |call| Answer::Pending(Box::pin(answer(call.outlet))))
}

pub(crate) fn tool(name: &str) -> Request {
    Request::new(Method::ToolsCall, Some(Raw::from_valid(format!(r#"{{"name":"{name}","arguments":{{}}}}"#))))
}

pub(crate) fn config(version: ProtocolVersion) -> Config {
    let mut config = Config::new("scene", "1");
    config.capabilities = Raw::from_valid(r#"{"elicitation":{},"roots":{}}"#);
    config.mode = Mode::Pinned(version);
    config
}

/// A connection and a way to move its drivers by hand.
pub(crate) struct Scene {
    pub(crate) client: ClientHandle,
    pub(crate) env: SimEnv,
    drivers: Vec<Option<BoxFuture<'static, ()>>>,
    woken: Arc<Woken>,
}

#[derive(Default)]
pub(crate) struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Scene {
    pub(crate) fn one_driver(server: &Server, version: ProtocolVersion) -> Self {
        Self::one_driver_with(server, version, Box::new(NoHooks))
    }

    pub(crate) fn one_driver_with(server: &Server, version: ProtocolVersion, hooks: Box<dyn Hooks>) -> Self {
        let env = SimEnv::new(1);
        let (client, driver) = in_memory(Arc::new(server.clone()), config(version), Arc::new(env.clone()), hooks);
        Self { client, env, drivers: vec![Some(Box::pin(driver))], woken: Arc::default() }
    }

    pub(crate) fn two_drivers(server: &Server, version: ProtocolVersion) -> Self {
        Self::two_drivers_with(server, version, Box::new(NoHooks))
    }

    pub(crate) fn two_drivers_with(server: &Server, version: ProtocolVersion, hooks: Box<dyn Hooks>) -> Self {
        let env = SimEnv::new(1);
        let shared: Arc<dyn Env> = Arc::new(env.clone());
        let (near, far) = memory::pair();
        let (client, driver) = connect(config(version), shared.clone(), Box::new(near), hooks);
        let serving = serve(Arc::new(server.clone()), shared, Box::new(far));
        Self { client, env, drivers: vec![Some(Box::pin(driver)), Some(Box::pin(serving))], woken: Arc::default() }
    }

    /// Every form in every era.
    pub(crate) fn all(server: impl Fn() -> Server) -> Vec<Self> {
        let both = |version| [Self::one_driver(&server(), version), Self::two_drivers(&server(), version)];
        ERAS.into_iter().flat_map(both).collect()
    }

    /// Polls the drivers until none wants to be polled.
    pub(crate) fn run(&mut self) {
        let waker = Waker::from(self.woken.clone());
        for _ in 0..1000 {
            let before = self.woken.0.load(Ordering::SeqCst);
            for driver in &mut self.drivers {
                if driver
                    .as_mut()
                    .is_some_and(|driver| driver.as_mut().poll(&mut Context::from_waker(&waker)).is_ready())
                {
                    *driver = None;
                }
            }
            if self.woken.0.load(Ordering::SeqCst) == before {
                return;
            }
        }
        panic!("the drivers never come to rest");
    }

    pub(crate) fn is_woken(&self) -> bool {
        self.woken.0.load(Ordering::SeqCst) > 0
    }

    pub(crate) fn forget_wakes(&self) {
        self.woken.0.store(0, Ordering::SeqCst);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.drivers.iter().all(Option::is_none)
    }

    pub(crate) fn drop_drivers(&mut self) {
        self.drivers.clear();
    }

    /// Calls a tool and runs until it is answered.
    pub(crate) fn call(&mut self, name: &str) -> Result<String, client::CallError> {
        let mut call = Box::pin(self.client.call(tool(name)));
        for _ in 0..100 {
            if let Poll::Ready(result) = once(&mut call) {
                return result.map(|reply| reply.value.as_str().to_owned());
            }
            self.run();
        }
        panic!("{name} is never answered");
    }
}

/// Polls once with a waker that does nothing.
pub(crate) fn once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}
