//! The server of these tests: `native-server stdio`, or `native-server http`, which prints its address.
#![allow(clippy::expect_used, clippy::panic)]

use std::sync::Arc;

use futures::future::{Either, select};
use native_tests::server::server;
use sandwire_io::{TextLink, serve};
use sandwire_native::{Caught, NativeEnv, block_on, http, stdio::Stdio};
use sandwire_proto::Limits;
use sandwire_server::http::{Guard, HttpEntry, Sessions};

fn main() {
    let how = std::env::args().nth(1);
    match how.as_deref() {
        Some("stdio") => {
            let limits = Limits::default();
            let stdio = Stdio::take(limits.max_message_bytes).expect("the standard streams");
            let link = TextLink::new(stdio, limits);
            block_on(serve(Arc::new(Caught(server())), NativeEnv::shared(), Box::new(link)));
        }
        Some("http") => {
            let sessions = Sessions { sse: true, ..Sessions::default() };
            let endpoint = Arc::new(Caught(server()));
            let (entry, driver) = HttpEntry::with_sessions(endpoint, NativeEnv::shared(), Guard::default(), sessions);
            let listening = http::Server::local(0).expect("a free port");
            println!("http://{}/mcp", listening.local_addr().expect("its address"));
            let serving = std::pin::pin!(listening.serve(entry));
            match block_on(select(serving, driver)) {
                Either::Left((ended, _)) => ended.expect("the server serves"),
                Either::Right(_) => panic!("the sessions ended"),
            }
        }
        _ => panic!("usage: native-server stdio | http"),
    }
}
