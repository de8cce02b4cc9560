//! What hooks and limits do around the answer to a request. An entry that has neither does not contain it.

use std::sync::Arc;

use sandwire_io::{Body, BoxFuture};
use sandwire_proto::http::RequestHead;

use super::{Known, Response, Shared, check::version_of, hook::Seen, is_preflight, load::Held};

/// Answers a request in place of [`Shared::handle`].
pub(super) type Gate = fn(Arc<Shared>, RequestHead, Box<dyn Body>) -> BoxFuture<'static, Response>;

pub(super) const GATE: Gate = |shared, head, body| Box::pin(shared.gated(head, body));

impl Shared {
    async fn gated(self: Arc<Self>, head: RequestHead, body: Box<dyn Body>) -> Response {
        let (since, mut from) = (self.env.now(), None);
        let passes_by = self.guard.check(&head).is_err() || self.guard.cors && is_preflight(&head);
        let (answer, body) = if passes_by {
            self.handle(&head, body, &None).await
        } else {
            match self.admitted(&head, &mut from).await {
                Ok(held) => {
                    let (answer, body) = self.handle(&head, body, &from).await;
                    let goes_on = answer.headers.media_type() == Some("text/event-stream");
                    match held.filter(|_| goes_on) {
                        Some(held) => (answer, held.over(body)),
                        None => (answer, body),
                    }
                }
                Err((mut answer, body)) => {
                    self.guard.expose(head.headers.get("origin"), &mut answer);
                    (answer, body)
                }
            }
        };
        let ms = self.env.now().since(since);
        let seen = Seen { head: &head, principal: from.as_deref(), status: answer.status, ms };
        self.guard.hooks.iter().for_each(|hook| hook.tell(&seen));
        (answer, body)
    }

    /// Finds out who sends a request and whether it may go on. It is under way while what is given is held.
    async fn admitted(&self, head: &RequestHead, from: &mut Known) -> Result<Option<Held>, Response> {
        for hook in self.guard.hooks.iter() {
            let admitted = hook.admit(head, from.clone()).await;
            *from = admitted.map_err(|refused| refused.into_response(version_of(head)))?;
        }
        let permit = self.guard.in_flight.permit(head);
        permit.map_err(|refusal| refusal.into_response(version_of(head), self.methods()))
    }
}
