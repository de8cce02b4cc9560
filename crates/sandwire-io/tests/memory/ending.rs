use crate::scene::{ERAS, Server, config, ready, tool, value};
use sandwire_io::{
    client::{ClientHandle, Driver, NoHooks},
    in_memory,
    testing::SimEnv,
};
use sandwire_types::ProtocolVersion;
use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Waker},
};

fn joined(version: ProtocolVersion) -> (ClientHandle, Driver) {
    let server = Server::new(vec![("now", ready(|_| value(r#"{"content":[]}"#)))]);
    in_memory(Arc::new(server), config(version), Arc::new(SimEnv::new(1)), Box::new(NoHooks))
}

fn ends(driver: &mut Driver) -> bool {
    (0..100).any(|_| Pin::new(&mut *driver).poll(&mut Context::from_waker(Waker::noop())).is_ready())
}

#[test]
fn the_driver_ends_with_the_last_handle() {
    for version in ERAS {
        let (client, mut driver) = joined(version);
        let other = client.clone();
        drop(client);
        assert!(!ends(&mut driver), "{version:?}: one handle is left");
        drop(other);
        assert!(ends(&mut driver), "{version:?}");
    }
}

#[test]
fn a_call_under_way_keeps_the_connection() {
    for version in ERAS {
        let (client, mut driver) = joined(version);
        let mut call = client.call(tool("now"));
        drop(client);
        assert!(!ends(&mut driver), "{version:?}: the call has not been taken");
        let answer = Pin::new(&mut call).poll(&mut Context::from_waker(Waker::noop()));
        assert!(matches!(answer, std::task::Poll::Ready(Ok(_))), "{version:?}");
        drop(call);
        assert!(ends(&mut driver), "{version:?}");
    }
}
