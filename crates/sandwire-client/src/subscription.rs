//! Subscriptions of the modern era, as values that are asked for what changed.

use crate::{Error, ErrorKind, Request, Response};
use sandwire_types::{
    Method, Notification,
    model::{EmptyResult, SubscriptionFilter, SubscriptionsAcknowledgedNotificationParams},
};
use std::{
    collections::VecDeque,
    fmt,
    future::{IntoFuture, poll_fn},
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, Waker},
};

/// A subscription under way: see [`Client::subscribe`](crate::Client::subscribe). Dropping it ends it.
///
/// It is not made again when it ends: what changed meanwhile would be missed, so ask for that first and then subscribe
/// anew, if that makes sense.
#[must_use = "dropping a subscription ends it"]
pub struct Subscription {
    told: Arc<Mutex<Told>>,
    call: Option<Response<EmptyResult>>,
    acknowledged: Option<SubscriptionFilter>,
    end: Option<SubscriptionEnd>,
}

/// How a subscription ended.
#[derive(Debug)]
#[non_exhaustive]
pub enum SubscriptionEnd {
    /// The server ended it in good order.
    Complete,
    /// The server answered as if it had ended, and had never said that it had begun: it does not offer this.
    Unacknowledged,
    /// The server cancelled it.
    Cancelled,
    /// It is lost, or was refused.
    Failed(Error),
}

/// What was told and not asked for yet.
#[derive(Default)]
struct Told {
    waiting: VecDeque<Notification>,
    waker: Option<Waker>,
}

/// How many changes wait at most for whoever asks; beyond that the oldest are forgotten.
const MAX_WAITING: usize = 1024;

impl Told {
    /// Keeps it, unless the same waits already. Gives back who waits for it.
    fn take_in(&mut self, notification: Notification) -> Option<Waker> {
        if self.waiting.contains(&notification) {
            return None;
        }
        if self.waiting.len() >= MAX_WAITING {
            self.waiting.pop_front();
        }
        self.waiting.push_back(notification);
        self.waker.take()
    }
}

impl Subscription {
    pub(crate) fn new(request: Request<EmptyResult>) -> Self {
        let told = Arc::<Mutex<Told>>::default();
        let heard = Arc::clone(&told);
        let request = request.on_event(move |notification| {
            let waker = lock(&heard).take_in(notification);
            if let Some(waker) = waker {
                waker.wake();
            }
        });
        Self { told, call: Some(request.into_future()), acknowledged: None, end: None }
    }

    /// Waits for what the server agreed to tell, which may be less than was asked for; nothing if it ended before.
    pub async fn acknowledged(&mut self) -> Option<&SubscriptionFilter> {
        poll_fn(|cx| {
            let over = self.poll_first(cx).is_ready();
            if over || self.acknowledged.is_some() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        self.acknowledged.as_ref()
    }

    /// The next change, or nothing when the subscription is over: then [`end`](Self::end) says how.
    ///
    /// Changes that are alike are told once if nobody asked in between. A second acknowledgement is told as one: the server
    /// was replaced by another, and what changed in between is not known.
    pub async fn next(&mut self) -> Option<Notification> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// How it ended, once it has.
    #[must_use]
    pub fn end(&self) -> Option<&SubscriptionEnd> {
        self.end.as_ref()
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Notification>> {
        std::task::ready!(self.poll_first(cx));
        Poll::Ready(lock(&self.told).waiting.pop_front())
    }

    /// Waits until a change waits or nothing follows.
    fn poll_first(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        lock(&self.told).waker = Some(cx.waker().clone());
        let result = match &mut self.call {
            Some(call) => Pin::new(call).poll(cx),
            None => Poll::Pending,
        };
        if self.acknowledged.is_none() {
            let mut told = lock(&self.told);
            let acknowledges = |first: &mut Notification| first.method == Method::SubscriptionsAcknowledged;
            self.acknowledged = told.waiting.pop_front_if(acknowledges).as_ref().map(agreed);
        }
        if let Poll::Ready(result) = result {
            self.finish(result);
        }
        let ready = self.end.is_some() || !lock(&self.told).waiting.is_empty();
        if ready { Poll::Ready(()) } else { Poll::Pending }
    }

    fn finish(&mut self, result: Result<EmptyResult, Error>) {
        self.call = None;
        self.end = Some(match result {
            Ok(_) if self.acknowledged.is_some() => SubscriptionEnd::Complete,
            Ok(_) => SubscriptionEnd::Unacknowledged,
            Err(error) if error.kind() == ErrorKind::Unsubscribed => SubscriptionEnd::Cancelled,
            Err(error) => SubscriptionEnd::Failed(error),
        });
    }
}

/// What an acknowledgement says is told from now on.
fn agreed(acknowledgement: &Notification) -> SubscriptionFilter {
    let params = acknowledgement.params.as_ref();
    let params: Option<SubscriptionsAcknowledgedNotificationParams> =
        params.and_then(|params| sandwire_json::from_str(params.as_str()).ok());
    params.map_or_else(SubscriptionFilter::new, |params| params.notifications)
}

fn lock(told: &Mutex<Told>) -> std::sync::MutexGuard<'_, Told> {
    told.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { acknowledged, end, .. } = self;
        f.debug_struct("Subscription").field("acknowledged", acknowledged).field("end", end).finish_non_exhaustive()
    }
}
