//! A network between client and server that is worse than most.

use std::{
    io,
    net::{SocketAddr, TcpListener, TcpStream},
    sync::Arc,
    time::Duration,
};

use async_io::{Async, Timer};
use fastrand::Rng;
use futures::{
    future::{Either, pending, select},
    io::{AsyncReadExt, AsyncWriteExt},
    stream::{FuturesUnordered, StreamExt},
};

/// What one connection suffers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plan {
    /// Each piece waits up to so many milliseconds.
    pub delay_ms: u64,
    /// Pieces have so many bytes at most; with 1 whatever is sent is split at every byte.
    pub piece: Option<usize>,
    /// The connection breaks after so many bytes of the client's.
    pub drop_after: Option<usize>,
    /// It ends after so many bytes of the server's, as if there were no more.
    pub truncate_after: Option<usize>,
    /// After so many bytes of the server's nothing more comes, and nothing ends.
    pub silent_after: Option<usize>,
}

/// Stands between: what connects to `address` is led to the server until this is dropped.
#[derive(Debug)]
pub struct Proxy {
    /// Where clients connect.
    pub address: SocketAddr,
    stop: Option<futures::channel::oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Proxy {
    /// Begins to lead connections to `server`; `plan` says what each suffers, by its number.
    #[must_use]
    pub fn new(server: SocketAddr, seed: u64, plan: impl Fn(u64) -> Plan + Send + 'static) -> Self {
        let listener = Async::<TcpListener>::bind(([127, 0, 0, 1], 0)).unwrap();
        let address = listener.get_ref().local_addr().unwrap();
        let (stop, stopped) = futures::channel::oneshot::channel();
        let accept = async move {
            let mut connections = FuturesUnordered::new();
            for number in 0.. {
                let client = loop {
                    match select(Box::pin(listener.accept()), connections.next()).await {
                        Either::Left((accepted, _)) => break accepted.unwrap().0,
                        Either::Right((Some(()), _)) => {}
                        Either::Right((None, accepting)) => break accepting.await.unwrap().0,
                    }
                };
                connections.push(lead(client, server, plan(number), Rng::with_seed(seed ^ number)));
            }
        };
        let run = move || drop(async_io::block_on(select(Box::pin(accept), stopped)));
        Self { address, stop: Some(stop), thread: Some(std::thread::spawn(run)) }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

async fn lead(client: Async<TcpStream>, server: SocketAddr, plan: Plan, mut random: Rng) {
    let Ok(server) = Async::<TcpStream>::connect(server).await else { return };
    for socket in [&client, &server] {
        let _ = socket.get_ref().set_nodelay(true);
    }
    let (client, server) = (Arc::new(client), Arc::new(server));
    let up = pump(&client, &server, plan, [plan.drop_after, None], random.fork());
    let down = pump(&server, &client, plan, [plan.truncate_after, plan.silent_after], random);
    // Whichever breaks takes the other along; whichever ends lets the other go on.
    let _ = match select(Box::pin(up), Box::pin(down)).await {
        Either::Left((Ok(()), down)) => down.await,
        Either::Right((Ok(()), up)) => up.await,
        Either::Left((broken, _)) | Either::Right((broken, _)) => broken,
    };
}

/// Carries bytes one way, until there are no more or the plan says so, which is an error.
async fn pump(
    from: &Async<TcpStream>,
    to: &Async<TcpStream>,
    plan: Plan,
    [end, silence]: [Option<usize>; 2],
    mut random: Rng,
) -> io::Result<()> {
    let (mut from, mut to) = (from, to);
    let mut buffer = vec![0; 16 * 1024];
    let mut carried = 0;
    loop {
        let read = match end {
            Some(0) => 0,
            _ => from.read(&mut buffer).await?,
        };
        if read == 0 && end != Some(0) {
            return to.close().await;
        }
        let left = |limit: Option<usize>| limit.map_or(usize::MAX, |limit: usize| limit.saturating_sub(carried));
        let some = read.min(left(end)).min(left(silence));
        for piece in buffer[..some].chunks(plan.piece.unwrap_or(usize::MAX)) {
            if plan.delay_ms > 0 {
                Timer::after(Duration::from_millis(random.u64(0..=plan.delay_ms))).await;
            }
            to.write_all(piece).await?;
        }
        carried += some;
        if end.is_some_and(|end| carried >= end) {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        if silence.is_some_and(|silence| carried >= silence) {
            pending::<()>().await;
        }
    }
}
