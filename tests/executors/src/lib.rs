//! What the tests share, which run a client and a server on different executors.

use std::task::Poll;

/// Lets others go first, once.
pub async fn pause() {
    let mut paused = false;
    std::future::poll_fn(move |cx| {
        if std::mem::replace(&mut paused, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
