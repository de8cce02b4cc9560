//! The same on every executor, with nothing spawned and no reactor of the executor's.

use std::{sync::Arc, thread};

use sandwire_io::HttpClient;
use sandwire_native::http::HttpPool;
use tokio::sync::Barrier;

use crate::{
    chunk, fetch, pool, post,
    server::{Peer, Request, Server, json},
};

fn script() -> Server {
    Server::new(|listener| {
        let mut first = listener.accept();
        first.request();
        first.say(json("1"));
        assert_eq!(first.request().body, "again");
        first.say(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        );
        let mut second = listener.accept();
        second.request();
        first.say("3\r\ndef\r\n");
        second.say(json("2"));
        first.expect_close();
    })
}

async fn session(pool: HttpPool, url: String) {
    assert_eq!(fetch(&pool, post(&url, "once")).await.unwrap(), "1");
    let mut stream = pool.send(post(&url, "again")).await.unwrap();
    assert_eq!(chunk(&mut *stream.body).await.unwrap().unwrap(), b"abc");
    let beside = fetch(&pool, post(&url, "beside"));
    let further = async {
        let bytes = chunk(&mut *stream.body).await;
        drop(stream);
        bytes
    };
    let (beside, further) = futures_util::future::join(beside, further).await;
    assert_eq!((beside.unwrap(), further.unwrap().unwrap()), ("2".to_owned(), b"def".to_vec()));
}

#[test]
fn under_block_on() {
    let server = script();
    sandwire_native::block_on(session(pool(), server.url.clone()));
    server.done();
}

#[test]
fn under_an_executor_that_only_parks_its_thread() {
    let server = script();
    futures::executor::block_on(session(pool(), server.url.clone()));
    server.done();
}

#[test]
fn under_smol() {
    let server = script();
    smol::block_on(smol::spawn(session(pool(), server.url.clone())));
    server.done();
}

#[test]
fn under_tokio_without_its_drivers() {
    let server = script();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(runtime.spawn(session(pool(), server.url.clone()))).unwrap();
    server.done();
}

/// Answers every request with its own body: as JSON, in chunks, or as a stream that goes on a while.
fn echo(mut peer: Peer) {
    while let Some(Request { body, .. }) = peer.try_request() {
        let length = body.len();
        peer.say(match length % 3 {
            0 => json(&body),
            1 => format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{length:x}\r\n{body}\r\n0\r\n\r\n"),
            _ => format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{length:x}\r\n{body}\r\n"),
        });
        if length % 3 == 2 {
            peer.say("0\r\n\r\n");
        }
    }
}

#[test]
fn many_tasks_share_a_pool_and_its_connections() {
    let server = Server::new(|listener| {
        let connections: Vec<_> = (0..8).map(|_| listener.accept()).map(|peer| thread::spawn(|| echo(peer))).collect();
        for connection in connections {
            connection.join().unwrap();
        }
    });
    let (pool, url) = (pool(), server.url.clone());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let barrier = Arc::new(Barrier::new(8));
    let tasks: Vec<_> = (0..8)
        .map(|task| {
            let (pool, url, barrier) = (pool.clone(), url.clone(), barrier.clone());
            runtime.spawn(async move {
                for round in 0..60 {
                    let body = "x".repeat(round * 97 + task);
                    let mut response = pool.send(post(&url, &body)).await.unwrap();
                    if round == 0 {
                        // Every task has a connection of its own before the first is given back.
                        barrier.wait().await;
                    }
                    let mut came = Vec::new();
                    while let Some(bytes) = chunk(&mut *response.body).await {
                        came.extend(bytes.unwrap());
                    }
                    assert_eq!(came, body.as_bytes());
                }
            })
        })
        .collect();
    for task in tasks {
        runtime.block_on(task).unwrap();
    }
    drop(pool);
    server.done();
}
