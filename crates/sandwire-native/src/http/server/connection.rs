//! One connection: hyper reads and writes it, and the watchdog ends it when it waits too long.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    sync::Arc,
    task::Poll,
};

use async_io::Async;
use hyper::{server::conn::http1, service::service_fn};

use super::{
    clock::Watchdog,
    exchange,
    house::{Guest, House},
    watch::{Overdue, Watch},
    wire::{Socket, Wire},
};

/// How much of a response waits in memory for its client.
const MAX_WAITING: usize = 64 * 1024;

/// Serves a connection until either side closes it.
pub(super) async fn serve<T: Socket>(socket: Async<T>, mut guest: Guest, house: Arc<House>) {
    let (watch, mut watchdog) = (Watch::new(), Watchdog::new());
    let socket = Arc::new(socket);
    let wire = Wire::new(Arc::clone(&socket), Arc::clone(&house), watch.clone());
    let service = service_fn(|request| exchange::answer(request, Arc::clone(&house), watch.clone()));
    let mut connection = pin!(
        http1::Builder::new()
            .header_read_timeout(None)
            .max_header_size(house.limits.head_bytes)
            .max_buf_size(house.limits.head_bytes.max(MAX_WAITING))
            .serve_connection(wire, service)
    );
    let (mut is_closing, mut is_drained) = (false, false);
    poll_fn(|cx| {
        loop {
            if connection.as_mut().poll(cx).is_ready() {
                return Poll::Ready(());
            }
            // hyper looks for the end of a connection only while no other request has begun.
            if watch.is_answering() && socket.poll_readable(cx).is_ready() && socket.get_ref().is_left() {
                return Poll::Ready(());
            }
            if !is_closing && guest.poll_closing(cx).is_ready() {
                is_closing = true;
                connection.as_mut().graceful_shutdown();
            } else if is_closing && !is_drained && guest.poll_drained(cx).is_ready() {
                is_drained = true;
                watch.end();
            } else {
                match watch.deadline(&house.limits) {
                    Some(deadline) if watchdog.poll(deadline, cx).is_ready() => {
                        if watch.overdue() == Overdue::Connection {
                            return Poll::Ready(());
                        }
                    }
                    _ => return Poll::Pending,
                }
            }
        }
    })
    .await;
}
