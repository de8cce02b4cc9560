use futures::{
    executor::{LocalPool, block_on},
    future::poll_immediate,
    task::LocalSpawnExt,
};
use sandwire_client::{Client, Mode, Options};
use sandwire_io::{Link, LinkEvent, memory, testing::SimEnv};
use sandwire_json::{Raw, find};
use sandwire_proto::Via;
use sandwire_types::{ErrorObject, Message, Method, Notification, Reply, Request, RequestId, Response, ResultKind};
use std::{cell::RefCell, future::IntoFuture, rc::Rc, sync::Arc};

/// A client over a link whose other end the test holds, on a clock of its own.
pub struct Stage {
    pub pool: LocalPool,
    pub env: SimEnv,
    pub client: Client,
    server: memory::MemoryLink,
}

impl Stage {
    pub fn new(options: Options) -> Self {
        let (client_end, server) = memory::pair();
        let env = SimEnv::new(3);
        let (client, driver) = Client::connect(client_end, Arc::new(env.clone()), options);
        let pool = LocalPool::new();
        pool.spawner().spawn_local(driver).unwrap();
        Self { pool, env, client, server }
    }

    pub fn legacy(options: Options) -> Self {
        Self::of_version(options, "2025-11-25")
    }

    pub fn of_version(options: Options, version: &str) -> Self {
        let mut stage = Self::new(options.mode(Mode::Legacy));
        let initialize = stage.request();
        let info = r#""capabilities":{},"serverInfo":{"name":"s","version":"1"}"#;
        stage.reply(initialize.id, &format!(r#"{{"protocolVersion":"{version}",{info}}}"#));
        stage.run();
        stage.next();
        stage
    }

    pub fn modern(options: Options) -> Self {
        let mut stage = Self::new(options);
        let probe = stage.request();
        stage.reply(probe.id, r#"{"supportedVersions":["2026-07-28"],"capabilities":{}}"#);
        stage.run();
        stage
    }

    pub fn run(&mut self) {
        self.pool.run_until_stalled();
    }

    pub fn next(&mut self) -> Option<Message> {
        match block_on(poll_immediate(std::future::poll_fn(|cx| self.server.poll(cx)))) {
            Some(LinkEvent::Message { message, .. }) => Some(message),
            _ => None,
        }
    }

    pub fn request(&mut self) -> Request {
        self.run();
        match self.next() {
            Some(Message::Request(request)) => request,
            other => panic!("{other:?}"),
        }
    }

    pub fn send(&mut self, message: Message) {
        self.server.send(Via::Pipe, message, None);
    }

    pub fn reply(&mut self, id: RequestId, result: &str) {
        let value = Raw::parse(result).unwrap();
        let kind = find(result, "resultType").map_or(ResultKind::Complete, |kind| kind.trim_matches('"').into());
        self.send(Message::Response(Response::new(id, Ok(Reply { value, kind, stamp: None }))));
    }

    pub fn response(&mut self) -> Result<Reply, ErrorObject> {
        self.run();
        match self.next() {
            Some(Message::Response(response)) => response.result,
            other => panic!("{other:?}"),
        }
    }

    pub fn refuse(&mut self, id: RequestId, error: ErrorObject) {
        self.send(Message::Response(Response::new(id, Err(error))));
    }

    pub fn tell(&mut self, method: Method, params: &str, subscription: Option<&RequestId>) {
        let params = (!params.is_empty()).then(|| Raw::parse(params).unwrap());
        let mut notification = Notification::new(method, params);
        notification.subscription = subscription.cloned();
        self.send(Message::Notification(notification));
        self.run();
    }

    pub fn ask(&mut self, method: Method, params: &str) -> Result<Reply, ErrorObject> {
        let mut ask = Request::new(1, method);
        ask.params = Some(Raw::parse(params).unwrap());
        self.send(Message::Request(ask));
        self.response()
    }

    /// Runs something beside the rest, and keeps what it comes to.
    pub fn begin<F: IntoFuture<Output = T, IntoFuture: 'static>, T: 'static>(
        &mut self,
        work: F,
    ) -> Rc<RefCell<Option<T>>> {
        let result = Rc::new(RefCell::new(None));
        let told = Rc::clone(&result);
        let work = work.into_future();
        self.pool.spawner().spawn_local(async move { *told.borrow_mut() = Some(work.await) }).unwrap();
        self.run();
        result
    }

    pub fn quiet(&mut self) {
        self.run();
        let next = self.next();
        assert!(next.is_none(), "{next:?}");
    }
}
