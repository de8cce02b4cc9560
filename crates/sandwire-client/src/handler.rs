use crate::cache::Cache;
use sandwire_io::{
    BoxFuture, MaybeSend,
    client::{Answer, AskKey, Hooks, Warning},
};
use sandwire_json::{Raw, Read, Write};
use sandwire_proto::PeerInfo;
use sandwire_types::{
    ErrorObject, Method, Notification, ProtocolVersion, model::ElicitationCompleteNotificationParams, wire,
};
use std::{
    marker::PhantomData,
    sync::Arc,
    task::{Context, Poll},
};

/// Answers one kind of question.
pub(crate) trait Handler: MaybeSend {
    fn answer(&mut self, params: Raw, version: Option<ProtocolVersion>)
    -> BoxFuture<'static, Result<Raw, ErrorObject>>;
}

/// Hears what the connection tells.
pub(crate) trait Listener<A>: MaybeSend {
    fn hear(&mut self, told: A);
}

impl<A, F: FnMut(A) + MaybeSend> Listener<A> for F {
    fn hear(&mut self, told: A) {
        self(told);
    }
}

/// A function from a method's parameters to a future of its result, as a [`Handler`].
pub(crate) struct Typed<F, P, R> {
    method: Method,
    answer: F,
    types: PhantomData<fn(P) -> R>,
}

impl<F, P, R> Typed<F, P, R> {
    pub(crate) fn new(method: Method, answer: F) -> Self {
        Self { method, answer, types: PhantomData }
    }
}

impl<F, P, R, A> Handler for Typed<F, P, R>
where
    F: FnMut(P) -> A + MaybeSend,
    P: Read,
    R: Write + 'static,
    A: Future<Output = Result<R, ErrorObject>> + MaybeSend + 'static,
{
    fn answer(
        &mut self,
        params: Raw,
        version: Option<ProtocolVersion>,
    ) -> BoxFuture<'static, Result<Raw, ErrorObject>> {
        match sandwire_json::from_str(params.as_str()) {
            Ok(params) => {
                let method = self.method.clone();
                let answer = (self.answer)(params);
                let version = version.unwrap_or(ProtocolVersion::LATEST);
                let lower = move |result: R| wire::lower_answer(version, &method, &sandwire_json::to_raw(&result));
                Box::pin(async move { answer.await.map(lower) })
            }
            Err(error) => {
                let refused = Err(ErrorObject::invalid_params(error.to_string()));
                Box::pin(std::future::ready(refused))
            }
        }
    }
}

/// What the application answers, and the answers under way.
#[derive(Default)]
pub(crate) struct Handlers {
    pub(crate) sampling: Option<Box<dyn Handler>>,
    pub(crate) elicitation: Option<Box<dyn Handler>>,
    pub(crate) roots: Option<Box<dyn Handler>>,
    pub(crate) notifications: Option<Box<dyn Listener<Notification>>>,
    pub(crate) visits: Option<Box<dyn Listener<String>>>,
    pub(crate) warnings: Option<Box<dyn for<'a> Listener<&'a Warning>>>,
    pub(crate) cache: Option<Arc<Cache>>,
    pub(crate) only_offered: bool,
    #[cfg(feature = "schema")]
    pub(crate) listed: Option<Arc<crate::validate::Listed>>,
    #[cfg(feature = "tasks")]
    pub(crate) desk: Arc<crate::tasks::Desk>,
    version: Option<ProtocolVersion>,
    running: Vec<Running>,
}

struct Running {
    answer: Asker,
    work: BoxFuture<'static, Result<Raw, ErrorObject>>,
}

/// Who is answered.
enum Asker {
    Server(Answer),
    #[cfg(feature = "tasks")]
    Task(futures_channel::oneshot::Sender<Result<Raw, ErrorObject>>),
}

impl Asker {
    fn send(self, result: Result<Raw, ErrorObject>) {
        match self {
            Self::Server(answer) => answer.send(result),
            // Nobody waits if the wait for the task was given up.
            #[cfg(feature = "tasks")]
            Self::Task(answer) => drop(answer.send(result)),
        }
    }
}

impl Handlers {
    fn begin(&mut self, method: Method, params: Raw, answer: Asker) {
        let handler = match method {
            Method::SamplingCreateMessage => &mut self.sampling,
            Method::ElicitationCreate => &mut self.elicitation,
            Method::RootsList => &mut self.roots,
            _ => &mut None,
        };
        match handler {
            Some(handler) => self.running.push(Running { work: handler.answer(params, self.version), answer }),
            None => answer.send(Err(ErrorObject::method_not_found(&method))),
        }
    }
}

impl Hooks for Handlers {
    fn opened(&mut self, server: &Arc<PeerInfo>) {
        self.version = Some(server.version);
    }

    fn warning(&mut self, warning: &Warning) {
        if let Some(watcher) = &mut self.warnings {
            watcher.hear(warning);
        }
    }

    fn notification(&mut self, notification: Notification) {
        if let Some(cache) = &self.cache {
            cache.hear(&notification);
        }
        #[cfg(feature = "schema")]
        if let (Method::ToolsListChanged, Some(listed)) = (&notification.method, &self.listed) {
            listed.forget();
        }
        if let (Method::ElicitationComplete, Some(listener)) = (&notification.method, &mut self.visits)
            && let Some(params) = &notification.params
            && let Ok(ended) = sandwire_json::from_str::<ElicitationCompleteNotificationParams>(params.as_str())
        {
            listener.hear(ended.elicitation_id);
        }
        if let Some(listener) = &mut self.notifications {
            listener.hear(notification);
        }
    }

    fn ask(&mut self, method: Method, params: Raw, answer: Answer) {
        self.begin(method, params, Asker::Server(answer));
    }

    fn withdrawn(&mut self, key: AskKey) {
        self.running.retain(|running| match &running.answer {
            Asker::Server(answer) => answer.key() != Some(key),
            #[cfg(feature = "tasks")]
            Asker::Task(_) => true,
        });
    }

    fn poll(&mut self, cx: &mut Context<'_>) {
        if let Some(cache) = &self.cache {
            cache.poll(cx);
        }
        #[cfg(feature = "tasks")]
        for asked in self.desk.clone().take(cx) {
            self.begin(asked.method, asked.params, Asker::Task(asked.answer));
        }
        let mut index = 0;
        while let Some(running) = self.running.get_mut(index) {
            match running.work.as_mut().poll(cx) {
                Poll::Pending => index += 1,
                Poll::Ready(result) => self.running.swap_remove(index).answer.send(result),
            }
        }
    }
}
