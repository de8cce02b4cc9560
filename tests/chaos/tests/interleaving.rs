//! Ten thousand calls of a hundred clients whose ids are the same, to one server: none is answered with what another
//! was to get, none is lost, and nothing is left of any.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use chaos::{Direct, ERAS, checked, converse, live_allocations, open_sockets, options, server};
use futures::{
    executor::block_on,
    future::{join, join_all, select},
    pin_mut,
};
use sandwire::{Client, Server, http};
use sandwire_client::{Driver, Mode};
use sandwire_io::{Env, HttpLink, Link, TextLink, serve, testing::SimEnv, testing::text_ports};
use sandwire_proto::Limits;
use sandwire_server::http::{Guard, HttpEntry, Sessions};

const CLIENTS: u32 = 100;
const CALLS: u32 = 100;

/// Live allocations belong to the process, so one test runs at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// A client over a link that is held against the schemas.
fn connect(mut link: impl Link, env: &Arc<dyn Env>, mode: Mode) -> (Client, Driver) {
    if let Some(observer) = checked() {
        link.observe(observer);
    }
    Client::connect(link, Arc::clone(env), options(mode))
}

/// All calls of one client, and its end.
async fn client((client, driver): (Client, Driver), number: u32, calls: u32) {
    let calls = async {
        converse(client.clone(), number, calls).await;
        client.close();
    };
    join(driver, calls).await;
}

/// Runs `round` with few calls, so that what is kept for good is there, and then with all: nothing may stay of them.
fn leaves_nothing(what: &str, mut round: impl FnMut(u32, u32)) {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    round(CLIENTS, 2);
    let before = live_allocations();
    round(CLIENTS, CALLS);
    let grown = live_allocations() - before;
    println!("{what}: {} calls, {grown} allocations more than before", CLIENTS * CALLS);
    assert!(grown.abs() < 100, "{what}: {grown} allocations stayed of {} calls", CLIENTS * CALLS);
}

fn over_text(server: &Server, mode: &Mode, clients: u32, calls: u32) {
    let env: Arc<dyn Env> = Arc::new(SimEnv::new(1));
    let all = (0..clients).map(|number| {
        let (near, far) = text_ports();
        let serving =
            serve(Arc::new(server.clone()), Arc::clone(&env), Box::new(TextLink::new(far, Limits::default())));
        let connected = connect(TextLink::new(near, Limits::default()), &env, mode.clone());
        join(serving, client(connected, number, calls))
    });
    block_on(join_all(all));
}

#[test]
fn over_text_links() {
    for mode in ERAS {
        let server = server();
        leaves_nothing(&format!("text, {mode:?}"), |clients, calls| over_text(&server, &mode, clients, calls));
    }
}

#[test]
fn over_the_http_entry() {
    for mode in ERAS {
        let env: Arc<dyn Env> = Arc::new(SimEnv::new(1));
        let (entry, sessions) = HttpEntry::with_sessions(
            Arc::new(server()),
            Arc::clone(&env),
            Guard::default(),
            Sessions { max: 1000, ..Sessions::default() },
        );
        let service = Direct(Arc::new(entry.clone()));
        let mut sessions = Box::pin(sessions);
        leaves_nothing(&format!("HTTP entry, {mode:?}"), |clients, calls| {
            let all = (0..clients).map(|number| {
                let link = HttpLink::new(Arc::new(service.clone()), "http://localhost/mcp", Limits::default());
                client(connect(link, &env, mode.clone()), number, calls)
            });
            let all = join_all(all);
            pin_mut!(all);
            block_on(select(all, &mut sessions));
            assert_eq!(entry.sessions(), 0, "a session was not ended");
        });
    }
}

#[test]
fn over_sockets() {
    for mode in ERAS {
        let listener = http::Server::local(0).unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let stop = listener.shutdown();
        let (entry, sessions) = HttpEntry::with_sessions(
            Arc::new(server()),
            sandwire::NativeEnv::shared(),
            Guard::default(),
            Sessions { max: 1000, ..Sessions::default() },
        );
        let watched = entry.clone();
        let serving = std::thread::spawn(move || {
            sandwire::block_on(async { drop(select(Box::pin(listener.serve(entry)), sessions).await) });
        });
        leaves_nothing(&format!("sockets, {mode:?}"), |clients, calls| {
            let sockets = open_sockets();
            let all = (0..clients).map(|number| {
                let connecting = sandwire::connect(&url).options(options(mode.clone()));
                let connecting = match checked() {
                    Some(observer) => connecting.observe(move |direction, text| observer(direction, text)),
                    None => connecting,
                };
                client(connecting.split().unwrap(), number, calls)
            });
            sandwire::block_on(join_all(all));
            // The server hears of the end of a connection a moment after the client.
            sandwire::block_on(async {
                for _ in 0..200 {
                    if watched.sessions() == 0 && open_sockets() == sockets {
                        return;
                    }
                    async_io::Timer::after(Duration::from_millis(20)).await;
                }
                panic!("{} sessions and {} of {sockets} sockets stayed", watched.sessions(), open_sockets());
            });
        });
        stop.begin();
        drop(serving.join());
    }
}
